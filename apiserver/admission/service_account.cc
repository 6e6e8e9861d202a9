// Mirrors plugin/pkg/admission/serviceaccount.

#include <array>
#include <set>
#include <utility>

#include "api/base/errors.h"
#include "api/base/prng.h"
#include "api/json_access.h"
#include "apiserver/admission/internal/plugins.h"

namespace terrarium::apiserver::admission {
namespace {

using api::Find;
using api::ListAt;
using api::ObjectAt;
using api::StringAt;

constexpr const char* kDefaultAccount = "default";
constexpr const char* kMirrorAnnotation = "kubernetes.io/config.mirror";
constexpr const char* kEnforceAnnotation = "kubernetes.io/enforce-mountable-secrets";
constexpr const char* kVolumePrefix = "kube-api-access-";
constexpr const char* kMountPath = "/var/run/secrets/kubernetes.io/serviceaccount";
constexpr int kTokenSeconds = 3607;  // of a token that its pod may use for an hour
constexpr std::array kContainerLists = {"initContainers", "containers"};

bool IsNewPod(const Call& call, const Json* old) {
  return call.resource().storage == "pods" && call.route.subresource == nullptr && old == nullptr;
}

bool IsMirrorPod(const Json& pod) {
  return ObjectAt(pod, "metadata", "annotations").contains(kMirrorAnnotation);
}

// The document of the pod's account.
api::Result<std::shared_ptr<const Json>> AccountOf(const Call& call, const Json& pod) {
  const std::string name(StringAt(pod, "spec", "serviceAccountName"));
  if (api::ObjectPtr account = call.server.store.Get({"serviceaccounts", call.route.ns, name}))
    return account->Document();
  // DIVERGES: Kubernetes looks for up to two seconds whether its controller has made the account of a new
  // namespace. Here the pod is admitted as if it had: the account will be there without anything that matters
  // to the pod.
  if (name == kDefaultAccount) return std::make_shared<const Json>(Json::object());
  return Refusal(call, pod,
                 "error looking up service account " + call.route.ns + "/" + name + ": serviceaccount " +
                     api::Quote(name) + " not found");
}

bool AutomountsToken(const Json& account, const Json& spec) {
  for (const Json* chooser : {&spec, &account})
    if (const Json* wish = Find(*chooser, "automountServiceAccountToken");
        wish != nullptr && wish->is_boolean())
      return wish->get<bool>();
  return true;
}

bool HasMountAt(const Json& container, std::string_view path) {
  for (const Json& mount : ListAt(container, "volumeMounts"))
    if (StringAt(mount, "mountPath") == path) return true;
  return false;
}

Json TokenVolume(const std::string& name) {
  const Json token = {{"serviceAccountToken", {{"expirationSeconds", kTokenSeconds}, {"path", "token"}}}};
  const Json certificate = {
      {"configMap",
       {{"name", "kube-root-ca.crt"}, {"items", Json::array({{{"key", "ca.crt"}, {"path", "ca.crt"}}})}}}};
  const Json own_namespace = {
      {"downwardAPI",
       {{"items",
         Json::array({{{"path", "namespace"},
                       {"fieldRef", {{"apiVersion", "v1"}, {"fieldPath", "metadata.namespace"}}}}})}}}};
  return {
      {"name", name},
      {"projected", {{"defaultMode", 0644}, {"sources", Json::array({token, certificate, own_namespace})}}}};
}

std::set<std::string> NamesOf(const Json& references) {
  std::set<std::string> names;
  for (const Json& reference : references) names.emplace(StringAt(reference, "name"));
  return names;
}

// Go's strconv.ParseBool.
bool IsTrue(std::string_view text) {
  for (std::string_view word : {"1", "t", "T", "TRUE", "true", "True"})
    if (text == word) return true;
  return false;
}

// Why a container's environment refers to a secret that is not among `allowed`, or "".
std::string EnvironmentVerdict(const Json& container, std::string_view title,
                               const std::set<std::string>& allowed, std::string_view account) {
  auto verdict = [&](const std::string& from, std::string_view secret) -> std::string {
    if (allowed.contains(std::string(secret))) return "";
    return std::string(title) + " " + std::string(StringAt(container, "name")) + " with " + from +
           " referencing secret.secretName=\"" + std::string(secret) +
           "\" is not allowed because service account " + std::string(account) +
           " does not reference that secret";
  };
  for (const Json& variable : ListAt(container, "env"))
    if (const Json& key = ObjectAt(variable, "valueFrom", "secretKeyRef"); !key.empty())
      if (std::string why =
              verdict("envVar " + std::string(StringAt(variable, "name")), StringAt(key, "name"));
          !why.empty())
        return why;
  for (const Json& source : ListAt(container, "envFrom"))
    if (const Json& secret = ObjectAt(source, "secretRef"); !secret.empty())
      if (std::string why = verdict("envFrom", StringAt(secret, "name")); !why.empty()) return why;
  return "";
}

std::string MirrorPodVerdict(const Json& spec) {
  if (!StringAt(spec, "serviceAccountName").empty()) return "a mirror pod may not reference service accounts";
  // Without any secret allowed, the first one is the reason.
  if (!MountableSecretsVerdict(Json::object(), spec).empty()) return "a mirror pod may not reference secrets";
  for (const Json& volume : ListAt(spec, "volumes"))
    for (const Json& source : ListAt(volume, "projected", "sources"))
      if (Find(source, "serviceAccountToken") != nullptr)
        return "a mirror pod may not use ServiceAccountToken volume projections";
  return "";
}

}  // namespace

void MountAccountToken(Json& spec, const std::string& name) {
  std::string volume = name;
  bool exists = false;
  for (const Json& each : ListAt(spec, "volumes")) {
    if (!StringAt(each, "name").starts_with(kVolumePrefix)) continue;
    volume = StringAt(each, "name");
    exists = true;
    break;
  }
  bool needed = false;
  for (const char* list : kContainerLists) {
    if (ListAt(spec, list).empty()) continue;
    for (Json& container : spec[list]) {
      if (HasMountAt(container, kMountPath)) continue;
      container["volumeMounts"].push_back({{"name", volume}, {"readOnly", true}, {"mountPath", kMountPath}});
      needed = true;
    }
  }
  if (needed && !exists) spec["volumes"].push_back(TokenVolume(volume));
}

std::string MountableSecretsVerdict(const Json& account, const Json& spec) {
  const std::string name(StringAt(account, "metadata", "name"));
  const std::set<std::string> mountable = NamesOf(ListAt(account, "secrets"));
  for (const Json& volume : ListAt(spec, "volumes")) {
    const Json& secret = ObjectAt(volume, "secret");
    const std::string secret_name(StringAt(secret, "secretName"));
    if (secret.empty() || mountable.contains(secret_name)) continue;
    return "volume with secret.secretName=\"" + secret_name + "\" is not allowed because service account " +
           name + " does not reference that secret";
  }
  for (const char* list : kContainerLists)
    for (const Json& container : ListAt(spec, list))
      if (std::string why = EnvironmentVerdict(
              container, list == kContainerLists[0] ? "init container" : "container", mountable, name);
          !why.empty())
        return why;
  const std::set<std::string> pull = NamesOf(ListAt(account, "imagePullSecrets"));
  int index = 0;
  for (const Json& reference : ListAt(spec, "imagePullSecrets")) {
    const std::string secret(StringAt(reference, "name"));
    if (!pull.contains(secret))
      return "imagePullSecrets[" + std::to_string(index) + "].name=\"" + secret +
             "\" is not allowed because service account " + name + " does not reference that imagePullSecret";
    ++index;
  }
  return "";
}

api::Result<void> SetServiceAccount(const Call& call, Json& object) {
  if (!IsNewPod(call, nullptr)) return {};
  Json& spec = object["spec"];
  if (!spec.is_object()) spec = Json::object();
  if (IsMirrorPod(object)) {
    const std::string why = MirrorPodVerdict(spec);
    if (!why.empty()) return Refusal(call, object, why);
    return {};
  }
  if (StringAt(spec, "serviceAccountName").empty())
    spec["serviceAccountName"] = spec["serviceAccount"] =
        kDefaultAccount;  // its old name is always written too
  auto account = AccountOf(call, object);
  if (!account) return account.status();
  if (AutomountsToken(**account, spec)) {
    // The name matters within the pod alone, so it is not drawn from the server's stream.
    api::Prng names(static_cast<std::uint64_t>(call.server.store.CurrentRevision()));
    MountAccountToken(spec, kVolumePrefix + names.NameSuffix());
  }
  const Json& pull_secrets = ListAt(**account, "imagePullSecrets");
  if (ListAt(spec, "imagePullSecrets").empty() && !pull_secrets.empty())
    spec["imagePullSecrets"] = pull_secrets;
  return {};
}

api::Result<void> CheckServiceAccount(const Call& call, const Json& object, const Json* old) {
  if (!IsNewPod(call, old) || IsMirrorPod(object)) return {};
  auto account = AccountOf(call, object);
  if (!account) return account.status();
  if (!IsTrue(StringAt(**account, "metadata", "annotations", kEnforceAnnotation))) return {};
  const std::string why = MountableSecretsVerdict(**account, ObjectAt(object, "spec"));
  if (!why.empty()) return Refusal(call, object, why);
  return {};
}

}  // namespace terrarium::apiserver::admission
