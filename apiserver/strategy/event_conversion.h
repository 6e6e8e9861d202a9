#pragma once

// Events are one kind of object with two names and two shapes, core/v1 and events.k8s.io/v1. They are stored
// in the core shape; requests of the other group are converted on the way in and responses on the way out.

#include "api/json.h"
#include "apiserver/strategy.h"

namespace terrarium::apiserver {

// Renames the fields that the groups name differently (involvedObject/regarding, message/note,
// reportingComponent/ reportingController, source/deprecatedSource, ...). apiVersion and kind are left alone.
// Fields that only the target group always writes are not added: normalise the result by the target's schema
// where that matters.
void EventToCore(Json& event);
void EventToEventsV1(Json& event);

// The strategy for requests of events.k8s.io/v1, which are checked more strictly. It too works on documents
// in the core shape. Its selectable fields are the core ones under their other names, in the same order;
// "source", which only core has, is the last there.
const Strategy& EventsV1Strategy();

}  // namespace terrarium::apiserver
