#pragma once

// The documents of pods and claims of a StatefulSet. Pure.

#include <string>
#include <string_view>
#include <vector>

#include "api/json.h"
#include "api/object.h"
#include "controllers/statefulset/internal/pod_facts.h"

namespace terrarium::controllers::statefulset {

// A pod of that template and revision. `document` is the set's.
api::Json NewPod(const api::Object& set, const api::Json& document, const api::Json& pod_template,
                 std::string_view revision, int ordinal);

// Sets the labels that name the pod and its ordinal.
void SetIdentity(api::Json& pod, int ordinal);
// Puts the volumes of the set's claims into the pod. They replace volumes of the same names.
void SetStorage(api::Json& pod, const api::Json& document, std::string_view set, int ordinal);
bool HasStorage(const PodFacts& pod, const api::Json& document, std::string_view set, int ordinal);

// The claims of the set's pod with that ordinal, in the order of the templates.
std::vector<std::string> ClaimNames(const api::Json& document, std::string_view set, int ordinal);
// The same as documents: the templates, with the labels that the set's selector requires.
std::vector<api::Json> NewClaims(const api::Json& document, const api::ObjectName& set, int ordinal);

}  // namespace terrarium::controllers::statefulset
