#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "api/base/executor.h"
#include "api/base/task.h"
#include "controllers/controller.h"
#include "controllers/resource_quota/internal/usage_ledger.h"
#include "controllers/runtime/controller_loop.h"
#include "controllers/runtime/served_resource.h"

namespace terrarium::controllers::resource_quota {

// The wiring between informers, ledger and quotas. Single-threaded, on the controller-manager's lane. Shared,
// since informers outlive it and hold handlers.
class ResourceQuotaController : public std::enable_shared_from_this<ResourceQuotaController> {
 public:
  // `resources` outlives this.
  ResourceQuotaController(const ControllerContext& context, ServedResources& resources);
  ~ResourceQuotaController();
  // Registers the handlers; once, before the informers start.
  void Watch();
  void Start();

 private:
  void WatchKind(std::size_t kind);
  void KindAdded(const ServedResource& resource);
  void KindRemoved(const ServedResource& resource);
  // Called after a change of the counted kinds.
  void ReadQuotasAgain();
  void QuotaSeen(const api::Object& quota);
  void ObjectSeen(std::size_t kind, const api::Object& object);
  void ObjectGone(std::size_t kind, const api::Object& object);
  void Enqueue(const std::vector<ObjectName>& quotas);
  void ScheduleResync();
  void Resync();
  void RecountTerminatingPods(const std::string& ns);
  api::Task<ReconcileResult> Sync(ObjectName name);

  ControllerContext context_;
  ServedResources& resources_;
  std::vector<Informer*> kinds_;  // by the ledger's index; nullptr: no longer served
  Informer& quotas_;
  UsageLedger ledger_;
  ControllerLoop loop_;
  std::map<ObjectName, std::int64_t> last_resync_;  // the revision at which a quota stood
  api::TimerId resync_ = 0;
  bool resync_repeats_ = false;  // posted while there was no quota: its occurrences may be skipped
};

}  // namespace terrarium::controllers::resource_quota
