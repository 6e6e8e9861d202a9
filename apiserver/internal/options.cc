#include "apiserver/internal/options.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cstdio>

#include "api/base/errors.h"
#include "api/json_access.h"
#include "apiserver/internal/printable.h"

namespace terrarium::apiserver {
namespace {

using api::FieldErrors;
using api::Json;
using api::Path;
using api::Result;
using api::Status;

Status InvalidOptions(const char* kind, const FieldErrors& errors) {
  return api::Invalid({"meta.k8s.io", kind}, "", errors);
}

// dryRun may be repeated; the only value there is is All.
FieldErrors CheckDryRun(const std::vector<std::string>& values) {
  for (const std::string& value : values)
    if (value != "All") return {api::NotSupportedError(Path("dryRun"), Json(values), {"All"})};
  return {};
}

FieldErrors CheckFieldManager(std::string_view manager) {
  const Path path("fieldManager");
  FieldErrors errors;
  if (manager.size() > kFieldManagerBytesMax) {
    errors.push_back(api::TooLongError(path, kFieldManagerBytesMax));
    manager = manager.substr(0, kFieldManagerBytesMax);
  }
  for (std::size_t at = 0; at < manager.size();) {
    const Character character = FirstCharacter(manager.substr(at));
    if (!IsPrintable(character.code)) {
      std::array<char, 16> code{};
      std::snprintf(code.data(), code.size(), "U+%04X", static_cast<unsigned>(character.code));
      errors.push_back(api::InvalidError(
          path, Json(manager),
          "invalid character " + std::string(code.data()) + " (at position " + std::to_string(at) + ")"));
    }
    at += character.bytes;
  }
  return errors;
}

std::vector<std::string> QueryValues(const Request& request, std::string_view name) {
  std::vector<std::string> values;
  for (const auto& [key, value] : request.query)
    if (key == name) values.push_back(value);
  return values;
}

template <typename Int>
bool ParseInt(const std::string& text, Int* out) {
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *out);
  return error == std::errc() && end == text.data() + text.size();
}

// A query parameter that must be a number; absent or empty leaves `out` alone.
Result<void> QueryInt(const Request& request, std::string_view name, std::optional<std::int64_t>* out) {
  const std::string* text = request.Query(name);
  if (text == nullptr || text->empty()) return {};
  std::int64_t value = 0;
  if (!ParseInt(*text, &value))
    return api::BadRequest("strconv.ParseInt: parsing " + api::Quote(*text) + ": invalid syntax");
  *out = value;
  return {};
}

FieldErrors CheckListMatch(const Request& request, const std::string& match, bool has_continue) {
  const Path path("resourceVersionMatch");
  FieldErrors errors;
  const std::string* version = request.Query("resourceVersion");
  bool has_version = version != nullptr && !version->empty();
  if (request.Query("sendInitialEvents") != nullptr)
    errors.push_back(
        api::ForbiddenError(Path("sendInitialEvents"), "sendInitialEvents is forbidden for list"));
  if (match.empty()) return errors;
  if (!has_version)
    errors.push_back(
        api::ForbiddenError(path, "resourceVersionMatch is forbidden unless resourceVersion is provided"));
  if (has_continue)
    errors.push_back(
        api::ForbiddenError(path, "resourceVersionMatch is forbidden when continue is provided"));
  if (match != "Exact" && match != "NotOlderThan")
    errors.push_back(api::NotSupportedError(path, match, {"Exact", "NotOlderThan", ""}));
  if (match == "Exact" && has_version && *version == "0")
    errors.push_back(
        api::ForbiddenError(path, "resourceVersionMatch \"exact\" is forbidden for resourceVersion \"0\""));
  return errors;
}

FieldErrors CheckWatchMatch(const Request& request, const std::string& match, bool has_continue) {
  const Path path("resourceVersionMatch");
  FieldErrors errors;
  bool initial_events = request.Query("sendInitialEvents") != nullptr;
  if (initial_events && match != "NotOlderThan")
    errors.push_back(
        api::ForbiddenError(path, "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan"));
  if (match.empty()) return errors;
  if (!initial_events)
    errors.push_back(api::ForbiddenError(
        path, "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided"));
  if (match != "NotOlderThan") errors.push_back(api::NotSupportedError(path, match, {"NotOlderThan"}));
  if (has_continue)
    errors.push_back(
        api::ForbiddenError(path, "resourceVersionMatch is forbidden when continue is provided"));
  return errors;
}

FieldErrors CheckPropagation(const std::string& propagation, const Json* orphan, DeleteOptions* out) {
  const Path path("propagationPolicy");
  if (orphan != nullptr) {
    if (!propagation.empty())
      return {api::InvalidError(path, propagation,
                                "orphanDependents and deletionPropagation cannot be both set")};
    out->propagation = orphan->get<bool>() ? Propagation::kOrphan : Propagation::kBackground;
    out->refuses_to_orphan = !orphan->get<bool>();
    return {};
  }
  if (propagation.empty()) return {};
  if (propagation == "Foreground")
    out->propagation = Propagation::kForeground;
  else if (propagation == "Background")
    out->propagation = Propagation::kBackground;
  else if (propagation == "Orphan")
    out->propagation = Propagation::kOrphan;
  else
    return {api::NotSupportedError(path, propagation, {"Foreground", "Background", "Orphan", "nil"})};
  return {};
}

// The query's delete options as a document, for requests without a body.
Result<Json> DeleteOptionsFromQuery(const Request& request) {
  Json body = Json::object();
  std::optional<std::int64_t> grace;
  if (auto parsed = QueryInt(request, "gracePeriodSeconds", &grace); !parsed) return parsed.status();
  if (grace) body["gracePeriodSeconds"] = *grace;
  if (auto orphan = QueryBool(request, "orphanDependents")) body["orphanDependents"] = *orphan;
  if (const std::string* policy = request.Query("propagationPolicy")) body["propagationPolicy"] = *policy;
  for (const char* field : {"uid", "resourceVersion"})
    if (const std::string* value = request.Query(field); value != nullptr && !value->empty())
      body["preconditions"][field] = *value;
  return body;
}

}  // namespace

std::optional<bool> QueryBool(const Request& request, std::string_view name) {
  const std::string* text = request.Query(name);
  if (text == nullptr) return std::nullopt;
  std::string lower(*text);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return lower != "false" && lower != "0";
}

Result<void> RefuseExport(const Request& request) {
  if (!QueryBool(request, "export").value_or(false)) return {};
  return api::BadRequest("the export parameter, deprecated since v1.14, is no longer supported");
}

namespace {

// What all writes have in common.
FieldErrors ReadWriteOptions(const Request& request, WriteOptions& out) {
  std::vector<std::string> dry_run = QueryValues(request, "dryRun");
  if (const std::string* manager = request.Query("fieldManager")) out.field_manager = *manager;
  FieldErrors errors = CheckFieldManager(out.field_manager);
  api::Append(errors, CheckDryRun(dry_run));
  out.dry_run = !dry_run.empty();
  const std::string* validation = request.Query("fieldValidation");
  std::string mode = validation == nullptr ? "" : *validation;
  if (mode == "Strict")
    out.field_validation = FieldValidation::kStrict;
  else if (mode == "Ignore")
    out.field_validation = FieldValidation::kIgnore;
  else if (!mode.empty() && mode != "Warn")
    errors.push_back(api::NotSupportedError(Path("fieldValidation"), mode, {"", "Ignore", "Strict", "Warn"}));
  return errors;
}

}  // namespace

Result<WriteOptions> ParseWriteOptions(const Request& request, const char* kind) {
  WriteOptions out;
  if (FieldErrors errors = ReadWriteOptions(request, out); !errors.empty())
    return InvalidOptions(kind, errors);
  return out;
}

Result<PatchOptions> ParsePatchOptions(const Request& request, bool apply) {
  PatchOptions out;
  FieldErrors errors;
  const std::optional<bool> force = QueryBool(request, "force");
  const FieldErrors common = ReadWriteOptions(request, out);
  if (apply && out.field_manager.empty())
    errors.push_back(api::RequiredError(Path("fieldManager"), "is required for apply patch"));
  if (!apply && force)
    errors.push_back(api::ForbiddenError(Path("force"), "may not be specified for non-apply patch"));
  api::Append(errors, common);
  if (!errors.empty()) return InvalidOptions("PatchOptions", errors);
  out.force = force.value_or(false);
  return out;
}

Result<DeleteOptions> ParseDeleteOptions(const Request& request, const Json& given) {
  DeleteOptions out;
  Json body = given;
  std::vector<std::string> dry_run = QueryValues(request, "dryRun");
  if (body.is_null()) {
    auto parsed = DeleteOptionsFromQuery(request);
    if (!parsed) return parsed.status();
    body = std::move(*parsed);
  } else {
    for (const Json& value : api::ListAt(body, "dryRun")) dry_run.push_back(value.get<std::string>());
  }
  FieldErrors errors = CheckPropagation(std::string(api::StringAt(body, "propagationPolicy")),
                                        api::Find(body, "orphanDependents"), &out);
  api::Append(errors, CheckDryRun(dry_run));
  if (!errors.empty()) return InvalidOptions("DeleteOptions", errors);
  out.dry_run = !dry_run.empty();
  if (const Json* grace = api::Find(body, "gracePeriodSeconds"))
    // A negative period means one second, so that clients that subtract cannot force a kill by accident.
    out.grace_period_seconds = grace->get<std::int64_t>() < 0 ? 1 : grace->get<std::int64_t>();
  if (const Json* uid = api::Find(body, "preconditions", "uid")) out.uid = uid->get<std::string>();
  if (const Json* version = api::Find(body, "preconditions", "resourceVersion"))
    out.resource_version = version->get<std::string>();
  return out;
}

Result<std::optional<std::int64_t>> ParseResourceVersion(const Request& request, bool watch) {
  const std::string* text = request.Query("resourceVersion");
  if (text == nullptr || text->empty()) return std::optional<std::int64_t>{};
  std::int64_t value = 0;
  if (text->front() != '-' && ParseInt(*text, &value)) return std::optional<std::int64_t>(value);
  std::string why = "resourceVersion: Invalid value: " + api::Quote(*text) + ": strconv.ParseUint: parsing " +
                    api::Quote(*text) + ": invalid syntax";
  // Kubernetes blames the client of a read and itself for a watch.
  if (watch) return api::GenericServerError(why);
  return api::BadRequest("invalid resource version: " + why);
}

Result<ListOptions> ParseListOptions(const Request& request, const ResourceInfo& resource, bool watch) {
  ListOptions out;
  out.watch = watch;
  if (const std::string* token = request.Query("continue")) out.continue_token = *token;
  const std::string* match_text = request.Query("resourceVersionMatch");
  std::string match = match_text == nullptr ? "" : *match_text;
  FieldErrors errors = watch ? CheckWatchMatch(request, match, !out.continue_token.empty())
                             : CheckListMatch(request, match, !out.continue_token.empty());
  if (!errors.empty()) return InvalidOptions("ListOptions", errors);
  if (match == "Exact") out.match = VersionMatch::kExact;
  if (match == "NotOlderThan") out.match = VersionMatch::kNotOlderThan;

  if (const std::string* text = request.Query("labelSelector")) {
    auto labels = api::LabelSelector::Parse(*text);
    if (!labels) return labels.status();
    out.labels = std::move(*labels);
  }
  if (const std::string* text = request.Query("fieldSelector")) {
    std::vector<std::string_view> selectable;
    // Of the stored kind, in the order of its headers; the selector knows the names that another group has
    // for them.
    if (const Strategy* strategy = resource.Stored().strategy.get(); strategy != nullptr)
      for (const SelectableField& field : strategy->SelectableFields()) selectable.push_back(field.label);
    auto fields = api::FieldSelector::Parse(*text, {resource.group, resource.kind, selectable});
    if (!fields) return fields.status();
    out.fields = std::move(*fields);
  }
  std::optional<std::int64_t> limit;
  if (auto parsed = QueryInt(request, "limit", &limit); !parsed) return parsed.status();
  out.limit = limit.value_or(0);
  if (auto parsed = QueryInt(request, "timeoutSeconds", &out.timeout_seconds); !parsed)
    return parsed.status();
  out.allow_bookmarks = QueryBool(request, "allowWatchBookmarks").value_or(false);
  out.send_initial_events = QueryBool(request, "sendInitialEvents");
  const std::string* version_text = request.Query("resourceVersion");
  out.any_version = version_text != nullptr && *version_text == "0";
  out.continues_elsewhere = version_text != nullptr && !version_text->empty() && !out.any_version;
  // A broken continue token is reported before a broken version.
  if (out.continue_token.empty()) {
    auto version = ParseResourceVersion(request, watch);
    if (!version) return version.status();
    out.resource_version = *version;
  }
  return out;
}

}  // namespace terrarium::apiserver
