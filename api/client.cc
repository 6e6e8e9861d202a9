#include "api/client.h"

#include <utility>

#include "api/json_access.h"

namespace terrarium::api {
namespace {

ObjectName NameOf(const Json& object) {
  return {std::string(StringAt(object, "metadata", "namespace")), std::string(StringAt(object, "metadata", "name"))};
}

}  // namespace

Json DeleteRequest::ToJson() const {
  Json options = Json::object();
  if (grace_period_seconds) options["gracePeriodSeconds"] = *grace_period_seconds;
  if (!uid.empty()) options["preconditions"]["uid"] = uid;
  if (!resource_version.empty()) options["preconditions"]["resourceVersion"] = resource_version;
  if (!propagation_policy.empty()) options["propagationPolicy"] = propagation_policy;
  return options;
}

Awaitable<Client::Written> Client::Sent(WriteRequest request) {
  // Shared, since what a std::function holds must be copyable.
  auto held = std::make_shared<WriteRequest>(std::move(request));
  return Awaitable<Written>([this, held](WriteDone done) { Send(std::move(*held), std::move(done)); });
}

Awaitable<Client::Written> Client::Create(std::string_view resource, std::string ns, Json object) {
  WriteRequest request;
  request.verb = WriteRequest::Verb::kCreate;
  request.resource = resource;
  request.object.ns = std::move(ns);
  request.body = std::move(object);
  return Sent(std::move(request));
}

Awaitable<Client::Written> Client::Update(std::string_view resource, Json object, std::string_view subresource) {
  WriteRequest request;
  request.verb = WriteRequest::Verb::kUpdate;
  request.resource = resource;
  request.object = NameOf(object);
  request.subresource = subresource;
  request.body = std::move(object);
  return Sent(std::move(request));
}

Awaitable<Client::Written> Client::UpdateStatus(std::string_view resource, Json object) {
  return Update(resource, std::move(object), "status");
}

Awaitable<Client::Written> Client::Patch(std::string_view resource, ObjectName name, Json patch,
                                         std::string_view subresource, PatchKind kind) {
  WriteRequest request;
  request.verb = WriteRequest::Verb::kPatch;
  request.resource = resource;
  request.object = std::move(name);
  request.subresource = subresource;
  request.body = std::move(patch);
  request.patch = kind;
  return Sent(std::move(request));
}

Awaitable<Client::Written> Client::Delete(std::string_view resource, ObjectName name, DeleteRequest options) {
  WriteRequest request;
  request.verb = WriteRequest::Verb::kDelete;
  request.resource = resource;
  request.object = std::move(name);
  request.body = options.ToJson();
  return Sent(std::move(request));
}

Awaitable<Client::Written> Client::CreateSub(std::string_view resource, ObjectName name, std::string_view subresource,
                                             Json body) {
  WriteRequest request;
  request.verb = WriteRequest::Verb::kCreate;
  request.resource = resource;
  request.object = std::move(name);
  request.subresource = subresource;
  request.body = std::move(body);
  return Sent(std::move(request));
}

}  // namespace terrarium::api
