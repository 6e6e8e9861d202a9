#include "apiserver/strategy/namespace.h"

#include <algorithm>

#include "apiserver/strategies.h"
#include "apiserver/strategy/internal/checks.h"
#include "apiserver/validation/formats.h"

namespace terrarium::apiserver {
namespace {

using namespace strategy;  // NOLINT: the helpers of this folder

constexpr const char* kFinalizer = "kubernetes";
constexpr const char* kNameLabel = "kubernetes.io/metadata.name";

void Finalizer(FieldErrors& errors, const std::string& name, const Path& path) {
  AddInvalid(IsQualifiedName(name), name, path, errors);
  const bool standard = name == kFinalizer || name == "orphan" || name == "foregroundDeletion";
  if (name.find('/') == std::string::npos && !standard) {
    errors.push_back(
        api::InvalidError(path, name, "name is neither a standard finalizer name nor is it fully qualified"));
  }
}

void SetNameLabel(Json& object) {
  const std::string name(StringAt(object, "metadata", "name"));
  if (!name.empty()) ObjectField(ObjectField(object, "metadata"), "labels")[kNameLabel] = name;
}

class Namespace final : public Strategy {
 public:
  NameCheck NameRule() const override { return NameIsDnsLabel; }
  bool ReturnsDeletedObject() const override { return true; }
  bool HasGeneration() const override { return false; }

  void Default(Json& object) const override { SetNameLabel(object); }

  void PrepareForCreate(const StrategyContext& /*context*/, Json& object) const override {
    SetNameLabel(object);  // again, because generateName has given the object a name by now
    object["status"] = {{"phase", "Active"}};
    Json& finalizers = ObjectField(object, "spec")["finalizers"];
    if (!finalizers.is_array()) finalizers = Json::array();
    if (std::find(finalizers.begin(), finalizers.end(), kFinalizer) == finalizers.end())
      finalizers.push_back(kFinalizer);
  }

  void PrepareForUpdate(const StrategyContext& /*context*/, Json& object, const Json& old) const override {
    SetNameLabel(object);
    Json& spec = ObjectField(object, "spec");
    if (const Json* finalizers = Find(old, "spec", "finalizers")) {
      spec["finalizers"] = *finalizers;
    } else {
      spec.erase("finalizers");
    }
  }

  FieldErrors Validate(const StrategyContext& /*context*/, const Json& object) const override {
    FieldErrors errors = NewMetadata(object, false, NameRule());
    for (const Json& finalizer : ListAt(object, "spec", "finalizers")) {
      Finalizer(errors, finalizer.get_ref<const std::string&>(), Path("spec").Child("finalizers"));
    }
    return errors;
  }

  FieldErrors ValidateUpdate(const StrategyContext& context, const Json& object,
                             const Json& old) const override {
    FieldErrors errors = Validate(context, object);
    api::Append(errors, ChangedMetadata(object, old));
    return errors;
  }

  FieldErrors ValidateStatusUpdate(const StrategyContext& /*context*/, const Json& object,
                                   const Json& old) const override {
    FieldErrors errors = ChangedMetadata(object, old);
    const std::string_view phase = StringAt(object, "status", "phase");
    const bool deleting = Find(object, "metadata", "deletionTimestamp") != nullptr;
    if (phase != (deleting ? "Terminating" : "Active")) {
      errors.push_back(api::InvalidError(Path("status").Child("Phase"), phase,
                                         deleting
                                             ? "may only be 'Terminating' if `deletionTimestamp` is not empty"
                                             : "may only be 'Active' if `deletionTimestamp` is empty"));
    }
    return errors;
  }
};

}  // namespace

const Strategy& NamespaceStrategy() {
  static const Namespace strategy;
  return strategy;
}

FieldErrors ValidateNamespaceFinalize(const Json& object, const Json& old) {
  FieldErrors errors = ChangedMetadata(object, old);
  const Json& finalizers = ListAt(object, "spec", "finalizers");
  for (std::size_t i = 0; i < finalizers.size(); ++i) {
    Finalizer(errors, finalizers[i].get_ref<const std::string&>(), Path("spec").Child("finalizers").Index(i));
  }
  return errors;
}

}  // namespace terrarium::apiserver
