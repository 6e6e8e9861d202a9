#include "apiserver/table/internal/printer.h"

#include "api/json_access.h"
#include "api/selector/label_selector.h"
#include "apiserver/table/human_duration.h"

namespace terrarium::apiserver::table {

using api::Json;

namespace {

std::string JoinContainers(const Json& pod_spec, std::string_view field) {
  std::string out;
  const char* separator = "";
  for (const Json& container : api::ListAt(pod_spec, "containers")) {
    out.append(separator).append(api::StringAt(container, field));
    separator = ",";
  }
  return out;
}

}  // namespace

std::string_view Name(const Json& object) { return api::StringAt(object, "metadata", "name"); }

std::string Since(const Json* timestamp, api::Time now) {
  if (timestamp == nullptr || !timestamp->is_string()) return std::string(kUnknown);
  std::optional<api::Time> then = api::ParseTime(timestamp->get_ref<const std::string&>());
  return then ? HumanDuration(now - *then) : std::string(kUnknown);
}

std::string Age(const Json& object, api::Time now) {
  return Since(api::Find(object, "metadata", "creationTimestamp"), now);
}

std::string ContainerNames(const Json& pod_spec) { return JoinContainers(pod_spec, "name"); }
std::string ContainerImages(const Json& pod_spec) { return JoinContainers(pod_spec, "image"); }

std::string SelectorText(const Json* selector) {
  api::Result<api::LabelSelector> parsed = api::LabelSelector::FromDocument(selector);
  return parsed.ok() ? OrElse(parsed->String(), kNone) : "<error>";
}

std::string LabelsText(const Json& labels) {
  return OrElse(api::LabelSelector::FromMap(labels).String(), kNone);
}

void AppendItem(std::string& list, std::string_view item) {
  if (!list.empty()) list += ',';
  list += item;
}

std::string JoinTexts(const Json& texts) {
  std::string out;
  for (const Json& text : texts) AppendItem(out, text.get_ref<const std::string&>());
  return out;
}

std::string NameOfDefault(const Json& object, std::initializer_list<std::string_view> annotations) {
  std::string name(Name(object));
  for (std::string_view annotation : annotations)
    if (api::StringAt(object, "metadata", "annotations", annotation) == "true") return name + " (default)";
  return name;
}

std::string OrElse(std::string_view text, std::string_view otherwise) {
  return std::string(text.empty() ? otherwise : text);
}

std::string_view ConditionStatus(const Json& conditions, std::string_view type) {
  for (const Json& condition : conditions)
    if (api::StringAt(condition, "type") == type) return api::StringAt(condition, "status");
  return {};
}

}  // namespace terrarium::apiserver::table
