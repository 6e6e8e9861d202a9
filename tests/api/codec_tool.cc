// The codecs behind a pipe, for suites in other languages (e2e/protobuf): one JSON request per line in, one
// JSON answer per line out.
//
//   {"op": "kinds"}                                   -> {"kinds": ["io.k8s.api.apps.v1.Deployment", ...]}
//   {"op": "fill", "message": M, "seed": N, "everything": true}            -> {"doc": {...}}
//   {"op": "json", "message": M, "text": "..."}       -> {"doc": {...}, "strict": [...]} or {"error": "..."}
//   {"op": "encode", "message": M, "doc": {...}}      -> {"bytes": base64}
//   {"op": "decode", "message": M, "bytes": base64}   -> {"doc": {...}} or {"error": "..."}
//   {"op": "frame", "type": "ADDED", "bytes": base64} -> {"bytes": base64}
//   {"op": "yaml", "text": "..."}                     -> {"doc": {...}, "strict": [...]} or {"error": "..."}
//   {"op": "to-yaml", "doc": {...}}                   -> {"text": "..."}
//   {"op": "quantity", "text": "..."}                 -> {"text": "..."} or {"error": "..."}

#include <iostream>
#include <string>

#include "api/base/base64.h"
#include "api/base/quantity.h"
#include "api/codec/decode.h"
#include "api/codec/protobuf.h"
#include "api/codec/yaml.h"
#include "tests/api/schema_filler.h"

namespace terrarium::api {
namespace {

// The structs that `kind` and `apiVersion` name: those with both fields, which protobuf leaves to the
// envelope.
Json Kinds() {
  Json kinds = Json::array();
  for (const Message& m : Schema::Get().messages()) {
    const Field* kind = m.Find("kind");
    const Field* version = m.Find("apiVersion");
    if (kind == nullptr || version == nullptr || kind->def.proto_number != 0 ||
        version->def.proto_number != 0)
      continue;
    if (!m.wire_order().empty()) kinds.push_back(m.name());
  }
  return {{"kinds", kinds}};
}

std::string Bytes(const Json& request) {
  std::string bytes;
  DecodeBase64(request.at("bytes").get_ref<const std::string&>(), &bytes);
  return bytes;
}

Json DecodeText(const Message& message, const std::string& text) {
  const Decoded decoded = DecodeJson(text, message);
  if (decoded.error) return {{"error", decoded.error->message}};
  return {{"doc", decoded.object}, {"strict", decoded.strict_errors}};
}

Json DecodeBytes(const Message& message, const std::string& bytes) {
  std::string error;
  const auto envelope = OpenProtobufEnvelope(bytes, &error);
  if (!envelope) return {{"error", error}};
  const auto doc = DecodeProtobuf(message, *envelope, &error);
  return doc ? Json{{"doc", *doc}} : Json{{"error", error}};
}

Json ReadYaml(const std::string& text) {
  std::string error;
  const auto document = ParseYaml(text, &error);
  if (!document) return {{"error", error}};
  return {{"doc", document->value}, {"strict", document->strict_errors}};
}

Json ReadQuantity(const std::string& text) {
  std::string error;
  const auto quantity = Quantity::Parse(text, &error);
  return quantity ? Json{{"text", quantity->ToString()}} : Json{{"error", error}};
}

Json Answer(const Json& request) {
  const std::string op = request.at("op");
  if (op == "kinds") return Kinds();
  if (op == "yaml") return ReadYaml(request.at("text"));
  if (op == "to-yaml") return {{"text", WriteYaml(request.at("doc"))}};
  if (op == "quantity") return ReadQuantity(request.at("text"));
  if (op == "frame")
    return {{"bytes",
             EncodeBase64(EncodeProtobufWatchFrame(request.at("type").get<std::string>(), Bytes(request)))}};
  const Message& message = Schema::Get().Must(request.at("message").get<std::string>());
  if (op == "json") return DecodeText(message, request.at("text"));
  if (op == "encode") return {{"bytes", EncodeBase64(EncodeProtobuf(message, request.at("doc")))}};
  if (op == "decode") return DecodeBytes(message, Bytes(request));
  if (op == "fill") {
    return {{"doc", Fill(message, {.seed = request.at("seed"),
                                   .everything = request.at("everything"),
                                   .own_fields = false})}};
  }
  return {{"error", "unknown op " + op}};
}

}  // namespace
}  // namespace terrarium::api

int main() {
  std::ios::sync_with_stdio(false);
  for (std::string line; std::getline(std::cin, line);) {
    std::cout << terrarium::api::Answer(terrarium::api::Json::parse(line)).dump() << std::endl;
  }
}
