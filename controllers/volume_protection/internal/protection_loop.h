#pragma once

// The finalizer of one kind: adds it where it is missing, and removes it from objects that are being deleted
// and are not in use.

#include <functional>
#include <memory>
#include <string>

#include "api/base/status.h"
#include "controllers/controller.h"
#include "controllers/runtime/controller_loop.h"

namespace terrarium::controllers::volume_protection {

enum class Usage { kUnused, kUsed };

struct Protection {
  std::string resource;
  std::string finalizer;
  std::string queue;  // its name in the metrics
  // Asked only for objects that are being deleted.
  std::function<api::Result<Usage>(const api::Object& object)> usage;
};

class ProtectionLoop : public std::enable_shared_from_this<ProtectionLoop> {
 public:
  ProtectionLoop(const ControllerContext& context, Protection protection);

  // Registers with the informer, which may outlive this loop.
  void Watch();
  void Start() { loop_.Start(); }
  // Something that may have used the object has changed. A no-op unless the object waits for its deletion.
  void EnqueueIfWaiting(const ObjectName& name);

 private:
  enum class Step { kNone, kAdd, kRemove };
  Step NextStep(const api::Object& object) const;
  api::Task<ReconcileResult> Sync(ObjectName name);

  ControllerContext context_;
  Protection protection_;
  Informer& objects_;
  ControllerLoop loop_;
};

}  // namespace terrarium::controllers::volume_protection
