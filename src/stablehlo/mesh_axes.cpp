// Lists the groups of mesh axes.
#include "stablehlo/mesh_axes.h"

using namespace mlir;

namespace torchere::stablehlo {

namespace {

/// A mesh, however it was written: device i, in row-major order of the axes, is `ids[i]`, or i if there are
/// none.
struct MeshShape {
  SmallVector<std::pair<std::string, int64_t>> axes;
  SmallVector<int64_t> ids;
};

/// Part of an axis: all devices that differ only in it are `stride` apart.
struct Factor {
  int64_t size;
  int64_t stride;
};

/// More devices than any mesh has: a mesh that claims more is rejected before memory is allocated.
constexpr int64_t mostDevices = 1 << 24;

SmallVector<int64_t> readDeviceIds(DenseIntElementsAttr ids) {
  if (!ids || ids.getNumElements() > mostDevices)
    return {};
  return SmallVector<int64_t>(
      llvm::map_range(ids.getValues<APInt>(), [](const APInt &id) { return id.getSExtValue(); }));
}

MeshShape readMesh(MeshAttr mesh) {
  MeshShape shape;
  for (MeshAxisAttr axis : mesh.getAxes())
    shape.axes.emplace_back(axis.getName().str(), axis.getSize());
  shape.ids = readDeviceIds(mesh.getDeviceIds());
  return shape;
}

/// `{axes = [{name = "x", size = 2}], device_ids = dense<...>}`, the attribute stablehlo.mesh of a function.
FailureOr<MeshShape> readMesh(DictionaryAttr mesh) {
  MeshShape shape;
  auto axes = mesh.getAs<ArrayAttr>("axes");
  if (!axes)
    return failure();
  for (Attribute attribute : axes) {
    auto axis = dyn_cast<DictionaryAttr>(attribute);
    auto name = axis ? axis.getAs<StringAttr>("name") : StringAttr();
    auto size = axis ? axis.getAs<IntegerAttr>("size") : IntegerAttr();
    if (!name || !size)
      return failure();
    shape.axes.emplace_back(name.getValue().str(), size.getInt());
  }
  shape.ids = readDeviceIds(mesh.getAs<DenseIntElementsAttr>("device_ids"));
  return shape;
}

FailureOr<MeshShape> findMesh(Operation *op, Attribute mesh, SymbolTableCollection &symbols) {
  if (auto attribute = dyn_cast<MeshAttr>(mesh))
    return readMesh(attribute);
  auto name = dyn_cast<FlatSymbolRefAttr>(mesh);
  Operation *symbol = name ? symbols.lookupNearestSymbolFrom(op, name) : nullptr;
  auto attribute = symbol ? symbol->getAttrOfType<DictionaryAttr>("stablehlo.mesh") : DictionaryAttr();
  FailureOr<MeshShape> shape = attribute ? readMesh(attribute) : FailureOr<MeshShape>(failure());
  if (failed(shape))
    op->emitOpError() << "the mesh of its replica_groups cannot be read: got " << mesh;
  return shape;
}

/// The parts of one axis: those that the groups run along, and between them those that they do not.
struct AxisParts {
  SmallVector<std::pair<int64_t, Factor>> along; ///< with their positions in the list of axes
  SmallVector<Factor> across;
};

/// `references` are the positions and references of one axis in the list of axes, ordered by what precedes
/// them.
FailureOr<AxisParts> splitAxis(Operation *op, int64_t size, int64_t stride,
                               ArrayRef<std::pair<int64_t, AxisRefAttr>> references) {
  AxisParts parts;
  int64_t done = 1; // the product of the sizes of the parts so far
  for (auto [position, reference] : references) {
    SubAxisInfoAttr part = reference.getSubAxisInfo();
    int64_t before = part ? part.getPreSize() : 1, length = part ? part.getSize() : size;
    if (before < done || before % done != 0 || length < 1 || size % (before * length) != 0)
      return op->emitOpError() << "the axes of its replica_groups do not divide axis " << reference.getName()
                               << " of size " << size;
    if (before > done)
      parts.across.push_back({before / done, stride * (size / before)});
    done = before * length;
    parts.along.push_back({position, {length, stride * (size / done)}});
  }
  if (done < size)
    parts.across.push_back({size / done, stride});
  return parts;
}

/// The number of devices; fails if the sizes make no mesh.
FailureOr<int64_t> countDevices(Operation *op, const MeshShape &mesh) {
  int64_t devices = 1;
  for (const auto &[name, size] : mesh.axes) {
    if (size < 1 || size > mostDevices / devices)
      return op->emitOpError() << "the mesh of its replica_groups has axis " << name << " of size " << size
                               << ", expected at least 1 and at most " << mostDevices << " devices in all";
    devices *= size;
  }
  if (!mesh.ids.empty() && static_cast<int64_t>(mesh.ids.size()) != devices)
    return op->emitOpError() << "the mesh of its replica_groups has " << mesh.ids.size()
                             << " device ids, expected " << devices;
  return devices;
}

/// The references to one axis with their positions in the list, ordered by what precedes them in the axis.
SmallVector<std::pair<int64_t, AxisRefAttr>> referencesTo(StringRef axis, ArrayAttr axes) {
  SmallVector<std::pair<int64_t, AxisRefAttr>> references;
  for (auto [position, attribute] : llvm::enumerate(axes))
    if (auto reference = dyn_cast<AxisRefAttr>(attribute); reference && reference.getName() == axis)
      references.push_back({position, reference});
  llvm::sort(references, [](const auto &left, const auto &right) {
    auto before = [](AxisRefAttr reference) {
      return reference.getSubAxisInfo() ? reference.getSubAxisInfo().getPreSize() : 1;
    };
    return before(left.second) < before(right.second);
  });
  return references;
}

/// Every sum of a multiple below `size` of each factor's stride, the last factor's fastest.
SmallVector<int64_t> offsets(ArrayRef<Factor> factors) {
  SmallVector<int64_t> sums = {0};
  for (const Factor &factor : factors) {
    SmallVector<int64_t> next;
    for (int64_t sum : sums)
      for (int64_t i = 0; i < factor.size; ++i)
        next.push_back(sum + i * factor.stride);
    sums = std::move(next);
  }
  return sums;
}

FailureOr<DenseIntElementsAttr> groupsOf(Operation *op, const MeshShape &mesh, ArrayAttr axes) {
  FailureOr<int64_t> stride = countDevices(op, mesh);
  if (failed(stride))
    return failure();
  SmallVector<Factor> along(axes.size()), across;
  size_t found = 0;
  for (const auto &[name, size] : mesh.axes) {
    *stride /= size;
    auto references = referencesTo(name, axes);
    FailureOr<AxisParts> parts = splitAxis(op, size, *stride, references);
    if (failed(parts))
      return failure();
    for (auto &[position, factor] : parts->along)
      along[position] = factor;
    llvm::append_range(across, parts->across);
    found += references.size();
  }
  if (found != axes.size())
    return op->emitOpError() << "its replica_groups name axes that the mesh has not: got " << axes;
  SmallVector<int64_t> ids, members = offsets(along);
  for (int64_t start : offsets(across))
    for (int64_t member : members)
      ids.push_back(mesh.ids.empty() ? start + member : mesh.ids[start + member]);
  int64_t length = members.size(), count = ids.size();
  auto type = RankedTensorType::get({count / length, length}, IntegerType::get(op->getContext(), 64));
  return DenseIntElementsAttr::get(type, ids);
}

} // namespace

FailureOr<DenseIntElementsAttr> listGroups(Operation *op, ReplicaGroupMeshAxesAttr groups,
                                           SymbolTableCollection &symbols) {
  FailureOr<MeshShape> mesh = findMesh(op, groups.getMesh(), symbols);
  if (failed(mesh))
    return failure();
  return groupsOf(op, *mesh, groups.getAxes());
}

} // namespace torchere::stablehlo
