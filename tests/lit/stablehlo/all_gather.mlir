// RUN: torchere-opt %s -split-input-file -verify-diagnostics | FileCheck %s

// CHECK-LABEL: func @all_gather
func.func @all_gather(%arg0: tensor<4x8xf32>, %arg1: tensor<2x?xi8>) {
  // CHECK: "stablehlo.all_gather"(%arg0) <{all_gather_dim = 1 : i64, replica_groups = dense<{{\[\[}}0, 1], [2, 3]]> : tensor<2x2xi64>}> : (tensor<4x8xf32>) -> tensor<4x16xf32>
  %0 = "stablehlo.all_gather"(%arg0) {all_gather_dim = 1 : i64, replica_groups = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>} : (tensor<4x8xf32>) -> tensor<4x16xf32>
  // CHECK: "stablehlo.all_gather"(%arg0) <{all_gather_dim = 1 : i64, channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>, replica_groups = dense<{{\[\[}}1, 0]]> : tensor<1x2xi64>, use_global_device_ids}> {note} : (tensor<4x8xf32>) -> tensor<4x16xf32>
  %1 = "stablehlo.all_gather"(%arg0) <{use_global_device_ids, channel_handle = #stablehlo.channel_handle<type = 0, handle = 1>, all_gather_dim = 1 : i64, replica_groups = dense<[[1, 0]]> : tensor<1x2xi64>}> {note} : (tensor<4x8xf32>) -> tensor<4x16xf32>
  // Several operands, an unknown size, and a channel: the number of partitions may multiply the groups.
  // CHECK: "stablehlo.all_gather"(%arg0, %arg1) <{{.*}} : (tensor<4x8xf32>, tensor<2x?xi8>) -> (tensor<16x8xf32>, tensor<8x?xi8>)
  %2:2 = "stablehlo.all_gather"(%arg0, %arg1) <{all_gather_dim = 0 : i64, channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<4x8xf32>, tensor<2x?xi8>) -> (tensor<16x8xf32>, tensor<8x?xi8>)
  // One group of all processes.
  // CHECK: "stablehlo.all_gather"(%arg0) <{all_gather_dim = 0 : i64, replica_groups = dense<> : tensor<0x0xi64>}> : (tensor<4x8xf32>) -> tensor<12x8xf32>
  %3 = "stablehlo.all_gather"(%arg0) <{all_gather_dim = 0 : i64, replica_groups = dense<> : tensor<0x0xi64>}> : (tensor<4x8xf32>) -> tensor<12x8xf32>
  return
}

// -----

// Any symbol will do: who defines meshes is not StableHLO's to say.
func.func private @mesh()

// CHECK-LABEL: func @axes
func.func @axes(%arg0: tensor<4x8xf32>) {
  // CHECK: replica_groups = #stablehlo.replica_group_mesh_axes<mesh = #stablehlo.mesh<axes=[<name = "x", size = 2>, <name = "y", size = 4>]>, axes = [#stablehlo.axis_ref<name = "x">]>
  %0 = "stablehlo.all_gather"(%arg0) <{all_gather_dim = 1 : i64, replica_groups = #stablehlo.replica_group_mesh_axes<mesh = #stablehlo.mesh<axes = [#stablehlo.mesh_axis<name = "x", size = 2>, <size = 4, name = "y">]>, axes = [#stablehlo.axis_ref<name = "x">]>}> : (tensor<4x8xf32>) -> tensor<4x16xf32>
  // CHECK: mesh = #stablehlo.mesh<axes=[<name = "y", size = 4>], device_ids=dense<[3, 2, 1, 0]> : tensor<4xi64>>, axes = [#stablehlo.axis_ref<name = "y", sub_axis_info = (1)2>]>
  %1 = "stablehlo.all_gather"(%arg0) <{all_gather_dim = 1 : i64, replica_groups = #stablehlo.replica_group_mesh_axes<mesh = #stablehlo.mesh<axes=[<name = "y", size = 4>], device_ids = dense<[3, 2, 1, 0]> : tensor<4xi64>>, axes = [#stablehlo.axis_ref<name = "y", sub_axis_info = (1)2>]>}> : (tensor<4x8xf32>) -> tensor<4x16xf32>
  // CHECK: replica_groups = #stablehlo.replica_group_mesh_axes<mesh = @mesh, axes = [#stablehlo.axis_ref<name = "y">]>
  %2 = "stablehlo.all_gather"(%arg0) <{all_gather_dim = 1 : i64, replica_groups = #stablehlo.replica_group_mesh_axes<mesh = @mesh, axes = [#stablehlo.axis_ref<name = "y">]>}> : (tensor<4x8xf32>) -> tensor<4x16xf32>
  return
}

// -----

// No channel, against (C5), and parts that are not as many as the processes, against (C6): upstream takes it, and
// published artifacts have it.
// CHECK-LABEL: func @as_published
func.func @as_published(%arg0: tensor<4x8xf32>) {
  // CHECK: "stablehlo.all_gather"(%arg0) <{{.*}} : (tensor<4x8xf32>) -> tensor<4x16xf32>
  %0 = "stablehlo.all_gather"(%arg0) <{all_gather_dim = 1 : i64, replica_groups = dense<[[0], [1]]> : tensor<2x1xi64>}> : (tensor<4x8xf32>) -> tensor<4x16xf32>
  // CHECK: "stablehlo.all_gather"(%arg0) <{{.*}}, use_global_device_ids}> : (tensor<4x8xf32>) -> tensor<4x16xf32>
  %1 = "stablehlo.all_gather"(%arg0) <{all_gather_dim = 1 : i64, replica_groups = dense<[[0], [1]]> : tensor<2x1xi64>, channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>, use_global_device_ids}> : (tensor<4x8xf32>) -> tensor<4x16xf32>
  // CHECK: "stablehlo.all_gather"(%arg0) <{{.*}}, use_global_device_ids}> : (tensor<4x8xf32>) -> tensor<4x16xf32>
  %2 = "stablehlo.all_gather"(%arg0) <{all_gather_dim = 1 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, use_global_device_ids}> : (tensor<4x8xf32>) -> tensor<4x16xf32>
  // CHECK: axes=[<name = "x", size = 2>, <name = "y", size = 4>]>, axes = [#stablehlo.axis_ref<name = "x">]>}> : (tensor<4x8xf32>) -> tensor<4x32xf32>
  %3 = "stablehlo.all_gather"(%arg0) <{all_gather_dim = 1 : i64, replica_groups = #stablehlo.replica_group_mesh_axes<mesh = #stablehlo.mesh<axes=[<name = "x", size = 2>, <name = "y", size = 4>]>, axes = [#stablehlo.axis_ref<name = "x">]>}> : (tensor<4x8xf32>) -> tensor<4x32xf32>
  return
}

// -----

func.func @c1(%arg0: tensor<4x8xf32>) {
  // expected-error@+1 {{'stablehlo.all_gather' op (C1) all_gather_dim out of range: got 2, expected it in [0, 2)}}
  %0 = "stablehlo.all_gather"(%arg0) <{all_gather_dim = 2 : i64, replica_groups = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>}> : (tensor<4x8xf32>) -> tensor<4x16xf32>
  return
}

// -----

func.func @c2(%arg0: tensor<4x8xf32>) {
  // expected-error@+1 {{'stablehlo.all_gather' op (C2) replica_groups not unique: 1 occurs twice}}
  %0 = "stablehlo.all_gather"(%arg0) <{all_gather_dim = 1 : i64, replica_groups = dense<[[0, 1], [1, 3]]> : tensor<2x2xi64>}> : (tensor<4x8xf32>) -> tensor<4x16xf32>
  return
}

// -----

func.func @matrix(%arg0: tensor<4x8xf32>) {
  // expected-error@+1 {{'stablehlo.all_gather' op replica_groups is 'tensor<2xi64>', expected a matrix}}
  %0 = "stablehlo.all_gather"(%arg0) <{all_gather_dim = 1 : i64, replica_groups = dense<[0, 1]> : tensor<2xi64>}> : (tensor<4x8xf32>) -> tensor<4x16xf32>
  return
}

// -----

func.func @c4(%arg0: tensor<4x8xf32>) {
  // expected-error@+1 {{'stablehlo.all_gather' op (C4) replica_groups out of range: got 4, expected it in [0, 4)}}
  %0 = "stablehlo.all_gather"(%arg0) <{all_gather_dim = 1 : i64, replica_groups = dense<[[0, 1], [2, 4]]> : tensor<2x2xi64>}> : (tensor<4x8xf32>) -> tensor<4x16xf32>
  return
}

// -----

func.func @c4_padded(%arg0: tensor<4x8xf32>) {
  // expected-error@+1 {{'stablehlo.all_gather' op (C4) replica_groups out of range: got -1, expected it in [0, 4)}}
  %0 = "stablehlo.all_gather"(%arg0) <{all_gather_dim = 1 : i64, replica_groups = dense<[[0, 1], [2, -1]]> : tensor<2x2xi64>}> : (tensor<4x8xf32>) -> tensor<4x16xf32>
  return
}

// -----

func.func @c5(%arg0: tensor<4x8xf32>) {
  // expected-error@+1 {{'stablehlo.all_gather' op (C5) channel id too small: got -1, expected at least 0}}
  %0 = "stablehlo.all_gather"(%arg0) <{all_gather_dim = 1 : i64, replica_groups = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>, channel_handle = #stablehlo.channel_handle<handle = -1, type = 0>, use_global_device_ids}> : (tensor<4x8xf32>) -> tensor<4x16xf32>
  return
}

// -----

func.func @c6_results(%arg0: tensor<4x8xf32>) {
  // expected-error@+1 {{'stablehlo.all_gather' op (C6) results has the wrong number of elements: got 2, expected 1}}
  %0:2 = "stablehlo.all_gather"(%arg0) <{all_gather_dim = 1 : i64, replica_groups = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>}> : (tensor<4x8xf32>) -> (tensor<4x16xf32>, tensor<4x16xf32>)
  return
}

// -----

func.func @c6_elements(%arg0: tensor<4x8xf32>) {
  // expected-error@+1 {{'stablehlo.all_gather' op (C6) element types of operand and result differ: got 'f32' and 'f64'}}
  %0 = "stablehlo.all_gather"(%arg0) <{all_gather_dim = 1 : i64, replica_groups = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>}> : (tensor<4x8xf32>) -> tensor<4x16xf64>
  return
}

// -----

func.func @c6_rank(%arg0: tensor<4x8xf32>) {
  // expected-error@+1 {{'stablehlo.all_gather' op (C6) ranks differ: 'tensor<4x16x1xf32>' is not made of 'tensor<4x8xf32>' along dimension 1}}
  %0 = "stablehlo.all_gather"(%arg0) <{all_gather_dim = 1 : i64, replica_groups = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>}> : (tensor<4x8xf32>) -> tensor<4x16x1xf32>
  return
}

// -----

func.func @c6_shape(%arg0: tensor<4x8xf32>) {
  // expected-error@+1 {{'stablehlo.all_gather' op (C6) shapes differ in dimension 0: 'tensor<5x16xf32>' is not made of 'tensor<4x8xf32>' along dimension 1}}
  %0 = "stablehlo.all_gather"(%arg0) <{all_gather_dim = 1 : i64, replica_groups = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>}> : (tensor<4x8xf32>) -> tensor<5x16xf32>
  return
}

// -----

func.func @c6_divide(%arg0: tensor<4x8xf32>) {
  // expected-error@+1 {{'stablehlo.all_gather' op (C6) sizes do not divide: 'tensor<4x17xf32>' is not made of 'tensor<4x8xf32>' along dimension 1}}
  %0 = "stablehlo.all_gather"(%arg0) <{all_gather_dim = 1 : i64, replica_groups = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>, channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>}> : (tensor<4x8xf32>) -> tensor<4x17xf32>
  return
}

// -----

func.func @no_axis(%arg0: tensor<4x8xf32>) {
  // expected-error@+1 {{replica group's axis 'z' is not in its mesh}}
  %0 = "stablehlo.all_gather"(%arg0) <{all_gather_dim = 1 : i64, replica_groups = #stablehlo.replica_group_mesh_axes<mesh = #stablehlo.mesh<axes=[<name = "x", size = 2>, <name = "y", size = 4>]>, axes = [#stablehlo.axis_ref<name = "z">]>}> : (tensor<4x8xf32>) -> tensor<4x16xf32>
  return
}

// -----

func.func @no_mesh(%arg0: tensor<4x8xf32>) {
  // expected-error@+1 {{'stablehlo.all_gather' op replica group's mesh @nowhere is not defined}}
  %0 = "stablehlo.all_gather"(%arg0) <{all_gather_dim = 1 : i64, replica_groups = #stablehlo.replica_group_mesh_axes<mesh = @nowhere, axes = [#stablehlo.axis_ref<name = "x">]>}> : (tensor<4x8xf32>) -> tensor<4x16xf32>
  return
}

// -----

func.func @not_an_axis(%arg0: tensor<4x8xf32>) {
  // expected-error@+1 {{replica group's axes hold 1 : i32, expected #stablehlo.axis_ref}}
  %0 = "stablehlo.all_gather"(%arg0) <{all_gather_dim = 1 : i64, replica_groups = #stablehlo.replica_group_mesh_axes<mesh = #stablehlo.mesh<axes=[<name = "x", size = 2>, <name = "y", size = 4>]>, axes = [1 : i32]>}> : (tensor<4x8xf32>) -> tensor<4x16xf32>
  return
}

// -----

func.func @not_a_mesh(%arg0: tensor<4x8xf32>) {
  // expected-error@+1 {{replica group's mesh is 1 : i32, expected a symbol or #stablehlo.mesh}}
  %0 = "stablehlo.all_gather"(%arg0) <{all_gather_dim = 1 : i64, replica_groups = #stablehlo.replica_group_mesh_axes<mesh = 1 : i32, axes = [#stablehlo.axis_ref<name = "x">]>}> : (tensor<4x8xf32>) -> tensor<4x16xf32>
  return
}
