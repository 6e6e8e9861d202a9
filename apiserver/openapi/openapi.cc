#include "apiserver/openapi/openapi.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <map>
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

// Two FNV-1a hashes side by side: this tells documents of one build from another's, it guards nothing.
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

using Documents = std::map<std::string, OpenApiDoc, std::less<>>;

Documents BuildV3() {
  const ResourceTable& table = ResourceTable::Get();
  const std::vector<openapi::PathItem> paths = openapi::AllPaths(table);
  Documents out;
  for (const openapi::PathItem& item : paths) {
    if (out.contains(item.document)) continue;
    out.emplace(item.document, JsonDoc(openapi::RenderV3(item.document, paths, table)));
  }
  return out;
}

const Documents& V3() {
  static const Documents documents = BuildV3();
  return documents;
}

std::string RelativeUrl(std::string_view name, const OpenApiDoc& doc) {
  return std::string(kV3Prefix).append(name) + "?hash=" + doc.etag;
}

OpenApiDoc BuildIndex() {
  Json index = {{"paths", Json::object()}};
  for (const auto& [name, doc] : V3()) index["paths"][name] = {{"serverRelativeURL", RelativeUrl(name, doc)}};
  return JsonDoc(index);
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

// Quality of an Accept clause in thousandths; 1000 when it names none.
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

// The index of the first offered type that the best clause accepts, or -1.
int Negotiate(std::string_view accept, std::span<const std::string_view> offered) {
  std::vector<std::pair<int, std::string_view>> ranges;
  for (std::string_view clause : Split(Trim(accept).empty() ? "*/*" : accept, ',')) {
    std::vector<std::string_view> parts = Split(clause, ';');
    ranges.emplace_back(Quality(parts), parts.front());
  }
  std::stable_sort(ranges.begin(), ranges.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
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

Response AnswerV2(const OpenApiRequest& request) {
  constexpr std::string_view kOffered[] = {kJsonType, kV2ProtobufOldType, kV2ProtobufType};
  const int choice = Negotiate(request.accept, kOffered);
  if (choice < 0) return Empty(406);
  return Serve(choice == 0 ? OpenApiV2Json() : OpenApiV2Protobuf(), request);
}

Response AnswerV3Document(std::string_view name, const OpenApiRequest& request) {
  const OpenApiDoc* doc = OpenApiV3Document(name);
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
  // DIVERGES: Kubernetes names the date of expiry, a year from now. An age says the same and needs no clock.
  if (!request.hash.empty())
    response.headers.emplace_back("Cache-Control", "public, immutable, max-age=31536000");
  return response;
}

}  // namespace

const OpenApiDoc& OpenApiV2Json() {
  static const OpenApiDoc doc =
      JsonDoc(openapi::RenderV2(openapi::AllPaths(ResourceTable::Get()), ResourceTable::Get()));
  return doc;
}

const OpenApiDoc& OpenApiV2Protobuf() {
  static const OpenApiDoc doc = {
      std::string(kV2ProtobufType),
      openapi::EncodeV2(openapi::RenderV2(openapi::AllPaths(ResourceTable::Get()), ResourceTable::Get())),
      OpenApiV2Json().etag};
  return doc;
}

const OpenApiDoc& OpenApiV3Index() {
  static const OpenApiDoc doc = BuildIndex();
  return doc;
}

const OpenApiDoc* OpenApiV3Document(std::string_view name) {
  auto it = V3().find(name);
  return it == V3().end() ? nullptr : &it->second;
}

std::optional<Response> AnswerOpenApi(const OpenApiRequest& request) {
  if (request.path == "/openapi/v2") return AnswerV2(request);
  if (request.path == "/openapi/v3" || request.path == kV3Prefix) return Serve(OpenApiV3Index(), request);
  if (request.path.starts_with(kV3Prefix)) return AnswerV3Document(request.path.substr(kV3Prefix.size()), request);
  return std::nullopt;
}

}  // namespace terrarium::apiserver
