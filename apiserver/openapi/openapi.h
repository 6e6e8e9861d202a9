#pragma once

// The OpenAPI documents that /openapi/v2 and /openapi/v3 serve, generated from the schema tables and the resource
// table. Nothing is built before the first request for it (about 0.1 s for each of the two versions); after that the
// finished texts are kept and shared by all threads.

#include <optional>
#include <string>
#include <string_view>

#include "apiserver/request.h"

namespace terrarium::apiserver {

struct OpenApiDoc {
  std::string content_type;
  std::string body;
  std::string etag;  // without quotes; equal for the JSON and the protobuf form of one document
};

const OpenApiDoc& OpenApiV2Json();
// gnostic's openapi.v2.Document, which kubectl reads for `explain` and for client-side validation.
const OpenApiDoc& OpenApiV2Protobuf();
// {"paths": {"apis/apps/v1": {"serverRelativeURL": "/openapi/v3/apis/apps/v1?hash=..."}, ...}}
const OpenApiDoc& OpenApiV3Index();
// `name` is a key of the index, e.g. "api/v1"; nullptr when there is no such document.
const OpenApiDoc* OpenApiV3Document(std::string_view name);

struct OpenApiRequest {
  std::string_view path;           // "/openapi/v2", "/openapi/v3" or below
  std::string_view hash;           // value of the query parameter, or empty
  std::string_view accept;         // the Accept header, or empty
  std::string_view if_none_match;  // the header, or empty
};

// The whole answer to a GET: content negotiation (406 when nothing fits), 304 for a known ETag, a redirect for a hash
// that is out of date and a cacheable answer for the right one, 404 for an unknown document. nullopt when the path is
// none of ours.
std::optional<Response> AnswerOpenApi(const OpenApiRequest& request);

}  // namespace terrarium::apiserver
