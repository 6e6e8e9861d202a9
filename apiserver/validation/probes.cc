// Probes and lifecycle hooks.

#include "apiserver/validation/internal/pod_rules.h"

namespace terrarium::apiserver::pod_rules {
namespace {

void CheckHttpGet(const Json& action, const Path& path, FieldErrors& errors) {
  RequireText(action, "path", path, errors);
  const Json* port = Find(action, "port");
  Append(errors, ValidatePortNumOrName(port == nullptr ? Json() : *port, path.Child("port")));
  const std::string_view scheme = StringAt(action, "scheme");
  if (scheme != "HTTP" && scheme != "HTTPS") {
    errors.push_back(api::NotSupportedError(path.Child("scheme"), scheme, {"HTTP", "HTTPS"}));
  }
  for (const Json& header : ListAt(action, "httpHeaders")) {
    const std::string_view name = StringAt(header, "name");
    AddInvalid(IsHttpHeaderName(name), name, path.Child("httpHeaders"), errors);
  }
}

void CheckSleep(const Json& action, const Json* grace_period, const Path& path, FieldErrors& errors) {
  if (grace_period == nullptr) return;
  const std::int64_t seconds = IntAt(action, 0, "seconds");
  const std::int64_t limit = grace_period->get<std::int64_t>();
  if (seconds >= 0 && seconds <= limit) return;
  errors.push_back(api::InvalidError(
      path, seconds,
      "must be non-negative and less than terminationGracePeriodSeconds (" + std::to_string(limit) + ")"));
}

void CheckAction(std::string_view name, const Json& action, const Json* grace_period, const Path& path,
                 FieldErrors& errors) {
  if (name == "exec") {
    if (ListAt(action, "command").empty()) errors.push_back(api::RequiredError(path.Child("command")));
  } else if (name == "httpGet") {
    CheckHttpGet(action, path, errors);
  } else if (name == "sleep") {
    CheckSleep(action, grace_period, path, errors);
  } else {  // tcpSocket, grpc
    const Json* port = Find(action, "port");
    Append(errors, ValidatePortNumOrName(port == nullptr ? Json() : *port, path.Child("port")));
  }
}

// Exactly one of the actions; a probe has no sleep and a hook no grpc, by their schemas.
void CheckHandler(const Json& handler, const Json* grace_period, const Path& path, FieldErrors& errors) {
  bool found = false;
  for (const char* name : {"exec", "httpGet", "tcpSocket", "grpc", "sleep"}) {
    const Json* action = Find(handler, name);
    if (action == nullptr) continue;
    if (found) {
      errors.push_back(api::ForbiddenError(path.Child(name), "may not specify more than 1 handler type"));
    } else {
      CheckAction(name, *action, grace_period, path.Child(name), errors);
    }
    found = true;
  }
  if (!found) errors.push_back(api::RequiredError(path, "must specify a handler type"));
}

void CheckProbe(const Json& probe, const Path& path, FieldErrors& errors) {
  CheckHandler(probe, nullptr, path, errors);
  for (const char* field :
       {"initialDelaySeconds", "timeoutSeconds", "periodSeconds", "successThreshold", "failureThreshold"}) {
    const std::int64_t value = IntAt(probe, 0, field);
    if (value < 0) Append(errors, ValidateNonnegative(value, path.Child(field)));
  }
  const Json* grace = Find(probe, "terminationGracePeriodSeconds");
  if (grace != nullptr && grace->get<std::int64_t>() <= 0) {
    errors.push_back(
        api::InvalidError(path.Child("terminationGracePeriodSeconds"), *grace, "must be greater than 0"));
  }
}

void CheckSucceedsOnce(const Json& probe, const Path& path, FieldErrors& errors) {
  const std::int64_t threshold = IntAt(probe, 0, "successThreshold");
  if (threshold != 1)
    errors.push_back(api::InvalidError(path.Child("successThreshold"), threshold, "must be 1"));
}

}  // namespace

void CheckProbes(const Json& container, const Path& path, FieldErrors& errors) {
  if (const Json* probe = Find(container, "livenessProbe")) {
    CheckProbe(*probe, path.Child("livenessProbe"), errors);
    CheckSucceedsOnce(*probe, path.Child("livenessProbe"), errors);
  }
  if (const Json* probe = Find(container, "readinessProbe")) {
    CheckProbe(*probe, path.Child("readinessProbe"), errors);
    if (const Json* grace = Find(*probe, "terminationGracePeriodSeconds")) {
      errors.push_back(api::InvalidError(path.Child("readinessProbe", "terminationGracePeriodSeconds"),
                                         *grace, "must not be set for readinessProbes"));
    }
  }
  if (const Json* probe = Find(container, "startupProbe")) {
    CheckProbe(*probe, path.Child("startupProbe"), errors);
    CheckSucceedsOnce(*probe, path.Child("startupProbe"), errors);
  }
}

void CheckLifecycle(const Json& lifecycle, const Json* grace_period, const Path& path, FieldErrors& errors) {
  for (const char* hook : {"postStart", "preStop"}) {
    if (const Json* handler = Find(lifecycle, hook))
      CheckHandler(*handler, grace_period, path.Child(hook), errors);
  }
}

}  // namespace terrarium::apiserver::pod_rules
