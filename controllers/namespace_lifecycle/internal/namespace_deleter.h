#pragma once

// One pass over a terminating namespace: deletes its content, reports the rest in the status, and finalizes
// the namespace when it is empty.

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
  // `client` and `resources` outlive the deleter. Cluster-scoped resources are skipped.
  NamespaceDeleter(const api::Env& env, api::Client& client, const ServedResources& resources)
      : env_(env), client_(client), resources_(resources) {}

  // The remaining content; nullopt when the namespace is gone, finalized or not terminating.
  api::Task<api::Result<std::optional<ContentReport>>> Pass(std::string name);

 private:
  api::Task<ContentReport> DeleteContent(std::string ns, api::Duration going_for);
  api::Task<ResourceReport> DeleteAll(const ServedResource* resource, std::string ns,
                                      api::Duration going_for);
  // Writes the report into the status. Returns the updated namespace, or `ns` when the write failed.
  api::Task<api::ObjectPtr> WriteConditions(api::ObjectPtr ns, ContentReport report);
  api::Task<api::Result<void>> Finalize(api::ObjectPtr ns);

  api::Env env_;
  api::Client& client_;
  const ServedResources& resources_;
};

}  // namespace terrarium::controllers::namespace_lifecycle
