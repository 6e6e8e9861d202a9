#include "api/selector/internal/field_labels.h"

#include <algorithm>
#include <span>

#include "api/base/errors.h"
#include "api/base/field_error.h"

namespace terrarium::api::internal {
namespace {

constexpr std::string_view kName = "metadata.name";
constexpr std::string_view kNamespace = "metadata.namespace";

struct FieldLabel {
  std::string_view accepted;
  std::string_view stored;
};

constexpr FieldLabel kPodLabels[] = {
    {kName, kName},
    {kNamespace, kNamespace},
    {"spec.host", "spec.nodeName"},  // what the first v1 clients called it
    {"spec.hostNetwork", "spec.hostNetwork"},
    {"spec.nodeName", "spec.nodeName"},
    {"spec.restartPolicy", "spec.restartPolicy"},
    {"spec.schedulerName", "spec.schedulerName"},
    {"spec.serviceAccountName", "spec.serviceAccountName"},
    {"status.nominatedNodeName", "status.nominatedNodeName"},
    {"status.phase", "status.phase"},
    {"status.podIP", "status.podIP"},
    {"status.podIPs", "status.podIPs"},  // accepted, but no pod ever has a value for it
};
constexpr FieldLabel kNodeLabels[] = {{kName, kName}, {"spec.unschedulable", "spec.unschedulable"}};
constexpr FieldLabel kNamespaceLabels[] = {{kName, kName}, {"status.phase", "status.phase"}};
constexpr FieldLabel kSecretLabels[] = {{kName, kName}, {kNamespace, kNamespace}, {"type", "type"}};
constexpr FieldLabel kServiceLabels[] = {{kName, kName},
                                         {kNamespace, kNamespace},
                                         {"spec.clusterIP", "spec.clusterIP"},
                                         {"spec.type", "spec.type"}};
constexpr FieldLabel kReplicationControllerLabels[] = {
    {kName, kName}, {kNamespace, kNamespace}, {"status.replicas", "status.replicas"}};
constexpr FieldLabel kJobLabels[] = {
    {kName, kName}, {kNamespace, kNamespace}, {"status.successful", "status.successful"}};
constexpr FieldLabel kCoreEventLabels[] = {
    {"involvedObject.apiVersion", "involvedObject.apiVersion"},
    {"involvedObject.fieldPath", "involvedObject.fieldPath"},
    {"involvedObject.kind", "involvedObject.kind"},
    {"involvedObject.name", "involvedObject.name"},
    {"involvedObject.namespace", "involvedObject.namespace"},
    {"involvedObject.resourceVersion", "involvedObject.resourceVersion"},
    {"involvedObject.uid", "involvedObject.uid"},
    {kName, kName},
    {kNamespace, kNamespace},
    {"reason", "reason"},
    {"reportingComponent", "reportingComponent"},
    {"source", "source"},
    {"type", "type"},
};
constexpr FieldLabel kEventLabels[] = {
    {kName, kName},
    {kNamespace, kNamespace},
    {"reason", "reason"},
    {"regarding.apiVersion", "involvedObject.apiVersion"},
    {"regarding.fieldPath", "involvedObject.fieldPath"},
    {"regarding.kind", "involvedObject.kind"},
    {"regarding.name", "involvedObject.name"},
    {"regarding.namespace", "involvedObject.namespace"},
    {"regarding.resourceVersion", "involvedObject.resourceVersion"},
    {"regarding.uid", "involvedObject.uid"},
    {"reportingController", "reportingComponent"},
    {"type", "type"},
};
constexpr FieldLabel kSigningRequestLabels[] = {{kName, kName}, {"spec.signerName", "spec.signerName"}};
constexpr FieldLabel kResourceSliceLabels[] = {
    {kName, kName}, {"spec.driver", "spec.driver"}, {"spec.nodeName", "spec.nodeName"}};

struct KindLabels {
  std::string_view group;
  std::string_view kind;
  std::span<const FieldLabel> labels;
};

// The kinds with labels of their own; the others support metadata.name and metadata.namespace.
constexpr KindLabels kKinds[] = {
    {"", "Event", kCoreEventLabels},
    {"", "Namespace", kNamespaceLabels},
    {"", "Node", kNodeLabels},
    {"", "Pod", kPodLabels},
    {"", "ReplicationController", kReplicationControllerLabels},
    {"", "Secret", kSecretLabels},
    {"", "Service", kServiceLabels},
    {"batch", "Job", kJobLabels},
    {"certificates.k8s.io", "CertificateSigningRequest", kSigningRequestLabels},
    {"events.k8s.io", "Event", kEventLabels},
    {"resource.k8s.io", "ResourceSlice", kResourceSliceLabels},
};

}  // namespace

Result<std::string> ConvertFieldLabel(const FieldSelectorScope& scope, std::string_view label) {
  const auto* own = std::find_if(std::begin(kKinds), std::end(kKinds), [&](const KindLabels& k) {
    return k.group == scope.group && k.kind == scope.kind;
  });
  if (own == std::end(kKinds)) {
    const auto& declared = scope.selectable;
    if (label == kName || label == kNamespace ||
        std::find(declared.begin(), declared.end(), label) != declared.end())
      return std::string(label);
    return BadRequest(Quote(label) +
                      R"( is not a known field selector: only "metadata.name", "metadata.namespace")");
  }
  auto known = std::find_if(own->labels.begin(), own->labels.end(),
                            [&](const FieldLabel& l) { return l.accepted == label; });
  if (known != own->labels.end()) return std::string(known->stored);
  if (own->group == "batch") return BadRequest("field label " + Quote(label) + " not supported for Job");
  if (own->group == "resource.k8s.io")
    return BadRequest("field label not supported for resource.k8s.io/v1, Kind=ResourceSlice: " +
                      std::string(label));
  return BadRequest("field label not supported: " + std::string(label));
}

}  // namespace terrarium::api::internal
