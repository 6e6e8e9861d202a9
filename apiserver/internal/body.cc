#include "apiserver/internal/body.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "api/base/errors.h"
#include "api/codec/decode.h"
#include "api/codec/normalize.h"
#include "api/codec/protobuf.h"
#include "api/codec/yaml.h"
#include "api/json_access.h"
#include "apiserver/internal/media_type.h"
#include "apiserver/strategy/autoscaler_conversion.h"
#include "apiserver/strategy/event_conversion.h"

namespace terrarium::apiserver {
namespace {

using api::Result;
using api::Status;

constexpr std::string_view kAccepted =
    "application/json, application/yaml, application/vnd.kubernetes.protobuf";

enum class BodyType { kJson, kYaml, kProtobuf, kUnknown };

BodyType TypeOf(const Request& request) {
  std::string_view type = MediaTypeOf(request.content_type);
  if (type.empty() || type == "application/json") return BodyType::kJson;
  if (type == "application/yaml") return BodyType::kYaml;
  if (type == "application/vnd.kubernetes.protobuf") return BodyType::kProtobuf;
  return BodyType::kUnknown;
}

// A parsed body, with the errors that strict decoding has found so far.
struct RawBody {
  Json document;
  std::vector<std::string> strict_errors;
};

Status Unrecognized(std::string_view kind, const std::string& why) {
  return api::BadRequest("the object provided is unrecognized (must be of type " + std::string(kind) +
                         "): " + why);
}

Result<RawBody> ParseText(std::string_view text, std::string_view kind, bool strict) {
  api::Decoded decoded = api::DecodeJson(text, {.strict = strict});
  if (decoded.error)
    return Unrecognized(kind, "couldn't get version/kind; json parse error: " + decoded.error->message);
  if (!decoded.object.is_object())
    return Unrecognized(kind, "couldn't get version/kind; json parse error: json: cannot unmarshal " +
                                  std::string(decoded.object.type_name()) + " into Go value of type struct");
  return RawBody{std::move(decoded.object), std::move(decoded.strict_errors)};
}

Result<RawBody> ParseBody(Call& call, const ExpectedKind& expected, bool strict) {
  const Request& request = call.request;
  if (call.document) return RawBody{std::move(*call.document), {}};
  switch (TypeOf(request)) {
    case BodyType::kJson: return ParseText(request.body, expected.kind, strict);
    case BodyType::kYaml: {
      std::string error;
      auto parsed = api::ParseYaml(request.body, &error);
      if (!parsed) return Unrecognized(expected.kind, error);
      if (!parsed->value.is_object()) return Unrecognized(expected.kind, "couldn't get version/kind");
      return RawBody{std::move(parsed->value), std::move(parsed->strict_errors)};
    }
    case BodyType::kProtobuf: {
      std::string error;
      auto envelope = api::OpenProtobufEnvelope(request.body, &error);
      std::optional<Json> document;
      if (envelope) document = api::DecodeProtobuf(expected.schema, *envelope, &error);
      if (!document) return Unrecognized(expected.kind, error);
      return RawBody{std::move(*document), {}};
    }
    case BodyType::kUnknown: break;
  }
  return api::UnsupportedMediaType(kAccepted);
}

// For DeleteOptions, Kubernetes reports an error without this prefix.
Status WithoutPrefix(Status status, std::string_view prefix) {
  if (status.message.starts_with(prefix)) status.message.erase(0, prefix.size());
  return status;
}

// Versions that Kubernetes recognizes but no longer serves. They get a different error than versions that
// never existed.
bool IsFormerVersion(std::string_view api_version) {
  static constexpr std::string_view kFormer[] = {
      "apps/v1beta1",          "apps/v1beta2",       "batch/v1beta1", "coordination.k8s.io/v1beta1",
      "events.k8s.io/v1beta1", "extensions/v1beta1", "policy/v1beta1"};
  return std::find(std::begin(kFormer), std::end(kFormer), api_version) != std::end(kFormer);
}

bool IsExpectedVersion(const std::string& api_version, const ExpectedKind& expected) {
  if (api_version.empty() || api_version == ApiVersionOf(expected.group, expected.version)) return true;
  return !expected.also_version.empty() && api_version == ApiVersionOf(expected.group, expected.also_version);
}

Status CannotHandle(std::string_view kind, std::string_view version, std::string_view expected_kind,
                    const std::string& why) {
  return api::BadRequest(std::string(kind) + " in version " + api::Quote(version) +
                         " cannot be handled as a " + std::string(expected_kind) + ": " + why);
}

// A body may omit kind and apiVersion, because the path implies them. If they are present, they must match
// the path.
Result<void> CheckKind(const Json& document, const ExpectedKind& expected) {
  for (const char* field : {"kind", "apiVersion"}) {
    const Json* value = api::Find(document, field);
    if (value != nullptr && !value->is_string())
      return Unrecognized(expected.kind,
                          "couldn't get version/kind; json parse error: json: cannot unmarshal " +
                              std::string(value->type_name()) + " into Go struct field ." + field +
                              " of type string");
  }
  std::string kind(api::StringAt(document, "kind"));
  std::string api_version(api::StringAt(document, "apiVersion"));
  if (kind.empty()) kind = expected.kind;
  std::string version =
      api_version.substr(api_version.find('/') == std::string::npos ? 0 : api_version.find('/') + 1);
  if (!IsExpectedVersion(api_version, expected) && IsFormerVersion(api_version))
    return api::BadRequest("the API version in the data (" + api_version +
                           ") does not match the expected API version (" +
                           ApiVersionOf(expected.group, expected.version) + ")");
  if (!IsExpectedVersion(api_version, expected))
    return CannotHandle(
        kind, version, expected.kind,
        "no kind " + api::Quote(kind) + " is registered for version " + api::Quote(api_version));
  if (kind != expected.kind)
    return CannotHandle(kind, expected.version, expected.kind,
                        "converting " + kind + " to " + std::string(expected.kind) + ": unknown conversion");
  return {};
}

// Returns the strict errors as one message if the request must be refused. Otherwise the errors become
// warnings or are ignored.
std::optional<std::string> JudgeStrictErrors(Call& call, FieldValidation validation,
                                             std::vector<std::string> errors) {
  if (errors.empty() || validation == FieldValidation::kIgnore) return std::nullopt;
  if (validation == FieldValidation::kWarn) {
    for (std::string& error : errors) call.warnings.push_back(std::move(error));
    return std::nullopt;
  }
  std::string list;
  for (const std::string& error : errors) list += (list.empty() ? "" : ", ") + error;
  return "strict decoding error: " + list;
}

// A list without items means the same as no list, but here: an empty list of owners removes them all, as does
// a list with one empty item.
void KeepResetOfOwners(Json& document) {
  const Json* owners = api::Find(document, "metadata", "managedFields");
  if (owners == nullptr || !owners->is_array() || !owners->empty()) return;
  document["metadata"]["managedFields"].push_back(Json::object());
}

// Normalises the document. Returns an error, in the words of the Go decoder, if the document is not a valid
// object of the kind.
std::optional<std::string> NormalizeBody(Call& call, RawBody& raw, const ExpectedKind& expected,
                                         FieldValidation validation) {
  KeepResetOfOwners(raw.document);
  std::vector<std::string>* strict = validation == FieldValidation::kIgnore ? nullptr : &raw.strict_errors;
  if (auto error = api::Normalize(expected.schema, raw.document, strict)) return error;
  return JudgeStrictErrors(call, validation, std::move(raw.strict_errors));
}

Json ToStored(RawBody raw, const ExpectedKind& expected) {
  raw.document.erase("kind");
  raw.document.erase("apiVersion");
  if (expected.group == "events.k8s.io" && expected.kind == "Event") EventToCore(raw.document);
  if (expected.kind == "HorizontalPodAutoscaler" && expected.version == "v1") AutoscalerToV2(raw.document);
  return std::move(raw.document);
}

}  // namespace

std::string ApiVersionOf(std::string_view group, std::string_view version) {
  return group.empty() ? std::string(version) : std::string(group) + "/" + std::string(version);
}

ExpectedKind BodyKindOf(const ResourceInfo& resource) {
  return {resource.group, resource.version, resource.kind, resource.Schema()};
}

ExpectedKind BodyKindOf(const SubresourceInfo& subresource) {
  const api::Schema& schema = api::Schema::Get();
  std::string group(subresource.group.substr(0, subresource.group.find('.')));
  std::string name = "io.k8s.api." + (group.empty() ? "core" : group) + "." +
                     std::string(subresource.version) + "." + std::string(subresource.kind);
  return {subresource.group, subresource.version, subresource.kind, schema.Must(name)};
}

Result<Json> DecodeBody(Call& call, const ExpectedKind& expected, FieldValidation validation) {
  auto raw = ParseBody(call, expected, validation != FieldValidation::kIgnore);
  if (!raw) return raw.status();
  if (auto fine = CheckKind(raw->document, expected); !fine) return fine.status();
  if (auto why = NormalizeBody(call, *raw, expected, validation))
    return CannotHandle(expected.kind, expected.version, expected.kind, *why);
  return ToStored(std::move(*raw), expected);
}

Result<Json> DecodePatched(Call& call, Json document, const ExpectedKind& expected,
                           FieldValidation validation) {
  // A JSON patch can replace the whole document with any value.
  if (!document.is_object())
    return Unrecognized(expected.kind, "couldn't get version/kind; json parse error");
  if (auto fine = CheckKind(document, expected); !fine) return fine.status();
  // Callers in the same process do not read the message, so it contains the document only for HTTP clients.
  std::string text = call.written ? "" : document.dump(-1, ' ', false, Json::error_handler_t::replace);
  RawBody raw{std::move(document), {}};
  if (auto why = NormalizeBody(call, raw, expected, validation))
    return api::Invalid({}, "", {api::InvalidError(api::Path("patch"), text, *why)});
  return ToStored(std::move(raw), expected);
}

Result<Json> DecodeDeleteOptions(Call& call) {
  if (call.request.body.empty() && !call.document) return Json();
  static constexpr std::string_view kName = "io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions";
  ExpectedKind expected{"meta.k8s.io", "v1", "DeleteOptions", api::Schema::Get().Must(kName)};
  auto raw = ParseBody(call, expected, false);
  if (!raw) return WithoutPrefix(raw.status(), Unrecognized(expected.kind, "").message);
  // Every group version has its own DeleteOptions of the same shape, so apiVersion is not checked.
  std::string_view kind = api::StringAt(raw->document, "kind");
  std::string_view version = api::StringAt(raw->document, "apiVersion");
  if (!kind.empty() && kind != expected.kind)
    return api::BadRequest("no kind " + api::Quote(kind) + " is registered for version " +
                           api::Quote(version.empty() ? "meta.k8s.io/v1" : version) +
                           " in scheme \"pkg/runtime/scheme.go:111\"");
  if (auto error = api::Normalize(expected.schema, raw->document, nullptr)) return api::BadRequest(*error);
  return std::move(raw->document);
}

}  // namespace terrarium::apiserver
