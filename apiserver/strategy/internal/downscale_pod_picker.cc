#include "apiserver/strategy/internal/downscale_pod_picker.h"

#include <algorithm>

#include "apiserver/strategy/internal/checks.h"
#include "apiserver/validation/formats.h"
#include "apiserver/validation/shared_fields.h"

namespace terrarium::apiserver::strategy {
namespace {

constexpr std::int64_t kTimeoutSecondsMax = 30;  // as of admission webhooks

// A blank would end the path in the request line, and a line end the request line itself.
bool CanBeRequested(std::string_view path) {
  return std::none_of(path.begin(), path.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte <= 0x20 || byte == 0x7f;
  });
}

// Neither CR and LF, which end a header, nor other control characters can be sent in one.
bool CanBeSent(std::string_view value) {
  return std::none_of(value.begin(), value.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return (byte < 0x20 && c != '\t') || byte == 0x7f;
  });
}

void Header(FieldErrors& errors, const Json& header, const Path& path) {
  const std::string_view name = StringAt(header, "name");
  AddInvalid(IsHttpHeaderName(name), name, path.Child("name"), errors);
  const std::string_view value = StringAt(header, "value");
  if (!CanBeSent(value)) {
    errors.push_back(api::InvalidError(path.Child("value"), value, "must not contain control characters"));
  }
  const Json* source = Find(header, "valueFrom");
  if (source == nullptr) return;
  if (!value.empty()) {
    errors.push_back(
        api::InvalidError(path.Child("valueFrom"), "", "may not be specified when `value` is not empty"));
  }
  const Json* secret = Find(*source, "secretKeyRef");
  if (secret == nullptr) {
    errors.push_back(api::RequiredError(path.Child("valueFrom", "secretKeyRef")));
  } else {
    pod_rules::CheckKeySelector(*secret, path.Child("valueFrom", "secretKeyRef"), errors);
  }
}

void Http(FieldErrors& errors, const Json& http, const Path& path) {
  const std::string_view host = StringAt(http, "host");
  if (host.empty()) {
    errors.push_back(api::RequiredError(path.Child("host")));
  } else if (!IpFamily(host)) {
    AddInvalid(IsDns1123Subdomain(host), host, path.Child("host"), errors);
  }
  const std::string_view url_path = StringAt(http, "path");
  if (!url_path.empty() && !url_path.starts_with('/')) {
    errors.push_back(api::InvalidError(path.Child("path"), std::string(url_path), "must start with a '/'"));
  }
  if (!CanBeRequested(url_path)) {
    errors.push_back(api::InvalidError(path.Child("path"), std::string(url_path),
                                       "must not contain blanks or control characters"));
  }
  const Json* port = Find(http, "port");
  api::Append(errors, ValidatePortNumOrName(port == nullptr ? Json(0) : *port, path.Child("port")));
  OneOf(errors, path.Child("scheme"), StringAt(http, "scheme"), {"HTTP", "HTTPS", "http", "https"});
  const Json& headers = ListAt(http, "httpHeaders");
  for (std::size_t i = 0; i < headers.size(); ++i)
    Header(errors, headers[i], path.Child("httpHeaders").Index(i));
}

}  // namespace

void ValidateDownscalePodPicker(FieldErrors& errors, const Json& spec, const Path& path) {
  const Json* picker = Find(spec, "downscalePodPicker");
  if (picker == nullptr) return;
  const Path here = path.Child("downscalePodPicker");
  const Json* http = Find(*picker, "http");
  if (http == nullptr) {
    errors.push_back(api::RequiredError(here.Child("http")));
  } else {
    Http(errors, *http, here.Child("http"));
  }
  Nonnegative(errors, *picker, "maxRetries", here);
  const std::int64_t timeout = IntAt(*picker, 1, "timeoutSeconds");
  if (timeout < 1 || timeout > kTimeoutSecondsMax) {
    errors.push_back(api::InvalidError(here.Child("timeoutSeconds"), timeout,
                                       "the timeout value must be between 1 and 30 seconds"));
  }
}

}  // namespace terrarium::apiserver::strategy
