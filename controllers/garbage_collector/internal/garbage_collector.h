#pragma once

// The garbage collector: updates the graph from the informers and processes the objects that the graph
// enqueues.

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/base/status.h"
#include "api/base/task.h"
#include "controllers/controller.h"
#include "controllers/garbage_collector/internal/graph.h"
#include "controllers/garbage_collector/internal/verdict.h"
#include "controllers/runtime/controller_loop.h"
#include "controllers/runtime/served_resource.h"

namespace terrarium::controllers::garbage_collector {

inline bool IsNotFound(const api::Status& status) { return status.Is(api::reason::kNotFound); }

class GarbageCollector final : public Graph::Effects, public std::enable_shared_from_this<GarbageCollector> {
 public:
  // `resources` outlives the collector.
  GarbageCollector(const ControllerContext& context, ServedResources& resources);

  // Registers with the informers, which may outlive the collector.
  void Watch();
  void Start();

 private:
  // An object to act on: its identity in the graph and its resource in the apiserver.
  struct Item {
    Identity identity;
    std::optional<ServedResource> resource;  // nullopt: the kind is not served
    api::ObjectName Name() const { return {resource->namespaced ? identity.ns : "", identity.name}; }
  };

  // Graph::Effects
  void ToDelete(const std::string& uid) override;
  void ToDeleteLater(const std::string& uid) override;
  void ToOrphan(const std::string& uid) override;
  void InvalidNamespace(const Node& dependent, const OwnerReference& owner) override;

  // Keys of both loops are uids.
  api::Task<ReconcileResult> AttemptToDelete(ObjectName key);
  api::Task<ReconcileResult> AttemptToOrphan(ObjectName key);

  api::Task<ReconcileResult> FinishForeground(Item item);
  api::Task<ReconcileResult> Collect(Item item, api::ObjectPtr live);
  api::Task<ReconcileResult> Delete(Item item, api::ObjectPtr live, std::string_view policy);
  api::Task<ReconcileResult> DropReferences(Item item, ClassifiedReferences references);
  // Returns the updated object.
  api::Task<api::Client::Written> UnblockOwners(Item item, std::vector<OwnerReference> owners);
  api::Task<ReconcileResult> RemoveFinalizer(Item item, std::string_view finalizer);

  void WatchResource(const ServedResource& resource);
  // A copy, since the list may change while an object is processed.
  std::optional<ServedResource> FindResource(const std::string& api_version, const std::string& kind) const;
  // nullopt: whether an owner exists cannot be determined.
  api::Result<std::optional<ClassifiedReferences>> Classify(const Identity& item,
                                                            const std::vector<OwnerReference>& owners);
  enum class OwnerState { kSolid, kDangling, kWaiting, kUnknowable };
  api::Result<OwnerState> LookUp(const Identity& item, const OwnerReference& reference);

  ControllerContext context_;
  ServedResources& resources_;
  Graph graph_;
  ControllerLoop delete_loop_;
  ControllerLoop orphan_loop_;
};

}  // namespace terrarium::controllers::garbage_collector
