#include "api/object.h"

#include <algorithm>

#include "api/base/check.h"

namespace terrarium::api {
namespace {

constexpr std::string_view kBeforeRevision = R"({"metadata":{"resourceVersion":")";

// Text from a client may hold broken UTF-8; it is replaced as Go's encoder does rather than refused here.
void Dump(const Json& value, std::string& out) {
  out += value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

void AppendMember(const std::string& key, const Json& value, std::string& out) {
  out += ',';
  Dump(Json(key), out);
  out += ':';
  Dump(value, out);
}

std::size_t RevisionLength(const std::string& body) {
  CHECK(body.starts_with(kBeforeRevision));
  std::size_t end = body.find('"', kBeforeRevision.size());
  CHECK(end != std::string::npos);
  return end - kBeforeRevision.size();
}

}  // namespace

std::string EncodeBody(const Json& document, std::int64_t revision) {
  std::string out;
  out.reserve(2048);
  out.append(kBeforeRevision).append(std::to_string(revision)).append("\"");
  if (auto metadata = document.find("metadata"); metadata != document.end()) {
    for (const auto& [key, value] : metadata->items())
      if (key != "resourceVersion") AppendMember(key, value, out);
  }
  out += '}';
  for (const auto& [key, value] : document.items())
    if (key != "metadata" && key != "kind" && key != "apiVersion") AppendMember(key, value, out);
  out += '}';
  out.shrink_to_fit();
  return out;
}

ObjectPtr Object::Make(ObjectHeader header, const Json& document) {
  std::string body = EncodeBody(document, header.revision);
  return ObjectPtr(new Object(std::move(header), std::move(body)));
}

ObjectPtr Object::FromBody(ObjectHeader header, std::string body) {
  CHECK(body.starts_with(kBeforeRevision));
  return ObjectPtr(new Object(std::move(header), std::move(body)));
}

ObjectPtr Object::AtRevision(std::int64_t revision) const {
  ObjectHeader header = header_;
  header.revision = revision;
  std::string_view rest = std::string_view(body_).substr(kBeforeRevision.size() + RevisionLength(body_));
  std::string number = std::to_string(revision);
  std::string body;
  body.reserve(kBeforeRevision.size() + number.size() + rest.size());
  body.append(kBeforeRevision).append(number).append(rest);
  return ObjectPtr(new Object(std::move(header), std::move(body)));
}

Json Object::Parse() const { return Json::parse(body_); }

void Object::AppendText(std::string_view api_version, std::string_view kind, std::string& out) const {
  out.append(R"({"kind":")").append(kind).append(R"(","apiVersion":")").append(api_version).append("\",");
  out.append(std::string_view(body_).substr(1));
}

std::string Object::Text(std::string_view api_version, std::string_view kind) const {
  std::string out;
  out.reserve(body_.size() + kind.size() + api_version.size() + 32);
  AppendText(api_version, kind, out);
  return out;
}

const std::string* FindLabel(const ObjectHeader& header, std::string_view key) {
  auto it = std::lower_bound(header.labels.begin(), header.labels.end(), key,
                             [](const auto& label, std::string_view k) { return label.first < k; });
  return it != header.labels.end() && it->first == key ? &it->second : nullptr;
}

}  // namespace terrarium::api
