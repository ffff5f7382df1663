// Makes the portable module, op by op.
#include "vhlo/module_writer.h"

#include "vhlo/builtin_form.h"
#include "vhlo/portable_form.h"
#include "vhlo/spread_attributes.h"
#include "vhlo/type_codes.h"
#include "vhlo/use_orders.h"
#include "vhlo/version_limits.h"

#include "stablehlo/diagnostics.h"
#include "stablehlo/dialect.h"
#include "stablehlo/text_of.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/IR/Builders.h"

using namespace mlir;

namespace torchere::vhlo {
namespace {

/// How the ops of one name are written: made once for each name.
struct OpPlan {
  struct Source {
    StringAttr name;           // StableHLO's attribute; null for a field of a spread attribute
    std::string_view field;    // the artifact's
    const AttributeRule *rule; // of `name`
    int slot;                  // where the target's version has it, or -1
  };
  const OpRow *row = nullptr;
  const OpVersion *version = nullptr; // null: the target has no such op
  bool isOlder = false;               // than peerVersion's
  SmallVector<Source, 4> sources;
};

class ModuleWriter {
public:
  ModuleWriter(MLIRContext *context, const Version &target, bool withLocations)
      : context(context), target(target.opset()), withLocations(withLocations),
        dialect(*context->getOrLoadDialect<PortableDialect>()) {
    // Locations are only for debugging: unsupported parts of one are dropped.
    heldLocations.addReplacement([](FusedLoc fused) -> std::optional<Attribute> {
      if (!fused.getMetadata() || hasBuiltinForm(fused.getMetadata()))
        return std::nullopt;
      return FusedLoc::get(fused.getContext(), fused.getLocations());
    });
    heldLocations.addReplacement(
        [](OpaqueLoc opaque) -> std::optional<Attribute> { return opaque.getFallbackLocation(); });
  }

  Result<PortableModule> write(ModuleOp module);

private:
  Status writeModule(ModuleOp from, ModuleOp to);
  Status writeBlock(Block &from, Block &to);
  Status writeRegions(Operation &from, Operation &to);
  Status writeOp(Operation &op, Block &to);
  Status writeNestedModule(ModuleOp module, Block &to);
  Result<const OpPlan *> planOf(Operation &op);
  OpPlan makePlan(OperationName name) const;
  Status writeAttributes(Operation &op, const OpPlan &plan, PortableProperties &properties);
  Result<Attribute> sourceValue(Operation &op, const OpPlan &plan, const OpPlan::Source &source,
                                const SpreadFields &fields, const FallbackContext &fallbacks);
  Status writeDiscardable(Operation &op, OperationState &state);
  Result<PortableAttr> portable(Operation &op, StringRef name, Attribute attribute);
  Result<Type> portable(Operation &op, Type type);
  Location locationOf(Location location) {
    if (!withLocations)
      return unknown();
    return cast<LocationAttr>(heldLocations.replace(LocationAttr(location)));
  }
  Location unknown() const { return UnknownLoc::get(context); }

  template <class... Args>
  tl::unexpected<Error> fail(Operation &op, fmt::format_string<Args...> format, Args &&...args) const {
    return tl::unexpected<Error>(Error{ErrorCode::FailedPrecondition,
                                       fmt::format("[{}] {}", op.getName().getStringRef().str(),
                                                   fmt::format(format, std::forward<Args>(args)...)),
                                       stablehlo::sourcePlace(op.getLoc())});
  }

  MLIRContext *context;
  Version target;
  bool withLocations;
  PortableDialect &dialect;
  DenseMap<OperationName, std::unique_ptr<const OpPlan>> plans;
  DenseMap<Type, Type> types;
  DenseMap<Attribute, PortableAttr> attributes;
  DenseMap<Value, Value> values;
  DenseSet<Operation *> older;
  AttrTypeReplacer heldLocations;
};

Result<Type> ModuleWriter::portable(Operation &op, Type type) {
  if (auto known = types.find(type); known != types.end())
    return known->second;
  auto since = typeSince(type);
  if (!since)
    return fail(op, "type {} has no form in a portable artifact", stablehlo::textOf(type));
  if (*since > target)
    return fail(op, "StableHLO {} has no type {}: it came with {}", target.text(), stablehlo::textOf(type),
                since->text());
  return types[type] = PortableType::get(type);
}

Result<PortableAttr> ModuleWriter::portable(Operation &op, StringRef name, Attribute attribute) {
  if (auto known = attributes.find(attribute); known != attributes.end())
    return known->second;
  Attribute form = portableForm(attribute);
  auto since = form ? attributeSince(form) : std::nullopt;
  if (!since)
    return fail(op, "attribute {} has no form in a portable artifact: got {}", name.str(),
                stablehlo::textOf(attribute));
  if (*since > target)
    return fail(op, "StableHLO {} cannot hold the attribute {}: {} came with {}", target.text(), name.str(),
                stablehlo::textOf(attribute), since->text());
  return attributes[attribute] = PortableAttr::get(form);
}

OpPlan ModuleWriter::makePlan(OperationName name) const {
  OpPlan plan;
  StringRef space = name.getDialectNamespace();
  StringRef opName = name.stripDialect();
  if (space == "stablehlo" ||
      (space == "func" && (opName == "func" || opName == "call" || opName == "return")))
    plan.row = OpTable::instance().findRow(std::string_view(opName));
  if (!plan.row)
    return plan;
  plan.version = OpTable::instance().find(*plan.row, target);
  if (!plan.version)
    return plan;
  // The newest version names what a current op may have; the target's may require more.
  auto addSources = [&](const OpVersion &version, bool all) {
    for (std::string_view field : version.attributes) {
      auto slot = llvm::find(plan.version->attributes, field);
      bool isHeld = slot != plan.version->attributes.end();
      if (!all && llvm::any_of(plan.sources, [&](auto &source) { return source.field == field; }))
        continue;
      bool isSpread = isSpreadField(plan.row->spread, field);
      plan.sources.push_back({isSpread ? StringAttr() : StringAttr::get(context, StringRef(field)), field,
                              &ruleOf(plan.row->name, field),
                              isHeld ? static_cast<int>(slot - plan.version->attributes.begin()) : -1});
    }
  };
  const OpVersion *newest = OpTable::instance().find(*plan.row, currentVersion);
  const OpVersion *peers = OpTable::instance().find(*plan.row, peerVersion);
  plan.isOlder = peers && plan.version->number < peers->number;
  addSources(*newest, /*all=*/true);
  addSources(*plan.version, /*all=*/false);
  return plan;
}

Result<const OpPlan *> ModuleWriter::planOf(Operation &op) {
  auto [place, isNew] = plans.try_emplace(op.getName());
  if (isNew)
    place->second = std::make_unique<const OpPlan>(makePlan(op.getName()));
  const OpPlan &plan = *place->second;
  if (!plan.row)
    return fail(op, "no op of StableHLO, so a portable artifact cannot hold it");
  if (!plan.version) {
    const OpVersion *first = OpTable::instance().find(std::string(plan.row->name) + "_v1");
    return fail(op, "StableHLO {} has no such op: it came with {}", target.text(), first->since.text());
  }
  return &plan;
}

/// The rank of the op's window, by which defaults have their length.
int64_t windowRank(Operation &op, const SpreadFields &fields) {
  for (const SpreadField &field : fields)
    if (field.name == "input_spatial_dimensions")
      return cast<ElementsAttr>(field.value).getNumElements();
  auto window =
      dyn_cast_or_null<DenseI64ArrayAttr>(op.getInherentAttr("window_dimensions").value_or(Attribute()));
  return window ? window.size() : 0;
}

bool isTypedFfi(Operation &op) {
  auto api = dyn_cast_or_null<stablehlo::CustomCallApiVersionAttr>(
      op.getInherentAttr("api_version").value_or(Attribute()));
  return api && api.getValue() == stablehlo::CustomCallApiVersion::API_VERSION_TYPED_FFI;
}

/// The attribute in portable form, a default's if the op has none.
Result<Attribute> ModuleWriter::sourceValue(Operation &op, const OpPlan &plan, const OpPlan::Source &source,
                                            const SpreadFields &fields, const FallbackContext &fallbacks) {
  Attribute value;
  if (!source.name) {
    for (const SpreadField &field : fields)
      if (field.name == source.field)
        value = field.value;
  } else {
    value = op.getInherentAttr(source.name).value_or(Attribute());
    if (value && source.rule->form == Form::Flag)
      value = BoolAttr::get(context, true);
    else if (value) {
      Attribute form = portableForm(value);
      if (!form)
        return fail(op, "attribute {} has no form in a portable artifact: got {}", source.name.str(),
                    stablehlo::textOf(value));
      value = form;
    } else {
      value = fallbackOf(source.rule->fallback, fallbacks);
    }
  }
  if (!value)
    return fail(op, "attribute {} is missing", source.field);
  return value;
}

Status ModuleWriter::writeAttributes(Operation &op, const OpPlan &plan, PortableProperties &properties) {
  if (plan.sources.empty())
    return {};
  SpreadFields fields = spreadFields(plan.row->spread, op);
  FallbackContext fallbacks{context, windowRank(op, fields), isTypedFfi(op)};
  for (const OpPlan::Source &source : plan.sources) {
    TORCHERE_ASSIGN(Attribute value, sourceValue(op, plan, source, fields, fallbacks));
    if (source.slot < 0) {
      if (!isNeutral(value) && !isFallback(value, source.rule->fallback, fallbacks))
        return fail(op, "StableHLO {} has no attribute {}: got {}", target.text(), source.field,
                    stablehlo::textOf(value));
    } else if (source.rule->form == Form::ApiVersion) {
      properties.attributes[source.slot] = PortableAttr::get(AttributeCode::CustomCallApiVersion, value);
    } else {
      TORCHERE_ASSIGN(properties.attributes[source.slot], portable(op, StringRef(source.field), value));
    }
  }
  return {};
}

Status ModuleWriter::writeDiscardable(Operation &op, OperationState &state) {
  for (NamedAttribute attribute : op.getDiscardableAttrs()) {
    TORCHERE_ASSIGN(PortableAttr value, portable(op, attribute.getName().getValue(), attribute.getValue()));
    state.addAttribute(attribute.getName(), value);
  }
  if (auto function = dyn_cast<func::FuncOp>(op); function && function.getNoInline())
    return fail(op, "attribute no_inline has no form in a portable artifact");
  return {};
}

Status ModuleWriter::writeOp(Operation &op, Block &to) {
  if (auto module = dyn_cast<ModuleOp>(op))
    return writeNestedModule(module, to);
  TORCHERE_ASSIGN(const OpPlan *plan, planOf(op));
  if (auto reason = brokenLimit(op, *plan->version, target))
    return fail(op, "StableHLO {} {}", target.text(), *reason);
  OperationState state(locationOf(op.getLoc()), dialect.opName(*plan->version));
  PortableProperties properties;
  state.useProperties(properties);
  TORCHERE_TRY(writeAttributes(op, *plan, properties));
  TORCHERE_TRY(writeDiscardable(op, state));
  for (Type type : op.getResultTypes()) {
    TORCHERE_ASSIGN(Type portableType, portable(op, type));
    state.types.push_back(portableType);
  }
  for (Value operand : op.getOperands())
    state.operands.push_back(values.lookup(operand));
  for (unsigned index = 0; index < op.getNumRegions(); ++index)
    state.addRegion();
  Operation *made = Operation::create(state);
  to.push_back(made);
  if (plan->isOlder)
    older.insert(made);
  for (auto [before, after] : llvm::zip_equal(op.getResults(), made->getResults()))
    values[before] = after;
  return writeRegions(op, *made);
}

Status ModuleWriter::writeRegions(Operation &from, Operation &to) {
  for (auto [before, after] : llvm::zip_equal(from.getRegions(), to.getRegions()))
    for (Block &block : before) {
      auto *made = new Block();
      after.push_back(made);
      for (BlockArgument argument : block.getArguments()) {
        TORCHERE_ASSIGN(Type type, portable(from, argument.getType()));
        values[argument] = made->addArgument(type, locationOf(argument.getLoc()));
      }
      TORCHERE_TRY(writeBlock(block, *made));
    }
  return {};
}

Status ModuleWriter::writeBlock(Block &from, Block &to) {
  for (Operation &op : from)
    TORCHERE_TRY(writeOp(op, to));
  return {};
}

Result<PortableModule> ModuleWriter::write(ModuleOp module) {
  OwningOpRef<ModuleOp> made = ModuleOp::create(unknown());
  TORCHERE_TRY(writeModule(module, *made));
  orderUses(*made, older);
  return PortableModule{std::move(made), !older.empty()};
}

/// Modules stay builtin, with builtin attributes.
Status ModuleWriter::writeModule(ModuleOp from, ModuleOp to) {
  for (NamedAttribute attribute : from->getAttrs())
    if (!hasBuiltinForm(attribute.getValue()))
      return fail(*from, "attribute {} has no form in a portable artifact: got {}",
                  attribute.getName().getValue().str(), stablehlo::textOf(attribute.getValue()));
  to->setLoc(locationOf(from.getLoc()));
  to->setAttrs(from->getAttrDictionary());
  return writeBlock(*from.getBody(), *to.getBody());
}

Status ModuleWriter::writeNestedModule(ModuleOp module, Block &to) {
  auto made = ModuleOp::create(unknown());
  to.push_back(made);
  return writeModule(module, made);
}

} // namespace

Result<PortableModule> toPortable(ModuleOp module, const Version &target, bool withLocations) {
  TORCHERE_TRY(checkTarget(target));
  return ModuleWriter(module.getContext(), target, withLocations).write(module);
}

} // namespace torchere::vhlo
