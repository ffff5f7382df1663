// Text and checks of the attributes that say which processes take part in a communication.
#include "stablehlo/attribute_fields.h"
#include "stablehlo/dialect.h"

using namespace mlir;

namespace torchere::stablehlo {

//===- channel_handle -----------------------------------------------------===//

void ChannelHandleAttr::print(AsmPrinter &printer) const {
  FieldPrinter fields(printer);
  fields.integer("handle", getHandle());
  fields.integer("type", getType());
}

Attribute ChannelHandleAttr::parse(AsmParser &parser, Type) {
  int64_t handle = 0, type = 0;
  FieldParser fields(parser);
  fields.integer("handle", handle).integer("type", type);
  if (fields.parseAll())
    return {};
  return get(parser.getContext(), handle, type);
}

//===- mesh ---------------------------------------------------------------===//

void SubAxisInfoAttr::print(AsmPrinter &printer) const {
  printer << "(" << getPreSize() << ")" << getSize();
}

Attribute SubAxisInfoAttr::parse(AsmParser &parser, Type) {
  int64_t preSize = 0, size = 0;
  if (parser.parseLParen() || parser.parseInteger(preSize) || parser.parseRParen() ||
      parser.parseInteger(size))
    return {};
  return get(parser.getContext(), preSize, size);
}

void AxisRefAttr::print(AsmPrinter &printer) const {
  FieldPrinter fields(printer);
  fields.string("name", getName());
  if (SubAxisInfoAttr info = getSubAxisInfo()) {
    fields.start("sub_axis_info");
    info.print(printer);
  }
}

Attribute AxisRefAttr::parse(AsmParser &parser, Type) {
  std::string name;
  SubAxisInfoAttr info;
  FieldParser fields(parser);
  fields.string("name", name).field("sub_axis_info", [&]() -> ParseResult {
    info = dyn_cast_if_present<SubAxisInfoAttr>(SubAxisInfoAttr::parse(parser, {}));
    return success(static_cast<bool>(info));
  });
  if (fields.parseWith({"name"}))
    return {};
  return get(parser.getContext(), name, info);
}

void MeshAxisAttr::print(AsmPrinter &printer) const {
  FieldPrinter fields(printer);
  fields.string("name", getName());
  fields.integer("size", getSize());
}

Attribute MeshAxisAttr::parse(AsmParser &parser, Type) {
  std::string name;
  int64_t size = 0;
  FieldParser fields(parser);
  fields.string("name", name).integer("size", size);
  if (fields.parseAll())
    return {};
  return get(parser.getContext(), name, size);
}

// `<axes=[<name = "x", size = 2>], device_ids=dense<[1, 0]> : tensor<2xi64>>`
void MeshAttr::print(AsmPrinter &printer) const {
  printer << "<axes=[";
  llvm::interleaveComma(getAxes(), printer,
                        [&](MeshAxisAttr axis) { printer.printStrippedAttrOrType(axis); });
  printer << "]";
  if (getDeviceIds())
    printer << ", device_ids=" << getDeviceIds();
  printer << ">";
}

Attribute MeshAttr::parse(AsmParser &parser, Type) {
  SmallVector<MeshAxisAttr> axes;
  DenseIntElementsAttr deviceIds;
  auto parseAxis = [&]() -> ParseResult {
    return parser.parseCustomAttributeWithFallback(axes.emplace_back());
  };
  if (parser.parseLess() || parser.parseKeyword("axes") || parser.parseEqual() ||
      parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseAxis))
    return {};
  if (succeeded(parser.parseOptionalComma()) &&
      (parser.parseKeyword("device_ids") || parser.parseEqual() || parser.parseAttribute(deviceIds)))
    return {};
  if (parser.parseGreater())
    return {};
  return get(parser.getContext(), axes, deviceIds);
}

//===- replica_group_mesh_axes --------------------------------------------===//

void ReplicaGroupMeshAxesAttr::print(AsmPrinter &printer) const {
  FieldPrinter fields(printer);
  fields.start("mesh") << getMesh();
  fields.start("axes") << getAxes();
}

Attribute ReplicaGroupMeshAxesAttr::parse(AsmParser &parser, Type) {
  Attribute mesh;
  ArrayAttr axes;
  FieldParser fields(parser);
  fields.field("mesh", [&]() -> ParseResult { return parser.parseAttribute(mesh); })
      .field("axes", [&]() -> ParseResult { return parser.parseAttribute(axes); });
  SMLoc place = parser.getCurrentLocation();
  if (fields.parseAll())
    return {};
  return parser.getChecked<ReplicaGroupMeshAxesAttr>(place, parser.getContext(), mesh, axes);
}

static std::optional<int64_t> axisSize(MeshAttr mesh, StringRef name) {
  for (MeshAxisAttr axis : mesh.getAxes())
    if (axis.getName() == name)
      return axis.getSize();
  return {};
}

LogicalResult ReplicaGroupMeshAxesAttr::verify(function_ref<InFlightDiagnostic()> emitError, Attribute mesh,
                                               ArrayAttr axes) {
  if (!isa<FlatSymbolRefAttr, MeshAttr>(mesh))
    return emitError() << "replica group's mesh is " << mesh << ", expected a symbol or #stablehlo.mesh";
  for (Attribute attribute : axes) {
    auto axis = dyn_cast<AxisRefAttr>(attribute);
    if (!axis)
      return emitError() << "replica group's axes hold " << attribute << ", expected #stablehlo.axis_ref";
    auto inlined = dyn_cast<MeshAttr>(mesh);
    if (inlined && !axisSize(inlined, axis.getName()))
      return emitError() << "replica group's axis '" << axis.getName() << "' is not in its mesh";
  }
  return success();
}

LogicalResult ReplicaGroupMeshAxesAttr::verifySymbolUses(Operation *op, SymbolTableCollection &) const {
  auto symbol = dyn_cast<FlatSymbolRefAttr>(getMesh());
  if (!symbol || SymbolTable::lookupNearestSymbolFrom(op, symbol))
    return success();
  return op->emitOpError() << "replica group's mesh " << symbol << " is not defined";
}

std::optional<int64_t> ReplicaGroupMeshAxesAttr::getGroupSize() const {
  auto mesh = dyn_cast<MeshAttr>(getMesh());
  if (!mesh)
    return {};
  int64_t product = 1;
  for (auto axis : getAxes().getAsRange<AxisRefAttr>()) {
    SubAxisInfoAttr part = axis.getSubAxisInfo();
    if (llvm::MulOverflow(product, part ? part.getSize() : *axisSize(mesh, axis.getName()), product))
      return {};
  }
  return product;
}

} // namespace torchere::stablehlo
