// The view ops: what each shows, its strides, and how a write to it reaches its base. They stand before
// torch's functionalization, which makes views without strides and calls each op's Meta kernel besides.
#include "lazy/view.h"

#include "lazy/native_functions.h"
#include "lazy/tensor.h"
#include "lazy/view_autograd.h"

#include <ATen/ExpandUtils.h>
#include <ATen/FunctionalTensorWrapper.h>
#include <ATen/Operators.h>
#include <ATen/TensorUtils.h>
#include <ATen/WrapDimUtils.h>
#include <ATen/ops/detach_native.h>
#include <torch/library.h>

#include <numeric>

namespace torchere::lazy {

namespace {

namespace ops = at::_ops;

/// Calls go to the device's kernels.
constexpr c10::DispatchKeySet device(c10::DispatchKey::XLA);

int64_t number(const c10::SymInt &size) {
  return size.expect_int();
}

at::Tensor reshaped(const at::Tensor &tensor, at::IntArrayRef sizes) {
  return ops::view_copy::redispatch(device, tensor, c10::fromIntArrayRefSlow(sizes));
}

/// The same value: no op is recorded.
template <class Op> class Alias final : public View {
public:
  at::Tensor reverse(const at::Tensor &, const at::Tensor &mutated) final { return mutated; }
  at::Tensor call(const at::Tensor &base) const final { return Op::call(base); }

private:
  at::Tensor copy(const at::Tensor &base) const final { return tensorOf(implementationOf(base)->value()); }
  std::optional<Layout> layout(const at::Tensor &base, const at::Tensor &) const final {
    return layoutOf(base);
  }
};

class Reshaped final : public View {
public:
  explicit Reshaped(c10::SymIntArrayRef sizes) : sizes(sizes.begin(), sizes.end()) {}
  at::Tensor reverse(const at::Tensor &base, const at::Tensor &mutated) final {
    return reshaped(mutated, base.sizes());
  }
  at::Tensor call(const at::Tensor &base) const final { return ops::view::call(base, sizes); }

private:
  at::Tensor copy(const at::Tensor &base) const final {
    return ops::view_copy::redispatch(device, base, sizes);
  }
  std::optional<Layout> layout(const at::Tensor &base, const at::Tensor &shown) const final {
    // Also of what is contiguous: a dimension of size 1 may have any stride.
    auto strides = at::detail::computeStride(base.sizes(), base.strides(), c10::DimVector(shown.sizes()));
    TORCH_CHECK(strides, "view size is not compatible with input tensor's size and stride (at least one "
                         "dimension spans across two contiguous subspaces). Use .reshape(...) instead.");
    return Layout{*strides, base.storage_offset()};
  }

  const c10::SymDimVector sizes;
};

class Permuted final : public View {
public:
  explicit Permuted(at::IntArrayRef dims) : dims(dims.begin(), dims.end()) {}
  at::Tensor reverse(const at::Tensor &base, const at::Tensor &mutated) final {
    std::vector<int64_t> inverse(dims.size());
    for (size_t i = 0; i < dims.size(); ++i)
      inverse[static_cast<size_t>(at::maybe_wrap_dim(dims[i], base.dim()))] = static_cast<int64_t>(i);
    return ops::permute_copy::redispatch(device, mutated, inverse);
  }
  at::Tensor call(const at::Tensor &base) const final { return ops::permute::call(base, dims); }

private:
  at::Tensor copy(const at::Tensor &base) const final {
    return ops::permute_copy::redispatch(device, base, dims);
  }
  std::optional<Layout> layout(const at::Tensor &base, const at::Tensor &) const final {
    Layout made{{}, base.storage_offset()};
    for (int64_t dim : dims)
      made.strides.push_back(base.stride(dim));
    return made;
  }

  const c10::DimVector dims;
};

class Transposed final : public View {
public:
  Transposed(int64_t first, int64_t second) : first(first), second(second) {}
  at::Tensor reverse(const at::Tensor &, const at::Tensor &mutated) final { return copy(mutated); }
  at::Tensor call(const at::Tensor &base) const final {
    return ops::transpose_int::call(base, first, second);
  }

private:
  at::Tensor copy(const at::Tensor &base) const final {
    return ops::transpose_copy_int::redispatch(device, base, first, second);
  }
  std::optional<Layout> layout(const at::Tensor &base, const at::Tensor &) const final {
    Layout made = layoutOf(base);
    if (base.dim() > 0)
      std::swap(made.strides[static_cast<size_t>(at::maybe_wrap_dim(first, base.dim()))],
                made.strides[static_cast<size_t>(at::maybe_wrap_dim(second, base.dim()))]);
    return made;
  }

  const int64_t first, second;
};

class MatrixTransposed final : public View {
public:
  at::Tensor reverse(const at::Tensor &, const at::Tensor &mutated) final { return copy(mutated); }
  at::Tensor call(const at::Tensor &base) const final { return ops::t::call(base); }

private:
  at::Tensor copy(const at::Tensor &base) const final { return ops::t_copy::redispatch(device, base); }
  std::optional<Layout> layout(const at::Tensor &base, const at::Tensor &) const final {
    Layout made = layoutOf(base);
    std::reverse(made.strides.begin(), made.strides.end());
    return made;
  }
};

class Selected final : public View {
public:
  Selected(int64_t dim, const c10::SymInt &index) : dim(dim), index(number(index)) {}
  at::Tensor reverse(const at::Tensor &base, const at::Tensor &mutated) final {
    return ops::select_scatter::redispatch(device, base, mutated, dim, index);
  }
  at::Tensor call(const at::Tensor &base) const final { return ops::select_int::call(base, dim, index); }

private:
  at::Tensor copy(const at::Tensor &base) const final {
    return ops::select_copy_int::redispatch(device, base, dim, index);
  }
  std::optional<Layout> layout(const at::Tensor &base, const at::Tensor &) const final {
    Layout made = layoutOf(base);
    int64_t axis = at::maybe_wrap_dim(dim, base.dim());
    made.offset += (index < 0 ? index + base.size(axis) : index) * base.stride(axis);
    made.strides.erase(made.strides.begin() + axis);
    return made;
  }

  const int64_t dim, index;
};

class Sliced final : public View {
public:
  Sliced(int64_t dim, std::optional<c10::SymInt> start, std::optional<c10::SymInt> end, c10::SymInt step)
      : dim(dim), start(std::move(start)), end(std::move(end)), step(std::move(step)) {}
  at::Tensor reverse(const at::Tensor &base, const at::Tensor &mutated) final {
    return ops::slice_scatter::redispatch(device, base, mutated, dim, start, end, step);
  }
  at::Tensor call(const at::Tensor &base) const final {
    return ops::slice_Tensor::call(base, dim, start, end, step);
  }

private:
  at::Tensor copy(const at::Tensor &base) const final {
    return ops::slice_copy_Tensor::redispatch(device, base, dim, start, end, step);
  }
  std::optional<Layout> layout(const at::Tensor &base, const at::Tensor &) const final {
    Layout made = layoutOf(base);
    int64_t axis = at::maybe_wrap_dim(dim, base.dim()), size = base.size(axis);
    int64_t first = start ? number(*start) : 0;
    first = std::clamp(first < 0 ? first + size : first, int64_t{0}, size);
    made.offset += first * base.stride(axis);
    made.strides[static_cast<size_t>(axis)] *= number(step);
    return made;
  }

  const int64_t dim;
  const std::optional<c10::SymInt> start, end;
  const c10::SymInt step;
};

class Unsqueezed final : public View {
public:
  explicit Unsqueezed(int64_t dim) : dim(dim) {}
  at::Tensor reverse(const at::Tensor &base, const at::Tensor &mutated) final {
    return reshaped(mutated, base.sizes());
  }
  at::Tensor call(const at::Tensor &base) const final { return ops::unsqueeze::call(base, dim); }

private:
  at::Tensor copy(const at::Tensor &base) const final {
    return ops::unsqueeze_copy::redispatch(device, base, dim);
  }
  std::optional<Layout> layout(const at::Tensor &base, const at::Tensor &) const final {
    Layout made = layoutOf(base);
    int64_t axis = at::maybe_wrap_dim(dim, base.dim() + 1);
    made.strides.insert(made.strides.begin() + axis,
                        axis < base.dim() ? base.size(axis) * base.stride(axis) : 1);
    return made;
  }

  const int64_t dim;
};

/// Dimensions of size 1 taken out: all, one, or those of a list.
class Squeezed final : public View {
public:
  Squeezed() : form(Form::All) {}
  explicit Squeezed(int64_t dim) : form(Form::One), dims{dim} {}
  explicit Squeezed(at::IntArrayRef dims) : form(Form::List), dims(dims.begin(), dims.end()) {}
  at::Tensor reverse(const at::Tensor &base, const at::Tensor &mutated) final {
    return reshaped(mutated, base.sizes());
  }
  at::Tensor call(const at::Tensor &base) const final {
    if (form == Form::All)
      return ops::squeeze::call(base);
    return form == Form::One ? ops::squeeze_dim::call(base, dims.front())
                             : ops::squeeze_dims::call(base, dims);
  }

private:
  enum class Form : uint8_t { All, One, List };

  at::Tensor copy(const at::Tensor &base) const final {
    if (form == Form::All)
      return ops::squeeze_copy::redispatch(device, base);
    return form == Form::One ? ops::squeeze_copy_dim::redispatch(device, base, dims.front())
                             : ops::squeeze_copy_dims::redispatch(device, base, dims);
  }
  std::optional<Layout> layout(const at::Tensor &base, const at::Tensor &) const final {
    Layout made{{}, base.storage_offset()};
    for (int64_t axis = 0; axis < base.dim(); ++axis)
      if (base.size(axis) != 1 || !isNamed(axis, base.dim()))
        made.strides.push_back(base.stride(axis));
    return made;
  }
  bool isNamed(int64_t axis, int64_t rank) const {
    return form == Form::All ||
           std::ranges::any_of(dims, [&](int64_t dim) { return at::maybe_wrap_dim(dim, rank) == axis; });
  }

  const Form form;
  const c10::DimVector dims;
};

class Expanded final : public View {
public:
  Expanded(c10::SymIntArrayRef sizes, bool isImplicit)
      : sizes(sizes.begin(), sizes.end()), isImplicit(isImplicit) {}
  /// Only a write of one value to all elements is allowed, so that any of those that are one in the base will
  /// do.
  at::Tensor reverse(const at::Tensor &base, const at::Tensor &mutated) final {
    int64_t added = mutated.dim() - base.dim();
    at::Tensor first = mutated;
    for (int64_t axis = 0; axis < mutated.dim(); ++axis)
      if (mutated.size(axis) > 1 && (axis < added || base.size(axis - added) == 1))
        first = ops::slice_copy_Tensor::redispatch(device, first, axis, c10::SymInt(0), c10::SymInt(1), 1);
    return first.numel() == base.numel() ? reshaped(first, base.sizes()) : base;
  }
  at::Tensor call(const at::Tensor &base) const final { return ops::expand::call(base, sizes, isImplicit); }

private:
  at::Tensor copy(const at::Tensor &base) const final {
    return ops::expand_copy::redispatch(device, base, sizes, isImplicit);
  }
  std::optional<Layout> layout(const at::Tensor &base, const at::Tensor &shown) const final {
    auto geometry = at::inferExpandGeometry_dimvector(base.sizes(), base.strides(), shown.sizes());
    return Layout{geometry.strides, base.storage_offset()};
  }

  const c10::SymDimVector sizes;
  const bool isImplicit;
};

class Diagonal final : public View {
public:
  Diagonal(int64_t offset, int64_t first, int64_t second) : offset(offset), first(first), second(second) {}
  at::Tensor reverse(const at::Tensor &base, const at::Tensor &mutated) final {
    return ops::diagonal_scatter::redispatch(device, base, mutated, offset, first, second);
  }
  at::Tensor call(const at::Tensor &base) const final {
    return ops::diagonal::call(base, offset, first, second);
  }

private:
  at::Tensor copy(const at::Tensor &base) const final {
    return ops::diagonal_copy::redispatch(device, base, offset, first, second);
  }
  std::optional<Layout> layout(const at::Tensor &base, const at::Tensor &shown) const final {
    Layout made = layoutOf(base);
    int64_t row = at::maybe_wrap_dim(first, base.dim()), column = at::maybe_wrap_dim(second, base.dim());
    int64_t step = base.stride(row) + base.stride(column);
    if (shown.size(-1) > 0)
      made.offset += offset >= 0 ? offset * base.stride(column) : -offset * base.stride(row);
    made.strides.erase(made.strides.begin() + std::max(row, column));
    made.strides.erase(made.strides.begin() + std::min(row, column));
    made.strides.push_back(step);
    return made;
  }

  const int64_t offset, first, second;
};

class Unfolded final : public View {
public:
  Unfolded(int64_t dim, int64_t size, int64_t step) : dim(dim), size(size), step(step) {}
  at::Tensor reverse(const at::Tensor &base, const at::Tensor &mutated) final {
    if (mutated.numel() == 0)
      return base;
    if (base.dim() == 0)
      return reshaped(mutated, {});
    int64_t axis = at::maybe_wrap_dim(dim, base.dim()), count = mutated.size(axis);
    TORCH_CHECK(count == 1 || step >= size,
                "[aten.unfold.default] a write to windows that overlap, where elements would have several "
                "values: got step ",
                step, ", expected at least ", size);
    return lazy::index_put(base, places(axis, count), inPlaceOfElements(mutated, axis), false);
  }
  at::Tensor call(const at::Tensor &base) const final { return ops::unfold::call(base, dim, size, step); }

private:
  at::Tensor copy(const at::Tensor &base) const final {
    return ops::unfold_copy::redispatch(device, base, dim, size, step);
  }
  std::optional<Layout> layout(const at::Tensor &base, const at::Tensor &) const final {
    if (base.dim() == 0)
      return Layout{{1}, base.storage_offset()};
    Layout made = layoutOf(base);
    auto axis = static_cast<size_t>(at::maybe_wrap_dim(dim, base.dim()));
    made.strides.push_back(made.strides[axis]);
    made.strides[axis] *= step;
    return made;
  }

  /// The places of the windows' elements along the dimension, as index_put takes them.
  c10::List<std::optional<at::Tensor>> places(int64_t axis, int64_t count) const {
    at::Tensor places = at::empty({count * size}, at::kLong);
    for (int64_t i = 0; i < count * size; ++i)
      places.mutable_data_ptr<int64_t>()[i] = i / size * step + i % size;
    c10::List<std::optional<at::Tensor>> indices;
    for (int64_t i = 0; i < axis; ++i)
      indices.push_back(std::nullopt);
    indices.push_back(places);
    return indices;
  }

  /// The windows one after the other in the dimension.
  at::Tensor inPlaceOfElements(const at::Tensor &windows, int64_t axis) const {
    std::vector<int64_t> order(static_cast<size_t>(windows.dim() - 1));
    std::iota(order.begin(), order.end(), 0);
    order.insert(order.begin() + axis + 1, windows.dim() - 1);
    at::Tensor beside = ops::permute_copy::redispatch(device, windows, order);
    std::vector<int64_t> sizes = beside.sizes().vec();
    sizes[static_cast<size_t>(axis)] *= size;
    sizes.erase(sizes.begin() + axis + 1);
    return reshaped(beside, sizes);
  }

  const int64_t dim, size, step;
};

} // namespace

std::vector<at::Tensor> partsOf(const at::Tensor &self, const at::Tensor &base,
                                const std::vector<at::Tensor> &copies, int64_t dim) {
  std::vector<at::Tensor> parts;
  int64_t start = 0;
  for (const at::Tensor &copy : copies) {
    int64_t end = start + copy.size(dim);
    auto view = std::make_shared<Sliced>(dim, c10::SymInt(start), c10::SymInt(end), c10::SymInt(1));
    parts.push_back(viewOf(self, view->placed(base, copy), view));
    start = end;
  }
  return parts;
}

namespace {

/// What a view op returns for a user's tensor and its value: one view. With autograd's record of it, unless
/// torch adds that.
template <class Made> struct One {
  template <class... Arguments>
  static at::Tensor make(const at::Tensor &self, const at::Tensor &base, const Arguments &...arguments) {
    auto view = std::make_shared<Made>(arguments...);
    return viewOf(self, view->forward(base), view);
  }
  template <class... Arguments>
  static at::Tensor makeRecorded(const at::Tensor &self, const at::Tensor &base,
                                 const Arguments &...arguments) {
    at::AutoDispatchBelowADInplaceOrView below;
    auto view = std::make_shared<Made>(arguments...);
    return recordedView(self, viewOf(self, view->forward(base), view), view);
  }
};

struct Split {
  static std::vector<at::Tensor> make(const at::Tensor &self, const at::Tensor &base, const c10::SymInt &size,
                                      int64_t dim) {
    return partsOf(self, base, ops::split_copy_Tensor::redispatch(device, base, size, dim), dim);
  }
  static std::vector<at::Tensor> make(const at::Tensor &self, const at::Tensor &base,
                                      c10::SymIntArrayRef sizes, int64_t dim) {
    return partsOf(self, base, ops::split_with_sizes_copy::redispatch(device, base, sizes, dim), dim);
  }
};

struct Unbound {
  static std::vector<at::Tensor> make(const at::Tensor &self, const at::Tensor &base, int64_t dim) {
    std::vector<at::Tensor> parts;
    for (const at::Tensor &copy : ops::unbind_copy_int::redispatch(device, base, dim)) {
      auto view = std::make_shared<Selected>(dim, c10::SymInt(static_cast<int64_t>(parts.size())));
      parts.push_back(viewOf(self, view->placed(base, copy), view));
    }
    return parts;
  }
};

template <class Op, class Maker, class Schema = typename Op::schema> class ViewKernel;
template <class Op, class Maker, class Return, class... Arguments>
class ViewKernel<Op, Maker, Return(const at::Tensor &, Arguments...)> {
public:
  static Return call(c10::DispatchKeySet keys, const at::Tensor &self, Arguments... arguments) {
    const at::Tensor *base = shownValue(self);
    if (!base) {
      // Torch makes a fake tensor of one that has this device's keys and no data.
      if constexpr (std::is_same_v<Op, ops::detach>)
        if (self.is_meta())
          return at::native::detach(self);
      return OtherKernel<Op>::call(keys, self, arguments...);
    }
    if constexpr (std::is_same_v<Return, at::Tensor>)
      if (isToRecordedView(keys))
        return Maker::makeRecorded(self, *base, arguments...);
    return Maker::make(self, *base, arguments...);
  }
  /// The kernel of AutogradXLA. One that has nothing to differentiate passes autograd's own by.
  static Return callOfAutograd(c10::DispatchKeySet keys, const at::Tensor &self, Arguments... arguments) {
    bool isPast = goesPastFunctionalization(keys, self);
    c10::DispatchKeySet next = keysOfAutograd(keys, isPast);
    if constexpr (isRecorded)
      if (const at::Tensor *base = isPast ? shownValue(self) : nullptr;
          base && keys.has(c10::DispatchKey::ADInplaceOrView)) {
        if (!isDifferentiated(self))
          return Maker::makeRecorded(self, *base, arguments...);
        next = toRecordedView(next);
      }
    return Op::redispatch(next, self, arguments...);
  }

private:
  /// torch's kernels record the parts of a tensor as one, and detach() as no view at all.
  static constexpr bool isRecorded = std::is_same_v<Return, at::Tensor> && !std::is_same_v<Op, ops::detach>;
};

/// Calls add<Op, Maker>(name) for each view op.
template <class Add> void addViews(const Add &add) {
  add.template operator()<ops::alias, One<Alias<ops::alias>>>("alias");
  add.template operator()<ops::detach, One<Alias<ops::detach>>>("detach");
  add.template operator()<ops::diagonal, One<Diagonal>>("diagonal");
  add.template operator()<ops::expand, One<Expanded>>("expand");
  add.template operator()<ops::permute, One<Permuted>>("permute");
  add.template operator()<ops::select_int, One<Selected>>("select.int");
  add.template operator()<ops::slice_Tensor, One<Sliced>>("slice.Tensor");
  add.template operator()<ops::split_Tensor, Split>("split.Tensor");
  add.template operator()<ops::split_with_sizes, Split>("split_with_sizes");
  add.template operator()<ops::squeeze, One<Squeezed>>("squeeze");
  add.template operator()<ops::squeeze_dim, One<Squeezed>>("squeeze.dim");
  add.template operator()<ops::squeeze_dims, One<Squeezed>>("squeeze.dims");
  add.template operator()<ops::t, One<MatrixTransposed>>("t");
  add.template operator()<ops::transpose_int, One<Transposed>>("transpose.int");
  add.template operator()<ops::unbind_int, Unbound>("unbind.int");
  add.template operator()<ops::unfold, One<Unfolded>>("unfold");
  add.template operator()<ops::unsqueeze, One<Unsqueezed>>("unsqueeze");
  add.template operator()<ops::view, One<Reshaped>>("view");
}

TORCH_LIBRARY_IMPL(aten, XLA, library) {
  addViews([&]<class Op, class Maker>(const char *name) {
    library.impl(name, TORCH_FN((ViewKernel<Op, Maker>::call)));
  });
}

TORCH_LIBRARY_IMPL(aten, AutogradXLA, library) {
  addViews([&]<class Op, class Maker>(const char *name) {
    library.impl(name, TORCH_FN((ViewKernel<Op, Maker>::callOfAutograd)));
  });
  library.impl("unsafe_split.Tensor", TORCH_FN((AutogradKernel<ops::unsafe_split_Tensor>::call)));
  library.impl("unsafe_split_with_sizes", TORCH_FN((AutogradKernel<ops::unsafe_split_with_sizes>::call)));
}

} // namespace

} // namespace torchere::lazy
