#pragma once

// The shape of the schema tables. One MessageDef per API struct, one FieldDef per field, each declared
// exactly once: decoding, defaulting, gated-field dropping, patches, the protobuf codec and OpenAPI all walk
// these tables.
//
// The tables under api/schema/generated/ hold the facts of the Kubernetes release we follow and are written
// by tools/schemagen; what is ours (defaults, enums, gates, descriptions, fields of KEPs that no release has)
// is declared in api/schema/own/ and merged by Schema (schema.h) at start-up.

#include <cstdint>
#include <span>
#include <string_view>

namespace terrarium::api {

enum class FieldType : std::uint8_t {
  kString,
  kBool,
  kInt32,
  kInt64,
  kDouble,
  kBytes,        // base64 text in JSON
  kMessage,      // FieldDef::message names the struct
  kQuantity,     // resource.Quantity
  kIntOrString,  // intstr.IntOrString
  kTime,         // metav1.Time, whole seconds
  kMicroTime,    // metav1.MicroTime
  kDuration,     // metav1.Duration, a Go duration string
  kRawObject,    // runtime.RawExtension: any JSON object
  kFieldsV1,     // metav1.FieldsV1: any JSON object, opaque
  kStringList,   // a named []string that protobuf wraps in a message (metav1.Verbs, ExtraValue)
  kAny,          // any JSON value (the cells of a Table)
};

enum class Cardinality : std::uint8_t { kSingle, kList, kMap };  // kMap: string keys, values of `type`

// How a list is compared and merged (x-kubernetes-list-type).
enum class ListType : std::uint8_t { kNone, kAtomic, kSet, kMap };

// Strategic-merge-patch behaviour, a bit set (a field may be both, e.g. Deployment strategy: retainKeys).
enum PatchStrategy : std::uint8_t {
  kPatchNone = 0,
  kPatchMerge = 1,
  kPatchRetainKeys = 2,
  kPatchReplace = 4
};

// How Go's encoder treats the field; what a client sees for a value it did not send follows from these.
enum Presence : std::uint8_t {
  kPresenceNone = 0,
  kPointer = 1,    // nil and zero are different: an explicit 0, "" or false survives a round trip
  kOmitEmpty = 2,  // zero value (or nil) is not written
  kOmitZero = 4,   // a zero struct is not written
  kRequired = 8,   // listed under `required` in OpenAPI
  kInline = 16,    // an embedded struct: its fields appear in the parent's JSON object (json:",inline")
};

struct FieldDef {
  std::string_view name;  // JSON name; for kInline fields the Go name, used only by the protobuf codec
  FieldType type = FieldType::kString;
  Cardinality cardinality = Cardinality::kSingle;
  std::uint8_t presence = kPresenceNone;
  std::uint16_t proto_number = 0;  // 0: not in protobuf
  std::string_view message{};      // full name of the struct when type is kMessage
  std::string_view go_type{};      // what Go's decoder calls the type in its errors, without a leading '*'
  ListType list_type = ListType::kNone;
  std::string_view list_map_keys{};  // comma separated, for ListType::kMap
  std::uint8_t patch_strategy = kPatchNone;
  std::string_view patch_merge_key{};
  bool atomic = false;    // x-kubernetes-map-type: atomic on this use of a map or struct
  bool granular = false;  // x-kubernetes-map-type: granular on this use of a struct that is atomic elsewhere
  std::span<const std::string_view>
      enum_values{};  // sorted, as OpenAPI lists them; of the elements for lists
};

struct MessageDef {
  // The OpenAPI definition name, e.g. "io.k8s.api.apps.v1.DeploymentSpec" or
  // "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta".
  std::string_view name;
  std::span<const FieldDef> fields;
  bool atomic_struct = false;  // +structType=atomic
};

}  // namespace terrarium::api
