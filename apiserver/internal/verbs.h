#pragma once

// One function per verb; each responds to its call exactly once. REQUIRES: the call's route is a resource
// with a strategy.

#include "apiserver/internal/call.h"

namespace terrarium::apiserver {

void ServeCreate(const CallPtr& call);
void ServeGet(const CallPtr& call);
void ServeList(const CallPtr& call);
void ServeWatch(const CallPtr& call);
void ServeUpdate(const CallPtr& call);
void ServePatch(const CallPtr& call);
void ServeApply(const CallPtr& call);  // a patch that is an applied configuration
void ServeDelete(const CallPtr& call);
void ServeDeleteCollection(const CallPtr& call);

// Subresources with rules of their own; `status` is served by get, update and patch above.
void ServeScale(const CallPtr& call);
void ServeBinding(const CallPtr& call);  // pods/NAME/binding and the bindings resource
void ServeEviction(const CallPtr& call);
void ServePodLog(const CallPtr& call);
void ServeConnect(const CallPtr& call);  // exec, attach and portforward of a pod
void ServeNamespaceFinalize(const CallPtr& call);

// Kinds that are never stored.
void ServeReview(const CallPtr& call);
void ServeResourceMetrics(const CallPtr& call);  // get and list of metrics.k8s.io

}  // namespace terrarium::apiserver
