// The components write under the names that those of Kubernetes have in metadata.managedFields.

#include <chrono>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "api/apply/managed_fields.h"
#include "tests/testbed/control_plane/component_testing.h"

namespace terrarium::testbed {
namespace {

// "kube-controller-manager Update apps/v1 status": one line for each owner.
std::set<std::string> OwnersOf(const api::ObjectPtr& object) {
  std::set<std::string> owners;
  if (object == nullptr || object->owners() == nullptr) return owners;
  for (const api::ManagedEntry& entry : object->owners()->entries()) {
    const api::FieldManager& manager = entry.manager;
    std::string line = manager.name.text() + (manager.applied ? " Apply " : " Update ");
    line += manager.api_version.text();
    if (!manager.subresource.text().empty()) line += " " + manager.subresource.text();
    owners.insert(std::move(line));
  }
  return owners;
}

std::string FieldsOf(const api::ObjectPtr& object, const std::string& manager,
                     const std::string& subresource) {
  if (object == nullptr || object->owners() == nullptr) return "no owners";
  const api::Json list = api::ManagedFieldsJson(*object->owners());
  for (const api::Json& entry : list)
    if (api::StringAt(entry, "manager") == manager && api::StringAt(entry, "subresource") == subresource)
      return entry["fieldsV1"].dump();
  return "not an owner";
}

class ComponentOwners : public testing::Test {
 protected:
  ComponentOwners() {
    EXPECT_TRUE(bed_.Create("deployments", "default", TestDeployment(2, "i:1")).ok());
    bed_.clock().RunUntilIdle(std::chrono::minutes(1));
  }
  api::ObjectPtr FirstOf(const std::string& resource) {
    const std::vector<api::ObjectPtr> all = bed_.List(resource, "default");
    return all.empty() ? nullptr : all.front();
  }

  Testbed bed_;
};

TEST_F(ComponentOwners, APodBelongsToItsControllerAndItsStatusToTheKubelet) {
  const api::ObjectPtr pod = FirstOf("pods");
  EXPECT_EQ(OwnersOf(pod),
            (std::set<std::string>{"kube-controller-manager Update v1", "kubelet Update v1 status"}));
  const std::string spec = FieldsOf(pod, "kube-controller-manager", "");
  EXPECT_NE(spec.find(R"("f:generateName")"), std::string::npos) << spec;
  EXPECT_NE(spec.find(R"("k:{\"name\":\"web\"}")"), std::string::npos) << spec;
  // The scheduler binds the pod, and a binding owns nothing; the tolerations are admission's.
  EXPECT_EQ(spec.find("nodeName"), std::string::npos) << spec;
  EXPECT_EQ(spec.find("tolerations"), std::string::npos) << spec;
  const std::string status = FieldsOf(pod, "kubelet", "status");
  EXPECT_NE(status.find(R"("f:podIP")"), std::string::npos) << status;
  EXPECT_EQ(status.find("f:spec"), std::string::npos) << status;
}

TEST_F(ComponentOwners, ADeploymentsStatusAndRevisionBelongToTheControllerManager) {
  const api::ObjectPtr deployment = bed_.Get("deployments", "default", "web");
  EXPECT_EQ(OwnersOf(deployment), (std::set<std::string>{"terrarium-testbed Update apps/v1",
                                                         "kube-controller-manager Update apps/v1 status"}));
  // The controller sets its annotation with the status.
  const std::string status = FieldsOf(deployment, "kube-controller-manager", "status");
  EXPECT_NE(status.find(R"("f:deployment.kubernetes.io/revision")"), std::string::npos) << status;
}

TEST_F(ComponentOwners, APodThatFitsNowhereHasAStatusOfTheScheduler) {
  api::Json pod = TestPod("large", api::Json::object());
  pod["spec"]["nodeSelector"] = {{"disk", "none-has-this"}};
  ASSERT_TRUE(bed_.Create("pods", "default", pod).ok());
  bed_.clock().RunUntilIdle(std::chrono::minutes(1));
  EXPECT_EQ(OwnersOf(bed_.Get("pods", "default", "large")),
            (std::set<std::string>{"terrarium-testbed Update v1", "kube-scheduler Update v1 status"}));
}

TEST_F(ComponentOwners, ThePodsOfOneReplicaSetShareTheirSets) {
  const std::vector<api::ObjectPtr> pods = bed_.List("pods", "default");
  ASSERT_EQ(pods.size(), 2U);
  const auto& first = pods[0]->owners()->entries();
  const auto& second = pods[1]->owners()->entries();
  ASSERT_EQ(first.size(), 2U);
  ASSERT_EQ(second.size(), 2U);
  EXPECT_EQ(first[0].fields, second[0].fields);
  // Of the kubelet's fields only the address differs.
  const auto conditions = [](const api::ManagedEntry& entry) {
    const api::FieldSet::Entry* status = entry.fields->Find(api::PathElement::Field("status"));
    return status->below->Find(api::PathElement::Field("conditions"))->below;
  };
  EXPECT_EQ(conditions(first[1]), conditions(second[1]));
  EXPECT_NE(first[1].fields, second[1].fields);
}

TEST_F(ComponentOwners, WhatEveryClusterHasBelongsToTheApiserver) {
  EXPECT_EQ(OwnersOf(bed_.Get("namespaces", "", "default")),
            (std::set<std::string>{"kube-apiserver Update v1"}));
}

}  // namespace
}  // namespace terrarium::testbed
