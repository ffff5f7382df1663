// Context: sizes, and the ops that change a shape, each in its static or its dynamic form.
#include "lowering/context.h"

#include <algorithm>
#include <numeric>

namespace torchere::lowering {

namespace {

bool allConstant(llvm::ArrayRef<Dim> dims) {
  return std::all_of(dims.begin(), dims.end(), [](const Dim &dim) { return dim.isConstant(); });
}

Integers constants(llvm::ArrayRef<Dim> dims) {
  Integers result;
  for (const Dim &dim : dims)
    result.push_back(dim.constant());
  return result;
}

int64_t floorDivideConstants(int64_t a, int64_t b) {
  int64_t quotient = a / b;
  return (a % b != 0 && ((a < 0) != (b < 0))) ? quotient - 1 : quotient;
}

/// The elements of a constant that are all the same; null of any other value.
mlir::DenseElementsAttr splatOf(mlir::Value value) {
  auto constant = value.getDefiningOp<stablehlo::ConstantOp>();
  auto elements =
      constant ? constant->getAttrOfType<mlir::DenseElementsAttr>("value") : mlir::DenseElementsAttr();
  return elements && elements.isSplat() ? elements : mlir::DenseElementsAttr();
}

} // namespace

// ---- sizes

Dims Context::shape(mlir::Value value) {
  auto type = mlir::cast<mlir::RankedTensorType>(value.getType());
  Dims dims;
  if (type.hasStaticShape()) {
    dims.assign(type.getShape().begin(), type.getShape().end());
    return dims;
  }
  if (auto found = state.shapes.find(value); found != state.shapes.end())
    return found->second;
  mlir::Type i32 = mlir::RankedTensorType::get({}, opBuilder.getI32Type());
  for (auto [index, size] : llvm::enumerate(type.getShape())) {
    if (!mlir::ShapedType::isDynamic(size)) {
      dims.push_back(Dim(size));
      continue;
    }
    mlir::Value dim = create<stablehlo::GetDimensionSizeOp>(
        i32, value, {attribute("dimension", opBuilder.getI64IntegerAttr(static_cast<int64_t>(index)))});
    dims.push_back(Dim::computed(convert(dim, DType::I64)));
  }
  state.shapes[value] = dims;
  return dims;
}

mlir::Value Context::withShape(mlir::Value value, llvm::ArrayRef<Dim> shape) {
  if (!mlir::cast<mlir::RankedTensorType>(value.getType()).hasStaticShape())
    state.shapes[value] = Dims(shape.begin(), shape.end());
  return value;
}

template <class Op> Dim Context::arithmetic(Dim a, Dim b) {
  mlir::Value lhs = sizeTensor(a);
  return Dim::computed(create<Op>(lhs.getType(), {lhs, sizeTensor(b)}));
}

Dim Context::add(Dim a, Dim b) {
  if (a.isConstant() && b.isConstant())
    return a.constant() + b.constant();
  if (a.is(0) || b.is(0))
    return a.is(0) ? b : a;
  return arithmetic<stablehlo::AddOp>(a, b);
}

Dim Context::subtract(Dim a, Dim b) {
  if (a.isConstant() && b.isConstant())
    return a.constant() - b.constant();
  if (a == b)
    return 0;
  return b.is(0) ? a : arithmetic<stablehlo::SubtractOp>(a, b);
}

Dim Context::multiply(Dim a, Dim b) {
  if (a.isConstant() && b.isConstant())
    return a.constant() * b.constant();
  if (a.is(0) || b.is(0))
    return 0;
  if (a.is(1) || b.is(1))
    return a.is(1) ? b : a;
  return arithmetic<stablehlo::MulOp>(a, b);
}

Dim Context::floorDivide(Dim a, int64_t b) {
  if (a.isConstant())
    return floorDivideConstants(a.constant(), b);
  // StableHLO's division truncates; sizes are not negative, so it equals the floor.
  return b == 1 ? a : arithmetic<stablehlo::DivOp>(a, Dim(b));
}

Dim Context::minimum(Dim a, Dim b) {
  if (a.isConstant() && b.isConstant())
    return std::min(a.constant(), b.constant());
  return a == b ? a : arithmetic<stablehlo::MinOp>(a, b);
}

Dim Context::maximum(Dim a, Dim b) {
  if (a.isConstant() && b.isConstant())
    return std::max(a.constant(), b.constant());
  return a == b ? a : arithmetic<stablehlo::MaxOp>(a, b);
}

Dim Context::product(llvm::ArrayRef<Dim> dims) {
  Dim result = 1;
  for (const Dim &dim : dims)
    result = multiply(result, dim);
  return result;
}

mlir::Value Context::sizeTensor(Dim dim, DType dtype) {
  if (dim.isConstant())
    return constant(dim.constant(), dtype);
  return convert(dim.isExpression() ? symbols.valueOf(dim.expressionId()) : dim.value(), dtype);
}

mlir::Value Context::count(mlir::Value value, llvm::ArrayRef<int64_t> axes, DType dtype) {
  Dim total = 1;
  for (int64_t axis : axes)
    total = multiply(total, size(value, axis));
  return sizeTensor(total, dtype);
}

mlir::Value Context::shapeTensor(llvm::ArrayRef<Dim> dims) {
  bool isComputed = std::any_of(dims.begin(), dims.end(),
                                [](const Dim &dim) { return !dim.isConstant() && !dim.isExpression(); });
  if (!isComputed)
    return symbols.shapeOf(dims);
  Values pieces;
  for (const Dim &dim : dims)
    pieces.push_back(dim.isConstant() ? full(dim.constant(), DType::I64, {Dim(1)})
                                      : reshape(sizeTensor(dim), {Dim(1)}));
  return concatenate(pieces, 0);
}

// ---- shape ops

mlir::Value Context::reshape(mlir::Value value, llvm::ArrayRef<Dim> dims) {
  mlir::RankedTensorType type = tensorType(dims, elementType(value));
  if (shape(value) == dims)
    return value;
  if (type.hasStaticShape())
    return create<stablehlo::ReshapeOp>(type, value);
  return withShape(create<stablehlo::DynamicReshapeOp>(type, {value, shapeTensor(dims)}), dims);
}

mlir::Value Context::broadcastInDim(mlir::Value value, llvm::ArrayRef<Dim> dims,
                                    llvm::ArrayRef<int64_t> dimensions) {
  mlir::RankedTensorType type = tensorType(dims, elementType(value));
  if (shape(value) == dims && llvm::is_sorted(dimensions))
    return value;
  if (mlir::DenseElementsAttr elements = splatOf(value); elements && type.hasStaticShape())
    return stablehlo::ConstantOp::create(opBuilder, location, elements.resizeSplat(type))->getResult(0);
  mlir::NamedAttribute mapping = integersAttribute("broadcast_dimensions", dimensions);
  if (type.hasStaticShape())
    return create<stablehlo::BroadcastInDimOp>(type, value, {mapping});
  return withShape(create<stablehlo::DynamicBroadcastInDimOp>(type, {value, shapeTensor(dims)}, {mapping}),
                   dims);
}

mlir::Value Context::broadcastTo(mlir::Value value, llvm::ArrayRef<Dim> dims) {
  auto offset = static_cast<int64_t>(dims.size()) - rank(value);
  Integers mapping(rank(value));
  std::iota(mapping.begin(), mapping.end(), offset);
  return broadcastInDim(value, dims, mapping);
}

mlir::Value Context::transpose(mlir::Value value, llvm::ArrayRef<int64_t> permutation) {
  if (llvm::is_sorted(permutation))
    return value;
  Dims from = shape(value);
  Dims dims;
  for (int64_t axis : permutation)
    dims.push_back(from[axis]);
  return withShape(create<stablehlo::TransposeOp>(tensorType(dims, elementType(value)), value,
                                                  {integersAttribute("permutation", permutation)}),
                   dims);
}

mlir::Value Context::slice(mlir::Value value, llvm::ArrayRef<Dim> starts, llvm::ArrayRef<Dim> limits,
                           llvm::ArrayRef<int64_t> strides) {
  Dims dims;
  for (size_t i = 0; i < starts.size(); ++i)
    dims.push_back(floorDivide(add(subtract(limits[i], starts[i]), strides[i] - 1), strides[i]));
  if (shape(value) == llvm::ArrayRef<Dim>(dims))
    return value;
  mlir::RankedTensorType type = tensorType(dims, elementType(value));
  if (allConstant(starts) && allConstant(limits))
    return withShape(create<stablehlo::SliceOp>(type, value,
                                                {integersAttribute("start_indices", constants(starts)),
                                                 integersAttribute("limit_indices", constants(limits)),
                                                 integersAttribute("strides", strides)}),
                     dims);
  Dims steps(strides.begin(), strides.end());
  return withShape(create<stablehlo::RealDynamicSliceOp>(
                       type, {value, shapeTensor(starts), shapeTensor(limits), shapeTensor(steps)}),
                   dims);
}

mlir::Value Context::sliceAxis(mlir::Value value, int64_t axis, Dim start, Dim limit, int64_t stride) {
  Dims limits = shape(value);
  Dims starts(limits.size(), Dim(0));
  Integers strides(limits.size(), 1);
  starts[axis] = start;
  limits[axis] = limit;
  strides[axis] = stride;
  return slice(value, starts, limits, strides);
}

mlir::Value Context::pad(mlir::Value value, mlir::Value padding, llvm::ArrayRef<Dim> low,
                         llvm::ArrayRef<Dim> high, llvm::ArrayRef<int64_t> interior) {
  Dims from = shape(value);
  Dims dims;
  for (size_t i = 0; i < from.size(); ++i) {
    Dim holes = interior[i] == 0 ? Dim(0) : multiply(maximum(subtract(from[i], 1), 0), interior[i]);
    dims.push_back(add(add(from[i], holes), add(low[i], high[i])));
  }
  mlir::RankedTensorType type = tensorType(dims, elementType(value));
  if (allConstant(low) && allConstant(high))
    return withShape(create<stablehlo::PadOp>(type, {value, padding},
                                              {integersAttribute("edge_padding_low", constants(low)),
                                               integersAttribute("edge_padding_high", constants(high)),
                                               integersAttribute("interior_padding", interior)}),
                     dims);
  Dims inner(interior.begin(), interior.end());
  return withShape(create<stablehlo::DynamicPadOp>(
                       type, {value, padding, shapeTensor(low), shapeTensor(high), shapeTensor(inner)}),
                   dims);
}

mlir::Value Context::concatenate(llvm::ArrayRef<mlir::Value> values, int64_t axis) {
  if (values.size() == 1)
    return values.front();
  Dims dims = shape(values.front());
  for (mlir::Value value : values.drop_front())
    dims[axis] = add(dims[axis], size(value, axis));
  return withShape(
      create<stablehlo::ConcatenateOp>(tensorType(dims, elementType(values.front())), values,
                                       {attribute("dimension", opBuilder.getI64IntegerAttr(axis))}),
      dims);
}

mlir::Value Context::iota(llvm::ArrayRef<Dim> dims, DType dtype, int64_t axis) {
  mlir::RankedTensorType type = tensorType(dims, dtype);
  mlir::NamedAttribute dimension = attribute("iota_dimension", opBuilder.getI64IntegerAttr(axis));
  if (type.hasStaticShape())
    return create<stablehlo::IotaOp>(type, {}, {dimension});
  return withShape(create<stablehlo::DynamicIotaOp>(type, shapeTensor(dims), {dimension}), dims);
}

Dims Context::reducedShape(llvm::ArrayRef<Dim> shape, llvm::ArrayRef<int64_t> axes, bool keep) {
  Dims result;
  for (auto [index, dim] : llvm::enumerate(shape)) {
    if (!llvm::is_contained(axes, static_cast<int64_t>(index)))
      result.push_back(dim);
    else if (keep)
      result.push_back(Dim(1));
  }
  return result;
}

mlir::Value Context::spread(mlir::Value reduced, mlir::Value like, llvm::ArrayRef<int64_t> axes) {
  Dims dims = shape(like);
  Integers mapping;
  for (int64_t axis = 0; axis < rank(like); ++axis)
    if (!llvm::is_contained(axes, axis))
      mapping.push_back(axis);
  return broadcastInDim(reduced, dims, mapping);
}

mlir::Value Context::reduce(mlir::Value value, mlir::Value initial, llvm::ArrayRef<int64_t> axes,
                            RegionBody body) {
  Integers sorted(axes.begin(), axes.end());
  llvm::sort(sorted);
  Dims dims = reducedShape(shape(value), sorted, /*keep=*/false);
  mlir::OperationState operation(location, stablehlo::ReduceOp::getOperationName());
  operation.addOperands({value, initial});
  operation.addTypes(tensorType(dims, elementType(value)));
  operation.addAttribute("dimensions", opBuilder.getDenseI64ArrayAttr(sorted));
  auto *block = new mlir::Block;
  operation.addRegion()->push_back(block);
  mlir::Type scalar = mlir::RankedTensorType::get({}, elementType(value));
  block->addArguments({scalar, scalar}, {location, location});
  {
    mlir::OpBuilder::InsertionGuard guard(opBuilder);
    opBuilder.setInsertionPointToStart(block);
    mlir::Value result = body(opBuilder, location, block->getArguments());
    stablehlo::ReturnOp::create(opBuilder, location, mlir::ValueRange{result});
  }
  return withShape(opBuilder.create(operation)->getResult(0), dims);
}

} // namespace torchere::lowering
