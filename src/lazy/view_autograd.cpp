// Autograd's record of a view.
#include "lazy/view_autograd.h"

#include <torch/csrc/autograd/VariableTypeUtils.h>

#include <typeinfo>
#include <utility>
#include <vector>

namespace torchere::lazy {

namespace {

/// Makes a view again, with all views that lead to it. They are shared by all views that are made of it.
class Replay final : public torch::autograd::ViewFunc {
public:
  explicit Replay(std::shared_ptr<const View> last) : last(std::move(last)) {}

  at::Tensor operator()(const at::Tensor &base) const final {
    std::vector<const View *> views;
    for (const View *view = last.get(); view; view = view->before.get())
      views.push_back(view);
    at::Tensor shown = base;
    for (auto view = views.rbegin(); view != views.rend(); ++view)
      shown = (*view)->call(shown);
    return shown;
  }
  std::unique_ptr<ViewFunc> clone_and_set(std::optional<std::vector<c10::SymInt>> /*sizes*/,
                                          std::optional<std::vector<at::Tensor>> /*tensors*/) const final {
    return std::make_unique<Replay>(last);
  }

  const std::shared_ptr<const View> last;
};

} // namespace

/// torch has such a function beside each view's, and calls it for tensors of Python subclasses alone.
static at::Tensor reversed(const at::Tensor & /*view*/) {
  TORCH_CHECK(false, "[xla] the base of a view is not made from the view");
}

at::Tensor recordedView(const at::Tensor &base, const at::Tensor &made, std::shared_ptr<View> view) {
  using namespace torch::autograd;
  CreationMeta creation = c10::GradMode::is_enabled() ? CreationMeta::DEFAULT : CreationMeta::NO_GRAD_MODE;
  at::Tensor root = base;
  if (const DifferentiableViewMeta *above = impl::get_view_autograd_meta(base)) {
    const Replay *replay = nullptr;
    if (above->shared_view_info() && above->get_backward_view().has_view_fn())
      replay = dynamic_cast<const Replay *>(&above->get_backward_view().view_fn());
    if (!replay) // a view of torch's own
      return as_view(base, made, true, true, std::make_unique<Replay>(std::move(view)), reversed, creation);
    view->before = replay->last;
    creation = propagate_creation_meta(above->get_creation_meta(), creation);
    root = above->get_backward_view().base_;
  }
  return make_variable_differentiable_view(
      made, ViewInfo(std::move(root), std::make_unique<Replay>(std::move(view)), reversed), std::nullopt,
      /*shared_view_info=*/true, creation);
}

bool isDifferentiated(const at::Tensor &tensor) {
  return tensor.unsafeGetTensorImpl()->autograd_meta() &&
         ((c10::GradMode::is_enabled() && tensor.requires_grad()) || tensor._fw_grad(0).defined());
}

} // namespace torchere::lazy
