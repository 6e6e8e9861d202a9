#pragma once

// The HTTP call that spec.downscalePodPicker describes. Pure but for the Secrets, which are looked up when it is built,
// so that a token that was exchanged counts from the next call on.

#include <functional>
#include <string>
#include <variant>

#include "api/http_caller.h"
#include "api/json.h"
#include "api/object.h"
#include "controllers/replicaset/internal/pod_picker.h"

namespace terrarium::controllers::replicaset {

// The Secret of that name in the namespace of the owner; nullptr: there is none.
using FindSecret = std::function<api::ObjectPtr(const std::string& name)>;

// A Secret or key that is missing, or whose value cannot be sent in a header, is a fault; asking again at once would
// find the same.
std::variant<api::HttpCall, PickFault> CallOf(const api::Json& picker, const PickRequest& request,
                                              const FindSecret& secret);

// Where it goes, for people: without the query, which may hold what is nobody's business.
std::string UrlOf(const api::Json& picker);

}  // namespace terrarium::controllers::replicaset
