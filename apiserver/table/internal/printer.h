#pragma once

// How one kind is printed: its columns and a function that fills them.

#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/base/clock.h"
#include "api/json.h"

namespace terrarium::apiserver::table {

struct Column {
  std::string_view name;
  std::string_view type;  // string, integer, boolean, date
  std::string_view format;
  std::string_view description;
  int priority = 0;  // 1: shown by -o wide only
};

struct Printer {
  std::string_view group;
  std::string_view kind;
  std::span<const Column> columns;
  // One cell per column.
  std::vector<api::Json> (*cells)(const api::Json& object, api::Time now);
  // Row conditions (metav1.TableRowCondition), or nullptr when the kind has none.
  api::Json (*conditions)(const api::Json& object) = nullptr;
};

// The printers of each file.
std::span<const Printer> AdministrationPrinters();
std::span<const Printer> AutoscalingPrinters();
std::span<const Printer> BatchPrinters();
std::span<const Printer> CorePrinters();
std::span<const Printer> EventPrinters();
std::span<const Printer> NetworkingPrinters();
std::span<const Printer> NodePrinters();
std::span<const Printer> PodPrinters();
std::span<const Printer> PolicyPrinters();
std::span<const Printer> ServicePrinters();
std::span<const Printer> StoragePrinters();
std::span<const Printer> WorkloadPrinters();

// Shared by several kinds.
inline constexpr std::string_view kNone = "<none>";
inline constexpr std::string_view kUnknown = "<unknown>";
inline constexpr std::string_view kUnset = "<unset>";

inline constexpr Column kNameColumn = {
    "Name", "string", "name",
    "Name must be unique within a namespace. Is required when creating resources, although some resources "
    "may allow a "
    "client to request the generation of an appropriate name automatically. Name is primarily intended for "
    "creation "
    "idempotence and configuration definition. Cannot be updated. More info: "
    "https://kubernetes.io/docs/concepts/overview/working-with-objects/names#names"};

inline constexpr Column kAgeColumn = {
    "Age", "string", "",
    "CreationTimestamp is a timestamp representing the server time when this object was created. It is not "
    "guaranteed "
    "to be set in happens-before order across separate operations. Clients may not set this value. It is "
    "represented "
    "in RFC3339 form and is in UTC.\n\nPopulated by the system. Read-only. Null for lists. More info: "
    "https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#metadata"};

inline constexpr std::string_view kContainersDescription = "Names of each container in the template.";
inline constexpr std::string_view kImagesDescription = "Images referenced by each container in the template.";

std::string_view Name(const api::Json& object);
// The time since metadata.creationTimestamp.
std::string Age(const api::Json& object, api::Time now);
// The time since a timestamp field's value, "<unknown>" when it is null or missing.
std::string Since(const api::Json* timestamp, api::Time now);
// Names and images of the containers of a pod spec, comma separated.
std::string ContainerNames(const api::Json& pod_spec);
std::string ContainerImages(const api::Json& pod_spec);
// A metav1.LabelSelector in text form, "<none>" when it has no requirements.
std::string SelectorText(const api::Json* selector);
// A map of labels as "a=b,c=d", or "<none>".
std::string LabelsText(const api::Json& labels);
// Adds an item to a comma-separated list.
void AppendItem(std::string& list, std::string_view item);
// A list of strings, comma separated.
std::string JoinTexts(const api::Json& texts);
// The name, with " (default)" behind it if one of the annotations is "true".
std::string NameOfDefault(const api::Json& object, std::initializer_list<std::string_view> annotations);
// `text`, or `otherwise` when it is empty.
std::string OrElse(std::string_view text, std::string_view otherwise);
// The status of a condition of this type ("True", ...), or "" when there is none.
std::string_view ConditionStatus(const api::Json& conditions, std::string_view type);

}  // namespace terrarium::apiserver::table
