#pragma once

// The options of a request (metav1.CreateOptions and its siblings), parsed and validated as in Kubernetes.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "api/base/status.h"
#include "api/json.h"
#include "api/selector/field_selector.h"
#include "api/selector/label_selector.h"
#include "apiserver/request.h"
#include "apiserver/resource_table.h"

namespace terrarium::apiserver {

enum class FieldValidation { kIgnore, kWarn, kStrict };

inline constexpr std::size_t kFieldManagerBytesMax = 128;

struct WriteOptions {
  bool dry_run = false;
  std::string field_manager;  // empty: the request names none
  FieldValidation field_validation = FieldValidation::kWarn;
};

// `kind` is CreateOptions or UpdateOptions; error messages contain it.
api::Result<WriteOptions> ParseWriteOptions(const Request& request, const char* kind);

struct PatchOptions : WriteOptions {
  bool force = false;
};

// `apply`: of an applied configuration, which needs a fieldManager and may have `force`.
api::Result<PatchOptions> ParsePatchOptions(const Request& request, bool apply);

enum class Propagation { kBackground, kForeground, kOrphan };

struct DeleteOptions {
  bool dry_run = false;
  std::optional<std::int64_t> grace_period_seconds;
  std::optional<std::string> uid;
  std::optional<std::string> resource_version;
  std::optional<Propagation> propagation;
  // The request sets orphanDependents=false, the older form of a propagation policy. Then the response code
  // is 202 instead of 200 if the object continues to exist for a while.
  bool refuses_to_orphan = false;
};

// `body` is the decoded DeleteOptions document. If it is null, the request has no body, and all options come
// from the query. The dryRun of the query always applies.
api::Result<DeleteOptions> ParseDeleteOptions(const Request& request, const api::Json& body);

enum class VersionMatch { kUnset, kExact, kNotOlderThan };

struct ListOptions {
  api::LabelSelector labels;
  api::FieldSelector fields;
  std::int64_t limit = 0;
  std::string continue_token;
  std::optional<std::int64_t> resource_version;  // nullopt: unset
  // resourceVersion=0: any state is acceptable. The limit is ignored, as in Kubernetes, which answers from
  // its cache.
  bool any_version = false;
  // The request sets a resourceVersion other than 0. It must not do so together with a continue token,
  // because the token has its own revision.
  bool continues_elsewhere = false;
  VersionMatch match = VersionMatch::kUnset;
  bool watch = false;
  bool allow_bookmarks = false;
  std::optional<bool> send_initial_events;
  std::optional<std::int64_t> timeout_seconds;
};

// A boolean parameter of the query; nullopt if it is unset. As in Kubernetes, "false" (in any case) and "0"
// are false, and any other text is true, even an empty one.
std::optional<bool> QueryBool(const Request& request, std::string_view name);
// 400 if the request sets the `export` parameter, which Kubernetes no longer supports.
api::Result<void> RefuseExport(const Request& request);
// The resourceVersion parameter; nullopt if it is unset.
api::Result<std::optional<std::int64_t>> ParseResourceVersion(const Request& request, bool watch);
api::Result<ListOptions> ParseListOptions(const Request& request, const ResourceInfo& resource, bool watch);

}  // namespace terrarium::apiserver
