#pragma once

// The pods that mount a PersistentVolumeClaim, by an index that several controllers share.

#include <vector>

#include "controllers/runtime/informer.h"

namespace terrarium::controllers {

// Adds the index to the informer of pods, unless it has it.
void AddPodClaimIndex(Informer& pods);
// The pods with a volume of that claim, generic ephemeral volumes included, whether or not the claim was made
// for them. REQUIRES: AddPodClaimIndex.
std::vector<ObjectPtr> PodsWithClaim(const Informer& pods, const ObjectName& claim);

// The pod has ended, or it is being deleted and none of its containers runs.
bool IsShutDown(const api::Object& pod);

}  // namespace terrarium::controllers
