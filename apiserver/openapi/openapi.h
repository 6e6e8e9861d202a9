#pragma once

// The OpenAPI documents that /openapi/v2 and /openapi/v3 serve, generated from the schemas and a resource
// table. Each version is built at the first request for it, in about 0.1 s, then kept with the table and
// shared by all threads. Tables share the v3 documents of built-in groups.

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "apiserver/request.h"
#include "apiserver/resource_table.h"

namespace terrarium::apiserver {

struct OpenApiDoc {
  std::string content_type;
  std::string body;
  std::string etag;  // without quotes; equal for the JSON and the protobuf form of one document
};

struct OpenApiRequest {
  std::string_view path;           // "/openapi/v2", "/openapi/v3" or below
  std::string_view hash;           // value of the query parameter, or empty
  std::string_view accept;         // the Accept header, or empty
  std::string_view if_none_match;  // the header, or empty
};

// Thread-safe.
class OpenApiDocuments {
 public:
  // `table` outlives the documents.
  explicit OpenApiDocuments(const ResourceTable& table) : table_(table) {}

  const OpenApiDoc& V2Json() const;
  // gnostic's openapi.v2.Document, which kubectl reads for `explain` and for client-side validation.
  const OpenApiDoc& V2Protobuf() const;
  // {"paths": {"apis/apps/v1": {"serverRelativeURL": "/openapi/v3/apis/apps/v1?hash=..."}, ...}}
  const OpenApiDoc& V3Index() const;
  // `name` is a key of the index, e.g. "api/v1"; nullptr when there is no such document.
  const OpenApiDoc* V3Document(std::string_view name) const;

  // The response to a GET: content negotiation (406 when nothing fits), 304 for a known ETag, a redirect for
  // an outdated hash and a cacheable response for the current one, 404 for an unknown document. nullopt when
  // the path is not below /openapi/v2 or /openapi/v3.
  std::optional<Response> Answer(const OpenApiRequest& request) const;

 private:
  // By name; a document of a built-in group is the built-in table's own.
  using Documents = std::map<std::string, std::shared_ptr<const OpenApiDoc>, std::less<>>;
  template <typename T>
  struct Lazy {
    std::once_flag made;
    T value;
  };

  const Documents& V3() const;
  Documents BuildV3() const;
  OpenApiDoc BuildIndex() const;
  Response AnswerV2(const OpenApiRequest& request) const;
  Response AnswerV3Document(std::string_view name, const OpenApiRequest& request) const;

  const ResourceTable& table_;
  mutable Lazy<OpenApiDoc> v2_json_;
  mutable Lazy<OpenApiDoc> v2_protobuf_;
  mutable Lazy<OpenApiDoc> v3_index_;
  mutable Lazy<Documents> v3_;
};

}  // namespace terrarium::apiserver
