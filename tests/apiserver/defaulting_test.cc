#include "apiserver/defaulting.h"

#include <algorithm>

#include <gtest/gtest.h>

namespace terrarium::apiserver {
namespace {

using api::Json;
using Paths = std::vector<std::string>;

const api::Message& Kind(const char* name) { return api::Schema::Get().Must(name); }
const api::Message& Deployment() { return Kind("io.k8s.api.apps.v1.Deployment"); }
const api::Message& CronJob() { return Kind("io.k8s.api.batch.v1.CronJob"); }

api::FeatureGates Gates(const char* assignments) {
  auto gates = api::FeatureGates().With(assignments);
  CHECK(gates.ok());
  return *gates;
}

TEST(DropGatedFields, DropsAFieldWhoseGateIsOff) {
  Json object = Json::parse(R"({"spec":{"podReplacementPolicy":"TerminationComplete","replicas":2}})");
  EXPECT_EQ(DropGatedFields(Deployment(), object, nullptr, Gates("DeploymentPodReplacementPolicy=false")),
            Paths{"spec.podReplacementPolicy"});
  EXPECT_EQ(object, Json::parse(R"({"spec":{"replicas":2}})"));
}

TEST(DropGatedFields, KeepsAFieldWhoseGateIsOn) {
  const Json object = Json::parse(R"({"spec":{"podReplacementPolicy":"TerminationComplete"}})");
  Json copy = object;
  EXPECT_EQ(DropGatedFields(Deployment(), copy, nullptr, Gates("DeploymentPodReplacementPolicy=true")), Paths{});
  EXPECT_EQ(copy, object);
}

TEST(DropGatedFields, AnObjectThatHasTheFieldKeepsItAndMayChangeIt) {
  const Json old = Json::parse(R"({"spec":{"podReplacementPolicy":"TerminationComplete"}})");
  Json object = Json::parse(R"({"spec":{"podReplacementPolicy":"TerminationStarted"}})");
  EXPECT_EQ(DropGatedFields(Deployment(), object, &old, Gates("DeploymentPodReplacementPolicy=false")), Paths{});
  EXPECT_EQ(object["spec"]["podReplacementPolicy"], "TerminationStarted");
}

TEST(DropGatedFields, AnotherFieldOfTheOldObjectDoesNotHelp) {
  const Json old = Json::parse(R"({"spec":{"replicas":1,"podReplacementPolicy":null}})");
  Json object = Json::parse(R"({"spec":{"podReplacementPolicy":"TerminationStarted"}})");
  EXPECT_EQ(DropGatedFields(Deployment(), object, &old, Gates("DeploymentPodReplacementPolicy=false")).size(), 1u);
}

TEST(DropGatedFields, EachGateOwnsItsFieldsInNestedStructs) {
  Json object = Json::parse(R"({"spec":{"jobTemplate":{"spec":{
      "backoffLimitPerIndex":1,"maxFailedIndexes":2,"podReplacementPolicy":"Failed"}}}})");
  Paths dropped = DropGatedFields(CronJob(), object, nullptr, Gates("JobBackoffLimitPerIndex=false"));
  std::sort(dropped.begin(), dropped.end());
  EXPECT_EQ(dropped, (Paths{"spec.jobTemplate.spec.backoffLimitPerIndex", "spec.jobTemplate.spec.maxFailedIndexes"}));
  EXPECT_EQ(object["spec"]["jobTemplate"]["spec"], Json::parse(R"({"podReplacementPolicy":"Failed"})"));
}

TEST(DropGatedFields, StatusFieldsAreGatedToo) {
  Json object = Json::parse(R"({"status":{"terminatingReplicas":3,"replicas":1}})");
  api::FeatureGates off = Gates("DeploymentReplicaSetTerminatingReplicas=false");
  EXPECT_EQ(DropGatedFields(Deployment(), object, nullptr, off), Paths{"status.terminatingReplicas"});
}

// No kind we serve has a gated field inside a list of its own, but a List of them does.
TEST(DropGatedFields, ItemsOfListsWithoutKeyAreMatchedByPosition) {
  const api::Message& list = Kind("io.k8s.api.apps.v1.DeploymentList");
  const Json old = Json::parse(R"({"items":[{"spec":{"podReplacementPolicy":"TerminationStarted"}},{"spec":{}}]})");
  Json object = Json::parse(R"({"items":[{"spec":{"podReplacementPolicy":"TerminationComplete"}},
                                         {"spec":{"podReplacementPolicy":"TerminationComplete"}},
                                         {"spec":{"podReplacementPolicy":"TerminationComplete"}}]})");
  EXPECT_EQ(DropGatedFields(list, object, &old, Gates("DeploymentPodReplacementPolicy=false")),
            (Paths{"items[1].spec.podReplacementPolicy", "items[2].spec.podReplacementPolicy"}));
}

}  // namespace
}  // namespace terrarium::apiserver
