// RUN: torchere-opt %s --stablehlo-compatibility-expander=target=1.15.0 | FileCheck %s --check-prefixes=CHECK,OLD
// RUN: torchere-opt %s --stablehlo-compatibility-expander=target=1.16.0 | FileCheck %s --check-prefixes=CHECK,NEW

// Along y: the devices that have the same x.
// CHECK-LABEL: func @axis
// OLD: replica_groups = dense<{{\[\[}}0, 1, 2], [3, 4, 5]]> : tensor<2x3xi64>
// NEW: replica_groups = #stablehlo.replica_group_mesh_axes
func.func @axis(%x: tensor<2xf32>) -> tensor<6xf32> {
  %0 = "stablehlo.all_gather"(%x) <{all_gather_dim = 0 : i64, replica_groups = #stablehlo.replica_group_mesh_axes<mesh = #stablehlo.mesh<axes=[<name = "x", size = 2>, <name = "y", size = 3>]>, axes = [#stablehlo.axis_ref<name = "y">]>}> : (tensor<2xf32>) -> tensor<6xf32>
  return %0 : tensor<6xf32>
}

// In the order of the list: y outside, x inside.
// CHECK-LABEL: func @order
// OLD: replica_groups = dense<{{\[\[}}0, 3, 1, 4, 2, 5]]> : tensor<1x6xi64>
func.func @order(%x: tensor<2xf32>) -> tensor<12xf32> {
  %0 = "stablehlo.all_gather"(%x) <{all_gather_dim = 0 : i64, replica_groups = #stablehlo.replica_group_mesh_axes<mesh = #stablehlo.mesh<axes=[<name = "x", size = 2>, <name = "y", size = 3>]>, axes = [#stablehlo.axis_ref<name = "y">, #stablehlo.axis_ref<name = "x">]>}> : (tensor<2xf32>) -> tensor<12xf32>
  return %0 : tensor<12xf32>
}

// The middle part, of size 2, of an axis of 8, whose devices are in reverse order.
// CHECK-LABEL: func @part
// OLD: replica_groups = dense<{{\[\[}}7, 5], [6, 4], [3, 1], [2, 0]]> : tensor<4x2xi64>
func.func @part(%x: tensor<2xf32>) -> tensor<4xf32> {
  %0 = "stablehlo.all_gather"(%x) <{all_gather_dim = 0 : i64, replica_groups = #stablehlo.replica_group_mesh_axes<mesh = #stablehlo.mesh<axes=[<name = "x", size = 8>], device_ids=dense<[7, 6, 5, 4, 3, 2, 1, 0]> : tensor<8xi64>>, axes = [#stablehlo.axis_ref<name = "x", sub_axis_info = (2)2>]>}> : (tensor<2xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// A part that does not divide the axis cannot be listed: it stays.
// CHECK-LABEL: func @indivisible
// OLD: replica_groups = #stablehlo.replica_group_mesh_axes
func.func @indivisible(%x: tensor<2xf32>) -> tensor<8xf32> {
  %0 = "stablehlo.all_gather"(%x) <{all_gather_dim = 0 : i64, replica_groups = #stablehlo.replica_group_mesh_axes<mesh = #stablehlo.mesh<axes=[<name = "x", size = 6>]>, axes = [#stablehlo.axis_ref<name = "x", sub_axis_info = (1)4>]>}> : (tensor<2xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
