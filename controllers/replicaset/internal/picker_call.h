#pragma once

// Builds the HTTP call that spec.downscalePodPicker describes. Pure except for the Secrets, which are read
// for each call, so that a rotated token takes effect with the next call.

#include <functional>
#include <string>
#include <variant>

#include "api/http_caller.h"
#include "api/json.h"
#include "api/object.h"
#include "controllers/replicaset/internal/pod_picker.h"

namespace terrarium::controllers::replicaset {

// Returns the Secret of that name in the owner's namespace, or nullptr.
using FindSecret = std::function<api::ObjectPtr(const std::string& name)>;

// A missing Secret or key, or a value that is invalid in a header, is a fault that is not worth an immediate
// retry.
std::variant<api::HttpCall, PickFault> CallOf(const api::Json& picker, const PickRequest& request,
                                              const FindSecret& secret);

// The URL for messages, without the query, which may contain credentials.
std::string UrlOf(const api::Json& picker);

}  // namespace terrarium::controllers::replicaset
