#pragma once

// The bytes of a response: JSON, YAML or protobuf; the object itself, a Table or its metadata alone.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/base/status.h"
#include "api/object.h"
#include "apiserver/internal/call.h"

namespace terrarium::apiserver {

// The document as this resource's clients see it, with kind, apiVersion and managedFields. Differs from the
// stored one for events.k8s.io, whose objects are stored as core Events.
Json PresentedDocument(const ResourceInfo& resource, const api::Object& object);

// The same without managedFields.
Json PresentedWithoutOwners(const ResourceInfo& resource, const api::Object& object);

// Whether the resource's clients see documents as they are stored.
bool IsStoredForm(const ResourceInfo& resource);
// From the stored form of a document to that of the resource's clients.
void ToPresentedForm(const ResourceInfo& resource, Json& document);

// A document that follows `schema` and carries its kind and apiVersion.
std::string EncodeDocument(const Negotiated& output, const Json& document, const api::Message& schema);

std::string EncodeObject(const Call& call, const api::ObjectPtr& object);

// A document that is not stored, in the shape that the client asked for. It carries its kind and apiVersion.
std::string EncodeUnstored(const Call& call, const Json& document, const api::Message& schema);

// A list of such documents, which carry neither, of the call's resource.
std::string EncodeUnstoredList(const Call& call, std::vector<Json> items);

struct ListMeta {
  std::int64_t revision = 0;
  std::string continue_token;
  std::int64_t remaining = 0;
};
std::string EncodeList(const Call& call, std::span<const api::ObjectPtr> items, const ListMeta& meta);

// Frames of a watch stream in the call's form. Not thread-safe; one per stream.
class EventEncoder {
 public:
  explicit EventEncoder(CallPtr call) : call_(std::move(call)) {}

  void Append(std::string_view type, const api::ObjectPtr& object, std::string& out);
  // An object of the kind with nothing but a revision. `initial_end`: all initial events have been sent.
  void AppendBookmark(std::int64_t revision, bool initial_end, std::string& out);
  void AppendError(const api::Status& status, std::string& out);

 private:
  void AppendFrame(std::string_view type, const Json& document, const api::Message& schema, std::string& out);

  CallPtr call_;
  bool table_headers_sent_ = false;
};

}  // namespace terrarium::apiserver
