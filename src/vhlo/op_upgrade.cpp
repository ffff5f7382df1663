// Upgrades by the tables: an attribute that an older version lacks gets its default.
#include "vhlo/op_upgrade.h"

#include "vhlo/portable_form.h"
#include "vhlo/spread_attributes.h"

#include "stablehlo/dialect.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"

using namespace mlir;

namespace torchere::vhlo {

OpNames::OpNames(MLIRContext *, const Container &container)
    : container(container), names(container.opNames.size()) {}

Result<const OpNames::Name *> OpNames::at(size_t index, std::string_view artifact) {
  std::optional<Name> &known = names[index];
  if (known)
    return &*known;
  const Container::OpName &op = container.opNames[index];
  if (op.dialect == "builtin" && op.name == "module")
    return &known.emplace();
  const OpVersion *version = op.dialect == "vhlo" ? OpTable::instance().find(op.name) : nullptr;
  if (!version)
    return fail(ErrorCode::Unimplemented,
                "[{}] holds {}.{}, which is no op of StableHLO {} or older: it was written by {}", artifact,
                op.dialect, op.name, currentVersion.text(), container.producer);
  return &known.emplace(Name{version});
}

void PortableOp::setAttribute(StringAttr attribute, Attribute value) {
  if (name.version)
    for (auto [known, slot] : llvm::zip(name.version->attributes, attributes()))
      if (attribute.getValue() == StringRef(known)) {
        slot = value;
        return;
      }
  others.append(attribute, value);
}

namespace {

class OpUpgrade {
public:
  OpUpgrade(MLIRContext *context, PortableOp &op, std::string_view artifact)
      : context(context), op(op), row(*op.name.version->row), artifact(artifact) {}

  Status addAttributes(OperationState &state);

private:
  bool hasLayouts() const;
  Attribute attributeOf(std::string_view name) const {
    for (auto [known, value] : llvm::zip(op.name.version->attributes, op.attributes()))
      if (known == name)
        return value;
    return {};
  }
  int64_t windowRank() const;
  FallbackContext fallbacks() const;

  MLIRContext *context;
  PortableOp &op;
  const OpRow &row;
  std::string_view artifact;
};

int64_t OpUpgrade::windowRank() const {
  for (std::string_view name : {"input_spatial_dimensions", "window_dimensions"})
    if (auto elements = dyn_cast_or_null<ElementsAttr>(attributeOf(name)))
      return elements.getNumElements();
  return 0;
}

FallbackContext OpUpgrade::fallbacks() const {
  auto api = dyn_cast_or_null<stablehlo::CustomCallApiVersionAttr>(attributeOf("api_version"));
  bool isTypedFfi = api && api.getValue() == stablehlo::CustomCallApiVersion::API_VERSION_TYPED_FFI;
  return {context, windowRank(), isTypedFfi};
}

/// Of operands or results: then an empty list of either says that there are none, not that there is no list.
bool OpUpgrade::hasLayouts() const {
  return llvm::any_of(std::array{"operand_layouts", "result_layouts"}, [&](std::string_view name) {
    auto layouts = dyn_cast_or_null<ArrayAttr>(attributeOf(name));
    return layouts && !layouts.empty();
  });
}

Status OpUpgrade::addAttributes(OperationState &state) {
  if (op.attributes().empty())
    return {};
  FallbackContext defaults = fallbacks();
  for (auto [name, value] : llvm::zip(op.name.version->attributes, op.attributes())) {
    if (!value)
      return invalidArgument("[{}] vhlo.{} has no attribute {}", artifact, op.name.version->name, name);
    bool isOld = !llvm::is_contained(OpTable::instance().find(row, currentVersion)->attributes, name);
    const AttributeRule &rule = ruleOf(row.name, name);
    bool isLayouts = name == "operand_layouts" || name == "result_layouts";
    bool isAbsent = isFallback(value, rule.fallback, defaults) && !(isLayouts && hasLayouts());
    if (isOld || isSpreadField(row.spread, name) || isAbsent)
      continue;
    Attribute own = ownForm(value, rule.form);
    if (!own)
      return invalidArgument("[{}] vhlo.{} has an attribute {} of a kind that StableHLO's has not", artifact,
                             op.name.version->name, name);
    state.addAttribute(StringRef(name), own);
  }
  SmallVector<NamedAttribute> gathered;
  if (!gatherFields(row.spread, context, [&](std::string_view name) { return attributeOf(name); }, gathered))
    return invalidArgument("[{}] vhlo.{} has attributes of a kind that StableHLO's have not", artifact,
                           op.name.version->name);
  state.addAttributes(gathered);
  return {};
}

/// func has three ops of its own; a return is func's in a function and StableHLO's elsewhere.
std::string ownName(const OpRow &row, Operation *parent) {
  bool isOfFunc = row.name == "func" || row.name == "call" ||
                  (row.name == "return" && isa_and_nonnull<func::FuncOp>(parent));
  return fmt::format("{}.{}", isOfFunc ? "func" : "stablehlo", row.name);
}

} // namespace

Result<Operation *> upgrade(MLIRContext *context, PortableOp &op, Operation *parent,
                            std::string_view artifact) {
  std::string name = op.name.version ? ownName(*op.name.version->row, parent) : "builtin.module";
  auto registered = RegisteredOperationName::lookup(name, context);
  if (!registered)
    return fail(ErrorCode::Unimplemented, "[{}] holds {}, which is not supported", artifact, name);
  OperationState state(op.location, *registered);
  if (op.name.version)
    TORCHERE_TRY(OpUpgrade(context, op, artifact).addAttributes(state));
  state.addAttributes(op.others.getAttrs());
  if (state.attributes.findDuplicate())
    return invalidArgument("[{}] {} has an attribute twice", artifact, name);
  state.addOperands(op.operands);
  state.addTypes(op.resultTypes);
  for (size_t index = 0; index < op.regionCount; ++index)
    state.addRegion();
  return Operation::create(state);
}

} // namespace torchere::vhlo
