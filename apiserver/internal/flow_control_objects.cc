#include "apiserver/internal/flow_control_objects.h"

#include <string>
#include <string_view>
#include <utility>

#include "api/base/errors.h"

namespace terrarium::apiserver {
namespace {

using api::Json;

constexpr const char* kAutoUpdate = "apf.kubernetes.io/autoupdate-spec";

struct Level {
  const char* name;
  int shares;
  int lendable_percent;
  int queues;  // 0: rejects instead
  int hand_size;
};
constexpr Level kLevels[] = {
    {"catch-all", 5, 0, 0, 0},         {"global-default", 20, 50, 128, 6}, {"leader-election", 10, 0, 16, 4},
    {"node-high", 40, 25, 64, 6},      {"system", 30, 33, 64, 6},          {"workload-high", 40, 50, 128, 6},
    {"workload-low", 100, 90, 128, 6},
};
constexpr int kQueueLength = 50;

Json Metadata(std::string_view name) { return {{"name", name}, {"annotations", {{kAutoUpdate, "true"}}}}; }

Json LevelOf(const Level& level) {
  Json response = {{"type", "Reject"}};
  if (level.queues > 0)
    response = {
        {"type", "Queue"},
        {"queuing",
         {{"queues", level.queues}, {"handSize", level.hand_size}, {"queueLengthLimit", kQueueLength}}}};
  return {{"metadata", Metadata(level.name)},
          {"spec",
           {{"type", "Limited"},
            {"limited",
             {{"nominalConcurrencyShares", level.shares},
              {"lendablePercent", level.lendable_percent},
              {"limitResponse", std::move(response)}}}}}};
}

Json Groups(const std::vector<const char*>& names) {
  Json subjects = Json::array();
  for (const char* name : names) subjects.push_back({{"kind", "Group"}, {"group", {{"name", name}}}});
  return subjects;
}

Json User(const char* name) { return {{"kind", "User"}, {"user", {{"name", name}}}}; }

Json KubeSystemAccounts() {
  return {{"kind", "ServiceAccount"}, {"serviceAccount", {{"name", "*"}, {"namespace", "kube-system"}}}};
}

Json ResourceRule(const std::vector<const char*>& verbs, const char* group,
                  const std::vector<const char*>& resources, bool cluster_scope) {
  Json rule = {{"verbs", verbs},
               {"apiGroups", Json::array({group})},
               {"resources", resources},
               {"namespaces", Json::array({"*"})}};
  if (cluster_scope) rule["clusterScope"] = true;
  return rule;
}

Json EverythingFor(Json subjects) {
  return {{"subjects", std::move(subjects)},
          {"resourceRules", Json::array({ResourceRule({"*"}, "*", {"*"}, true)})},
          {"nonResourceRules",
           Json::array({{{"verbs", Json::array({"*"})}, {"nonResourceURLs", Json::array({"*"})}}})}};
}

struct Schema {
  const char* name;
  const char* level;
  int precedence;
  const char* distinguisher;  // nullptr: none
  Json rule;
};

std::vector<Schema> Schemas() {
  constexpr const char* kByUser = "ByUser";
  constexpr const char* kByNamespace = "ByNamespace";
  constexpr const char* kLeases = "coordination.k8s.io";
  const Json all_users = Groups({"system:unauthenticated", "system:authenticated"});
  const Json nodes = Groups({"system:nodes"});
  const Json probes = {
      {"subjects", all_users},
      {"nonResourceRules",
       Json::array({{{"verbs", Json::array({"get"})},
                     {"nonResourceURLs", Json::array({"/healthz", "/readyz", "/livez"})}}})}};
  const Json election = {
      {"subjects", Json::array({User("system:kube-controller-manager"), User("system:kube-scheduler"),
                                KubeSystemAccounts()})},
      {"resourceRules",
       Json::array({ResourceRule({"get", "create", "update"}, kLeases, {"leases"}, false)})}};
  const Json node_health = {
      {"subjects", nodes},
      {"resourceRules", Json::array({ResourceRule({"*"}, "", {"nodes", "nodes/status"}, true),
                                     ResourceRule({"*"}, kLeases, {"leases"}, false)})}};
  return {
      {"exempt", "exempt", 1, nullptr, EverythingFor(Groups({"system:masters"}))},
      {"probes", "exempt", 2, nullptr, probes},
      {"system-leader-election", "leader-election", 100, kByUser, election},
      {"system-node-high", "node-high", 400, kByUser, node_health},
      {"system-nodes", "system", 500, kByUser, EverythingFor(nodes)},
      {"kube-controller-manager", "workload-high", 800, kByNamespace,
       EverythingFor(Json::array({User("system:kube-controller-manager")}))},
      {"kube-scheduler", "workload-high", 800, kByNamespace,
       EverythingFor(Json::array({User("system:kube-scheduler")}))},
      {"kube-system-service-accounts", "workload-high", 900, kByNamespace,
       EverythingFor(Json::array({KubeSystemAccounts()}))},
      {"service-accounts", "workload-low", 9000, kByUser, EverythingFor(Groups({"system:serviceaccounts"}))},
      {"global-default", "global-default", 9900, kByUser, EverythingFor(all_users)},
      {"catch-all", "catch-all", 10000, kByUser, EverythingFor(all_users)},
  };
}

Json ConditionOf(const Schema& schema, api::Time now) {
  return {{"type", "Dangling"},
          {"status", "False"},
          {"lastTransitionTime", api::FormatTime(now)},
          {"reason", "Found"},
          {"message", "This FlowSchema references the PriorityLevelConfiguration object named " +
                          api::Quote(schema.level) + " and it exists"}};
}

}  // namespace

std::vector<Json> PriorityLevels() {
  std::vector<Json> levels;
  levels.push_back(
      {{"metadata", Metadata("exempt")},
       {"spec",
        {{"type", "Exempt"}, {"exempt", {{"nominalConcurrencyShares", 0}, {"lendablePercent", 0}}}}}});
  for (const Level& level : kLevels) levels.push_back(LevelOf(level));
  return levels;
}

std::vector<Json> FlowSchemas(api::Time now) {
  std::vector<Json> schemas;
  for (Schema& schema : Schemas()) {
    Json spec = {{"priorityLevelConfiguration", {{"name", schema.level}}},
                 {"matchingPrecedence", schema.precedence},
                 {"rules", Json::array({std::move(schema.rule)})}};
    if (schema.distinguisher != nullptr) spec["distinguisherMethod"] = {{"type", schema.distinguisher}};
    schemas.push_back({{"metadata", Metadata(schema.name)},
                       {"spec", std::move(spec)},
                       {"status", {{"conditions", Json::array({ConditionOf(schema, now)})}}}});
  }
  return schemas;
}

}  // namespace terrarium::apiserver
