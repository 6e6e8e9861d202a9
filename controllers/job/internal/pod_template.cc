#include "controllers/job/internal/pod_template.h"

#include <algorithm>
#include <utility>

#include "api/json_access.h"
#include "controllers/job/internal/pod_facts.h"
#include "controllers/runtime/owner_references.h"

namespace terrarium::controllers::job {

using api::Json;

Json PodOf(const api::Object& job, const Json& document, bool indexed) {
  const Json& from = api::ObjectAt(document, "spec", "template");
  Json metadata = {{"generateName", job.header().name + "-"},
                   {"labels", api::ObjectAt(from, "metadata", "labels")},
                   {"annotations", api::ObjectAt(from, "metadata", "annotations")},
                   {"finalizers", api::ListAt(from, "metadata", "finalizers")},
                   {"ownerReferences", Json::array({ControllerReference(job, "batch/v1", "Job")})}};
  Json& finalizers = metadata["finalizers"];
  if (std::find(finalizers.begin(), finalizers.end(), kTrackingFinalizer) == finalizers.end())
    finalizers.push_back(kTrackingFinalizer);
  Json pod = {{"metadata", std::move(metadata)}, {"spec", api::ObjectAt(from, "spec")}};
  if (indexed) AddCompletionIndexEnv(pod);
  return pod;
}

Json IndexedPodOf(const Json& pod, const api::Object& job, int index,
                  const std::optional<IndexFailures>& failures) {
  Json out = pod;
  out["metadata"]["generateName"] = IndexedGenerateName(job.header().name, index);
  SetCompletionIndex(out, job.header().name, index);
  if (failures) SetIndexFailures(out, *failures);
  return out;
}

Json TakeFinalizerOff(const std::string& uid) {
  // The uid makes the apiserver refuse a patch of another pod that has taken the name meanwhile.
  Json patch;
  patch["metadata"]["uid"] = uid;
  patch["metadata"]["$deleteFromPrimitiveList/finalizers"] = Json::array({kTrackingFinalizer});
  return patch;
}

}  // namespace terrarium::controllers::job
