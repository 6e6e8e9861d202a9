#pragma once

// What controllers, scheduler and kubelet know of the apiserver. The in-process implementation goes through the same
// handler as HTTP does, so that admission, validation, defaulting and gates hold for them too; objects are shared, not
// copied, and no text is made.
//
// A client belongs to one component. It is used on that component's lane, and its answers come there, never before the
// call has returned.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/base/status.h"
#include "api/base/task.h"
#include "api/json.h"
#include "api/object.h"
#include "api/object_name.h"

namespace terrarium::api {

struct ObjectList {
  std::vector<ObjectPtr> items;  // sorted by namespace, then name
  std::int64_t revision = 0;
};

struct WatchEvent {
  enum class Type { kAdded, kModified, kDeleted };
  Type type;
  ObjectPtr object;  // kDeleted: the last state, at the revision of the deletion
};

// A running watch; destroying it ends it.
class ClientWatch {
 public:
  virtual ~ClientWatch() = default;
  // kEnded: take up again from DeliveredRevision(); every watch ends one day.
  enum class State { kOpen, kEnded };
  // Appends up to `max` events. Whoever gets `max` of them calls again: there may be more, and no wake for them.
  virtual State Take(std::size_t max, std::vector<WatchEvent>& out) = 0;
  // `wake` is called on the component's lane when Take() would find something new after it had left nothing.
  virtual void SetWake(std::function<void()> wake) = 0;
  virtual std::int64_t DeliveredRevision() const = 0;
};

enum class PatchKind { kMerge, kStrategic, kJson };

struct WriteRequest {
  enum class Verb { kCreate, kUpdate, kPatch, kDelete };
  Verb verb = Verb::kCreate;
  std::string resource;     // plural, e.g. "pods"; no two served groups share one
  ObjectName object;        // name empty for a create
  std::string subresource;  // "", "status", "binding", "eviction", "finalize", ...
  Json body;                // the object, the patch or the DeleteOptions (null: none); needs no kind and apiVersion
  PatchKind patch = PatchKind::kStrategic;
};

struct DeleteRequest {
  std::optional<std::int64_t> grace_period_seconds = {};
  std::string uid = {};                       // precondition; empty: none
  std::string resource_version = {};          // precondition; empty: none
  std::string_view propagation_policy = {};   // "Background", "Foreground", "Orphan"; empty: the kind's own

  Json ToJson() const;  // as DeleteOptions
};

class Client {
 public:
  virtual ~Client() = default;

  using Written = Result<ObjectPtr>;
  using WriteDone = std::function<void(Written)>;
  // `done` gets the object as written, or its last state; nullptr where the answer is a plain Status (binding, eviction).
  virtual void Send(WriteRequest request, WriteDone done) = 0;

  // Reads see every write that was acknowledged before.
  virtual Result<ObjectPtr> Get(std::string_view resource, const ObjectName& name) = 0;
  virtual Result<ObjectList> List(std::string_view resource, const std::optional<std::string>& ns) = 0;
  // All events of a resource after `from_revision`. 410 Expired when that is too old: list again.
  virtual Result<std::unique_ptr<ClientWatch>> Watch(std::string_view resource, std::int64_t from_revision) = 0;

  // The same as Send, to be awaited. Updates and status updates take name and namespace from the object, and are
  // refused with 409 when it names a resourceVersion that is no longer the current one.
  Awaitable<Written> Create(std::string_view resource, std::string ns, Json object);
  Awaitable<Written> Update(std::string_view resource, Json object, std::string_view subresource = "");
  Awaitable<Written> UpdateStatus(std::string_view resource, Json object);
  Awaitable<Written> Patch(std::string_view resource, ObjectName name, Json patch, std::string_view subresource = "",
                           PatchKind kind = PatchKind::kStrategic);
  Awaitable<Written> Delete(std::string_view resource, ObjectName name, DeleteRequest options = {});
  // A POST to a subresource: binding, eviction.
  Awaitable<Written> CreateSub(std::string_view resource, ObjectName name, std::string_view subresource, Json body);
  Awaitable<Written> Sent(WriteRequest request);
};

}  // namespace terrarium::api
