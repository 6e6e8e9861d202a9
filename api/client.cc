#include "api/client.h"

#include <utility>

#include "api/json_access.h"
#include "api/write_request.h"

namespace terrarium::api {

Json DeleteRequest::ToJson() const {
  Json options = Json::object();
  if (grace_period_seconds) options["gracePeriodSeconds"] = *grace_period_seconds;
  if (!uid.empty()) options["preconditions"]["uid"] = uid;
  if (!resource_version.empty()) options["preconditions"]["resourceVersion"] = resource_version;
  if (!propagation_policy.empty()) options["propagationPolicy"] = propagation_policy;
  return options;
}

WriteRequest RequestToCreate(std::string_view resource, std::string_view ns, Json object) {
  WriteRequest request;
  request.resource = resource;
  request.object.ns = ns;
  request.body = std::move(object);
  return request;
}

WriteRequest RequestToUpdate(std::string_view resource, Json object, std::string_view subresource) {
  WriteRequest request;
  request.verb = WriteRequest::Verb::kUpdate;
  request.resource = resource;
  request.object = {std::string(StringAt(object, "metadata", "namespace")),
                    std::string(StringAt(object, "metadata", "name"))};
  request.subresource = subresource;
  request.body = std::move(object);
  return request;
}

WriteRequest RequestToPatch(std::string_view resource, ObjectName name, Json patch,
                            std::string_view subresource, PatchKind kind) {
  WriteRequest request = RequestToCreateSub(resource, std::move(name), subresource, std::move(patch));
  request.verb = WriteRequest::Verb::kPatch;
  request.patch = kind;
  return request;
}

WriteRequest RequestToDelete(std::string_view resource, ObjectName name, const DeleteRequest& options) {
  WriteRequest request = RequestToCreateSub(resource, std::move(name), "", options.ToJson());
  request.verb = WriteRequest::Verb::kDelete;
  return request;
}

WriteRequest RequestToCreateSub(std::string_view resource, ObjectName name, std::string_view subresource,
                                Json body) {
  WriteRequest request;
  request.resource = resource;
  request.object = std::move(name);
  request.subresource = subresource;
  request.body = std::move(body);
  return request;
}

Awaitable<Client::Written> Client::Sent(WriteRequest request) {
  // Shared, since what a std::function holds must be copyable.
  auto held = std::make_shared<WriteRequest>(std::move(request));
  return Awaitable<Written>([this, held](WriteDone done) { Send(std::move(*held), std::move(done)); });
}

Awaitable<Client::Written> Client::Create(std::string_view resource, std::string ns, Json object) {
  return Sent(RequestToCreate(resource, ns, std::move(object)));
}

Awaitable<Client::Written> Client::Update(std::string_view resource, Json object,
                                          std::string_view subresource) {
  return Sent(RequestToUpdate(resource, std::move(object), subresource));
}

Awaitable<Client::Written> Client::UpdateStatus(std::string_view resource, Json object) {
  return Update(resource, std::move(object), "status");
}

Awaitable<Client::Written> Client::Patch(std::string_view resource, ObjectName name, Json patch,
                                         std::string_view subresource, PatchKind kind) {
  return Sent(RequestToPatch(resource, std::move(name), std::move(patch), subresource, kind));
}

Awaitable<Client::Written> Client::Delete(std::string_view resource, ObjectName name, DeleteRequest options) {
  return Sent(RequestToDelete(resource, std::move(name), options));
}

Awaitable<Client::Written> Client::CreateSub(std::string_view resource, ObjectName name,
                                             std::string_view subresource, Json body) {
  return Sent(RequestToCreateSub(resource, std::move(name), subresource, std::move(body)));
}

}  // namespace terrarium::api
