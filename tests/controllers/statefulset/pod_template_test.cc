#include "controllers/statefulset/internal/pod_template.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace terrarium::controllers::statefulset {
namespace {

using api::Json;
using testing::ElementsAre;

Json Set() {
  return Json::parse(R"({
    "metadata": {"name": "web", "namespace": "ns", "uid": "set-uid", "resourceVersion": "7"},
    "spec": {
      "serviceName": "headless",
      "selector": {"matchLabels": {"app": "web"}},
      "template": {
        "metadata": {"labels": {"app": "web"}, "annotations": {"a": "b"}},
        "spec": {"containers": [{"name": "c", "image": "i"}], "subdomain": "other",
                 "volumes": [{"name": "data", "emptyDir": {}}, {"name": "tmp", "emptyDir": {}}]}},
      "volumeClaimTemplates": [
        {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "data"},
         "spec": {"accessModes": ["ReadWriteOnce"]}, "status": {"phase": "Pending"}},
        {"metadata": {"name": "logs", "labels": {"tier": "x"}}, "spec": {}}]}})");
}

api::ObjectPtr Stored(const Json& document) { return api::Object::Make(api::ReadHeader(document), document); }

TEST(NewPod, HasItsIdentityAndStorage) {
  const Json set = Set();
  const Json pod = NewPod(*Stored(set), set, set["spec"]["template"], "web-abc", 2);
  EXPECT_EQ(pod["metadata"], Json::parse(R"({
    "name": "web-2", "namespace": "ns", "generateName": "web-",
    "labels": {"app": "web", "controller-revision-hash": "web-abc",
               "statefulset.kubernetes.io/pod-name": "web-2", "apps.kubernetes.io/pod-index": "2"},
    "annotations": {"a": "b"},
    "ownerReferences": [{"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "web", "uid": "set-uid",
                         "controller": true, "blockOwnerDeletion": true}]})"));
  EXPECT_EQ(pod["spec"]["hostname"], "web-2");
  EXPECT_EQ(pod["spec"]["subdomain"], "headless");
  // The claim's volume replaces one of the template.
  EXPECT_EQ(pod["spec"]["volumes"], Json::parse(R"([
    {"name": "data", "persistentVolumeClaim": {"claimName": "data-web-2"}},
    {"name": "logs", "persistentVolumeClaim": {"claimName": "logs-web-2"}},
    {"name": "tmp", "emptyDir": {}}])"));
}

TEST(NewPod, WithoutAServiceOrClaims) {
  Json set = Set();
  set["spec"].erase("serviceName");
  set["spec"].erase("volumeClaimTemplates");
  const Json pod = NewPod(*Stored(set), set, set["spec"]["template"], "web-abc", 0);
  EXPECT_FALSE(pod["spec"].contains("subdomain"));
  EXPECT_EQ(pod["spec"]["volumes"].size(), 2u);
  EXPECT_EQ(pod["spec"]["volumes"][0]["name"], "data");
}

TEST(Storage, IsFoundInThePodsVolumes) {
  const Json set = Set();
  PodFacts pod;
  EXPECT_FALSE(HasStorage(pod, set, "web", 0));
  pod.claims = {{"data", "data-web-0"}, {"logs", "logs-web-0"}, {"more", "x"}};
  EXPECT_TRUE(HasStorage(pod, set, "web", 0));
  EXPECT_FALSE(HasStorage(pod, set, "web", 1));
  pod.claims.erase("logs");
  EXPECT_FALSE(HasStorage(pod, set, "web", 0));
}

TEST(NewClaims, HaveTheSelectorsLabelsAndNoOwner) {
  const Json set = Set();
  EXPECT_THAT(ClaimNames(set, "web", 1), ElementsAre("data-web-1", "logs-web-1"));
  EXPECT_THAT(NewClaims(set, {"ns", "web"}, 1),
              ElementsAre(Json::parse(R"({"apiVersion": "v1", "kind": "PersistentVolumeClaim",
                  "metadata": {"name": "data-web-1", "namespace": "ns", "labels": {"app": "web"}},
                  "spec": {"accessModes": ["ReadWriteOnce"]}})"),
                          Json::parse(R"({
                  "metadata": {"name": "logs-web-1", "namespace": "ns", "labels": {"app": "web", "tier": "x"}},
                  "spec": {}})")));
}

}  // namespace
}  // namespace terrarium::controllers::statefulset
