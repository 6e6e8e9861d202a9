// PersistentVolume and PersistentVolumeClaim.

#include "apiserver/validation/persistent_volume.h"

#include "api/core_v1/volume_binding.h"
#include "apiserver/strategies.h"
#include "apiserver/strategy/internal/plain_kind.h"

namespace terrarium::apiserver {
namespace {

using namespace strategy;  // NOLINT: the helpers of this folder

constexpr std::string_view kClassAnnotation = "volume.beta.kubernetes.io/storage-class";

Json SourceOf(const Json& spec) {
  Json source = Json::object();
  for (const auto& [member, value] : spec.items())
    if (IsVolumeSourceMember(member)) source[std::string(member)] = value;
  return source;
}

class PersistentVolume final : public PlainKind {
 public:
  PersistentVolume() : PlainKind({.status = true}) {}

  void PrepareForCreate(const StrategyContext& context, Json& object) const override {
    object["status"]["phase"] = "Pending";
    object["status"]["lastPhaseTransitionTime"] = api::FormatTime(context.now);
  }

  void PrepareForStatusUpdate(const StrategyContext& context, Json& object, const Json& old) const override {
    Json& status = ObjectField(object, "status");
    constexpr const char* kSince = "lastPhaseTransitionTime";
    const Json* before = Find(old, "status", kSince);
    const Json* now = Find(status, kSince);
    const bool unset = now == nullptr || (before != nullptr && *now == *before);
    if (!unset) return;
    if (StringAt(status, "phase") != StringAt(old, "status", "phase"))
      status[kSince] = api::FormatTime(context.now);
    else if (before != nullptr)
      status[kSince] = *before;
  }

 private:
  // DIVERGES: Kubernetes adds the difference of the sources to its error.
  void Check(const Json& object, const Json* old, FieldErrors& errors) const override {
    const Json& spec = ObjectAt(object, "spec");
    api::Append(errors, ValidatePersistentVolumeSpec(spec, Path("spec")));
    if (old == nullptr) return;
    const Json& old_spec = ObjectAt(*old, "spec");
    Json source = SourceOf(spec);
    const Json old_source = SourceOf(old_spec);
    // A secret for expansion may be added once.
    if (Find(old_source, "csi") != nullptr &&
        Find(old_source, "csi", "controllerExpandSecretRef") == nullptr && Find(source, "csi") != nullptr)
      source["csi"].erase("controllerExpandSecretRef");
    if (source != old_source)
      errors.push_back(api::ForbiddenError(Path("spec.persistentvolumesource"),
                                           "spec.persistentvolumesource is immutable after creation"));
    Immutable(errors, spec, old_spec, "volumeMode", Path());
    const Json* affinity = Find(old_spec, "nodeAffinity");
    if (affinity != nullptr && ObjectAt(spec, "nodeAffinity") != *affinity)
      errors.push_back(api::InvalidError(Path("nodeAffinity"), ObjectAt(spec, "nodeAffinity"),
                                         "field is immutable, except for updating from beta label to GA"));
    if (Find(old_spec, "volumeAttributesClassName") != nullptr &&
        Find(spec, "volumeAttributesClassName") == nullptr)
      errors.push_back(api::ForbiddenError(Path("spec.volumeAttributesClassName"),
                                           "update from non-nil value to nil is forbidden"));
  }
};

class PersistentVolumeClaim final : public PlainKind {
 public:
  PersistentVolumeClaim() : PlainKind({.status = true}) {}

  void PrepareForCreate(const StrategyContext& /*context*/, Json& object) const override {
    object["status"]["phase"] = "Pending";
    if (Find(object, "spec") != nullptr) AlignSources(object["spec"]);
  }

  void PrepareForUpdate(const StrategyContext& /*context*/, Json& object,
                        const Json& /*old*/) const override {
    if (Find(object, "spec") != nullptr) AlignSources(object["spec"]);
  }

 private:
  // dataSource and dataSourceRef are two names of one field: the one that is missing is filled in. A source
  // of a kind that dataSource cannot have is dropped from there.
  static void AlignSources(Json& spec) {
    const Json* source = Find(spec, "dataSource");
    const Json* ref = Find(spec, "dataSourceRef");
    if (source != nullptr && ref == nullptr) {
      const std::string_view group = StringAt(*source, "apiGroup");
      const std::string_view kind = StringAt(*source, "kind");
      const bool known = (group.empty() && kind == "PersistentVolumeClaim") ||
                         (group == "snapshot.storage.k8s.io" && kind == "VolumeSnapshot");
      if (!known)
        spec.erase("dataSource");
      else
        spec["dataSourceRef"] = Json(*source);
    } else if (source == nullptr && ref != nullptr && StringAt(*ref, "namespace").empty()) {
      spec["dataSource"] = Json(*ref);
    }
  }

  // DIVERGES: Kubernetes adds the difference of the specs to its error.
  void Check(const Json& object, const Json* old, FieldErrors& errors) const override {
    const Json& spec = ObjectAt(object, "spec");
    api::Append(errors, ValidatePersistentVolumeClaimSpec(spec, Path("spec")));
    if (old == nullptr) return;
    const Json& old_spec = ObjectAt(*old, "spec");
    if (StringAt(object, "metadata", "annotations", kClassAnnotation) !=
        StringAt(*old, "metadata", "annotations", kClassAnnotation))
      errors.push_back(api::InvalidError(Path("metadata").Child("annotations", kClassAnnotation),
                                         StringAt(object, "metadata", "annotations", kClassAnnotation),
                                         "field is immutable"));
    if (Comparable(object, old_spec) != old_spec)
      errors.push_back(api::ForbiddenError(
          Path("spec"),
          "spec is immutable after creation except resources.requests and volumeAttributesClassName for "
          "bound claims"));
    const api::Quantity size = api::StorageIn(ObjectAt(spec, "resources", "requests"));
    if (size < api::StorageIn(ObjectAt(old_spec, "resources", "requests")) &&
        size <= api::StorageIn(ObjectAt(*old, "status", "capacity")))
      errors.push_back(api::ForbiddenError(Path("spec.resources.requests.storage"),
                                           "field can not be less than status.capacity"));
    Immutable(errors, spec, old_spec, "volumeMode", Path());
    CheckAttributesClass(spec, *old, errors);
  }

  // The spec with the changes undone that a claim may have: a volume and a class for a claim that has none,
  // and the size and the attributes of a bound claim.
  static Json Comparable(const Json& object, const Json& old_spec) {
    Json spec = ObjectAt(object, "spec");
    auto undo = [&](const char* field) {
      if (const Json* before = Find(old_spec, field))
        spec[field] = *before;
      else
        spec.erase(field);
    };
    if (StringAt(old_spec, "volumeName").empty()) undo("volumeName");
    const bool classless = Find(old_spec, "storageClassName") == nullptr &&
                           api::Find(object, "metadata", "annotations", kClassAnnotation) == nullptr;
    if (classless) undo("storageClassName");
    if (StringAt(object, "status", "phase") != "Bound") return spec;
    const Json* size = Find(old_spec, "resources", "requests", "storage");
    if (size != nullptr && Find(spec, "resources", "requests") != nullptr)
      spec["resources"]["requests"]["storage"] = *size;
    undo("volumeAttributesClassName");
    return spec;
  }

  static void CheckAttributesClass(const Json& spec, const Json& old, FieldErrors& errors) {
    const Json* now = Find(spec, "volumeAttributesClassName");
    const Json* before = Find(old, "spec", "volumeAttributesClassName");
    const bool same = now == nullptr || before == nullptr ? now == before : *now == *before;
    if (same || Find(old, "status", "currentVolumeAttributesClassName") == nullptr) return;
    const Path path("spec.volumeAttributesClassName");
    if (now == nullptr)
      errors.push_back(api::ForbiddenError(
          path, "update to nil is forbidden when status.currentVolumeAttributesClassName is not nil"));
    else if (StringAt(spec, "volumeAttributesClassName").empty())
      errors.push_back(api::ForbiddenError(
          path,
          "update to empty string is forbidden when status.currentVolumeAttributesClassName is not nil"));
  }
};

}  // namespace

const Strategy& PersistentVolumeStrategy() {
  static const PersistentVolume strategy;
  return strategy;
}

const Strategy& PersistentVolumeClaimStrategy() {
  static const PersistentVolumeClaim strategy;
  return strategy;
}

}  // namespace terrarium::apiserver
