#pragma once

// The interface of the apiserver for controllers, scheduler and kubelet. The in-process implementation uses
// the same handler as HTTP requests, so that admission, validation, defaulting and gates apply to components
// too. It shares objects instead of copying them, and it serializes no text.
//
// A client belongs to one component. The component calls it on its own lane and gets the results on that
// lane, never before the call has returned.

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
  // kEnded: start a new watch from DeliveredRevision(). The server may end any watch at any time.
  enum class State { kOpen, kEnded };
  // Appends up to `max` events. If `max` events were returned, call again: no further wake-up is sent for the
  // rest.
  virtual State Take(std::size_t max, std::vector<WatchEvent>& out) = 0;
  // `wake` is called on the component's lane when there is something new after Take() had left nothing
  // pending.
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
  Json body;  // the object, the patch or the DeleteOptions (null: none); needs no kind and apiVersion
  PatchKind patch = PatchKind::kStrategic;
};

struct DeleteRequest {
  std::optional<std::int64_t> grace_period_seconds = {};
  std::string uid = {};                      // precondition; empty: none
  std::string resource_version = {};         // precondition; empty: none
  std::string_view propagation_policy = {};  // "Background", "Foreground", "Orphan"; empty: the kind's own

  Json ToJson() const;  // as DeleteOptions
};

class Client {
 public:
  virtual ~Client() = default;

  using Written = Result<ObjectPtr>;
  using WriteDone = std::function<void(Written)>;
  // `done` gets the object as written (for a delete: its last state), or nullptr where the server responds
  // with a plain Status (binding, eviction).
  virtual void Send(WriteRequest request, WriteDone done) = 0;

  // Reads see every write that was acknowledged before the call.
  virtual Result<ObjectPtr> Get(std::string_view resource, const ObjectName& name) = 0;
  virtual Result<ObjectList> List(std::string_view resource, const std::optional<std::string>& ns) = 0;
  // All events of a resource after `from_revision`. 410 Expired when that revision is too old: list again.
  virtual Result<std::unique_ptr<ClientWatch>> Watch(std::string_view resource,
                                                     std::int64_t from_revision) = 0;

  // Awaitable forms of Send. Updates and status updates take name and namespace from the object. The server
  // refuses them with 409 when the object has a resourceVersion that is no longer current.
  Awaitable<Written> Create(std::string_view resource, std::string ns, Json object);
  Awaitable<Written> Update(std::string_view resource, Json object, std::string_view subresource = "");
  Awaitable<Written> UpdateStatus(std::string_view resource, Json object);
  Awaitable<Written> Patch(std::string_view resource, ObjectName name, Json patch,
                           std::string_view subresource = "", PatchKind kind = PatchKind::kStrategic);
  Awaitable<Written> Delete(std::string_view resource, ObjectName name, DeleteRequest options = {});
  // A POST to a subresource: binding, eviction.
  Awaitable<Written> CreateSub(std::string_view resource, ObjectName name, std::string_view subresource,
                               Json body);
  Awaitable<Written> Sent(WriteRequest request);
};

}  // namespace terrarium::api
