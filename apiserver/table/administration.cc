// How access, admission, flow control, priority, runtime and device kinds are printed.

#include <chrono>

#include "api/json_access.h"
#include "apiserver/table/human_duration.h"
#include "apiserver/table/internal/printer.h"

namespace terrarium::apiserver::table {
namespace {

using api::Json;

constexpr Column kBindingColumns[] = {
    kNameColumn,
    {"Role", "string", "", "The role that is granted."},
    kAgeColumn,
    {"Users", "string", "", "Users in the roleBinding", 1},
    {"Groups", "string", "", "Groups in the roleBinding", 1},
    {"ServiceAccounts", "string", "", "ServiceAccounts in the roleBinding", 1},
};
constexpr Column kClusterBindingColumns[] = {
    kNameColumn,
    {"Role", "string", "", "The role that is granted."},
    kAgeColumn,
    {"Users", "string", "", "Users in the clusterRoleBinding", 1},
    {"Groups", "string", "", "Groups in the clusterRoleBinding", 1},
    {"ServiceAccounts", "string", "", "ServiceAccounts in the clusterRoleBinding", 1},
};
constexpr Column kSigningRequestColumns[] = {
    kNameColumn,
    kAgeColumn,
    {"SignerName", "string", "", "The signer that is asked."},
    {"Requestor", "string", "", "The user who asks."},
    {"RequestedDuration", "string", "", "How long the certificate is to be valid."},
    {"Condition", "string", "", "What has been decided."},
};
constexpr Column kWebhookColumns[] = {
    kNameColumn,
    {"Webhooks", "integer", "", "Webhooks indicates the number of webhooks registered in this configuration"},
    kAgeColumn,
};
constexpr Column kValidatingPolicyColumns[] = {
    kNameColumn,
    {"Validations", "integer", "",
     "Validations indicates the number of validation rules defined in this configuration"},
    {"ParamKind", "string", "", "ParamKind specifies the kind of resources used to parameterize this policy"},
    kAgeColumn,
};
constexpr Column kMutatingPolicyColumns[] = {
    kNameColumn,
    {"Mutations", "integer", "",
     "Mutation indicates the number of mutations rules defined in this configuration"},
    {"ParamKind", "string", "", "ParamKind specifies the kind of resources used to parameterize this policy"},
    kAgeColumn,
};
constexpr Column kPolicyBindingColumns[] = {
    kNameColumn,
    {"PolicyName", "string", "",
     "PolicyName indicates the policy definition which the policy binding binded to"},
    {"ParamRef", "string", "", "ParamRef indicates the param resource which sets the configuration param"},
    kAgeColumn,
};
constexpr Column kFlowSchemaColumns[] = {
    kNameColumn,
    {"PriorityLevel", "string", "", "The priority level of the matching requests."},
    {"MatchingPrecedence", "string", "", "Schemas with lower numbers are asked first."},
    {"DistinguisherMethod", "string", "", "What divides requests into flows."},
    kAgeColumn,
    {"MissingPL", "string", "", "references a broken or non-existent PriorityLevelConfiguration"},
};
constexpr Column kPriorityLevelColumns[] = {
    kNameColumn,
    {"Type", "string", "", "Whether the level is limited."},
    {"NominalConcurrencyShares", "string", "", "The share of the server's concurrency."},
    {"Queues", "string", "", "The number of queues."},
    {"HandSize", "string", "", "The number of queues of one flow."},
    {"QueueLengthLimit", "string", "", "How many requests may wait in a queue."},
    kAgeColumn,
};
constexpr Column kPriorityClassColumns[] = {
    kNameColumn,
    {"Value", "integer", "", "The priority that pods of this class get."},
    {"Global-Default", "boolean", "", "Whether pods without a class get this one."},
    kAgeColumn,
    {"PreemptionPolicy", "string", "", "Whether pods of this class preempt others."},
};
constexpr Column kRuntimeClassColumns[] = {
    kNameColumn, {"Handler", "string", "", "The handler of the container runtime."}, kAgeColumn};
constexpr Column kNameAndAgeColumns[] = {kNameColumn, kAgeColumn};
constexpr Column kClaimColumns[] = {
    kNameColumn,
    {"State", "string", "", "A summary of the current state (allocated, pending, reserved, etc.)."},
    kAgeColumn,
};
constexpr Column kSliceColumns[] = {
    kNameColumn,
    {"Node", "string", "", "The node that has the devices."},
    {"Driver", "string", "", "The driver of the devices."},
    {"Pool", "string", "", "The pool of the devices."},
    kAgeColumn,
};

std::vector<Json> BindingCells(const Json& binding, api::Time now) {
  std::string users, groups, accounts;
  auto add = [](std::string& list, const std::string& item) { list += (list.empty() ? "" : ", ") + item; };
  for (const Json& subject : api::ListAt(binding, "subjects")) {
    const std::string_view kind = api::StringAt(subject, "kind");
    const std::string name(api::StringAt(subject, "name"));
    if (kind == "User") add(users, name);
    if (kind == "Group") add(groups, name);
    if (kind == "ServiceAccount")
      add(accounts, std::string(api::StringAt(subject, "namespace")) + "/" + name);
  }
  return {Name(binding),
          std::string(api::StringAt(binding, "roleRef", "kind")) + "/" +
              std::string(api::StringAt(binding, "roleRef", "name")),
          Age(binding, now),
          users,
          groups,
          accounts};
}

std::string DecisionText(const Json& request) {
  const Json& conditions = api::ListAt(request, "status", "conditions");
  auto has = [&](std::string_view type) { return !ConditionStatus(conditions, type).empty(); };
  std::string out = has("Denied") ? "Denied" : has("Approved") ? "Approved" : "Pending";
  if (has("Failed")) out += ",Failed";
  if (!api::StringAt(request, "status", "certificate").empty()) out += ",Issued";
  return out;
}

std::vector<Json> SigningRequestCells(const Json& request, api::Time now) {
  const Json* seconds = api::Find(request, "spec", "expirationSeconds");
  return {Name(request),
          Age(request, now),
          OrElse(api::StringAt(request, "spec", "signerName"), kNone),
          api::StringAt(request, "spec", "username"),
          seconds == nullptr ? std::string(kNone)
                             : HumanDuration(std::chrono::seconds(seconds->get<std::int64_t>())),
          DecisionText(request)};
}

std::vector<Json> WebhookCells(const Json& object, api::Time now) {
  return {Name(object), api::ListAt(object, "webhooks").size(), Age(object, now)};
}

std::vector<Json> PolicyCells(const Json& object, std::string_view rules, api::Time now) {
  std::string kind(kUnset);
  if (const Json* param = api::Find(object, "spec", "paramKind"))
    kind =
        std::string(api::StringAt(*param, "apiVersion")) + "/" + std::string(api::StringAt(*param, "kind"));
  return {Name(object), api::ListAt(object, "spec", rules).size(), kind, Age(object, now)};
}
std::vector<Json> ValidatingPolicyCells(const Json& object, api::Time now) {
  return PolicyCells(object, "validations", now);
}
std::vector<Json> MutatingPolicyCells(const Json& object, api::Time now) {
  return PolicyCells(object, "mutations", now);
}

std::vector<Json> PolicyBindingCells(const Json& object, api::Time now) {
  std::string param(kUnset);
  if (const Json* ref = api::Find(object, "spec", "paramRef")) {
    const std::string name(api::StringAt(*ref, "name"));
    // Whether the parameter is in a namespace cannot be seen here.
    if (!name.empty())
      param = OrElse(api::StringAt(*ref, "namespace"), "*") + "/" + name;
    else if (const Json* selector = api::Find(*ref, "selector"))
      param = SelectorText(selector);
  }
  return {Name(object), api::StringAt(object, "spec", "policyName"), param, Age(object, now)};
}

std::vector<Json> FlowSchemaCells(const Json& object, api::Time now) {
  const std::string_view dangling = ConditionStatus(api::ListAt(object, "status", "conditions"), "Dangling");
  return {Name(object),
          api::StringAt(object, "spec", "priorityLevelConfiguration", "name"),
          api::IntAt(object, 0, "spec", "matchingPrecedence"),
          OrElse(api::StringAt(object, "spec", "distinguisherMethod", "type"), kNone),
          Age(object, now),
          OrElse(dangling, "?")};
}

Json NumberOrNone(const Json& parent, std::string_view field) {
  const Json* number = api::Find(parent, field);
  return number == nullptr ? Json(kNone) : *number;
}

std::vector<Json> PriorityLevelCells(const Json& object, api::Time now) {
  const Json& limited = api::ObjectAt(object, "spec", "limited");
  const Json& queuing = api::ObjectAt(limited, "limitResponse", "queuing");
  return {Name(object),
          api::StringAt(object, "spec", "type"),
          NumberOrNone(limited, "nominalConcurrencyShares"),
          NumberOrNone(queuing, "queues"),
          NumberOrNone(queuing, "handSize"),
          NumberOrNone(queuing, "queueLengthLimit"),
          Age(object, now)};
}

std::vector<Json> PriorityClassCells(const Json& object, api::Time now) {
  return {Name(object), api::IntAt(object, 0, "value"), api::BoolAt(object, "globalDefault"),
          Age(object, now), api::StringAt(object, "preemptionPolicy")};
}

std::vector<Json> RuntimeClassCells(const Json& object, api::Time now) {
  return {Name(object), api::StringAt(object, "handler"), Age(object, now)};
}

std::vector<Json> NameAndAgeCells(const Json& object, api::Time now) {
  return {Name(object), Age(object, now)};
}

std::vector<Json> ClaimCells(const Json& object, api::Time now) {
  std::string state;
  const bool deleting = api::Find(object, "metadata", "deletionTimestamp") != nullptr;
  if (deleting) AppendItem(state, "deleted");
  if (api::Find(object, "status", "allocation") != nullptr) {
    AppendItem(state, "allocated");
    if (!api::ListAt(object, "status", "reservedFor").empty()) AppendItem(state, "reserved");
  } else if (!deleting) {
    AppendItem(state, "pending");
  }
  return {Name(object), state, Age(object, now)};
}

std::vector<Json> SliceCells(const Json& object, api::Time now) {
  return {Name(object), api::StringAt(object, "spec", "nodeName"), api::StringAt(object, "spec", "driver"),
          api::StringAt(object, "spec", "pool", "name"), Age(object, now)};
}

constexpr std::string_view kAdmission = "admissionregistration.k8s.io";
constexpr std::string_view kFlowControl = "flowcontrol.apiserver.k8s.io";
constexpr std::string_view kRbac = "rbac.authorization.k8s.io";
constexpr std::string_view kResource = "resource.k8s.io";
constexpr Printer kPrinters[] = {
    {kAdmission, "MutatingAdmissionPolicy", kMutatingPolicyColumns, MutatingPolicyCells},
    {kAdmission, "MutatingAdmissionPolicyBinding", kPolicyBindingColumns, PolicyBindingCells},
    {kAdmission, "MutatingWebhookConfiguration", kWebhookColumns, WebhookCells},
    {kAdmission, "ValidatingAdmissionPolicy", kValidatingPolicyColumns, ValidatingPolicyCells},
    {kAdmission, "ValidatingAdmissionPolicyBinding", kPolicyBindingColumns, PolicyBindingCells},
    {kAdmission, "ValidatingWebhookConfiguration", kWebhookColumns, WebhookCells},
    {"certificates.k8s.io", "CertificateSigningRequest", kSigningRequestColumns, SigningRequestCells},
    {kFlowControl, "FlowSchema", kFlowSchemaColumns, FlowSchemaCells},
    {kFlowControl, "PriorityLevelConfiguration", kPriorityLevelColumns, PriorityLevelCells},
    {"node.k8s.io", "RuntimeClass", kRuntimeClassColumns, RuntimeClassCells},
    {kRbac, "ClusterRoleBinding", kClusterBindingColumns, BindingCells},
    {kRbac, "RoleBinding", kBindingColumns, BindingCells},
    {kResource, "DeviceClass", kNameAndAgeColumns, NameAndAgeCells},
    {kResource, "ResourceClaim", kClaimColumns, ClaimCells},
    {kResource, "ResourceClaimTemplate", kNameAndAgeColumns, NameAndAgeCells},
    {kResource, "ResourceSlice", kSliceColumns, SliceCells},
    {"scheduling.k8s.io", "PriorityClass", kPriorityClassColumns, PriorityClassCells},
};

}  // namespace

std::span<const Printer> AdministrationPrinters() { return kPrinters; }

}  // namespace terrarium::apiserver::table
