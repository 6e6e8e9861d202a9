// Fields of the KEPs that exist in no release (KEP-3973 and KEP-3189).

#include "api/schema/own/declarations.h"

namespace terrarium::api::own {
namespace {

constexpr std::string_view kPodReplacementPolicies[] = {"TerminationComplete", "TerminationStarted"};
constexpr std::string_view kSchemes[] = {"HTTP", "HTTPS", "http", "https"};

constexpr FieldDef kPickerField = {.name = "downscalePodPicker",
                                   .type = FieldType::kMessage,
                                   .presence = kPointer | kOmitEmpty,
                                   .proto_number = 1001,
                                   .message = "io.k8s.api.apps.v1.DownscalePodPicker",
                                   .go_type = "v1.DownscalePodPicker"};

constexpr AddedField kFields[] = {
    {"apps.v1.DeploymentSpec",
     {.name = "podReplacementPolicy",
      .type = FieldType::kString,
      .presence = kPointer | kOmitEmpty,
      .proto_number = 1000,
      .go_type = "v1.DeploymentPodReplacementPolicy",
      .enum_values = kPodReplacementPolicies}},
    {"apps.v1.DeploymentSpec", kPickerField},
    {"apps.v1.ReplicaSetSpec", kPickerField},
};

constexpr FieldDef kPicker[] = {
    {.name = "http",
     .type = FieldType::kMessage,
     .presence = kPointer | kOmitEmpty,
     .proto_number = 1000,
     .message = "io.k8s.api.apps.v1.HTTPDownscalePodPicker",
     .go_type = "v1.HTTPDownscalePodPicker"},
    {.name = "maxRetries",
     .type = FieldType::kInt32,
     .presence = kPointer | kOmitEmpty,
     .proto_number = 1001,
     .go_type = "int32"},
    {.name = "timeoutSeconds",
     .type = FieldType::kInt32,
     .presence = kPointer | kOmitEmpty,
     .proto_number = 1002,
     .go_type = "int32"},
};

constexpr FieldDef kHttp[] = {
    {.name = "host",
     .type = FieldType::kString,
     .presence = kRequired,
     .proto_number = 1000,
     .go_type = "string"},
    {.name = "path",
     .type = FieldType::kString,
     .presence = kOmitEmpty,
     .proto_number = 1001,
     .go_type = "string"},
    {.name = "port",
     .type = FieldType::kIntOrString,
     .presence = kRequired,
     .proto_number = 1002,
     .go_type = "intstr.IntOrString"},
    {.name = "scheme",
     .type = FieldType::kString,
     .presence = kOmitEmpty,
     .proto_number = 1003,
     .go_type = "v1.URIScheme",
     .enum_values = kSchemes},
    {.name = "httpHeaders",
     .type = FieldType::kMessage,
     .cardinality = Cardinality::kList,
     .presence = kOmitEmpty,
     .proto_number = 1004,
     .message = "io.k8s.api.apps.v1.DownscalePodPickerHTTPHeader",
     .go_type = "[]v1.DownscalePodPickerHTTPHeader",
     .list_type = ListType::kAtomic},
};

constexpr FieldDef kHeader[] = {
    {.name = "name",
     .type = FieldType::kString,
     .presence = kRequired,
     .proto_number = 1000,
     .go_type = "string"},
    {.name = "value",
     .type = FieldType::kString,
     .presence = kOmitEmpty,
     .proto_number = 1001,
     .go_type = "string"},
    {.name = "valueFrom",
     .type = FieldType::kMessage,
     .presence = kPointer | kOmitEmpty,
     .proto_number = 1002,
     .message = "io.k8s.api.apps.v1.HTTPHeaderSource",
     .go_type = "v1.HTTPHeaderSource"},
};

constexpr FieldDef kHeaderSource[] = {
    {.name = "secretKeyRef",
     .type = FieldType::kMessage,
     .presence = kPointer | kOmitEmpty,
     .proto_number = 1000,
     .message = "io.k8s.api.core.v1.SecretKeySelector",
     .go_type = "v1.SecretKeySelector"},
};

constexpr MessageDef kMessages[] = {
    {.name = "io.k8s.api.apps.v1.DownscalePodPicker", .fields = kPicker},
    {.name = "io.k8s.api.apps.v1.DownscalePodPickerHTTPHeader", .fields = kHeader},
    {.name = "io.k8s.api.apps.v1.HTTPDownscalePodPicker", .fields = kHttp},
    {.name = "io.k8s.api.apps.v1.HTTPHeaderSource", .fields = kHeaderSource},
};

}  // namespace

std::span<const AddedField> AddedFields() { return kFields; }
std::span<const MessageDef> AddedMessages() { return kMessages; }

}  // namespace terrarium::api::own
