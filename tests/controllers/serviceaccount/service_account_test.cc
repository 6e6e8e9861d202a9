// Accounts, certificates and the pods that use them, in a whole cluster.

#include <gtest/gtest.h>

#include "api/json_access.h"
#include "testbed/embedding/testbed.h"

namespace terrarium::controllers {
namespace {

using api::Json;
using api::ListAt;
using api::StringAt;
using testbed::Testbed;
using namespace std::chrono_literals;

Json Pod(const std::string& name, const Json& spec = Json::object()) {
  Json pod = {{"metadata", {{"name", name}}}, {"spec", {{"containers", {{{"name", "c"}, {"image", "i"}}}}}}};
  pod["spec"].update(spec);
  return pod;
}

void CreateNamespace(Testbed& bed, const std::string& name) {
  bed.Must(bed.Create("namespaces", "", {{"metadata", {{"name", name}}}}));
}

TEST(ServiceAccounts, EveryNamespaceHasAnAccountAndTheCertificates) {
  Testbed bed({.nodes = 0});
  CreateNamespace(bed, "team");
  bed.clock().Settle();
  for (const char* ns : {"default", "kube-system", "kube-public", "kube-node-lease", "team"}) {
    EXPECT_NE(bed.Get("serviceaccounts", ns, "default"), nullptr) << ns;
    auto map = bed.Get("configmaps", ns, "kube-root-ca.crt");
    ASSERT_NE(map, nullptr) << ns;
    EXPECT_TRUE(StringAt(*map->Document(), "data", "ca.crt").starts_with("-----BEGIN CERTIFICATE-----"));
  }
}

TEST(ServiceAccounts, ADeletedAccountComesBack) {
  Testbed bed({.nodes = 0});
  const std::string uid = bed.Get("serviceaccounts", "default", "default")->header().uid;
  bed.Must(bed.Delete("serviceaccounts", {"default", "default"}));
  bed.Must(bed.Delete("configmaps", {"default", "kube-root-ca.crt"}));
  bed.clock().Settle();
  ASSERT_NE(bed.Get("serviceaccounts", "default", "default"), nullptr);
  EXPECT_NE(bed.Get("serviceaccounts", "default", "default")->header().uid, uid);
  EXPECT_NE(bed.Get("configmaps", "default", "kube-root-ca.crt"), nullptr);
}

TEST(ServiceAccounts, CertificatesThatAClientChangesArePutRight) {
  Testbed bed({.nodes = 0});
  bed.Must(bed.Patch("configmaps", {"default", "kube-root-ca.crt"}, {{"data", {{"ca.crt", "mine"}}}}));
  bed.clock().Settle();
  auto map = bed.Get("configmaps", "default", "kube-root-ca.crt")->Document();
  EXPECT_TRUE(StringAt(*map, "data", "ca.crt").starts_with("-----BEGIN CERTIFICATE-----"));
}

TEST(ServiceAccounts, ANamespaceThatGoesGetsNone) {
  Testbed bed({.nodes = 0});
  CreateNamespace(bed, "team");
  bed.clock().Settle();
  bed.Must(bed.Delete("namespaces", {"", "team"}));
  bed.clock().Advance(1min);
  EXPECT_EQ(bed.Get("namespaces", "", "team"), nullptr);
  EXPECT_EQ(bed.Get("serviceaccounts", "team", "default"), nullptr);
}

TEST(ServiceAccountAdmission, APodGetsTheDefaultAccountAndItsToken) {
  Testbed bed({.nodes = 0});
  auto pod = bed.Must(bed.Create("pods", "default", Pod("web")))->Document();
  EXPECT_EQ(StringAt(*pod, "spec", "serviceAccountName"), "default");
  EXPECT_EQ(StringAt(*pod, "spec", "serviceAccount"), "default");
  const Json& volumes = ListAt(*pod, "spec", "volumes");
  ASSERT_EQ(volumes.size(), 1u);
  const std::string name(StringAt(volumes[0], "name"));
  EXPECT_EQ(name.size(), std::string("kube-api-access-xxxxx").size());
  const Json& sources = ListAt(volumes[0], "projected", "sources");
  ASSERT_EQ(sources.size(), 3u);
  EXPECT_EQ(sources[0]["serviceAccountToken"]["expirationSeconds"], 3607);
  EXPECT_EQ(sources[1]["configMap"]["name"], "kube-root-ca.crt");
  EXPECT_EQ(volumes[0]["projected"]["defaultMode"], 420);
  const Json& mounts = ListAt(ListAt(*pod, "spec", "containers")[0], "volumeMounts");
  ASSERT_EQ(mounts.size(), 1u);
  EXPECT_EQ(mounts[0]["name"], name);
  EXPECT_EQ(mounts[0]["mountPath"], "/var/run/secrets/kubernetes.io/serviceaccount");
  EXPECT_EQ(mounts[0]["readOnly"], true);
}

TEST(ServiceAccountAdmission, APodOfAnUnknownAccountIsRefused) {
  Testbed bed({.nodes = 0});
  auto refused = bed.Create("pods", "default", Pod("web", {{"serviceAccountName", "builder"}}));
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.status().code, 403);
  EXPECT_EQ(refused.status().message,
            "pods \"web\" is forbidden: error looking up service account default/builder: "
            "serviceaccount \"builder\" not found");
}

TEST(ServiceAccountAdmission, APodInANewNamespaceDoesNotWaitForItsAccount) {
  Testbed bed({.nodes = 0});
  CreateNamespace(bed, "team");
  auto pod = bed.Create("pods", "team", Pod("web"));
  ASSERT_TRUE(pod.ok());
  EXPECT_EQ(StringAt(*(*pod)->Document(), "spec", "serviceAccountName"), "default");
}

TEST(ServiceAccountAdmission, TheWishNotToMountATokenIsKept) {
  Testbed bed({.nodes = 0});
  auto mounts = [&bed](const std::string& name, const Json& spec) {
    auto pod = bed.Must(bed.Create("pods", "default", Pod(name, spec)))->Document();
    return !ListAt(*pod, "spec", "volumes").empty();
  };
  EXPECT_FALSE(mounts("own", {{"automountServiceAccountToken", false}}));
  bed.Must(bed.Create("serviceaccounts", "default",
                      {{"metadata", {{"name", "quiet"}}}, {"automountServiceAccountToken", false}}));
  EXPECT_FALSE(mounts("accounts", {{"serviceAccountName", "quiet"}}));
  EXPECT_TRUE(
      mounts("pods-wish-wins", {{"serviceAccountName", "quiet"}, {"automountServiceAccountToken", true}}));
}

TEST(ServiceAccountAdmission, PullSecretsOfTheAccountAreUsedByPodsWithoutAny) {
  Testbed bed({.nodes = 0});
  bed.Must(bed.Create("serviceaccounts", "default",
                      {{"metadata", {{"name", "puller"}}}, {"imagePullSecrets", {{{"name", "registry"}}}}}));
  auto with = [&bed](const std::string& name, Json spec) {
    spec["serviceAccountName"] = "puller";
    auto pod = bed.Must(bed.Create("pods", "default", Pod(name, spec)))->Document();
    return ListAt(*pod, "spec", "imagePullSecrets");
  };
  EXPECT_EQ(with("a", Json::object()), Json::array({{{"name", "registry"}}}));
  EXPECT_EQ(with("b", {{"imagePullSecrets", {{{"name", "mine"}}}}}), Json::array({{{"name", "mine"}}}));
}

TEST(ServiceAccountAdmission, AnAccountCanRestrictTheSecretsOfItsPods) {
  Testbed bed({.nodes = 0});
  Json account = {
      {"metadata",
       {{"name", "strict"}, {"annotations", {{"kubernetes.io/enforce-mountable-secrets", "true"}}}}},
      {"secrets", {{{"name", "allowed"}}}}};
  bed.Must(bed.Create("serviceaccounts", "default", account));
  auto create = [&bed](const char* name, const char* secret) {
    Json volume = {{"name", "v"}, {"secret", {{"secretName", secret}}}};
    return bed.Create("pods", "default",
                      Pod(name, {{"serviceAccountName", "strict"}, {"volumes", Json::array({volume})}}));
  };
  EXPECT_TRUE(create("a", "allowed").ok());
  auto refused = create("b", "other");
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.status().message,
            "pods \"b\" is forbidden: volume with secret.secretName=\"other\" is not allowed because service "
            "account strict does not reference that secret");
}

TEST(ServiceAccountAdmission, IsOffWhereNoControllerMakesAccounts) {
  Testbed bed({.controllers = "job-controller", .nodes = 0});
  auto pod = bed.Must(bed.Create("pods", "default", Pod("web", {{"serviceAccountName", "builder"}})));
  EXPECT_TRUE(ListAt(*pod->Document(), "spec", "volumes").empty());
}

TEST(ServiceAccountTokens, ATokenSecretIsFilledInAndGoesWithItsAccount) {
  Testbed bed({.nodes = 0});
  bed.Must(bed.Create("serviceaccounts", "default", {{"metadata", {{"name", "builder"}}}}));
  auto create = [&bed](const char* name, const char* account) {
    bed.Must(bed.Create(
        "secrets", "default",
        {{"metadata", {{"name", name}, {"annotations", {{"kubernetes.io/service-account.name", account}}}}},
         {"type", "kubernetes.io/service-account-token"}}));
    bed.clock().Settle();
    return bed.Get("secrets", "default", name);
  };
  EXPECT_EQ(create("orphan", "nobody"), nullptr) << "deleted: its account does not exist";
  auto token = create("token", "builder");
  ASSERT_NE(token, nullptr);
  for (const char* key : {"ca.crt", "namespace", "token"})
    EXPECT_FALSE(StringAt(*token->Document(), "data", key).empty()) << key;
  bed.Must(bed.Delete("serviceaccounts", {"default", "builder"}));
  bed.clock().Settle();
  EXPECT_EQ(bed.Get("secrets", "default", "token"), nullptr);
}

}  // namespace
}  // namespace terrarium::controllers
