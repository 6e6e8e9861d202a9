#include "controllers/namespace_lifecycle/internal/content_report.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "api/json_access.h"

namespace terrarium::controllers::namespace_lifecycle {
namespace {

using api::Json;

// How long finalizers are given.
constexpr std::int64_t kFinalizerEstimateSeconds = 15;

struct Finding {
  std::string reason;
  std::string message;
};

// A condition that is False while all is well.
struct ConditionType {
  const char* type;
  const char* well_reason;
  const char* well_message;
  std::optional<Finding> (*find)(const ContentReport& report);
};

std::string Joined(const std::vector<std::string>& parts) {
  std::string out;
  for (const std::string& part : parts) out += (out.empty() ? "" : ", ") + part;
  return out;
}

std::string Counted(const std::map<std::string, int>& counts, const std::string& between,
                    const std::string& after) {
  std::vector<std::string> parts;
  for (const auto& [what, count] : counts) parts.push_back(what + between + std::to_string(count) + after);
  std::sort(parts.begin(), parts.end());
  return Joined(parts);
}

// What is served is known from the start, and so nothing can go wrong with finding it out.
std::optional<Finding> Never(const ContentReport&) { return std::nullopt; }

std::optional<Finding> DeletionFailed(const ContentReport& report) {
  if (report.errors.empty()) return std::nullopt;
  std::vector<std::string> errors = report.errors;
  std::sort(errors.begin(), errors.end());
  return Finding{"ContentDeletionFailed", "Failed to delete all resource types, " +
                                              std::to_string(errors.size()) +
                                              " remaining: " + Joined(errors)};
}

// Pods go before anything else, and while they do Kubernetes reports no totals: then nothing "remains".
bool WaitsForPods(const ContentReport& report) { return report.remaining.contains("pods."); }

std::optional<Finding> ContentRemains(const ContentReport& report) {
  if (report.remaining.empty() || WaitsForPods(report)) return std::nullopt;
  return Finding{"SomeResourcesRemain", "Some resources are remaining: " +
                                            Counted(report.remaining, " has ", " resource instances")};
}

std::optional<Finding> FinalizersRemain(const ContentReport& report) {
  if (report.finalizers.empty() || WaitsForPods(report)) return std::nullopt;
  return Finding{"SomeFinalizersRemain", "Some content in the namespace has finalizers remaining: " +
                                             Counted(report.finalizers, " in ", " resource instances")};
}

constexpr ConditionType kConditions[] = {
    {"NamespaceDeletionDiscoveryFailure", "ResourcesDiscovered", "All resources successfully discovered",
     Never},
    {"NamespaceDeletionGroupVersionParsingFailure", "ParsedGroupVersions",
     "All legacy kube types successfully parsed", Never},
    {"NamespaceDeletionContentFailure", "ContentDeleted",
     "All content successfully deleted, may be waiting on finalization", DeletionFailed},
    {"NamespaceContentRemaining", "ContentRemoved", "All content successfully removed", ContentRemains},
    {"NamespaceFinalizersRemaining", "ContentHasNoFinalizers", "All content-preserving finalizers finished",
     FinalizersRemain},
};

bool SetCondition(Json& conditions, const ConditionType& type, const ContentReport& report, api::Time now) {
  std::optional<Finding> finding = type.find(report);
  Json next = {{"type", type.type},
               {"status", finding ? "True" : "False"},
               {"reason", finding ? finding->reason : type.well_reason},
               {"message", finding ? finding->message : type.well_message},
               {"lastTransitionTime", api::FormatTime(now)}};
  for (Json& existing : conditions) {
    if (api::StringAt(existing, "type") != type.type) continue;
    if (api::StringAt(existing, "status") == api::StringAt(next, "status"))
      next["lastTransitionTime"] = existing["lastTransitionTime"];
    if (existing == next) return false;
    existing = std::move(next);
    return true;
  }
  conditions.push_back(std::move(next));
  return true;
}

}  // namespace

void Add(ContentReport& report, const ServedResource& resource, const ResourceReport& part) {
  report.estimate_seconds = std::max(report.estimate_seconds, part.estimate_seconds);
  if (part.remaining > 0) report.remaining[resource.resource + "." + resource.group] += part.remaining;
  for (const auto& [finalizer, count] : part.finalizers) report.finalizers[finalizer] += count;
  if (!part.error.empty()) report.errors.push_back(part.error);
}

ResourceReport JudgeRemaining(const ServedResource& resource, const std::string& ns,
                              std::int64_t estimate_seconds, int remaining,
                              std::map<std::string, int> finalizers) {
  if (remaining == 0) return {};
  ResourceReport report{estimate_seconds, remaining, std::move(finalizers), ""};
  if (estimate_seconds != 0) return report;
  if (!report.finalizers.empty()) {
    report.estimate_seconds = kFinalizerEstimateSeconds;
    return report;
  }
  report.error = "unexpected items still remain in namespace: " + ns + " for gvr: " + resource.group + "/" +
                 resource.version + ", Resource=" + resource.resource;
  return report;
}

std::int64_t EstimateForPods(std::int64_t longest_grace_seconds, api::Duration going_for) {
  return going_for >= std::chrono::seconds(longest_grace_seconds) ? 0 : longest_grace_seconds;
}

bool SetConditions(Json& ns, const ContentReport& report, api::Time now) {
  Json& conditions = ns["status"]["conditions"];
  if (!conditions.is_array()) conditions = Json::array();
  bool changed = false;
  for (const ConditionType& type : kConditions)
    changed = SetCondition(conditions, type, report, now) || changed;
  return changed;
}

}  // namespace terrarium::controllers::namespace_lifecycle
