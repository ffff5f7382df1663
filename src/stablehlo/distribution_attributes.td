// Attributes that say which processes take part in a communication.
#ifndef TORCHERE_STABLEHLO_DISTRIBUTION_ATTRIBUTES
#define TORCHERE_STABLEHLO_DISTRIBUTION_ATTRIBUTES

include "attribute_base.td"
include "mlir/IR/CommonAttrConstraints.td"
include "mlir/IR/SymbolInterfaces.td"

def StableHLO_ChannelHandleAttr : StableHLO_Attr<"ChannelHandle", "channel_handle"> {
  let summary = "the channel of a communication: channel_id and channel_type of the specification";
  let parameters = (ins "int64_t":$handle, "int64_t":$type);
}

def StableHLO_SubAxisInfoAttr : StableHLO_Attr<"SubAxisInfo", "sub_axis_info"> {
  let summary = "a part of a mesh axis: the product of the parts before it, and its own size";
  let parameters = (ins "int64_t":$preSize, "int64_t":$size);
}

def StableHLO_AxisRefAttr : StableHLO_Attr<"AxisRef", "axis_ref"> {
  let summary = "an axis of a mesh, or a part of one";
  let parameters = (ins
    StringRefParameter<>:$name,
    OptionalParameter<"::torchere::stablehlo::SubAxisInfoAttr">:$subAxisInfo);
}

def StableHLO_MeshAxisAttr : StableHLO_Attr<"MeshAxis", "mesh_axis"> {
  let summary = "name and size of one axis of a mesh";
  let parameters = (ins StringRefParameter<>:$name, "int64_t":$size);
}

def StableHLO_MeshAttr : StableHLO_Attr<"Mesh", "mesh"> {
  let summary = "an arrangement of devices along named axes";
  let parameters = (ins
    ArrayRefParameter<"::torchere::stablehlo::MeshAxisAttr">:$axes,
    OptionalParameter<"::mlir::DenseIntElementsAttr">:$deviceIds);
}

def StableHLO_ReplicaGroupMeshAxesAttr
    : StableHLO_Attr<"ReplicaGroupMeshAxes", "replica_group_mesh_axes",
                     [DeclareAttrInterfaceMethods<SymbolUserAttrInterface>]> {
  let summary = "replica groups as the axes of a mesh along which processes communicate";
  // The mesh is a MeshAttr, or the symbol of an op that holds one; the axes are AxisRefAttrs.
  let parameters = (ins "::mlir::Attribute":$mesh, "::mlir::ArrayAttr":$axes);
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// The number of processes in a group; nothing when the mesh is a symbol.
    std::optional<int64_t> getGroupSize() const;
  }];
}

def StableHLO_ReplicaGroupsAttr : AnyAttrOf<[I64ElementsAttr, StableHLO_ReplicaGroupMeshAxesAttr]>;

#endif
