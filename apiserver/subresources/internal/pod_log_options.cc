#include "apiserver/subresources/internal/pod_log_options.h"

#include <charconv>

#include "api/base/errors.h"
#include "api/codec/normalize.h"
#include "api/json_access.h"
#include "api/schema/schema.h"
#include "apiserver/internal/options.h"

namespace terrarium::apiserver {
namespace {

using api::Json;
using api::Path;
using api::Result;

// An absent parameter sets no limit; an empty one is malformed.
Result<std::optional<std::int64_t>> LogNumber(const Request& request, std::string_view name) {
  const std::string* text = request.Query(name);
  if (text == nullptr) return std::optional<std::int64_t>{};
  std::int64_t value = 0;
  const char* const end = text->data() + text->size();
  const char* begin = text->data();
  if (!text->empty() && text->front() == '+') ++begin;
  const auto [stop, error] = std::from_chars(begin, end, value);
  if (error == std::errc::result_out_of_range && stop == end)
    return api::BadRequest("strconv.ParseInt: parsing " + api::Quote(*text) + ": value out of range");
  if (error != std::errc() || stop != end)
    return api::BadRequest("strconv.ParseInt: parsing " + api::Quote(*text) + ": invalid syntax");
  return std::optional(value);
}

Result<std::optional<api::Time>> SinceTime(const Request& request) {
  const std::string* text = request.Query("sinceTime");
  if (text == nullptr) return std::optional<api::Time>{};
  if (text->empty() || *text == "null") return std::optional(api::Time::min());  // Go's zero time: since ever
  // A malformed time gets the same message as in a body.
  Json document = {{"sinceTime", *text}};
  static const api::Message& schema = api::Schema::Get().Must("io.k8s.api.core.v1.PodLogOptions");
  if (auto error = api::Normalize(schema, document, nullptr)) return api::BadRequest(*error);
  return std::optional(api::ParseTime(*text).value_or(api::Time::min()));
}

api::FieldErrors CheckLogOptions(const Request& request, const PodLogOptions& options) {
  api::FieldErrors errors;
  if (options.tail_lines && *options.tail_lines < 0)
    errors.push_back(
        api::InvalidError(Path("tailLines"), *options.tail_lines, "must be greater than or equal to 0"));
  if (options.limit_bytes && *options.limit_bytes < 1)
    errors.push_back(api::InvalidError(Path("limitBytes"), *options.limit_bytes, "must be greater than 0"));
  if (options.since_seconds && options.since_time)
    errors.push_back(
        api::ForbiddenError(Path("[]"), "at most one of `sinceTime` or `sinceSeconds` may be specified"));
  else if (options.since_seconds && *options.since_seconds < 1)
    errors.push_back(
        api::InvalidError(Path("sinceSeconds"), *options.since_seconds, "must be greater than 0"));
  // Behind the gate PodLogsQuerySplitStreams, which is alpha.
  if (request.Query("stream") != nullptr)
    errors.push_back(api::ForbiddenError(Path("stream"), "may not be specified"));
  return errors;
}

}  // namespace

Result<PodLogOptions> ParsePodLogOptions(const Request& request, const std::string& pod) {
  PodLogOptions out;
  if (const std::string* container = request.Query("container")) out.container = *container;
  out.follow = QueryBool(request, "follow").value_or(false);
  out.previous = QueryBool(request, "previous").value_or(false);
  out.timestamps = QueryBool(request, "timestamps").value_or(false);
  auto since_seconds = LogNumber(request, "sinceSeconds");
  if (!since_seconds) return since_seconds.status();
  auto since_time = SinceTime(request);
  if (!since_time) return since_time.status();
  auto tail_lines = LogNumber(request, "tailLines");
  if (!tail_lines) return tail_lines.status();
  auto limit_bytes = LogNumber(request, "limitBytes");
  if (!limit_bytes) return limit_bytes.status();
  out.since_seconds = *since_seconds;
  out.since_time = *since_time;
  out.tail_lines = *tail_lines;
  out.limit_bytes = *limit_bytes;
  if (api::FieldErrors errors = CheckLogOptions(request, out); !errors.empty())
    return api::Invalid({"", "PodLogOptions"}, pod, errors);
  return out;
}

}  // namespace terrarium::apiserver
