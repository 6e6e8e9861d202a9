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

namespace terrarium::api {

// The few facts that lists, watches and selectors ask of every object, so that nobody parses it for them.
struct ObjectHeader {
  std::string ns;  // empty for cluster-scoped kinds
  std::string name;
  std::string uid;
  std::int64_t revision = 0;                                // metadata.resourceVersion
  std::vector<std::pair<std::string, std::string>> labels;  // sorted by key
  std::vector<std::string> fields;  // values of the resource's selectable fields, in the order of its table
  bool deleting = false;            // has a deletionTimestamp
};

// The JSON text of an object without kind and apiVersion, always beginning {"metadata":{"resourceVersion":"N" so that
// the store can stamp a revision into finished text, lists can splice items and one text serves every API version.
class Object {
 public:
  // `document` is the object; its apiVersion, kind and metadata.resourceVersion are left out of the text. REQUIRES: it is
  // normalised, so that it equals what its text reads as. `looked_at_soon`: keep it for Document().
  static std::shared_ptr<const Object> Make(ObjectHeader header, Json document, bool looked_at_soon = true);
  // The same for a document of which `carried` members are left out or not whole: their text is that of `current`. So a
  // write that changes the status of a pod neither reads nor writes its spec.
  static std::shared_ptr<const Object> MakeCarrying(ObjectHeader header, Json document, const Object& current,
                                                    std::span<const std::string_view> carried);
  // From stored text (its header has been kept or derived elsewhere).
  static std::shared_ptr<const Object> FromBody(ObjectHeader header, std::string body);
  // The same object at another revision.
  std::shared_ptr<const Object> AtRevision(std::int64_t revision) const;
  // The same without a copy where the caller was the only one to have the object.
  static std::shared_ptr<const Object> AtRevision(std::shared_ptr<const Object> object, std::int64_t revision);

  const ObjectHeader& header() const { return header_; }
  std::int64_t revision() const { return header_.revision; }
  const std::string& body() const { return body_; }

  // The whole document, parsed anew on each call (some 10 us for a pod): call it once per use. Has no kind/apiVersion.
  Json Parse() const;
  // The same to look at, without a copy of one's own: the parsed form of an object that many look at soon after it was
  // written is kept for a while.
  std::shared_ptr<const Json> Document() const;
  // Text with kind and apiVersion in front, as a GET answers.
  std::string Text(std::string_view api_version, std::string_view kind) const;
  void AppendText(std::string_view api_version, std::string_view kind, std::string& out) const;

 private:
  Object(ObjectHeader header, std::string body) : header_(std::move(header)), body_(std::move(body)) {}
  void Stamp(std::int64_t revision);

  ObjectHeader header_;
  std::string body_;
  mutable std::weak_ptr<const Json> document_;  // guarded by the cache of documents
  // What the object was made from, until it is stored (AtRevision): the first to look at it then need not parse it. Only
  // the one who made the object touches it.
  mutable std::shared_ptr<Json> fresh_;
};

using ObjectPtr = std::shared_ptr<const Object>;

// The document's text in the form of Object::body(), with `revision` stamped in.
std::string EncodeBody(const Json& document, std::int64_t revision);
// Looks a label up in a header's sorted list; nullptr when absent.
const std::string* FindLabel(const ObjectHeader& header, std::string_view key);

}  // namespace terrarium::api
