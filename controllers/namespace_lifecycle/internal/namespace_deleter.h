#pragma once

// One pass over a terminating namespace: deletes what is in it, tells in the status what remains, and lets the
// namespace go when nothing does.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "api/base/env.h"
#include "api/base/status.h"
#include "api/base/task.h"
#include "api/client.h"
#include "controllers/namespace_lifecycle/internal/content_report.h"
#include "controllers/runtime/served_resource.h"

namespace terrarium::controllers::namespace_lifecycle {

class NamespaceDeleter {
 public:
  // `client` outlives the deleter. Resources without namespaces are passed over.
  NamespaceDeleter(const api::Env& env, api::Client& client, const std::vector<ServedResource>& resources);

  // What is left to wait for; nullopt when nothing is: the namespace is gone, finalized, or was not going at all.
  api::Task<api::Result<std::optional<ContentReport>>> Pass(std::string name);

 private:
  api::Task<ContentReport> DeleteContent(std::string ns, api::Duration going_for);
  api::Task<ResourceReport> DeleteAll(const ServedResource* resource, std::string ns, api::Duration going_for);
  // The namespace as it is after the report has been written into its status, or as it was when that failed.
  api::Task<api::ObjectPtr> WriteConditions(api::ObjectPtr ns, ContentReport report);
  api::Task<api::Result<bool>> Finalize(api::ObjectPtr ns);

  api::Env env_;
  api::Client& client_;
  std::vector<ServedResource> resources_;  // pods first, since what they use is not taken from under them
};

}  // namespace terrarium::controllers::namespace_lifecycle
