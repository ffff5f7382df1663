// Views, and long chains of them.
#include "lazy/view.h"

#include "lazy/tensor.h"

#include <ATen/FunctionalTensorWrapper.h>

#include <algorithm>

namespace torchere::lazy {

using Wrapper = at::FunctionalTensorWrapper;

View::Layout View::layoutOf(const at::Tensor &tensor) {
  return {c10::DimVector(tensor.strides().begin(), tensor.strides().end()), tensor.storage_offset()};
}

/// In a loop: recursion would exhaust the stack where the chain is long.
View::~View() {
  std::shared_ptr<const View> dying = std::move(before);
  while (dying && dying.use_count() == 1)
    dying = std::move(const_cast<View &>(*dying).before);
}

at::Tensor View::forward(const at::Tensor &base) {
  TORCH_CHECK(implementationOf(base), "[xla] a view of another device's tensor: got ", base.device(),
              ", expected xla");
  return placed(base, copy(base));
}

at::Tensor View::placed(const at::Tensor &base, at::Tensor shown) const {
  if (std::optional<Layout> known = layout(base, shown))
    shown.unsafeGetTensorImpl()->set_sizes_and_strides(shown.sizes(), known->strides, known->offset);
  return shown;
}

namespace {

/// Several views, one of the other, as one.
class ViewOfViews final : public at::functionalization::ViewMeta {
public:
  explicit ViewOfViews(ViewChain chain) : ViewMeta(/*has_symbolic_inputs=*/false), chain(std::move(chain)) {}

  at::Tensor forward(const at::Tensor &base) final {
    at::Tensor shown = base;
    for (const auto &view : chain)
      shown = view->forward(shown);
    return shown;
  }

  at::Tensor reverse(const at::Tensor &base, const at::Tensor &mutated) final {
    std::vector<at::Tensor> bases = {base};
    for (size_t i = 0; i + 1 < chain.size(); ++i)
      bases.push_back(chain[i]->forward(bases.back()));
    at::Tensor written = mutated;
    for (size_t i = chain.size(); i-- > 0;)
      written = chain[i]->reverse(bases[i], written);
    return written;
  }

  const ViewChain chain;
};

} // namespace

bool haveLayouts(const ViewChain &chain) {
  return std::ranges::all_of(chain, [](const auto &view) {
    const auto *several = dynamic_cast<const ViewOfViews *>(view.get());
    return several ? haveLayouts(several->chain) : dynamic_cast<const View *>(view.get()) != nullptr;
  });
}

/// A view has a copy of its base's chain. So a long one becomes a chain of one.
static constexpr size_t longestChain = 16;

at::Tensor viewOf(const at::Tensor &base, const at::Tensor &shown, std::shared_ptr<View> view) {
  const Wrapper *wrapper = at::functionalization::impl::unsafeGetFunctionalWrapper(base);
  if (wrapper->view_metas().size() < longestChain)
    return at::detail::make_tensor<Wrapper>(shown, wrapper, std::move(view));
  ViewChain chain = wrapper->view_metas();
  chain.push_back(std::move(view));
  auto root = c10::make_intrusive<Wrapper>(wrapper->value()); // of the same storage, and no view
  root->set_storage_keep_dtype(wrapper->storage());
  return at::detail::make_tensor<Wrapper>(shown, root.get(), std::make_shared<ViewOfViews>(std::move(chain)));
}

} // namespace torchere::lazy
