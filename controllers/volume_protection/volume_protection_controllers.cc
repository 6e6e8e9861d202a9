#include "controllers/volume_protection/volume_protection_controllers.h"

#include <string>
#include <utility>
#include <vector>

#include "api/core_v1/pod.h"
#include "api/core_v1/volume_binding.h"
#include "api/json_access.h"
#include "controllers/runtime/pod_claims.h"
#include "controllers/volume_protection/internal/protection_loop.h"

namespace terrarium::controllers {
namespace {

using api::Json;
using volume_protection::Protection;
using volume_protection::ProtectionLoop;
using volume_protection::Usage;

constexpr const char* kClassIndex = "by VolumeAttributesClass";

Usage UsedIf(bool used) { return used ? Usage::kUsed : Usage::kUnused; }

// The kubelet is done with the pod, or it was deleted by force: its ephemeral volumes are not used, even if
// finalizers keep the pod.
bool IsDone(const Json& pod) {
  const Json& metadata = api::ObjectAt(pod, "metadata");
  return api::Find(metadata, "deletionTimestamp") != nullptr &&
         api::IntAt(metadata, -1, "deletionGracePeriodSeconds") == 0;
}

// Pods without a node do not count: the kubelet starts no pod whose claim is being deleted.
bool Uses(const api::Object& pod, const api::Object& claim) {
  if (api::PodNodeName(pod).empty()) return false;
  for (const api::PodClaim& mounted : api::ClaimsOfPod(pod)) {
    if (mounted.claim != claim.header().name) continue;
    if (!mounted.ephemeral) return true;
    if (api::WhyNotForPod(claim, pod).empty() && !IsDone(*pod.Document())) return true;
  }
  return false;
}

class ClaimProtection : public std::enable_shared_from_this<ClaimProtection> {
 public:
  explicit ClaimProtection(const ControllerContext& context)
      : client_(context.client),
        pods_(context.informers.For("pods")),
        loop_(std::make_shared<ProtectionLoop>(
            context, Protection{.resource = "persistentvolumeclaims",
                                .finalizer = std::string(api::kClaimProtection),
                                .queue = "pvcprotection",
                                .usage = [this](const api::Object& claim) { return UsageOf(claim); }})) {}

  void Watch() {
    AddPodClaimIndex(pods_);
    loop_->Watch();
    auto seen = [weak = weak_from_this()](const ObjectPtr& pod) {
      if (auto self = weak.lock()) self->PodSeen(*pod);
    };
    pods_.AddHandler({.added = seen,
                      .updated = [seen](const ObjectPtr&, const ObjectPtr& pod) { seen(pod); },
                      .deleted =
                          [weak = weak_from_this()](const ObjectPtr& pod) {
                            if (auto self = weak.lock()) self->EnqueueClaims(*pod);
                          }});
  }
  void Start() { loop_->Start(); }

 private:
  // Only a pod that uses its claims no more can free one.
  void PodSeen(const api::Object& pod) {
    if (api::ClaimsOfPod(pod).empty()) return;
    if (api::PodNodeName(pod).empty() || IsShutDown(pod)) EnqueueClaims(pod);
  }

  void EnqueueClaims(const api::Object& pod) {
    for (const api::PodClaim& claim : api::ClaimsOfPod(pod))
      loop_->EnqueueIfWaiting({pod.header().ns, claim.claim});
  }

  // The informer may not have shown a pod yet, and a deletion cannot be taken back: before the finalizer is
  // removed the pods are listed.
  api::Result<Usage> UsageOf(const api::Object& claim) {
    for (const ObjectPtr& pod : PodsWithClaim(pods_, claim.name()))
      if (Uses(*pod, claim)) return Usage::kUsed;
    const api::Result<api::ObjectList> pods = client_.List("pods", claim.header().ns);
    if (!pods) return pods.status();
    for (const ObjectPtr& pod : pods->items)
      if (Uses(*pod, claim)) return Usage::kUsed;
    return Usage::kUnused;
  }

  api::Client& client_;
  Informer& pods_;
  std::shared_ptr<ProtectionLoop> loop_;
};

std::vector<std::string> ClassesOfClaim(const api::Object& claim) {
  const auto document = claim.Document();
  std::vector<std::string> classes;
  for (std::string_view name :
       {api::StringAt(*document, "spec", "volumeAttributesClassName"),
        api::StringAt(*document, "status", "currentVolumeAttributesClassName"),
        api::StringAt(*document, "status", "modifyVolumeStatus", "targetVolumeAttributesClassName")})
    if (!name.empty()) classes.emplace_back(name);
  return classes;
}

std::vector<std::string> ClassesOfVolume(const api::Object& volume) {
  const auto document = volume.Document();
  std::vector<std::string> classes;
  const std::string_view name = api::StringAt(*document, "spec", "volumeAttributesClassName");
  if (!name.empty()) classes.emplace_back(name);
  return classes;
}

class AttributesClassProtection {
 public:
  explicit AttributesClassProtection(const ControllerContext& context)
      : claims_(context.informers.For("persistentvolumeclaims")),
        volumes_(context.informers.For("persistentvolumes")),
        loop_(std::make_shared<ProtectionLoop>(
            context, Protection{.resource = "volumeattributesclasses",
                                .finalizer = std::string(api::kAttributesClassProtection),
                                .queue = "vacprotection",
                                .usage = [&claims = claims_, &volumes = volumes_](
                                             const api::Object& object) -> api::Result<Usage> {
                                  const std::string& name = object.header().name;
                                  return UsedIf(!claims.ByIndex(kClassIndex, name).empty() ||
                                                !volumes.ByIndex(kClassIndex, name).empty());
                                }})) {}

  void Watch() {
    claims_.AddIndex(kClassIndex, ClassesOfClaim);
    volumes_.AddIndex(kClassIndex, ClassesOfVolume);
    loop_->Watch();
    WatchUsers(claims_, ClassesOfClaim);
    WatchUsers(volumes_, ClassesOfVolume);
  }
  void Start() { loop_->Start(); }

 private:
  void WatchUsers(Informer& users, std::vector<std::string> (*classes)(const api::Object&)) {
    auto left = [weak = std::weak_ptr<ProtectionLoop>(loop_), classes](const ObjectPtr& user) {
      auto loop = weak.lock();
      if (loop == nullptr) return;
      for (const std::string& name : classes(*user)) loop->EnqueueIfWaiting({"", name});
    };
    users.AddHandler({.added = nullptr,
                      .updated = [left](const ObjectPtr& old, const ObjectPtr&) { left(old); },
                      .deleted = left});
  }

  Informer& claims_;
  Informer& volumes_;
  std::shared_ptr<ProtectionLoop> loop_;
};

}  // namespace

std::unique_ptr<Controller> MakeClaimProtectionController(const ControllerContext& context) {
  return std::make_unique<SharedController<ClaimProtection>>(context);
}

std::unique_ptr<Controller> MakeVolumeProtectionController(const ControllerContext& context) {
  return std::make_unique<SharedController<ProtectionLoop>>(
      context, Protection{.resource = "persistentvolumes",
                          .finalizer = std::string(api::kVolumeProtection),
                          .queue = "pvprotection",
                          .usage = [](const api::Object& volume) -> api::Result<Usage> {
                            return UsedIf(volume.header().phase.text() == "Bound");
                          }});
}

std::unique_ptr<Controller> MakeAttributesClassProtectionController(const ControllerContext& context) {
  return std::make_unique<SharedController<AttributesClassProtection>>(context);
}

}  // namespace terrarium::controllers
