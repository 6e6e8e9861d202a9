#pragma once

// What Terrarium adds to the generated tables. Schema merges these at start-up; a row that names a struct or
// a field that does not exist stops the process, so a renamed field cannot leave a declaration behind
// unnoticed.
//
// Structs are named without their common prefix: "apps.v1.DeploymentSpec", "meta.v1.ObjectMeta".

#include <span>
#include <string_view>

#include "api/schema/field_def.h"

namespace terrarium::api::own {

// A field that no Kubernetes release has. Its protobuf number starts at 1000, where upstream will not go.
struct AddedField {
  std::string_view message;
  FieldDef def;
};
std::span<const AddedField> AddedFields();

// Structs that no Kubernetes release has (full names).
std::span<const MessageDef> AddedMessages();

struct Gate {
  std::string_view message;
  std::string_view field;
  std::string_view gate;
};
std::span<const Gate> Gates();

// The value of an absent field, independent of its siblings. `field` may be a path ("spec.suspend"): then the
// default holds for that struct in that place only, e.g. for the spec of a Job but not for the job template
// of a CronJob.
struct Default {
  std::string_view message;
  std::string_view field;
  std::string_view json;
};
std::span<const Default> Defaults();

// Text for `kubectl explain`; an empty field name describes the struct itself.
struct Description {
  std::string_view message;
  std::string_view field;
  std::string_view text;
};
std::span<const Description> AppsDescriptions();
std::span<const Description> BatchDescriptions();
std::span<const Description> ClusterDescriptions();
std::span<const Description> CoreDescriptions();
std::span<const Description> MetaDescriptions();
std::span<const Description> PodDescriptions();

}  // namespace terrarium::api::own
