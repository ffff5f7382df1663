// The programs that executables are made of for the fuzz target of the engine's reader: together their plans
// have every step that is stored.
#pragma once

namespace torchere {

/// Static, of open sizes, with control flow on donated arguments, with weights, and of all kernels.
inline constexpr const char *enginePrograms[] = {
    R"(func.func @main(%x: tensor<4x3xf32>, %w: tensor<3x5xf32>) -> tensor<4x5xf32> {
      %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]
        : (tensor<4x3xf32>, tensor<3x5xf32>) -> tensor<4x5xf32>
      %1 = stablehlo.tanh %0 : tensor<4x5xf32>
      return %1 : tensor<4x5xf32>
    })",
    R"(func.func @main(%x: tensor<?x3xf32>) -> tensor<?x3xf32> {
      %0 = stablehlo.exponential %x : tensor<?x3xf32>
      return %0 : tensor<?x3xf32>
    })",
    R"(func.func @main(%x: tensor<6xf32> {tf.aliasing_output = 0 : i32}, %n: tensor<i32>) -> tensor<6xf32> {
      %zero = stablehlo.constant dense<0> : tensor<i32>
      %one = stablehlo.constant dense<1> : tensor<i32>
      %r:2 = stablehlo.while(%i = %zero, %v = %x) : tensor<i32>, tensor<6xf32> cond {
        %c = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %c : tensor<i1>
      } do {
        %j = stablehlo.add %i, %one : tensor<i32>
        %s = stablehlo.add %v, %v : tensor<6xf32>
        stablehlo.return %j, %s : tensor<i32>, tensor<6xf32>
      }
      %part = stablehlo.dynamic_slice %r#1, %n, sizes = [2] : (tensor<6xf32>, tensor<i32>) -> tensor<2xf32>
      %whole = stablehlo.dynamic_update_slice %r#1, %part, %zero
        : (tensor<6xf32>, tensor<2xf32>, tensor<i32>) -> tensor<6xf32>
      return %whole : tensor<6xf32>
    })",
    R"(func.func @main(%x: tensor<4000xf32>, %n: tensor<i32>) -> tensor<4000xf32> {
      %zero = stablehlo.constant dense<0> : tensor<i32>
      %one = stablehlo.constant dense<1> : tensor<i32>
      %r:2 = stablehlo.while(%i = %zero, %v = %x) : tensor<i32>, tensor<4000xf32> cond {
        %c = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %c : tensor<i1>
      } do {
        %j = stablehlo.add %i, %one : tensor<i32>
        %b = stablehlo.reverse %v, dims = [0] : tensor<4000xf32>
        %s = stablehlo.subtract %v, %b : tensor<4000xf32>
        stablehlo.return %j, %s : tensor<i32>, tensor<4000xf32>
      }
      return %r#1 : tensor<4000xf32>
    })",
    R"(func.func @main(%x: tensor<3x128xf32>, %w: tensor<64x128xf32> {torchere.weight = true},
                       %h: tensor<1x64xf32>, %n: tensor<i32>) -> tensor<1x64xf32> {
      %zero = stablehlo.constant dense<0> : tensor<i32>
      %one = stablehlo.constant dense<1> : tensor<i32>
      %r:2 = stablehlo.while(%i = %zero, %s = %h) : tensor<i32>, tensor<1x64xf32> cond {
        %after = stablehlo.add %i, %one : tensor<i32>
        %c = stablehlo.compare LE, %after, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %c : tensor<i1>
      } do {
        %j = stablehlo.add %i, %one : tensor<i32>
        %row = stablehlo.dynamic_slice %x, %i, %zero, sizes = [1, 128]
          : (tensor<3x128xf32>, tensor<i32>, tensor<i32>) -> tensor<1x128xf32>
        %p = stablehlo.dot_general %s, %w, contracting_dims = [1] x [0]
          : (tensor<1x64xf32>, tensor<64x128xf32>) -> tensor<1x128xf32>
        %g = stablehlo.add %row, %p : tensor<1x128xf32>
        %left = stablehlo.slice %g [0:1, 0:64] : (tensor<1x128xf32>) -> tensor<1x64xf32>
        %right = stablehlo.slice %g [0:1, 64:128] : (tensor<1x128xf32>) -> tensor<1x64xf32>
        %t = stablehlo.tanh %left : tensor<1x64xf32>
        %u = stablehlo.logistic %right : tensor<1x64xf32>
        %v = stablehlo.multiply %t, %u : tensor<1x64xf32>
        stablehlo.return %j, %v : tensor<i32>, tensor<1x64xf32>
      }
      return %r#1 : tensor<1x64xf32>
    })",
    // The same in a loop that counts.
    R"(func.func @main(%x: tensor<3x128xf32>, %w: tensor<64x128xf32> {torchere.weight = true},
                       %h: tensor<1x64xf32>, %n: tensor<i32>) -> tensor<1x64xf32> {
      %zero = stablehlo.constant dense<0> : tensor<i32>
      %one = stablehlo.constant dense<1> : tensor<i32>
      %r:2 = stablehlo.while(%i = %zero, %s = %h) : tensor<i32>, tensor<1x64xf32> cond {
        %c = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %c : tensor<i1>
      } do {
        %j = stablehlo.add %i, %one : tensor<i32>
        %row = stablehlo.dynamic_slice %x, %i, %zero, sizes = [1, 128]
          : (tensor<3x128xf32>, tensor<i32>, tensor<i32>) -> tensor<1x128xf32>
        %p = stablehlo.dot_general %s, %w, contracting_dims = [1] x [0]
          : (tensor<1x64xf32>, tensor<64x128xf32>) -> tensor<1x128xf32>
        %g = stablehlo.add %row, %p : tensor<1x128xf32>
        %left = stablehlo.slice %g [0:1, 0:64] : (tensor<1x128xf32>) -> tensor<1x64xf32>
        %right = stablehlo.slice %g [0:1, 64:128] : (tensor<1x128xf32>) -> tensor<1x64xf32>
        %t = stablehlo.tanh %left : tensor<1x64xf32>
        %u = stablehlo.logistic %right : tensor<1x64xf32>
        %v = stablehlo.multiply %t, %u : tensor<1x64xf32>
        stablehlo.return %j, %v : tensor<i32>, tensor<1x64xf32>
      }
      return %r#1 : tensor<1x64xf32>
    })",
    // Two loops that run at the same time.
    R"(func.func @main(%x: tensor<4x64xf32>, %w: tensor<64x64xf32> {torchere.weight = true},
                       %n: tensor<i32>) -> (tensor<4x64xf32>, tensor<4x64xf32>) {
      %zero = stablehlo.constant dense<0> : tensor<i32>
      %one = stablehlo.constant dense<1> : tensor<i32>
      %r:2 = stablehlo.while(%i = %zero, %s = %x) : tensor<i32>, tensor<4x64xf32> cond {
        %c = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %c : tensor<i1>
      } do {
        %j = stablehlo.add %i, %one : tensor<i32>
        %p = stablehlo.dot_general %s, %w, contracting_dims = [1] x [0]
          : (tensor<4x64xf32>, tensor<64x64xf32>) -> tensor<4x64xf32>
        stablehlo.return %j, %p : tensor<i32>, tensor<4x64xf32>
      }
      %q:2 = stablehlo.while(%i = %zero, %s = %x) : tensor<i32>, tensor<4x64xf32> cond {
        %c = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %c : tensor<i1>
      } do {
        %j = stablehlo.add %i, %one : tensor<i32>
        %p = stablehlo.dot_general %w, %s, contracting_dims = [1] x [1]
          : (tensor<64x64xf32>, tensor<4x64xf32>) -> tensor<64x4xf32>
        %t = stablehlo.transpose %p, dims = [1, 0] : (tensor<64x4xf32>) -> tensor<4x64xf32>
        %u = stablehlo.tanh %t : tensor<4x64xf32>
        stablehlo.return %j, %u : tensor<i32>, tensor<4x64xf32>
      }
      return %r#1, %q#1 : tensor<4x64xf32>, tensor<4x64xf32>
    })",
    // A step of an LSTM.
    R"(func.func @main(%x: tensor<2x64xf32>, %w: tensor<64x256xf32> {torchere.weight = true},
                       %c: tensor<2x64xf32>) -> (tensor<2x64xf32>, tensor<2x64xf32>) {
      %p = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]
        : (tensor<2x64xf32>, tensor<64x256xf32>) -> tensor<2x256xf32>
      %a = stablehlo.slice %p [0:2, 0:64] : (tensor<2x256xf32>) -> tensor<2x64xf32>
      %b = stablehlo.slice %p [0:2, 64:128] : (tensor<2x256xf32>) -> tensor<2x64xf32>
      %d = stablehlo.slice %p [0:2, 128:192] : (tensor<2x256xf32>) -> tensor<2x64xf32>
      %e = stablehlo.slice %p [0:2, 192:256] : (tensor<2x256xf32>) -> tensor<2x64xf32>
      %i = stablehlo.logistic %a : tensor<2x64xf32>
      %f = stablehlo.logistic %b : tensor<2x64xf32>
      %g = stablehlo.tanh %d : tensor<2x64xf32>
      %o = stablehlo.logistic %e : tensor<2x64xf32>
      %kept = stablehlo.multiply %f, %c : tensor<2x64xf32>
      %added = stablehlo.multiply %i, %g : tensor<2x64xf32>
      %cell = stablehlo.add %kept, %added : tensor<2x64xf32>
      %t = stablehlo.tanh %cell : tensor<2x64xf32>
      %h = stablehlo.multiply %o, %t : tensor<2x64xf32>
      return %h, %cell : tensor<2x64xf32>, tensor<2x64xf32>
    })",
    R"(func.func @main(%x: tensor<8xi32>, %y: tensor<5000xi32>, %n: tensor<i32>)
        -> (tensor<8xi32>, tensor<5000xi32>, tensor<i32>) {
      %zero = stablehlo.constant dense<0> : tensor<i32>
      %one = stablehlo.constant dense<1> : tensor<i32>
      %r:4 = stablehlo.while(%i = %zero, %s = %one, %v = %x, %w = %y)
          : tensor<i32>, tensor<i32>, tensor<8xi32>, tensor<5000xi32> cond {
        %c = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %c : tensor<i1>
      } do {
        %j = stablehlo.add %i, %one : tensor<i32>
        %e = stablehlo.dynamic_slice %v, %s, sizes = [1] : (tensor<8xi32>, tensor<i32>) -> tensor<1xi32>
        %f = stablehlo.reshape %e : (tensor<1xi32>) -> tensor<i32>
        %sum = stablehlo.reduce(%v init: %f) applies stablehlo.add across dimensions = [0]
          : (tensor<8xi32>, tensor<i32>) -> tensor<i32>
        %p = stablehlo.compare GT, %f, %i : (tensor<i32>, tensor<i32>) -> tensor<i1>
        %q = "stablehlo.if"(%p) ({
          %a = stablehlo.multiply %f, %sum : tensor<i32>
          "stablehlo.return"(%a) : (tensor<i32>) -> ()
        }, {
          "stablehlo.return"(%s) : (tensor<i32>) -> ()
        }) : (tensor<i1>) -> tensor<i32>
        %o = "stablehlo.case"(%q) ({
          "stablehlo.return"(%v) : (tensor<8xi32>) -> ()
        }, {
          %b = stablehlo.reverse %v, dims = [0] : tensor<8xi32>
          "stablehlo.return"(%b) : (tensor<8xi32>) -> ()
        }) : (tensor<i32>) -> tensor<8xi32>
        %u = stablehlo.dynamic_update_slice %w, %o, %q
          : (tensor<5000xi32>, tensor<8xi32>, tensor<i32>) -> tensor<5000xi32>
        stablehlo.return %j, %q, %o, %u : tensor<i32>, tensor<i32>, tensor<8xi32>, tensor<5000xi32>
      }
      return %r#2, %r#3, %r#1 : tensor<8xi32>, tensor<5000xi32>, tensor<i32>
    })",
    R"(func.func @main(%x: tensor<4x6xf32>, %w: tensor<6x6xf32> {torchere.weight = true},
                       %s: tensor<6xf32> {torchere.weight = true}) -> tensor<4x6xf32> {
      %0 = stablehlo.broadcast_in_dim %s, dims = [1] : (tensor<6xf32>) -> tensor<6x6xf32>
      %1 = stablehlo.multiply %w, %0 : tensor<6x6xf32>
      %2 = stablehlo.dot_general %x, %1, contracting_dims = [1] x [1]
        : (tensor<4x6xf32>, tensor<6x6xf32>) -> tensor<4x6xf32>
      return %2 : tensor<4x6xf32>
    })",
    R"(func.func @main(%x: tensor<1x8x6x6xf32>, %w: tensor<8x8x3x3xf32>, %v: tensor<8x2x3x3xi32>,
                       %y: tensor<1x8x6x6xi32>) -> (tensor<1x8x6x6xf32>, tensor<1x8x4x4xi32>) {
      %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1],
        window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
        : (tensor<1x8x6x6xf32>, tensor<8x8x3x3xf32>) -> tensor<1x8x6x6xf32>
      %1 = stablehlo.convolution(%y, %v) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {}
        {batch_group_count = 1 : i64, feature_group_count = 4 : i64}
        : (tensor<1x8x6x6xi32>, tensor<8x2x3x3xi32>) -> tensor<1x8x4x4xi32>
      return %0, %1 : tensor<1x8x6x6xf32>, tensor<1x8x4x4xi32>
    })",
    R"(func.func @main(%x: tensor<1x8x6x6xf32>, %w: tensor<8x8x3x3xf32> {torchere.weight = true},
        %p: tensor<8xf32> {torchere.weight = true}, %f: tensor<8xf32> {torchere.weight = true},
        %i: tensor<1x4x2xi32>, %j: tensor<1x4x2xi32>, %g: tensor<1x4xf32>) -> tensor<8x1x4xf32> {
      %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1],
        window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
        : (tensor<1x8x6x6xf32>, tensor<8x8x3x3xf32>) -> tensor<1x8x6x6xf32>
      %zero = stablehlo.constant dense<0.0> : tensor<1x8x6x6xf32>
      %slopes = stablehlo.broadcast_in_dim %p, dims = [1] : (tensor<8xf32>) -> tensor<1x8x6x6xf32>
      %factors = stablehlo.broadcast_in_dim %f, dims = [1] : (tensor<8xf32>) -> tensor<1x8x6x6xf32>
      %1 = stablehlo.compare GT, %0, %zero : (tensor<1x8x6x6xf32>, tensor<1x8x6x6xf32>) -> tensor<1x8x6x6xi1>
      %2 = stablehlo.multiply %0, %slopes : tensor<1x8x6x6xf32>
      %3 = stablehlo.select %1, %0, %2 : tensor<1x8x6x6xi1>, tensor<1x8x6x6xf32>
      %4 = stablehlo.multiply %3, %factors : tensor<1x8x6x6xf32>
      %5 = stablehlo.add %4, %x : tensor<1x8x6x6xf32>
      %6 = "stablehlo.gather"(%5, %i) {dimension_numbers = #stablehlo.gather<offset_dims = [0],
        collapsed_slice_dims = [2, 3], operand_batching_dims = [0], start_indices_batching_dims = [0],
        start_index_map = [2, 3], index_vector_dim = 2>, slice_sizes = array<i64: 1, 8, 1, 1>}
        : (tensor<1x8x6x6xf32>, tensor<1x4x2xi32>) -> tensor<8x1x4xf32>
      %7 = "stablehlo.gather"(%5, %j) {dimension_numbers = #stablehlo.gather<offset_dims = [0],
        collapsed_slice_dims = [2, 3], operand_batching_dims = [0], start_indices_batching_dims = [0],
        start_index_map = [2, 3], index_vector_dim = 2>, slice_sizes = array<i64: 1, 8, 1, 1>}
        : (tensor<1x8x6x6xf32>, tensor<1x4x2xi32>) -> tensor<8x1x4xf32>
      %weights = stablehlo.broadcast_in_dim %g, dims = [1, 2] : (tensor<1x4xf32>) -> tensor<8x1x4xf32>
      %8 = stablehlo.multiply %6, %weights : tensor<8x1x4xf32>
      %9 = stablehlo.multiply %7, %weights : tensor<8x1x4xf32>
      %10 = stablehlo.add %8, %9 : tensor<8x1x4xf32>
      return %10 : tensor<8x1x4xf32>
    })",
    R"(func.func @main(%x: tensor<5x4xf32>, %i: tensor<3x1xi32>, %u: tensor<3x4xf32>)
        -> (tensor<3x4xf32>, tensor<5x4xf32>, tensor<5xf32>, tensor<5x2xf32>) {
      %zero = stablehlo.constant dense<0.0> : tensor<f32>
      %0 = "stablehlo.gather"(%x, %i) {dimension_numbers = #stablehlo.gather<offset_dims = [1],
        collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>,
        slice_sizes = array<i64: 1, 4>} : (tensor<5x4xf32>, tensor<3x1xi32>) -> tensor<3x4xf32>
      %1 = "stablehlo.scatter"(%x, %i, %u) ({
        ^bb0(%a: tensor<f32>, %b: tensor<f32>):
          %s = stablehlo.add %a, %b : tensor<f32>
          stablehlo.return %s : tensor<f32>
      }) {scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0],
        scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}
        : (tensor<5x4xf32>, tensor<3x1xi32>, tensor<3x4xf32>) -> tensor<5x4xf32>
      %2 = stablehlo.reduce(%x init: %zero) applies stablehlo.maximum across dimensions = [1]
        : (tensor<5x4xf32>, tensor<f32>) -> tensor<5xf32>
      %3 = "stablehlo.reduce_window"(%x, %zero) ({
        ^bb0(%a: tensor<f32>, %b: tensor<f32>):
          %p = stablehlo.multiply %a, %b : tensor<f32>
          %q = stablehlo.add %p, %a : tensor<f32>
          stablehlo.return %q : tensor<f32>
      }) {window_dimensions = array<i64: 1, 2>, window_strides = array<i64: 1, 2>}
        : (tensor<5x4xf32>, tensor<f32>) -> tensor<5x2xf32>
      return %0, %1, %2, %3 : tensor<3x4xf32>, tensor<5x4xf32>, tensor<5xf32>, tensor<5x2xf32>
    })",
    R"(func.func @main(%x: tensor<3x5xf32>, %c: tensor<2x6xcomplex<f32>>, %m: tensor<3x3xf32>, %k: tensor<i32>,
                       %t: tensor<2xui64>)
        -> (tensor<3x5xf32>, tensor<3x5xf32>, tensor<2x6xcomplex<f32>>, tensor<3x3xf32>, tensor<3x5xf32>, tensor<7xui32>) {
      %sorted:2 = "stablehlo.sort"(%x, %x) ({
        ^bb0(%a: tensor<f32>, %b: tensor<f32>, %d: tensor<f32>, %e: tensor<f32>):
          %l = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
          stablehlo.return %l : tensor<i1>
      }) {dimension = 1 : i64} : (tensor<3x5xf32>, tensor<3x5xf32>) -> (tensor<3x5xf32>, tensor<3x5xf32>)
      %f = stablehlo.fft %c, type = FFT, length = [6] : (tensor<2x6xcomplex<f32>>) -> tensor<2x6xcomplex<f32>>
      %l = stablehlo.cholesky %m, lower = true : tensor<3x3xf32>
      %s = "stablehlo.case"(%k) ({
        %n = stablehlo.negate %x : tensor<3x5xf32>
        stablehlo.return %n : tensor<3x5xf32>
      }, {
        %r = "stablehlo.triangular_solve"(%m, %x) {left_side = true, lower = true, unit_diagonal = false,
          transpose_a = #stablehlo<transpose NO_TRANSPOSE>} : (tensor<3x3xf32>, tensor<3x5xf32>) -> tensor<3x5xf32>
        stablehlo.return %r : tensor<3x5xf32>
      }) : (tensor<i32>) -> tensor<3x5xf32>
      %next, %bits = stablehlo.rng_bit_generator %t, algorithm = PHILOX
        : (tensor<2xui64>) -> (tensor<2xui64>, tensor<7xui32>)
      return %sorted#0, %sorted#1, %f, %l, %s, %bits : tensor<3x5xf32>, tensor<3x5xf32>, tensor<2x6xcomplex<f32>>,
        tensor<3x3xf32>, tensor<3x5xf32>, tensor<7xui32>
    })",
    // Attention of grouped heads with a mask of truth values, one that is added, and none.
    R"(func.func @main(%q: tensor<1x4x5x4xf32>, %k: tensor<1x2x3x4xf32>, %v: tensor<1x2x3x6xf32>,
                       %m: tensor<1x2x2x5x3xi1>, %a: tensor<1x4x5x5xf32>)
        -> (tensor<1x2x2x5x6xf32>, tensor<1x4x5x4xf32>) {
      %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
      %zero = stablehlo.constant dense<0.0> : tensor<f32>
      %grouped = stablehlo.reshape %q : (tensor<1x4x5x4xf32>) -> tensor<1x2x2x5x4xf32>
      %0 = stablehlo.dot_general %grouped, %k, batching_dims = [0, 1] x [0, 1], contracting_dims = [4] x [3]
        : (tensor<1x2x2x5x4xf32>, tensor<1x2x3x4xf32>) -> tensor<1x2x2x5x3xf32>
      %lows = stablehlo.broadcast_in_dim %low, dims = [] : (tensor<f32>) -> tensor<1x2x2x5x3xf32>
      %1 = stablehlo.select %m, %0, %lows : tensor<1x2x2x5x3xi1>, tensor<1x2x2x5x3xf32>
      %2 = stablehlo.reduce(%1 init: %low) applies stablehlo.maximum across dimensions = [4]
        : (tensor<1x2x2x5x3xf32>, tensor<f32>) -> tensor<1x2x2x5xf32>
      %3 = stablehlo.broadcast_in_dim %2, dims = [0, 1, 2, 3]
        : (tensor<1x2x2x5xf32>) -> tensor<1x2x2x5x3xf32>
      %4 = stablehlo.subtract %1, %3 : tensor<1x2x2x5x3xf32>
      %5 = stablehlo.exponential %4 : tensor<1x2x2x5x3xf32>
      %6 = stablehlo.reduce(%5 init: %zero) applies stablehlo.add across dimensions = [4]
        : (tensor<1x2x2x5x3xf32>, tensor<f32>) -> tensor<1x2x2x5xf32>
      %7 = stablehlo.broadcast_in_dim %6, dims = [0, 1, 2, 3]
        : (tensor<1x2x2x5xf32>) -> tensor<1x2x2x5x3xf32>
      %8 = stablehlo.divide %5, %7 : tensor<1x2x2x5x3xf32>
      %9 = stablehlo.dot_general %8, %v, batching_dims = [0, 1] x [0, 1], contracting_dims = [4] x [2]
        : (tensor<1x2x2x5x3xf32>, tensor<1x2x3x6xf32>) -> tensor<1x2x2x5x6xf32>
      %10 = stablehlo.dot_general %q, %q, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [3]
        : (tensor<1x4x5x4xf32>, tensor<1x4x5x4xf32>) -> tensor<1x4x5x5xf32>
      %11 = stablehlo.add %10, %a : tensor<1x4x5x5xf32>
      %12 = stablehlo.reduce(%11 init: %low) applies stablehlo.maximum across dimensions = [3]
        : (tensor<1x4x5x5xf32>, tensor<f32>) -> tensor<1x4x5xf32>
      %13 = stablehlo.broadcast_in_dim %12, dims = [0, 1, 2] : (tensor<1x4x5xf32>) -> tensor<1x4x5x5xf32>
      %14 = stablehlo.subtract %11, %13 : tensor<1x4x5x5xf32>
      %15 = stablehlo.exponential %14 : tensor<1x4x5x5xf32>
      %16 = stablehlo.reduce(%15 init: %zero) applies stablehlo.add across dimensions = [3]
        : (tensor<1x4x5x5xf32>, tensor<f32>) -> tensor<1x4x5xf32>
      %17 = stablehlo.broadcast_in_dim %16, dims = [0, 1, 2] : (tensor<1x4x5xf32>) -> tensor<1x4x5x5xf32>
      %18 = stablehlo.divide %15, %17 : tensor<1x4x5x5xf32>
      %19 = stablehlo.dot_general %18, %q, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2]
        : (tensor<1x4x5x5xf32>, tensor<1x4x5x4xf32>) -> tensor<1x4x5x4xf32>
      return %9, %19 : tensor<1x2x2x5x6xf32>, tensor<1x4x5x4xf32>
    })",
    // Rows: softmax, a norm, several reductions of one program, the largest and its place, a running sum.
    R"(func.func @main(%x: tensor<3x8xf32>, %w: tensor<8xf32>, %b: tensor<8xf32>, %i: tensor<3x8xi32>)
        -> (tensor<3x8xf32>, tensor<3x8xf32>, tensor<3xf32>, tensor<3xi32>, tensor<3x8xf32>, tensor<3x3xf32>,
            tensor<3xf32>, tensor<3xf32>) {
      %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
      %zero = stablehlo.constant dense<0.0> : tensor<f32>
      %eight = stablehlo.constant dense<8.0> : tensor<3xf32>
      %small = stablehlo.constant dense<1.0e-5> : tensor<3xf32>
      %0 = stablehlo.reduce(%x init: %low) applies stablehlo.maximum across dimensions = [1]
        : (tensor<3x8xf32>, tensor<f32>) -> tensor<3xf32>
      %1 = stablehlo.broadcast_in_dim %0, dims = [0] : (tensor<3xf32>) -> tensor<3x8xf32>
      %2 = stablehlo.subtract %x, %1 : tensor<3x8xf32>
      %3 = stablehlo.exponential %2 : tensor<3x8xf32>
      %4 = stablehlo.reduce(%3 init: %zero) applies stablehlo.add across dimensions = [1]
        : (tensor<3x8xf32>, tensor<f32>) -> tensor<3xf32>
      %5 = stablehlo.broadcast_in_dim %4, dims = [0] : (tensor<3xf32>) -> tensor<3x8xf32>
      %softmax = stablehlo.divide %3, %5 : tensor<3x8xf32>
      %6 = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [1]
        : (tensor<3x8xf32>, tensor<f32>) -> tensor<3xf32>
      %7 = stablehlo.divide %6, %eight : tensor<3xf32>
      %8 = stablehlo.broadcast_in_dim %7, dims = [0] : (tensor<3xf32>) -> tensor<3x8xf32>
      %9 = stablehlo.subtract %x, %8 : tensor<3x8xf32>
      %10 = stablehlo.multiply %9, %9 : tensor<3x8xf32>
      %11 = stablehlo.reduce(%10 init: %zero) applies stablehlo.add across dimensions = [1]
        : (tensor<3x8xf32>, tensor<f32>) -> tensor<3xf32>
      %12 = stablehlo.divide %11, %eight : tensor<3xf32>
      %13 = stablehlo.add %12, %small : tensor<3xf32>
      %14 = stablehlo.rsqrt %13 : tensor<3xf32>
      %15 = stablehlo.broadcast_in_dim %14, dims = [0] : (tensor<3xf32>) -> tensor<3x8xf32>
      %16 = stablehlo.multiply %9, %15 : tensor<3x8xf32>
      %17 = stablehlo.broadcast_in_dim %w, dims = [1] : (tensor<8xf32>) -> tensor<3x8xf32>
      %18 = stablehlo.multiply %16, %17 : tensor<3x8xf32>
      %19 = stablehlo.broadcast_in_dim %b, dims = [1] : (tensor<8xf32>) -> tensor<3x8xf32>
      %norm = stablehlo.add %18, %19 : tensor<3x8xf32>
      %places = stablehlo.iota dim = 1 : tensor<3x8xi32>
      %first = stablehlo.constant dense<0> : tensor<i32>
      %best:2 = stablehlo.reduce(%x init: %low), (%places init: %first) across dimensions = [1]
        : (tensor<3x8xf32>, tensor<3x8xi32>, tensor<f32>, tensor<i32>) -> (tensor<3xf32>, tensor<3xi32>)
       reducer(%p: tensor<f32>, %q: tensor<f32>) (%r: tensor<i32>, %s: tensor<i32>) {
        %gt = stablehlo.compare GT, %p, %q : (tensor<f32>, tensor<f32>) -> tensor<i1>
        %nan = stablehlo.compare NE, %p, %p : (tensor<f32>, tensor<f32>) -> tensor<i1>
        %or = stablehlo.or %gt, %nan : tensor<i1>
        %eq = stablehlo.compare EQ, %p, %q : (tensor<f32>, tensor<f32>) -> tensor<i1>
        %lt = stablehlo.compare LT, %r, %s : (tensor<i32>, tensor<i32>) -> tensor<i1>
        %and = stablehlo.and %eq, %lt : tensor<i1>
        %left = stablehlo.or %or, %and : tensor<i1>
        %value = stablehlo.select %or, %p, %q : tensor<i1>, tensor<f32>
        %place = stablehlo.select %left, %r, %s : tensor<i1>, tensor<i32>
        stablehlo.return %value, %place : tensor<f32>, tensor<i32>
      }
      %sums = "stablehlo.reduce_window"(%x, %zero) ({
        ^bb0(%p: tensor<f32>, %q: tensor<f32>):
          %s = stablehlo.add %p, %q : tensor<f32>
          stablehlo.return %s : tensor<f32>
      }) {padding = dense<[[0, 0], [7, 0]]> : tensor<2x2xi64>, window_dimensions = array<i64: 1, 8>,
          window_strides = array<i64: 1, 1>} : (tensor<3x8xf32>, tensor<f32>) -> tensor<3x8xf32>
      %pairs = "stablehlo.reduce_window"(%x, %zero) ({
        ^bb0(%p: tensor<f32>, %q: tensor<f32>):
          %s = stablehlo.add %p, %q : tensor<f32>
          stablehlo.return %s : tensor<f32>
      }) {window_dimensions = array<i64: 1, 3>, window_strides = array<i64: 1, 2>}
        : (tensor<3x8xf32>, tensor<f32>) -> tensor<3x3xf32>
      %f = stablehlo.convert %i : (tensor<3x8xi32>) -> tensor<3x8xf32>
      %t = stablehlo.multiply %f, %f : tensor<3x8xf32>
      %one = stablehlo.reduce(%t init: %zero) applies stablehlo.add across dimensions = [1]
        : (tensor<3x8xf32>, tensor<f32>) -> tensor<3xf32>
      %two = stablehlo.reduce(%f init: %low) applies stablehlo.maximum across dimensions = [1]
        : (tensor<3x8xf32>, tensor<f32>) -> tensor<3xf32>
      return %softmax, %norm, %best#0, %best#1, %sums, %pairs, %one, %two : tensor<3x8xf32>, tensor<3x8xf32>,
        tensor<3xf32>, tensor<3xi32>, tensor<3x8xf32>, tensor<3x3xf32>, tensor<3xf32>, tensor<3xf32>
    })",
    // Factors of matrices: calls, and loops with a mark, whose bodies do not matter.
    R"(func.func @main(%a: tensor<2x4x3xf32>, %x: tensor<2x4x5xf64>, %p: tensor<2x4x3xf64>, %h: tensor<2x2xf64>)
        -> (tensor<2x4x3xf32>, tensor<2x3xi32>, tensor<2x4xi32>, tensor<2x4x3xf32>, tensor<2x3xf32>,
            tensor<2x4x5xf64>) {
      %f:3 = stablehlo.custom_call @LuDecomposition(%a)
        : (tensor<2x4x3xf32>) -> (tensor<2x4x3xf32>, tensor<2x3xi32>, tensor<2x4xi32>)
      %zero = stablehlo.constant dense<0> : tensor<i32>
      %one = stablehlo.constant dense<1> : tensor<i32>
      %two = stablehlo.constant dense<2> : tensor<i32>
      %three = stablehlo.constant dense<3> : tensor<i32>
      %none = stablehlo.constant dense<0.0> : tensor<2x3xf32>
      %qr:4 = "stablehlo.while"(%zero, %three, %a, %none) ({
      ^bb0(%i: tensor<i32>, %n: tensor<i32>, %m: tensor<2x4x3xf32>, %t: tensor<2x3xf32>):
        %c = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %c : tensor<i1>
      }, {
      ^bb0(%i: tensor<i32>, %n: tensor<i32>, %m: tensor<2x4x3xf32>, %t: tensor<2x3xf32>):
        %j = stablehlo.add %i, %one : tensor<i32>
        stablehlo.return %j, %n, %m, %t : tensor<i32>, tensor<i32>, tensor<2x4x3xf32>, tensor<2x3xf32>
      }) {torchere.computes = "qr"} : (tensor<i32>, tensor<i32>, tensor<2x4x3xf32>, tensor<2x3xf32>)
        -> (tensor<i32>, tensor<i32>, tensor<2x4x3xf32>, tensor<2x3xf32>)
      %q:6 = "stablehlo.while"(%zero, %two, %x, %p, %h, %two) ({
      ^bb0(%i: tensor<i32>, %n: tensor<i32>, %m: tensor<2x4x5xf64>, %v: tensor<2x4x3xf64>,
           %t: tensor<2x2xf64>, %k: tensor<i32>):
        %c = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %c : tensor<i1>
      }, {
      ^bb0(%i: tensor<i32>, %n: tensor<i32>, %m: tensor<2x4x5xf64>, %v: tensor<2x4x3xf64>,
           %t: tensor<2x2xf64>, %k: tensor<i32>):
        %j = stablehlo.add %i, %one : tensor<i32>
        stablehlo.return %j, %n, %m, %v, %t, %k : tensor<i32>, tensor<i32>, tensor<2x4x5xf64>,
          tensor<2x4x3xf64>, tensor<2x2xf64>, tensor<i32>
      }) {torchere.computes = "reflectors"} : (tensor<i32>, tensor<i32>, tensor<2x4x5xf64>, tensor<2x4x3xf64>,
          tensor<2x2xf64>, tensor<i32>) -> (tensor<i32>, tensor<i32>, tensor<2x4x5xf64>, tensor<2x4x3xf64>,
          tensor<2x2xf64>, tensor<i32>)
      return %f#0, %f#1, %f#2, %qr#2, %qr#3, %q#2 : tensor<2x4x3xf32>, tensor<2x3xi32>, tensor<2x4xi32>,
        tensor<2x4x3xf32>, tensor<2x3xf32>, tensor<2x4x5xf64>
    })",
    // Spectra, with vectors and without, and a product of complex matrices.
    R"(func.func @main(%a: tensor<2x3x3xf32>, %x: tensor<2x3x4xf64>, %c: tensor<2x8x16xcomplex<f32>>,
                       %d: tensor<2x16x8xcomplex<f32>>)
        -> (tensor<2x3xf32>, tensor<2x3xf64>, tensor<2x3x3xf64>, tensor<2x8x8xcomplex<f32>>) {
      %zero = stablehlo.constant dense<0> : tensor<i32>
      %one = stablehlo.constant dense<1> : tensor<i32>
      %values = stablehlo.constant dense<0.0> : tensor<2x3xf32>
      %s = stablehlo.constant dense<0.0> : tensor<2x3xf64>
      %u = stablehlo.constant dense<0.0> : tensor<2x3x3xf64>
      %v = stablehlo.constant dense<0.0> : tensor<2x3x4xf64>
      %e:4 = "stablehlo.while"(%zero, %one, %values, %a) ({
      ^bb0(%i: tensor<i32>, %n: tensor<i32>, %w: tensor<2x3xf32>, %m: tensor<2x3x3xf32>):
        %p = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %p : tensor<i1>
      }, {
      ^bb0(%i: tensor<i32>, %n: tensor<i32>, %w: tensor<2x3xf32>, %m: tensor<2x3x3xf32>):
        %j = stablehlo.add %i, %one : tensor<i32>
        stablehlo.return %j, %n, %w, %m : tensor<i32>, tensor<i32>, tensor<2x3xf32>, tensor<2x3x3xf32>
      }) {torchere.computes = "eigenvalues"} : (tensor<i32>, tensor<i32>, tensor<2x3xf32>, tensor<2x3x3xf32>)
        -> (tensor<i32>, tensor<i32>, tensor<2x3xf32>, tensor<2x3x3xf32>)
      %f:6 = "stablehlo.while"(%zero, %one, %u, %s, %v, %x) ({
      ^bb0(%i: tensor<i32>, %n: tensor<i32>, %l: tensor<2x3x3xf64>, %w: tensor<2x3xf64>,
           %r: tensor<2x3x4xf64>, %m: tensor<2x3x4xf64>):
        %p = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %p : tensor<i1>
      }, {
      ^bb0(%i: tensor<i32>, %n: tensor<i32>, %l: tensor<2x3x3xf64>, %w: tensor<2x3xf64>,
           %r: tensor<2x3x4xf64>, %m: tensor<2x3x4xf64>):
        %j = stablehlo.add %i, %one : tensor<i32>
        stablehlo.return %j, %n, %l, %w, %r, %m : tensor<i32>, tensor<i32>, tensor<2x3x3xf64>,
          tensor<2x3xf64>, tensor<2x3x4xf64>, tensor<2x3x4xf64>
      }) {torchere.computes = "singular_vectors"} : (tensor<i32>, tensor<i32>, tensor<2x3x3xf64>,
          tensor<2x3xf64>, tensor<2x3x4xf64>, tensor<2x3x4xf64>) -> (tensor<i32>, tensor<i32>,
          tensor<2x3x3xf64>, tensor<2x3xf64>, tensor<2x3x4xf64>, tensor<2x3x4xf64>)
      %product = stablehlo.dot_general %c, %d, batching_dims = [0] x [0], contracting_dims = [2] x [1]
        : (tensor<2x8x16xcomplex<f32>>, tensor<2x16x8xcomplex<f32>>) -> tensor<2x8x8xcomplex<f32>>
      return %e#2, %f#3, %f#2, %product : tensor<2x3xf32>, tensor<2x3xf64>, tensor<2x3x3xf64>,
        tensor<2x8x8xcomplex<f32>>
    })",
    // Places that are computed, and random numbers.
    R"(func.func @main(%x: tensor<3x8xf32>, %y: tensor<3x4xf32>, %l: tensor<2xi32>, %i: tensor<4x1xi32>,
                       %u: tensor<4xf32>, %w: tensor<4xf32>, %b: tensor<6xui8>, %t: tensor<2xui64>)
        -> (tensor<3x8xf32>, tensor<2x3xf32>, tensor<5x9xf32>, tensor<8xf32>, tensor<3x4xf32>, tensor<3xf32>,
            tensor<6x2xi4>, tensor<2xui64>, tensor<5xui32>, tensor<3000xi32>) {
      %zero = stablehlo.constant dense<0.0> : tensor<f32>
      %one = stablehlo.constant dense<1.0> : tensor<f32>
      %ones = stablehlo.constant dense<1> : tensor<2xi32>
      %spread = "stablehlo.select_and_scatter"(%x, %y, %zero) ({
        ^bb0(%p: tensor<f32>, %q: tensor<f32>):
          %c = stablehlo.compare GE, %p, %q : (tensor<f32>, tensor<f32>) -> tensor<i1>
          stablehlo.return %c : tensor<i1>
      }, {
        ^bb0(%p: tensor<f32>, %q: tensor<f32>):
          %s = stablehlo.add %p, %q : tensor<f32>
          stablehlo.return %s : tensor<f32>
      }) {window_dimensions = array<i64: 1, 2>, window_strides = array<i64: 1, 2>}
        : (tensor<3x8xf32>, tensor<3x4xf32>, tensor<f32>) -> tensor<3x8xf32>
      %end = stablehlo.constant dense<[2, 3]> : tensor<2xi32>
      %limit = stablehlo.add %l, %end : tensor<2xi32>
      %slice = stablehlo.real_dynamic_slice %x, %l, %limit, %ones
        : (tensor<3x8xf32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<2x3xf32>
      %high = stablehlo.subtract %end, %l : tensor<2xi32>
      %between = stablehlo.subtract %l, %l : tensor<2xi32>
      %pad = stablehlo.dynamic_pad %x, %one, %l, %high, %between
        : (tensor<3x8xf32>, tensor<f32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<5x9xf32>
      %row = stablehlo.constant dense<0.5> : tensor<8xf32>
      %fold = "stablehlo.scatter"(%row, %i, %u) ({
        ^bb0(%p: tensor<f32>, %q: tensor<f32>):
          %s = stablehlo.multiply %p, %q : tensor<f32>
          %r = stablehlo.add %s, %p : tensor<f32>
          stablehlo.return %r : tensor<f32>
      }) {scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0],
        scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}
        : (tensor<8xf32>, tensor<4x1xi32>, tensor<4xf32>) -> tensor<8xf32>
      %j = stablehlo.reverse %i, dims = [0] : tensor<4x1xi32>
      %taken = "stablehlo.gather"(%x, %i) {dimension_numbers = #stablehlo.gather<offset_dims = [0],
        collapsed_slice_dims = [1], start_index_map = [1], index_vector_dim = 1>,
        slice_sizes = array<i64: 3, 1>} : (tensor<3x8xf32>, tensor<4x1xi32>) -> tensor<3x4xf32>
      %other = "stablehlo.gather"(%x, %j) {dimension_numbers = #stablehlo.gather<offset_dims = [0],
        collapsed_slice_dims = [1], start_index_map = [1], index_vector_dim = 1>,
        slice_sizes = array<i64: 3, 1>} : (tensor<3x8xf32>, tensor<4x1xi32>) -> tensor<3x4xf32>
      %v0 = stablehlo.broadcast_in_dim %u, dims = [1] : (tensor<4xf32>) -> tensor<3x4xf32>
      %v1 = stablehlo.broadcast_in_dim %w, dims = [1] : (tensor<4xf32>) -> tensor<3x4xf32>
      %m0 = stablehlo.multiply %taken, %v0 : tensor<3x4xf32>
      %m1 = stablehlo.multiply %other, %v1 : tensor<3x4xf32>
      %mean = stablehlo.add %m0, %m1 : tensor<3x4xf32>
      %size = stablehlo.constant dense<3> : tensor<1xi64>
      %random = "stablehlo.rng"(%zero, %one, %size) {rng_distribution = #stablehlo<rng_distribution UNIFORM>}
        : (tensor<f32>, tensor<f32>, tensor<1xi64>) -> tensor<3xf32>
      %halves = stablehlo.bitcast_convert %b : (tensor<6xui8>) -> tensor<6x2xi4>
      %next, %bits = stablehlo.rng_bit_generator %t, algorithm = THREE_FRY
        : (tensor<2xui64>) -> (tensor<2xui64>, tensor<5xui32>)
      %many = stablehlo.constant dense<0> : tensor<3000xi32>
      %counts = stablehlo.constant dense<1> : tensor<4xi32>
      %histogram = "stablehlo.scatter"(%many, %i, %counts) ({
        ^bb0(%p: tensor<i32>, %q: tensor<i32>):
          %s = stablehlo.add %p, %q : tensor<i32>
          stablehlo.return %s : tensor<i32>
      }) {scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0],
        scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}
        : (tensor<3000xi32>, tensor<4x1xi32>, tensor<4xi32>) -> tensor<3000xi32>
      return %spread, %slice, %pad, %fold, %mean, %random, %halves, %next, %bits, %histogram : tensor<3x8xf32>,
        tensor<2x3xf32>, tensor<5x9xf32>, tensor<8xf32>, tensor<3x4xf32>, tensor<3xf32>, tensor<6x2xi4>,
        tensor<2xui64>, tensor<5xui32>, tensor<3000xi32>
    })",
    // Images in blocks: a norm of groups, pooling, larger images, shuffled channels, a norm of channels,
    // means.
    R"(func.func @main(%x: tensor<1x3x4x4xf32>, %w: tensor<8x3x3x3xf32>, %v: tensor<8x8x1x1xf32>)
        -> tensor<1x8xf32> {
      %zero = stablehlo.constant dense<0.0> : tensor<f32>
      %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
      %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1],
        window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
        : (tensor<1x3x4x4xf32>, tensor<8x3x3x3xf32>) -> tensor<1x8x4x4xf32>
      %1 = stablehlo.reshape %0 : (tensor<1x8x4x4xf32>) -> tensor<1x2x64xf32>
      %2 = stablehlo.reduce(%1 init: %zero) applies stablehlo.add across dimensions = [2]
        : (tensor<1x2x64xf32>, tensor<f32>) -> tensor<1x2xf32>
      %count = stablehlo.constant dense<64.0> : tensor<1x2xf32>
      %3 = stablehlo.divide %2, %count : tensor<1x2xf32>
      %4 = stablehlo.broadcast_in_dim %3, dims = [0, 1] : (tensor<1x2xf32>) -> tensor<1x2x64xf32>
      %5 = stablehlo.subtract %1, %4 : tensor<1x2x64xf32>
      %6 = stablehlo.multiply %5, %5 : tensor<1x2x64xf32>
      %7 = stablehlo.reduce(%6 init: %zero) applies stablehlo.add across dimensions = [2]
        : (tensor<1x2x64xf32>, tensor<f32>) -> tensor<1x2xf32>
      %8 = stablehlo.divide %7, %count : tensor<1x2xf32>
      %small = stablehlo.constant dense<1.0e-5> : tensor<1x2xf32>
      %9 = stablehlo.add %8, %small : tensor<1x2xf32>
      %10 = stablehlo.rsqrt %9 : tensor<1x2xf32>
      %11 = stablehlo.broadcast_in_dim %10, dims = [0, 1] : (tensor<1x2xf32>) -> tensor<1x2x64xf32>
      %12 = stablehlo.multiply %5, %11 : tensor<1x2x64xf32>
      %13 = stablehlo.reshape %12 : (tensor<1x2x64xf32>) -> tensor<1x8x4x4xf32>
      %14 = "stablehlo.reduce_window"(%13, %low) ({
      ^bb0(%p: tensor<f32>, %q: tensor<f32>):
        %m = stablehlo.maximum %p, %q : tensor<f32>
        stablehlo.return %m : tensor<f32>
      }) {window_dimensions = array<i64: 1, 1, 2, 2>, window_strides = array<i64: 1, 1, 2, 2>}
        : (tensor<1x8x4x4xf32>, tensor<f32>) -> tensor<1x8x2x2xf32>
      %15 = stablehlo.broadcast_in_dim %14, dims = [0, 1, 2, 4]
        : (tensor<1x8x2x2xf32>) -> tensor<1x8x2x2x2x2xf32>
      %16 = stablehlo.reshape %15 : (tensor<1x8x2x2x2x2xf32>) -> tensor<1x8x4x4xf32>
      %17 = stablehlo.convolution(%16, %v) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {}
        {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
        : (tensor<1x8x4x4xf32>, tensor<8x8x1x1xf32>) -> tensor<1x8x4x4xf32>
      %18 = stablehlo.reshape %17 : (tensor<1x8x4x4xf32>) -> tensor<1x2x4x4x4xf32>
      %19 = stablehlo.transpose %18, dims = [0, 2, 1, 3, 4] : (tensor<1x2x4x4x4xf32>) -> tensor<1x4x2x4x4xf32>
      %20 = stablehlo.reshape %19 : (tensor<1x4x2x4x4xf32>) -> tensor<1x8x4x4xf32>
      %21 = stablehlo.convolution(%20, %v) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {}
        {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
        : (tensor<1x8x4x4xf32>, tensor<8x8x1x1xf32>) -> tensor<1x8x4x4xf32>
      %22 = stablehlo.transpose %21, dims = [0, 2, 3, 1] : (tensor<1x8x4x4xf32>) -> tensor<1x4x4x8xf32>
      %23 = stablehlo.reduce(%22 init: %zero) applies stablehlo.add across dimensions = [3]
        : (tensor<1x4x4x8xf32>, tensor<f32>) -> tensor<1x4x4xf32>
      %eight = stablehlo.constant dense<8.0> : tensor<1x4x4xf32>
      %24 = stablehlo.divide %23, %eight : tensor<1x4x4xf32>
      %25 = stablehlo.broadcast_in_dim %24, dims = [0, 1, 2] : (tensor<1x4x4xf32>) -> tensor<1x4x4x8xf32>
      %26 = stablehlo.subtract %22, %25 : tensor<1x4x4x8xf32>
      %27 = stablehlo.multiply %26, %26 : tensor<1x4x4x8xf32>
      %28 = stablehlo.reduce(%27 init: %zero) applies stablehlo.add across dimensions = [3]
        : (tensor<1x4x4x8xf32>, tensor<f32>) -> tensor<1x4x4xf32>
      %29 = stablehlo.divide %28, %eight : tensor<1x4x4xf32>
      %smaller = stablehlo.constant dense<1.0e-6> : tensor<1x4x4xf32>
      %30 = stablehlo.add %29, %smaller : tensor<1x4x4xf32>
      %31 = stablehlo.rsqrt %30 : tensor<1x4x4xf32>
      %spread = stablehlo.broadcast_in_dim %31, dims = [0, 1, 2] : (tensor<1x4x4xf32>) -> tensor<1x4x4x8xf32>
      %even = stablehlo.multiply %26, %spread : tensor<1x4x4x8xf32>
      %32 = stablehlo.transpose %even, dims = [0, 3, 1, 2] : (tensor<1x4x4x8xf32>) -> tensor<1x8x4x4xf32>
      %33 = stablehlo.convolution(%32, %v) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {}
        {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
        : (tensor<1x8x4x4xf32>, tensor<8x8x1x1xf32>) -> tensor<1x8x4x4xf32>
      %34 = stablehlo.reduce(%33 init: %zero) applies stablehlo.add across dimensions = [2, 3]
        : (tensor<1x8x4x4xf32>, tensor<f32>) -> tensor<1x8xf32>
      %area = stablehlo.constant dense<16.0> : tensor<1x8xf32>
      %35 = stablehlo.divide %34, %area : tensor<1x8xf32>
      return %35 : tensor<1x8xf32>
    })",
    // Gradients of convolutions: of weights, of groups of them and of each channel's, and of an input with
    // zeros between its pixels.
    R"(func.func @main(%x: tensor<2x4x9x9xf32>, %g: tensor<2x8x9x9xf32>, %h: tensor<2x4x5x5xf32>,
        %w: tensor<4x1x3x3xf32>) -> (tensor<8x4x3x3xf32>, tensor<8x2x3x3xf32>, tensor<4x1x3x3xf32>,
        tensor<2x4x9x9xf32>) {
      %0 = stablehlo.convolution(%x, %g) dim_numbers = [f, b, 0, 1]x[i, o, 0, 1]->[f, b, 0, 1],
        window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
        : (tensor<2x4x9x9xf32>, tensor<2x8x9x9xf32>) -> tensor<8x4x3x3xf32>
      %1 = stablehlo.convolution(%x, %g) dim_numbers = [f, b, 0, 1]x[i, o, 0, 1]->[f, b, 0, 1],
        window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 2 : i64, feature_group_count = 1 : i64}
        : (tensor<2x4x9x9xf32>, tensor<2x8x9x9xf32>) -> tensor<8x2x3x3xf32>
      %2 = stablehlo.convolution(%x, %h) dim_numbers = [f, b, 0, 1]x[i, o, 0, 1]->[f, b, 0, 1],
        window = {pad = [[1, 1], [1, 1]], rhs_dilate = [2, 2]}
        {batch_group_count = 4 : i64, feature_group_count = 1 : i64}
        : (tensor<2x4x9x9xf32>, tensor<2x4x5x5xf32>) -> tensor<4x1x3x3xf32>
      %3 = stablehlo.convolution(%h, %w) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1],
        window = {pad = [[1, 1], [1, 1]], lhs_dilate = [2, 2]}
        {batch_group_count = 1 : i64, feature_group_count = 4 : i64}
        : (tensor<2x4x5x5xf32>, tensor<4x1x3x3xf32>) -> tensor<2x4x9x9xf32>
      return %0, %1, %2, %3 : tensor<8x4x3x3xf32>, tensor<8x2x3x3xf32>, tensor<4x1x3x3xf32>, tensor<2x4x9x9xf32>
    })",
    // An inverted bottleneck: a pair of convolutions, and one behind a gate.
    R"(func.func @main(%x: tensor<1x4x23x23xf32>, %w: tensor<8x4x1x1xf32> {torchere.weight = true},
        %h: tensor<8x1x3x3xf32> {torchere.weight = true}, %g: tensor<8x8x1x1xf32> {torchere.weight = true},
        %v: tensor<4x8x1x1xf32> {torchere.weight = true}) -> tensor<1x4x23x23xf32> {
      %zero = stablehlo.constant dense<0.0> : tensor<f32>
      %zeros = stablehlo.constant dense<0.0> : tensor<1x8x23x23xf32>
      %area = stablehlo.constant dense<529.0> : tensor<1x8xf32>
      %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {}
        {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
        : (tensor<1x4x23x23xf32>, tensor<8x4x1x1xf32>) -> tensor<1x8x23x23xf32>
      %1 = stablehlo.maximum %0, %zeros : tensor<1x8x23x23xf32>
      %2 = stablehlo.convolution(%1, %h) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1],
        window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 8 : i64}
        : (tensor<1x8x23x23xf32>, tensor<8x1x3x3xf32>) -> tensor<1x8x23x23xf32>
      %3 = stablehlo.reduce(%2 init: %zero) applies stablehlo.add across dimensions = [2, 3]
        : (tensor<1x8x23x23xf32>, tensor<f32>) -> tensor<1x8xf32>
      %4 = stablehlo.divide %3, %area : tensor<1x8xf32>
      %5 = stablehlo.reshape %4 : (tensor<1x8xf32>) -> tensor<1x8x1x1xf32>
      %6 = stablehlo.convolution(%5, %g) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {}
        {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
        : (tensor<1x8x1x1xf32>, tensor<8x8x1x1xf32>) -> tensor<1x8x1x1xf32>
      %7 = stablehlo.logistic %6 : tensor<1x8x1x1xf32>
      %8 = stablehlo.broadcast_in_dim %7, dims = [0, 1, 2, 3]
        : (tensor<1x8x1x1xf32>) -> tensor<1x8x23x23xf32>
      %9 = stablehlo.multiply %2, %8 : tensor<1x8x23x23xf32>
      %10 = stablehlo.convolution(%9, %v) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {}
        {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
        : (tensor<1x8x23x23xf32>, tensor<4x8x1x1xf32>) -> tensor<1x4x23x23xf32>
      return %10 : tensor<1x4x23x23xf32>
    })",
    // A loop that bisects a table, and softmax along a dimension that is not the last.
    R"(func.func @main(%table: tensor<9xi32>, %x: tensor<5xi32>, %y: tensor<2x3x8xf32>)
        -> (tensor<5xui32>, tensor<2x3x8xf32>) {
      %zero = stablehlo.constant dense<0> : tensor<i32>
      %low_0 = stablehlo.constant dense<0> : tensor<5xui32>
      %high_0 = stablehlo.constant dense<9> : tensor<5xui32>
      %limit = stablehlo.constant dense<4> : tensor<i32>
      %turned:3 = stablehlo.while(%i = %zero, %low = %low_0, %high = %high_0)
        : tensor<i32>, tensor<5xui32>, tensor<5xui32>
      cond {
        %continues = stablehlo.compare LT, %i, %limit, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %continues : tensor<i1>
      } do {
        %one = stablehlo.constant dense<1> : tensor<i32>
        %two = stablehlo.constant dense<2> : tensor<5xui32>
        %difference = stablehlo.subtract %high, %low : tensor<5xui32>
        %half = stablehlo.divide %difference, %two : tensor<5xui32>
        %middle = stablehlo.add %low, %half : tensor<5xui32>
        %at = stablehlo.reshape %middle : (tensor<5xui32>) -> tensor<5x1xui32>
        %column = "stablehlo.gather"(%table, %at) <{dimension_numbers = #stablehlo.gather<offset_dims = [1],
          start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1>}>
          : (tensor<9xi32>, tensor<5x1xui32>) -> tensor<5x1xi32>
        %element = stablehlo.reshape %column : (tensor<5x1xi32>) -> tensor<5xi32>
        %left = stablehlo.compare LT, %x, %element, SIGNED : (tensor<5xi32>, tensor<5xi32>) -> tensor<5xi1>
        %next_low = stablehlo.select %left, %low, %middle : tensor<5xi1>, tensor<5xui32>
        %next_high = stablehlo.select %left, %middle, %high : tensor<5xi1>, tensor<5xui32>
        %next = stablehlo.add %i, %one : tensor<i32>
        stablehlo.return %next, %next_low, %next_high : tensor<i32>, tensor<5xui32>, tensor<5xui32>
      }
      %least = stablehlo.constant dense<0xFF800000> : tensor<f32>
      %none = stablehlo.constant dense<0.0> : tensor<f32>
      %0 = stablehlo.reduce(%y init: %least) applies stablehlo.maximum across dimensions = [1]
        : (tensor<2x3x8xf32>, tensor<f32>) -> tensor<2x8xf32>
      %1 = stablehlo.broadcast_in_dim %0, dims = [0, 2] : (tensor<2x8xf32>) -> tensor<2x3x8xf32>
      %2 = stablehlo.subtract %y, %1 : tensor<2x3x8xf32>
      %3 = stablehlo.exponential %2 : tensor<2x3x8xf32>
      %4 = stablehlo.reduce(%3 init: %none) applies stablehlo.add across dimensions = [1]
        : (tensor<2x3x8xf32>, tensor<f32>) -> tensor<2x8xf32>
      %5 = stablehlo.broadcast_in_dim %4, dims = [0, 2] : (tensor<2x8xf32>) -> tensor<2x3x8xf32>
      %6 = stablehlo.divide %3, %5 : tensor<2x3x8xf32>
      return %turned#2, %6 : tensor<5xui32>, tensor<2x3x8xf32>
    })",
    // One of several weights.
    R"(func.func @main(%x: tensor<3x8xf32>, %w: tensor<4x8x20xf32> {torchere.weight = true}, %i: tensor<i32>)
        -> tensor<3x20xf32> {
      %zero = stablehlo.constant dense<0> : tensor<i32>
      %0 = stablehlo.dynamic_slice %w, %i, %zero, %zero, sizes = [1, 8, 20]
        : (tensor<4x8x20xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x8x20xf32>
      %1 = stablehlo.reshape %0 : (tensor<1x8x20xf32>) -> tensor<8x20xf32>
      %2 = stablehlo.dot_general %x, %1, contracting_dims = [1] x [0]
        : (tensor<3x8xf32>, tensor<8x20xf32>) -> tensor<3x20xf32>
      return %2 : tensor<3x20xf32>
    })",
    // Pooling with places, and its gradient.
    R"(func.func @main(%x: tensor<2x5x6xf32>, %g: tensor<2x3x3xf32>)
        -> (tensor<2x3x3xf32>, tensor<2x3x3xi64>, tensor<2x5x6xf32>) {
      %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
      %zero = stablehlo.constant dense<0.0> : tensor<f32>
      %last = stablehlo.constant dense<9223372036854775807> : tensor<i64>
      %0 = stablehlo.iota dim = 0 : tensor<30xi64>
      %1 = stablehlo.reshape %0 : (tensor<30xi64>) -> tensor<5x6xi64>
      %2 = stablehlo.broadcast_in_dim %1, dims = [1, 2] : (tensor<5x6xi64>) -> tensor<2x5x6xi64>
      %3:2 = "stablehlo.reduce_window"(%x, %2, %low, %last) <{padding = dense<[[0, 0], [1, 1], [1, 1]]> : tensor<3x2xi64>,
          window_dimensions = array<i64: 1, 3, 3>, window_strides = array<i64: 1, 2, 2>}> ({
      ^bb0(%a: tensor<f32>, %i: tensor<i64>, %b: tensor<f32>, %k: tensor<i64>):
        %5 = stablehlo.compare LT, %k, %i, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
        %6 = stablehlo.compare EQ, %b, %a, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
        %7 = stablehlo.and %6, %5 : tensor<i1>
        %8 = stablehlo.compare GT, %b, %a, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
        %9 = stablehlo.or %8, %7 : tensor<i1>
        %10 = stablehlo.compare NE, %b, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
        %11 = stablehlo.or %9, %10 : tensor<i1>
        %12 = stablehlo.select %11, %b, %a : tensor<i1>, tensor<f32>
        %13 = stablehlo.select %11, %k, %i : tensor<i1>, tensor<i64>
        stablehlo.return %12, %13 : tensor<f32>, tensor<i64>
      }) : (tensor<2x5x6xf32>, tensor<2x5x6xi64>, tensor<f32>, tensor<i64>)
        -> (tensor<2x3x3xf32>, tensor<2x3x3xi64>)
      %4 = "stablehlo.select_and_scatter"(%x, %g, %zero) <{padding = dense<[[0, 0], [1, 1], [1, 1]]> : tensor<3x2xi64>,
          window_dimensions = array<i64: 1, 3, 3>, window_strides = array<i64: 1, 2, 2>}> ({
      ^bb0(%a: tensor<f32>, %b: tensor<f32>):
        %5 = stablehlo.compare GE, %a, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
        stablehlo.return %5 : tensor<i1>
      }, {
      ^bb0(%a: tensor<f32>, %b: tensor<f32>):
        %5 = stablehlo.add %a, %b : tensor<f32>
        stablehlo.return %5 : tensor<f32>
      }) : (tensor<2x5x6xf32>, tensor<2x3x3xf32>, tensor<f32>) -> tensor<2x5x6xf32>
      return %3#0, %3#1, %4 : tensor<2x3x3xf32>, tensor<2x3x3xi64>, tensor<2x5x6xf32>
    })",
    // Rows: in tiles as a whole, and longer ones.
    R"(func.func @main(%x: tensor<16x20xf32>, %y: tensor<16x32800xf32>) -> (tensor<16x20xf32>, tensor<16xf32>,
                                                                          tensor<16x32800xf32>) {
      %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
      %zero = stablehlo.constant dense<0.0> : tensor<f32>
      %0 = stablehlo.reduce(%x init: %low) applies stablehlo.maximum across dimensions = [1]
        : (tensor<16x20xf32>, tensor<f32>) -> tensor<16xf32>
      %1 = stablehlo.broadcast_in_dim %0, dims = [0] : (tensor<16xf32>) -> tensor<16x20xf32>
      %2 = stablehlo.divide %x, %1 : tensor<16x20xf32>
      %3 = stablehlo.multiply %2, %x : tensor<16x20xf32>
      %4 = stablehlo.reduce(%3 init: %zero) applies stablehlo.add across dimensions = [1]
        : (tensor<16x20xf32>, tensor<f32>) -> tensor<16xf32>
      %5 = stablehlo.broadcast_in_dim %4, dims = [0] : (tensor<16xf32>) -> tensor<16x20xf32>
      %6 = stablehlo.subtract %2, %5 : tensor<16x20xf32>
      %7 = stablehlo.reduce(%y init: %zero) applies stablehlo.add across dimensions = [1]
        : (tensor<16x32800xf32>, tensor<f32>) -> tensor<16xf32>
      %8 = stablehlo.broadcast_in_dim %7, dims = [0] : (tensor<16xf32>) -> tensor<16x32800xf32>
      %9 = stablehlo.divide %y, %8 : tensor<16x32800xf32>
      return %6, %4, %9 : tensor<16x20xf32>, tensor<16xf32>, tensor<16x32800xf32>
    })",
};

} // namespace torchere
