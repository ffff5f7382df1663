// RUN: torchere-opt %s -split-input-file -verify-diagnostics | FileCheck %s

// CHECK-LABEL: func private @attributes
// CHECK-SAME: axis = #stablehlo.axis_ref<name = "x\22y">
// CHECK-SAME: channel = #stablehlo.channel_handle<handle = -1, type = 0>
// CHECK-SAME: devices = #stablehlo.mesh<axes=[<name = "x", size = 2>], device_ids=dense<[1, 0]> : tensor<2xi64>>
// CHECK-SAME: groups = #stablehlo.replica_group_mesh_axes<mesh = #stablehlo.mesh<axes=[<name = "x", size = 2>]>, axes = []>
// CHECK-SAME: mesh_axis = #stablehlo.mesh_axis<name = "y", size = -2>
// CHECK-SAME: part = #stablehlo.axis_ref<name = "x", sub_axis_info = (1)2>
func.func private @attributes() attributes {
  axis = #stablehlo.axis_ref<name = "x\"y">,
  part = #stablehlo.axis_ref<sub_axis_info = (1)2, name = "x">,
  mesh_axis = #stablehlo.mesh_axis<size = -2, name = "y">,
  devices = #stablehlo.mesh<axes = [<name = "x", size = 2>], device_ids = dense<[1, 0]> : tensor<2xi64>>,
  groups = #stablehlo.replica_group_mesh_axes<axes = [], mesh = #stablehlo.mesh<axes=[<name = "x", size = 2>]>>,
  channel = #stablehlo.channel_handle<type = 0, handle = -1>
}

// -----

// expected-error@+1 {{missing field 'name'}}
func.func private @axis() attributes {axis = #stablehlo.axis_ref<sub_axis_info = (1)2>}

// -----

// expected-error@+1 {{missing field 'size'}}
func.func private @mesh_axis() attributes {axis = #stablehlo.mesh_axis<name = "x">}

// -----

// expected-error@+1 {{missing field 'type'}}
func.func private @channel() attributes {channel = #stablehlo.channel_handle<handle = 1>}

// -----

// expected-error@+1 {{field 'handle' given twice}}
func.func private @twice() attributes {channel = #stablehlo.channel_handle<handle = 1, handle = 1>}
