#include "controllers/runtime/pod_claims.h"

#include <string>
#include <utility>

#include "api/core_v1/pod.h"
#include "api/core_v1/volume_binding.h"
#include "api/json_access.h"

namespace terrarium::controllers {
namespace {

constexpr const char* kIndex = "pods by the claims that they mount";

}  // namespace

void AddPodClaimIndex(Informer& pods) {
  pods.AddIndex(kIndex, [](const api::Object& pod) {
    std::vector<std::string> claims;
    for (const api::PodClaim& claim : api::ClaimsOfPod(pod))
      claims.push_back(ObjectName{pod.header().ns, claim.claim}.String());
    return claims;
  });
}

std::vector<ObjectPtr> PodsWithClaim(const Informer& pods, const ObjectName& claim) {
  return pods.ByIndex(kIndex, claim.String());
}

bool IsShutDown(const api::Object& pod) {
  if (api::IsPodTerminal(pod)) return true;
  if (!pod.header().deleting) return false;
  const auto document = pod.Document();
  for (const char* list : {"initContainerStatuses", "containerStatuses", "ephemeralContainerStatuses"})
    for (const api::Json& status : api::ListAt(*document, "status", list))
      if (api::Find(status, "state", "terminated") == nullptr &&
          api::Find(status, "state", "waiting") == nullptr)
        return false;
  return true;
}

}  // namespace terrarium::controllers
