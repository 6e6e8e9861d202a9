#pragma once

// A stored object: immutable, and shared by the store, the watchers, the informers and the responses.

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/json.h"
#include "api/member_name.h"
#include "api/object_name.h"
#include "api/owner_reference.h"

namespace terrarium::api {

class ManagedFields;
using ManagedFieldsPtr = std::shared_ptr<const ManagedFields>;  // nullptr: the object has no owners

// The values that lists, watches, selectors and controllers need of every object. They are read once, when
// the object is made, so that readers need not parse it. The base class is the object's name.
struct ObjectHeader : ObjectName {
  std::string uid;
  std::int64_t revision = 0;                                // metadata.resourceVersion
  std::vector<std::pair<std::string, std::string>> labels;  // sorted by key
  // Values of the resource's selectable fields that have no member here, in the order of its table.
  std::vector<std::string> fields;
  std::shared_ptr<const OwnerReference> controller;  // nullptr: none
  MemberName phase{std::string_view()};              // status.phase; few values, whose text is shared
  std::string node_name;                             // spec.nodeName; empty: not bound
  bool deleting = false;                             // has a deletionTimestamp
  bool has_finalizers = false;                       // in its metadata
  bool disruption_target = false;                    // has the condition DisruptionTarget, true or false

  // Two headers are not compared: ObjectName's operator would compare the names alone.
  friend bool operator==(const ObjectHeader&, const ObjectHeader&) = delete;
};

// The header of a document, without `fields`, which the resource's table declares.
ObjectHeader ReadHeader(const Json& document);

// The JSON text of an object without kind and apiVersion, always beginning {"metadata":{"resourceVersion":"N"
// so that the store can stamp a revision into finished text, lists can splice items and one text serves every
// API version.
//
// The owners of its fields (metadata.managedFields) are kept beside the text: they take more room than the
// rest of a small object, most objects share them, and only clients outside the process read them.
class Object {
 public:
  // `document` is the object; its apiVersion, kind and metadata.resourceVersion are left out of the text.
  // REQUIRES: `document` is normalised, so that parsing its text gives an equal document. `keep_document`:
  // readers will call Document() soon.
  static std::shared_ptr<const Object> Make(ObjectHeader header, Json document, bool keep_document = true,
                                            ManagedFieldsPtr owners = nullptr);
  // Same as Make, but copies the text of the `carried` members from `current`; `document` may lack them or
  // hold them in part. A write that changes the status of a pod thus neither parses nor serializes its spec.
  static std::shared_ptr<const Object> MakeCarrying(ObjectHeader header, Json document, const Object& current,
                                                    std::span<const std::string_view> carried,
                                                    ManagedFieldsPtr owners);
  // Makes an object from stored text. The caller supplies the header.
  static std::shared_ptr<const Object> FromBody(ObjectHeader header, std::string body,
                                                ManagedFieldsPtr owners = nullptr);
  // The same object with other owners.
  std::shared_ptr<const Object> WithOwners(ManagedFieldsPtr owners) const;
  // The same object at another revision.
  std::shared_ptr<const Object> AtRevision(std::int64_t revision) const;
  // Same, but stamps the object in place when the caller holds the only reference.
  static std::shared_ptr<const Object> AtRevision(std::shared_ptr<const Object> object,
                                                  std::int64_t revision);

  const ObjectHeader& header() const { return header_; }
  const ObjectName& name() const { return header_; }
  const OwnerReference* controller() const { return header_.controller.get(); }  // nullptr: none
  std::int64_t revision() const { return header_.revision; }
  const std::string& body() const { return body_; }
  const ManagedFieldsPtr& owners() const { return owners_; }

  // The whole document, without kind, apiVersion and managedFields. Each call parses the text again (some 10
  // us for a pod), so call it once per use.
  Json Parse() const;
  // The same document, shared and read-only. A bounded cache keeps parsed documents for a while, since
  // several components read an object soon after it was written.
  std::shared_ptr<const Json> Document() const;
  // The same document as clients see it, with managedFields.
  Json ParseWithOwners() const;
  // The text with managedFields, as an item of a list.
  void AppendItem(std::string& out) const;
  // The same with kind and apiVersion in front, as in the response to a GET.
  std::string Text(std::string_view api_version, std::string_view kind) const;
  void AppendText(std::string_view api_version, std::string_view kind, std::string& out) const;

 private:
  Object(ObjectHeader header, std::string body, ManagedFieldsPtr owners)
      : header_(std::move(header)), body_(std::move(body)), owners_(std::move(owners)) {}
  void Stamp(std::int64_t revision);
  // What follows the opening brace, with managedFields.
  void AppendRest(std::string& out) const;

  ObjectHeader header_;
  std::string body_;
  ManagedFieldsPtr owners_;
  mutable std::weak_ptr<const Json> document_;  // guarded by the cache of documents
  // The document from which the object was made. AtRevision moves it to the cache, so that the first reader
  // need not parse the text. Only Make and AtRevision use it; readers never do.
  mutable std::shared_ptr<Json> fresh_;
};

using ObjectPtr = std::shared_ptr<const Object>;

// The document's text in the form of Object::body(), with `revision` stamped in.
std::string EncodeBody(const Json& document, std::int64_t revision);
// Looks a label up in a header's sorted list; nullptr when absent.
const std::string* FindLabel(const ObjectHeader& header, std::string_view key);
// The metadata's finalizers. Reads only the metadata, and no text at all if the object has no finalizers.
std::vector<std::string> FinalizersOf(const Object& object);
bool HasFinalizer(const Object& object, std::string_view name);

}  // namespace terrarium::api
