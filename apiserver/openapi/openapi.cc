#include "apiserver/openapi/openapi.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "apiserver/openapi/internal/operations.h"
#include "apiserver/openapi/internal/proto_v2.h"
#include "apiserver/openapi/internal/render.h"

namespace terrarium::apiserver {
namespace {

using api::Json;

constexpr std::string_view kJsonType = "application/json";
constexpr std::string_view kV2ProtobufType = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf";
constexpr std::string_view kV2ProtobufOldType = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf";
constexpr std::string_view kV3Prefix = "/openapi/v3/";

// Two FNV-1a hashes side by side. They distinguish the documents of different builds; they are not
// cryptographic.
std::string Etag(std::string_view text) {
  std::string out;
  for (std::uint64_t hash : {0xcbf29ce484222325u, 0x6c62272e07bb0142u}) {
    for (unsigned char c : text) hash = (hash ^ c) * 0x100000001b3u;
    for (int shift = 60; shift >= 0; shift -= 4) out += "0123456789ABCDEF"[hash >> shift & 15];
  }
  return out;
}

OpenApiDoc JsonDoc(const Json& document) {
  std::string body = document.dump();
  std::string etag = Etag(body);
  return {std::string(kJsonType), std::move(body), std::move(etag)};
}

std::string RelativeUrl(std::string_view name, const OpenApiDoc& doc) {
  return std::string(kV3Prefix).append(name) + "?hash=" + doc.etag;
}

std::string_view Trim(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

std::vector<std::string_view> Split(std::string_view text, char separator) {
  std::vector<std::string_view> out;
  for (;;) {
    std::size_t at = text.find(separator);
    out.push_back(Trim(text.substr(0, at)));
    if (at == std::string_view::npos) return out;
    text.remove_prefix(at + 1);
  }
}

// The quality of an Accept clause in thousandths; 1000 when the clause has no q.
int Quality(const std::vector<std::string_view>& clause) {
  for (std::size_t i = 1; i < clause.size(); ++i) {
    if (!clause[i].starts_with("q=")) continue;
    double q = 1;
    std::from_chars(clause[i].data() + 2, clause[i].data() + clause[i].size(), q);
    return static_cast<int>(q * 1000);
  }
  return 1000;
}

bool Matches(std::string_view range, std::string_view type) {
  if (range == "*/*" || range == type) return true;
  return range.ends_with("/*") && type.starts_with(range.substr(0, range.size() - 1));
}

// The index of the first offered type that the clause of highest quality accepts. A clause that accepts none
// yields to the next one; -1 when no clause accepts a type.
int Negotiate(std::string_view accept, std::span<const std::string_view> offered) {
  std::vector<std::pair<int, std::string_view>> ranges;
  for (std::string_view clause : Split(Trim(accept).empty() ? "*/*" : accept, ',')) {
    std::vector<std::string_view> parts = Split(clause, ';');
    ranges.emplace_back(Quality(parts), parts.front());
  }
  std::stable_sort(ranges.begin(), ranges.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  for (const auto& [quality, range] : ranges) {
    if (quality <= 0) continue;
    for (std::size_t i = 0; i < offered.size(); ++i)
      if (Matches(range, offered[i])) return static_cast<int>(i);
  }
  return -1;
}

bool Knows(std::string_view if_none_match, const std::string& quoted_etag) {
  if (if_none_match.empty()) return false;
  for (std::string_view tag : Split(if_none_match, ',')) {
    if (tag.starts_with("W/")) tag.remove_prefix(2);
    if (tag == "*" || tag == quoted_etag) return true;
  }
  return false;
}

Response Serve(const OpenApiDoc& doc, const OpenApiRequest& request) {
  Response response;
  const std::string quoted = "\"" + doc.etag + "\"";
  response.headers = {{"Etag", quoted}, {"Vary", "Accept"}};
  if (Knows(request.if_none_match, quoted)) {
    response.code = 304;
    return response;
  }
  response.content_type = doc.content_type;
  response.body = doc.body;
  return response;
}

Response Empty(int code) {
  Response response;
  response.code = code;
  response.headers = {{"Vary", "Accept"}};
  return response;
}

}  // namespace

// The documents of built-in groups are the same in every table, so they are shared. Only groups with added
// resources are rendered.
OpenApiDocuments::Documents OpenApiDocuments::BuildV3() const {
  const ResourceTable& built_in = *ResourceTable::BuiltIn();
  const bool is_built_in = &table_ == &built_in;
  const std::vector<openapi::PathItem> paths = openapi::AllPaths(table_);
  std::set<std::string> added;
  for (const ResourcePtr& resource : table_.added()) added.insert(openapi::DocumentOf(*resource));
  Documents out;
  for (const openapi::PathItem& item : paths) {
    if (out.contains(item.document)) continue;
    if (!is_built_in && !added.contains(item.document)) {
      const Documents& shared = built_in.openapi().V3();
      if (auto known = shared.find(item.document); known != shared.end()) {
        out.insert(*known);
        continue;
      }
    }
    out.emplace(item.document,
                std::make_shared<const OpenApiDoc>(JsonDoc(openapi::RenderV3(item.document, paths, table_))));
  }
  return out;
}

const OpenApiDocuments::Documents& OpenApiDocuments::V3() const {
  std::call_once(v3_.made, [this] { v3_.value = BuildV3(); });
  return v3_.value;
}

OpenApiDoc OpenApiDocuments::BuildIndex() const {
  Json index = {{"paths", Json::object()}};
  for (const auto& [name, doc] : V3())
    index["paths"][name] = {{"serverRelativeURL", RelativeUrl(name, *doc)}};
  return JsonDoc(index);
}

Response OpenApiDocuments::AnswerV2(const OpenApiRequest& request) const {
  constexpr std::string_view kOffered[] = {kJsonType, kV2ProtobufOldType, kV2ProtobufType};
  const int choice = Negotiate(request.accept, kOffered);
  if (choice < 0) return Empty(406);
  return Serve(choice == 0 ? V2Json() : V2Protobuf(), request);
}

Response OpenApiDocuments::AnswerV3Document(std::string_view name, const OpenApiRequest& request) const {
  const OpenApiDoc* doc = V3Document(name);
  if (doc == nullptr) {
    Response response;
    response.code = 404;
    response.content_type = "text/plain; charset=utf-8";
    response.body = "404 page not found\n";
    return response;
  }
  constexpr std::string_view kOffered[] = {kJsonType};
  if (Negotiate(request.accept, kOffered) < 0) return Empty(406);
  if (!request.hash.empty() && request.hash != doc->etag) {
    Response response = Empty(301);
    response.headers.emplace_back("Location", RelativeUrl(name, *doc));
    return response;
  }
  Response response = Serve(*doc, request);
  // DIVERGES: Kubernetes sends an expiry date one year ahead. max-age has the same effect and needs no clock.
  if (!request.hash.empty())
    response.headers.emplace_back("Cache-Control", "public, immutable, max-age=31536000");
  return response;
}

const OpenApiDoc& OpenApiDocuments::V2Json() const {
  std::call_once(v2_json_.made,
                 [this] { v2_json_.value = JsonDoc(openapi::RenderV2(openapi::AllPaths(table_), table_)); });
  return v2_json_.value;
}

const OpenApiDoc& OpenApiDocuments::V2Protobuf() const {
  std::call_once(v2_protobuf_.made, [this] {
    v2_protobuf_.value = {std::string(kV2ProtobufType),
                          openapi::EncodeV2(openapi::RenderV2(openapi::AllPaths(table_), table_)),
                          V2Json().etag};
  });
  return v2_protobuf_.value;
}

const OpenApiDoc& OpenApiDocuments::V3Index() const {
  std::call_once(v3_index_.made, [this] { v3_index_.value = BuildIndex(); });
  return v3_index_.value;
}

const OpenApiDoc* OpenApiDocuments::V3Document(std::string_view name) const {
  auto it = V3().find(name);
  return it == V3().end() ? nullptr : it->second.get();
}

std::optional<Response> OpenApiDocuments::Answer(const OpenApiRequest& request) const {
  if (request.path == "/openapi/v2") return AnswerV2(request);
  if (request.path == "/openapi/v3" || request.path == kV3Prefix) return Serve(V3Index(), request);
  if (request.path.starts_with(kV3Prefix))
    return AnswerV3Document(request.path.substr(kV3Prefix.size()), request);
  return std::nullopt;
}

}  // namespace terrarium::apiserver
