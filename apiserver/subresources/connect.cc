#include <string>
#include <utility>

#include "api/base/errors.h"
#include "api/json_access.h"
#include "apiserver/internal/respond.h"
#include "apiserver/internal/verbs.h"
#include "apiserver/subresources/internal/pod_container.h"

namespace terrarium::apiserver {
namespace {

// What is asked for, as the subject of a sentence.
std::string ConnectionSubject(const Call& call, const Json& pod, const std::string& container) {
  const std::string name = api::Quote(std::string(api::StringAt(pod, "metadata", "name")));
  std::string_view connection = call.route.subresource->name;
  if (connection == "portforward") return "forwarding ports of pod " + name;
  return std::string(connection == "exec" ? "executing a command in" : "attaching to") + " container " +
         api::Quote(container) + " of pod " + name;
}

}  // namespace

// The request is refused before the client's protocol (SPDY or a websocket) begins, so that the client shows
// the Status.
void ServeConnect(const CallPtr& call) {
  api::ObjectPtr object = call->server.store.Get(call->Key());
  if (object == nullptr)
    return RespondError(call, api::NotFound(call->resource().Resource(), call->route.name));
  const Json pod = object->Parse();
  std::string container;
  if (call->route.subresource->name != "portforward") {
    const std::string* asked = call->request.Query("container");
    auto chosen = ChooseContainer(pod, asked == nullptr ? "" : *asked);
    if (!chosen) return RespondError(call, chosen.status());
    container = std::move(*chosen);
  }
  if (api::StringAt(pod, "spec", "nodeName").empty())
    return RespondError(call, api::BadRequest("pod " + call->route.name + " does not have a host assigned"));
  if (auto there = CheckNode(*call, pod); !there) return RespondError(call, there.status());
  RespondError(call, api::BadRequest(ConnectionSubject(*call, pod, container) +
                                     " is not supported: Terrarium simulates pods and runs no containers"));
}

}  // namespace terrarium::apiserver
