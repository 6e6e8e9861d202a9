#include "controllers/deployment/internal/annotations.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <string>

#include "api/json_access.h"

namespace terrarium::controllers::deployment {
namespace {

using api::Json;

// Accepts the syntax of Go's strconv.ParseInt.
std::optional<std::int64_t> ReadInteger(std::string_view text) {
  if (text.starts_with('+') && !text.starts_with("+-")) text.remove_prefix(1);
  std::int64_t value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// Appends the revision, and drops the oldest ones until the history has at most kRevisionHistoryMax
// characters.
std::string LongerHistory(std::string_view history, std::string_view revision) {
  std::string longer(history);
  if (!longer.empty()) longer += ',';
  longer += revision;
  while (longer.size() > kRevisionHistoryMax) {
    std::size_t comma = longer.find(',');
    if (comma == std::string::npos) break;
    longer.erase(0, comma + 1);
  }
  return longer;
}

void SetIfDifferent(Json& changes, const Json& annotations, std::string_view key, const std::string& value) {
  if (api::Find(annotations, key) == nullptr || api::StringAt(annotations, key) != value)
    changes[std::string(key)] = value;
}

}  // namespace

bool IsCopied(std::string_view annotation) {
  static constexpr std::string_view kOwn[] = {
      "kubectl.kubernetes.io/last-applied-configuration",
      kRevision,
      kRevisionHistory,
      kDesiredReplicas,
      kMaxReplicas,
      kReplicasBeforeScale,
      kRollbackTo,
  };
  return std::find(std::begin(kOwn), std::end(kOwn), annotation) == std::end(kOwn);
}

std::optional<std::int64_t> RevisionOf(const Json& annotations) {
  if (api::Find(annotations, kRevision) == nullptr) return 0;
  return ReadInteger(api::StringAt(annotations, kRevision));
}

std::optional<std::int64_t> ReplicasAt(const Json& annotations, std::string_view key) {
  std::string_view text = api::StringAt(annotations, key);
  if (text.starts_with('+')) return std::nullopt;
  std::optional<std::int64_t> value = ReadInteger(text);
  if (!value || *value < 0 || *value > std::numeric_limits<std::int32_t>::max()) return std::nullopt;
  return value;
}

std::optional<std::int64_t> RollbackAskedFor(const Json& deployment_annotations) {
  return ReadInteger(api::StringAt(deployment_annotations, kRollbackTo));
}

Json NewSetChanges(const Json& deployment_annotations, const Json& set_annotations, std::int64_t revision) {
  Json changes = Json::object();
  for (auto it = deployment_annotations.begin(); it != deployment_annotations.end(); ++it)
    if (IsCopied(it.key())) SetIfDifferent(changes, set_annotations, it.key(), it->get<std::string>());

  std::string_view before = api::StringAt(set_annotations, kRevision);
  std::optional<std::int64_t> old = before.empty() ? 0 : ReadInteger(before);
  // The revision annotation is malformed. Kubernetes then changes no annotation of the set.
  if (!old) return Json::object();
  if (*old >= revision) return changes;
  changes[std::string(kRevision)] = std::to_string(revision);
  // The set had an earlier revision: this is a rollback to its template.
  if (api::Find(set_annotations, kRevision) != nullptr)
    changes[std::string(kRevisionHistory)] =
        LongerHistory(api::StringAt(set_annotations, kRevisionHistory), before);
  return changes;
}

Json ReplicasChanges(const Json& set_annotations, const ScaledSet& wanted) {
  Json changes = Json::object();
  if (wanted.desired)
    SetIfDifferent(changes, set_annotations, kDesiredReplicas, std::to_string(*wanted.desired));
  if (wanted.max) SetIfDifferent(changes, set_annotations, kMaxReplicas, std::to_string(*wanted.max));
  if (wanted.before_scale)
    SetIfDifferent(changes, set_annotations, kReplicasBeforeScale, std::to_string(*wanted.before_scale));
  else if (api::Find(set_annotations, kReplicasBeforeScale) != nullptr)
    changes[std::string(kReplicasBeforeScale)] = nullptr;
  return changes;
}

Json RolledBack(const Json& deployment_annotations, const Json& set_annotations) {
  Json annotations = Json::object();
  for (auto it = deployment_annotations.begin(); it != deployment_annotations.end(); ++it)
    if (!IsCopied(it.key()) && it.key() != kRollbackTo) annotations[it.key()] = *it;
  for (auto it = set_annotations.begin(); it != set_annotations.end(); ++it)
    if (IsCopied(it.key())) annotations[it.key()] = *it;
  return annotations;
}

}  // namespace terrarium::controllers::deployment
