#include "fuzz/property.h"

#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <optional>
#include <string>

#include "api/codec/decode.h"
#include "api/codec/protobuf.h"
#include "api/json_text.h"

namespace terrarium::fuzz {
namespace {

using api::Json;

constexpr std::string_view kKinds[] = {
    "io.k8s.api.core.v1.ConfigMap",
    "io.k8s.api.core.v1.Pod",
    "io.k8s.api.apps.v1.Deployment",
    "io.k8s.api.batch.v1.Job",
    "io.k8s.api.core.v1.Service",
    "io.k8s.api.core.v1.Node",
    "io.k8s.api.core.v1.Secret",
    "io.k8s.api.core.v1.Event",
    "io.k8s.api.apps.v1.ControllerRevision",
    "io.k8s.api.batch.v1.CronJob",
    "io.k8s.api.apps.v1.StatefulSet",
    "io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions",
};

constexpr std::string_view kDeployment = R"({
  "apiVersion": "apps/v1", "kind": "Deployment",
  "metadata": {"name": "web", "namespace": "default", "labels": {"app": "web", "tier": "front"},
    "annotations": {"note": "x"}, "finalizers": ["a/b", "c/d"],
    "ownerReferences": [{"apiVersion": "v1", "kind": "Pod", "name": "p", "uid": "u"}]},
  "spec": {"replicas": 3, "selector": {"matchLabels": {"app": "web"}},
    "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": "25%", "maxUnavailable": 1}},
    "template": {"metadata": {"labels": {"app": "web"}}, "spec": {
      "containers": [
        {"name": "a", "image": "i:1", "args": ["x", "y"],
         "env": [{"name": "E", "value": "1"}, {"name": "F", "value": "2"}],
         "ports": [{"containerPort": 80, "protocol": "TCP"}, {"containerPort": 53, "protocol": "UDP"}],
         "resources": {"limits": {"cpu": "1500m", "memory": "1Gi"}}},
        {"name": "b", "image": "i:2"}],
      "volumes": [{"name": "v", "emptyDir": {}}, {"name": "w", "configMap": {"name": "c"}}],
      "tolerations": [{"key": "k", "operator": "Exists"}],
      "imagePullSecrets": [{"name": "s"}]}}}})";

}  // namespace

void Require(bool holds, const char* property) {
  if (holds) return;
  std::fprintf(stderr, "the property does not hold: %s\n", property);
  std::abort();
}

const api::Message& Input::TakeKind() {
  const std::size_t number = text_.empty() ? 0 : static_cast<unsigned char>(text_[0]) % std::size(kKinds);
  if (!text_.empty()) text_.remove_prefix(1);
  return api::Schema::Get().Must(kKinds[number]);
}

std::string_view Input::TakeText() {
  const std::size_t end = text_.find('\0');
  const std::string_view taken = text_.substr(0, end);
  text_ = end == std::string_view::npos ? std::string_view{} : text_.substr(end + 1);
  return taken;
}

const api::Message& DeploymentSchema() { return api::Schema::Get().Must("io.k8s.api.apps.v1.Deployment"); }

const Json& SampleDeployment() {
  static const Json document = [] {
    api::Decoded decoded = api::DecodeJson(kDeployment, DeploymentSchema());
    Require(!decoded.error && decoded.strict_errors.empty(), "the sample is a Deployment");
    return decoded.object;
  }();
  return document;
}

void RequireSameAfterJson(const api::Message& message, const Json& document) {
  std::string text;
  api::AppendJson(document, text);
  const api::Decoded again = api::DecodeJson(text, message);
  Require(!again.error.has_value(), "JSON that was written can be read");
  Require(again.strict_errors.empty(), "JSON that was written has nothing unknown or repeated");
  Require(again.object == document, "reading, writing and reading JSON gives the same document");
  Require(api::ReadJson(text) == document, "the reader of stored text agrees with the decoder");
}

namespace {

// Protobuf does not distinguish an empty list from an absent one.
void RemoveEmptyLists(Json& value) {
  if (!value.is_structured()) return;
  for (Json& inner : value) RemoveEmptyLists(inner);
  if (!value.is_object()) return;
  for (auto it = value.begin(); it != value.end();)
    it = it->is_null() || (it->is_array() && it->empty()) ? value.erase(it) : std::next(it);
}

}  // namespace

void RequireSameAfterProtobuf(const api::Message& message, Json document) {
  document.erase("kind");
  document.erase("apiVersion");
  const std::string bytes = api::EncodeProtobufMessage(message, document);
  std::string error;
  std::optional<Json> again = api::DecodeProtobufMessage(message, bytes, &error);
  Require(again.has_value(), "protobuf that was written can be read");
  Require(api::EncodeProtobufMessage(message, *again) == bytes,
          "writing protobuf again gives the same bytes");
  RemoveEmptyLists(document);
  RemoveEmptyLists(*again);
  Require(*again == document, "JSON and protobuf hold the same document");
}

}  // namespace terrarium::fuzz
