// Views of tensors that users hold: the op's copy, which knows what it shows and where in memory a view would
// be.
#pragma once

#include <ATen/FunctionalStorageImpl.h>
#include <ATen/core/Tensor.h>
#include <c10/util/DimVector.h>

#include <memory>
#include <optional>
#include <vector>

namespace torchere::lazy {

/// One view op with its arguments, as torch's functionalization replays it after a write, and autograd where
/// a gradient goes through what was written.
class View : public at::functionalization::ViewMeta {
public:
  View() : ViewMeta(/*has_symbolic_inputs=*/false) {}
  ~View() override;

  /// What the view shows of a value, with the strides and the offset that a view of memory would have.
  at::Tensor forward(const at::Tensor &base) final;
  at::Tensor placed(const at::Tensor &base, at::Tensor shown) const;
  /// The op on a tensor as users hold it.
  virtual at::Tensor call(const at::Tensor &base) const = 0;

  /// The view that autograd's base is seen through before this one.
  std::shared_ptr<const View> before;

protected:
  struct Layout {
    c10::DimVector strides;
    int64_t offset;
  };
  static Layout layoutOf(const at::Tensor &tensor);
  virtual at::Tensor copy(const at::Tensor &base) const = 0;
  /// None for what is dense from the beginning of the memory on.
  virtual std::optional<Layout> layout(const at::Tensor &base, const at::Tensor &shown) const = 0;
};

using ViewChain = std::vector<std::shared_ptr<at::functionalization::ViewMeta>>;
/// Whether the strides and the offset of what a chain shows are those of a view of memory: torch's own views
/// have none.
bool haveLayouts(const ViewChain &chain);

/// As users hold it: a view of `base`, which shares its writes.
at::Tensor viewOf(const at::Tensor &base, const at::Tensor &shown, std::shared_ptr<View> view);
/// Slices of `base`, the value that a user's tensor shows, which follow each other, and of which there are
/// copies already.
std::vector<at::Tensor> partsOf(const at::Tensor &self, const at::Tensor &base,
                                const std::vector<at::Tensor> &copies, int64_t dim);

} // namespace torchere::lazy
