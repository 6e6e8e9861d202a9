// ResourceClaim, ResourceClaimTemplate and ResourceSlice of resource.k8s.io.

#include "apiserver/strategies.h"
#include "apiserver/strategy/internal/plain_kind.h"

namespace terrarium::apiserver {
namespace {

using namespace strategy;  // NOLINT: the helpers of this folder

// A request for an exact number of devices asks for one when it states none.
void DefaultCount(Json& request) {
  if (StringAt(request, "allocationMode") == "ExactCount" && IntAt(request, 0, "count") == 0)
    request["count"] = 1;
}

void DefaultRequests(Json& claim_spec) {
  if (ListAt(claim_spec, "devices", "requests").empty()) return;
  for (Json& request : claim_spec["devices"]["requests"]) {
    if (Find(request, "exactly") != nullptr) DefaultCount(request["exactly"]);
    if (ListAt(request, "firstAvailable").empty()) continue;
    for (Json& alternative : request["firstAvailable"]) DefaultCount(alternative);
  }
}

// Specs of claims and of templates cannot change after creation.
void CheckSameSpec(const Json& object, const Json* old, FieldErrors& errors) {
  if (old != nullptr) Immutable(errors, object, *old, "spec", Path());
}

class ResourceClaim final : public PlainKind {
 public:
  ResourceClaim() : PlainKind({.status = true}) {}

  void Default(Json& object) const override {
    if (Find(object, "spec") != nullptr) DefaultRequests(object["spec"]);
  }

 private:
  void Check(const Json& object, const Json* old, FieldErrors& errors) const override {
    CheckSameSpec(object, old, errors);
  }
};

class ResourceClaimTemplate final : public PlainKind {
 public:
  ResourceClaimTemplate() : PlainKind({}) {}

  void Default(Json& object) const override {
    if (Find(object, "spec", "spec") != nullptr) DefaultRequests(object["spec"]["spec"]);
  }

 private:
  void Check(const Json& object, const Json* old, FieldErrors& errors) const override {
    CheckSameSpec(object, old, errors);
  }
};

std::string Driver(const Json& object) { return std::string(StringAt(object, "spec", "driver")); }

constexpr SelectableField kSliceFields[] = {{"spec.driver", Driver}};

class ResourceSlice final : public PlainKind {
 public:
  ResourceSlice() : PlainKind({.generation = Generation::kSpec}) {}

  void PrepareForCreate(const StrategyContext& context, Json& object) const override {
    StampTaints(context, object);
  }
  void PrepareForUpdate(const StrategyContext& context, Json& object, const Json& /*old*/) const override {
    StampTaints(context, object);
  }
  std::span<const SelectableField> SelectableFields() const override { return kSliceFields; }

 private:
  static void StampTaints(const StrategyContext& context, Json& object) {
    if (ListAt(object, "spec", "devices").empty()) return;
    for (Json& device : object["spec"]["devices"]) {
      if (ListAt(device, "taints").empty()) continue;
      for (Json& taint : device["taints"])
        if (Find(taint, "timeAdded") == nullptr) taint["timeAdded"] = api::FormatTime(context.now);
    }
  }
};

}  // namespace

const Strategy& ResourceClaimStrategy() {
  static const ResourceClaim strategy;
  return strategy;
}

const Strategy& ResourceClaimTemplateStrategy() {
  static const ResourceClaimTemplate strategy;
  return strategy;
}

const Strategy& ResourceSliceStrategy() {
  static const ResourceSlice strategy;
  return strategy;
}

}  // namespace terrarium::apiserver
