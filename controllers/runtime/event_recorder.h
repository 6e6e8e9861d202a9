#pragma once

// Writes Events about objects, as client-go's recorder does: in the background, repeated ones counted in one
// Event.

#include <memory>
#include <string>
#include <string_view>

#include "api/base/env.h"
#include "api/client.h"
#include "api/json.h"
#include "api/object.h"

namespace terrarium::controllers {

// The involvedObject of an Event.
struct ObjectReference {
  std::string api_version;
  std::string kind;
  std::string ns;
  std::string name;
  std::string uid;
  std::string resource_version = {};
  std::string field_path = {};  // e.g. spec.containers{web}
};

// The reference of a stored object; its kind is not in its document.
ObjectReference ReferenceTo(const api::Object& object, std::string_view api_version, std::string_view kind);
// The same for a pod.
ObjectReference ReferenceToPod(const api::Object& pod);

inline constexpr std::string_view kNormal = "Normal";
inline constexpr std::string_view kWarning = "Warning";

class EventRecorder {
 public:
  struct Source {
    std::string component;  // e.g. "default-scheduler", "kubelet"
    std::string host = {};  // the node, for the kubelet
  };
  // Writes on the lane of `env`, which may be another lane than the component's own. `client` belongs to the
  // lane of `env` and outlives the recorder.
  EventRecorder(const api::Env& env, api::Client& client);
  ~EventRecorder();

  // Never waits and never fails: an Event that cannot be written is logged and forgotten. Thread-safe.
  void Record(const Source& source, const ObjectReference& about, std::string_view type,
              std::string_view reason, std::string message);

 private:
  class Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace terrarium::controllers
