// spec.topologySpreadConstraints, and the label keys that they and pod affinity terms take from the incoming
// pod.

#include <map>
#include <set>
#include <utility>

#include "apiserver/validation/internal/pod_rules.h"

namespace terrarium::apiserver::pod_rules {
namespace {

void CheckKeyList(const Json& keys, bool has_selector, const Path& path, FieldErrors& errors) {
  if (keys.empty()) return;
  if (!has_selector) {
    errors.push_back(api::ForbiddenError(path, "must not be specified when labelSelector is not set"));
    return;
  }
  for (std::size_t i = 0; i < keys.size(); ++i)
    Append(errors, ValidateLabelName(TextOf(keys[i]), path.Index(i)));
}

// A constraint's key may be in matchExpressions once (creating the pod put it there), but not besides.
void CheckNotInSelector(const Json& keys, const Json& selector, const Path& path, FieldErrors& errors) {
  std::map<std::string_view, std::size_t> positions;
  for (std::size_t i = 0; i < keys.size(); ++i) positions[TextOf(keys[i])] = i;
  std::set<std::string_view> seen;
  for (const auto& [key, value] : ObjectAt(selector, "matchLabels").items()) seen.insert(key);
  for (const Json& expression : ListAt(selector, "matchExpressions")) {
    const std::string_view key = StringAt(expression, "key");
    const auto position = positions.find(key);
    const bool repeated = !seen.insert(key).second;
    if (position == positions.end() || !repeated) continue;
    errors.push_back(api::InvalidError(path.Index(position->second), key,
                                       "exists in both matchLabelKeys and labelSelector"));
  }
}

void CheckMinDomains(const Json& constraint, const Path& path, FieldErrors& errors) {
  const Json* value = Find(constraint, "minDomains");
  if (value == nullptr) return;
  const Path here = path.Child("minDomains");
  Append(errors, ValidatePositive(value->get<std::int64_t>(), here));
  const std::string action(StringAt(constraint, "whenUnsatisfiable"));
  if (action != "DoNotSchedule") {
    errors.push_back(api::InvalidError(
        here, *value, "can only use minDomains if whenUnsatisfiable=DoNotSchedule, not " + action));
  }
}

// What no two constraints have in common, and the index of the last one with it.
using Identity = std::pair<std::string_view, std::string_view>;
using LastIndexes = std::map<Identity, std::size_t>;

Identity IdentityOf(const Json& constraint) {
  return {StringAt(constraint, "topologyKey"), StringAt(constraint, "whenUnsatisfiable")};
}

LastIndexes LastIndexesOf(const Json& constraints) {
  LastIndexes out;
  for (std::size_t i = 0; i < constraints.size(); ++i) out[IdentityOf(constraints[i])] = i;
  return out;
}

void CheckNotRepeated(const Identity& identity, std::size_t index, const LastIndexes& last, const Path& path,
                      FieldErrors& errors) {
  if (last.at(identity) == index) return;
  std::string pair = "{";
  pair.append(identity.first).append(", ").append(identity.second).append("}");
  errors.push_back(api::DuplicateError(path.Child("{topologyKey, whenUnsatisfiable}"), pair));
}

}  // namespace

void CheckMatchLabelKeys(const Json& holder, const Path& path, FieldErrors& errors) {
  const Json& keys = ListAt(holder, "matchLabelKeys");
  const Json& not_keys = ListAt(holder, "mismatchLabelKeys");
  if (keys.empty() && not_keys.empty()) return;
  const Json* selector = Find(holder, "labelSelector");
  CheckKeyList(keys, selector != nullptr, path.Child("matchLabelKeys"), errors);
  CheckKeyList(not_keys, selector != nullptr, path.Child("mismatchLabelKeys"), errors);
  if (selector != nullptr) CheckNotInSelector(keys, *selector, path, errors);
  std::set<std::string_view> excluded;
  for (const Json& key : not_keys) excluded.insert(TextOf(key));
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (!excluded.contains(TextOf(keys[i]))) continue;
    errors.push_back(api::InvalidError(path.Child("matchLabelKeys").Index(i), keys[i],
                                       "exists in both matchLabelKeys and mismatchLabelKeys"));
  }
}

void CheckTopologySpread(const Json& constraints, const Path& path, FieldErrors& errors) {
  const LastIndexes last = LastIndexesOf(constraints);
  for (std::size_t i = 0; i < constraints.size(); ++i) {
    const Json& constraint = constraints[i];
    const Path here = path.Index(i);
    Append(errors, ValidatePositive(IntAt(constraint, 0, "maxSkew"), here.Child("maxSkew")));
    if (StringAt(constraint, "topologyKey").empty()) {
      errors.push_back(api::RequiredError(here.Child("topologyKey"), "can not be empty"));
    }
    const std::string_view action = StringAt(constraint, "whenUnsatisfiable");
    if (action != "DoNotSchedule" && action != "ScheduleAnyway") {
      errors.push_back(api::NotSupportedError(here.Child("whenUnsatisfiable"), action,
                                              {"DoNotSchedule", "ScheduleAnyway"}));
    }
    CheckNotRepeated(IdentityOf(constraint), i, last, here, errors);
    CheckMinDomains(constraint, here, errors);
    for (const char* field : {"nodeAffinityPolicy", "nodeTaintsPolicy"}) {
      const Json* policy = Find(constraint, field);
      if (policy == nullptr || TextOf(*policy) == "Honor" || TextOf(*policy) == "Ignore") continue;
      errors.push_back(api::NotSupportedError(here.Child(field), *policy, {"Honor", "Ignore"}));
    }
    CheckMatchLabelKeys(constraint, here, errors);
    if (const Json* selector = Find(constraint, "labelSelector")) {
      Append(errors, ValidateLabelSelector(*selector, {}, here.Child("labelSelector")));
    }
  }
}

}  // namespace terrarium::apiserver::pod_rules
