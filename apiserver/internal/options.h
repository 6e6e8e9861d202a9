#pragma once

// The options of a request (metav1.CreateOptions and its siblings), read from the query and checked as Kubernetes does.

#include <cstdint>
#include <optional>
#include <string>

#include "api/base/status.h"
#include "api/json.h"
#include "api/selector/field_selector.h"
#include "api/selector/label_selector.h"
#include "apiserver/request.h"
#include "apiserver/resource_table.h"

namespace terrarium::apiserver {

enum class FieldValidation { kIgnore, kWarn, kStrict };

struct WriteOptions {
  bool dry_run = false;
  FieldValidation field_validation = FieldValidation::kWarn;
};

// `kind` is CreateOptions, UpdateOptions or PatchOptions: it is named in the error.
api::Result<WriteOptions> ParseWriteOptions(const Request& request, const char* kind);

enum class Propagation { kBackground, kForeground, kOrphan };

struct DeleteOptions {
  bool dry_run = false;
  std::optional<std::int64_t> grace_period_seconds;
  std::optional<std::string> uid;
  std::optional<std::string> resource_version;
  std::optional<Propagation> propagation;
};

// `body` is the decoded DeleteOptions document, or null when the request has no body; then the query counts.
api::Result<DeleteOptions> ParseDeleteOptions(const Request& request, const api::Json& body);

enum class VersionMatch { kUnset, kExact, kNotOlderThan };

struct ListOptions {
  api::LabelSelector labels;
  api::FieldSelector fields;
  std::int64_t limit = 0;
  std::string continue_token;
  std::optional<std::int64_t> resource_version;  // nullopt: unset
  VersionMatch match = VersionMatch::kUnset;
  bool watch = false;
  bool allow_bookmarks = false;
  std::optional<bool> send_initial_events;
  std::optional<std::int64_t> timeout_seconds;
};

// The resourceVersion parameter; nullopt when it is unset.
api::Result<std::optional<std::int64_t>> ParseResourceVersion(const Request& request, bool watch);
api::Result<ListOptions> ParseListOptions(const Request& request, const ResourceInfo& resource, bool watch);

}  // namespace terrarium::apiserver
