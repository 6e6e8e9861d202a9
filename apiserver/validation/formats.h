#pragma once

// Text formats that many Kubernetes fields share, with Kubernetes' error messages. A check returns the
// messages or errors of the rules that the value breaks, and nothing when the value is valid.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/base/field_error.h"
#include "api/json.h"

namespace terrarium::apiserver {

using Messages = std::vector<std::string>;

Messages IsDns1123Label(std::string_view text);
Messages IsDns1123Subdomain(std::string_view text);
Messages IsDns1123SubdomainWithUnderscore(std::string_view text);
Messages IsDns1035Label(std::string_view text);
// A label or annotation key, a finalizer, a condition type: [prefix/]name.
Messages IsQualifiedName(std::string_view text);
Messages IsValidLabelValue(std::string_view text);
Messages IsValidPathSegmentName(std::string_view text);
// The name of a port (IANA_SVC_NAME).
Messages IsValidPortName(std::string_view text);
Messages IsValidPortNum(std::int64_t port);
// Printable ASCII except '=', as in Kubernetes since 1.34.
Messages IsEnvVarName(std::string_view text);
Messages IsCIdentifier(std::string_view text);
// A key of a ConfigMap or Secret.
Messages IsConfigMapKey(std::string_view text);
Messages IsHttpHeaderName(std::string_view text);
Messages IsValidPercent(std::string_view text);  // "30%"
Messages IsValidUserOrGroupId(std::int64_t id);
Messages IsInRange(std::int64_t value, std::int64_t lowest, std::int64_t highest);

// Error messages in Kubernetes' wording.
std::string RegexMessage(std::string_view what, std::string_view format,
                         const std::vector<std::string_view>& examples = {});
std::string MaxLengthMessage(int length);
std::string RangeMessage(std::int64_t lowest, std::int64_t highest);

// A host and a path, such as acme.io/foo (Job managedBy).
api::FieldErrors IsDomainPrefixedPath(std::string_view text, const api::Path& path);

// An IP address in a field that predates strict parsing. Rejects malformed text, leading zeros and
// IPv4-mapped IPv6 addresses; accepts IPv6 that is not in RFC 5952 form.
api::FieldErrors IsValidIp(std::string_view text, const api::Path& path);
// Kubernetes' warning for a valid IPv6 address that is not in RFC 5952 form.
std::vector<std::string> IpWarnings(std::string_view text, const api::Path& path);
// 4 or 6, or nullopt for malformed text. An IPv4-mapped IPv6 address is 4.
std::optional<int> IpFamily(std::string_view text);

// An intstr.IntOrString that must be a non-negative number or a percentage.
api::FieldErrors ValidatePositiveIntOrPercent(const api::Json& value, const api::Path& path);
// Rejects a percentage above 100; accepts every number.
api::FieldErrors IsNotMoreThan100Percent(const api::Json& value, const api::Path& path);
// A port by number or by name, as in probes and Services.
api::FieldErrors ValidatePortNumOrName(const api::Json& port, const api::Path& path);

}  // namespace terrarium::apiserver
