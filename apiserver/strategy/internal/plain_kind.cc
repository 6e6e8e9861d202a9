#include "apiserver/strategy/internal/plain_kind.h"

namespace terrarium::apiserver::strategy {
namespace {

bool IsContent(std::string_view member) { return member != "metadata" && member != "status"; }

bool HasSameContent(const Json& object, const Json& other) {
  for (const auto& [member, value] : object.items()) {
    if (!IsContent(member)) continue;
    const Json* before = Find(other, member);
    if (before == nullptr || *before != value) return false;
  }
  return true;
}

}  // namespace

bool PlainKind::BumpsGeneration(const Json& object, const Json& old) const {
  switch (rules_.generation) {
    case Generation::kNone:
    case Generation::kFixed: return false;
    case Generation::kSpec: return Strategy::BumpsGeneration(object, old);
    case Generation::kContent: return !HasSameContent(object, old) || !HasSameContent(old, object);
  }
  return false;
}

FieldErrors PlainKind::Validate(const StrategyContext& /*context*/, const Json& object) const {
  // The namespace is the request's own where the resource has namespaces, and absent elsewhere.
  FieldErrors errors =
      NewMetadata(object, !StringAt(object, "metadata", "namespace").empty(), rules_.name_rule);
  Check(object, nullptr, errors);
  return errors;
}

FieldErrors PlainKind::ValidateUpdate(const StrategyContext& /*context*/, const Json& object,
                                      const Json& old) const {
  FieldErrors errors = ChangedMetadata(object, old);
  Check(object, &old, errors);
  return errors;
}

FieldErrors PlainKind::ValidateStatusUpdate(const StrategyContext& /*context*/, const Json& object,
                                            const Json& old) const {
  return ChangedMetadata(object, old);
}

void PlainKind::Check(const Json& /*object*/, const Json* /*old*/, FieldErrors& /*errors*/) const {}

}  // namespace terrarium::apiserver::strategy
