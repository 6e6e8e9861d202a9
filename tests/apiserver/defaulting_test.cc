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

Paths Dropped(const api::Message& message, Json& object, const Json* old, const api::FeatureGates& gates) {
  Paths out;
  for (const GateNote& note : DropGatedFields(message, object, old, gates))
    if (note.what == GatedField::kDropped) out.push_back(note.field);
  return out;
}

TEST(DropGatedFields, ReportsTheOutcomeOfEveryGatedField) {
  const auto noted = [](const char* text, const char* old_text, const char* gates) {
    Json object = Json::parse(text);
    const Json old = Json::parse(old_text);
    std::string out;
    for (const GateNote& note : DropGatedFields(Deployment(), object, &old, Gates(gates)))
      out += std::to_string(static_cast<int>(note.what)) + " " + note.field + " " + note.gate + ";";
    return out;
  };
  const char* with = R"({"spec":{"podReplacementPolicy":"TerminationComplete"}})";
  const char* without = R"({"spec":{}})";
  const char* on = "DeploymentPodReplacementPolicy=true";
  const char* off = "DeploymentPodReplacementPolicy=false";
  const std::string field = " spec.podReplacementPolicy DeploymentPodReplacementPolicy;";
  const auto what = [](GatedField each) { return std::to_string(static_cast<int>(each)); };
  EXPECT_EQ(noted(with, with, on), "");
  EXPECT_EQ(noted(without, without, off), "");
  EXPECT_EQ(noted(with, without, on), what(GatedField::kAppeared) + field);
  EXPECT_EQ(noted(with, without, off), what(GatedField::kDropped) + field);
  EXPECT_EQ(noted(with, with, off), what(GatedField::kKept) + field);
  EXPECT_EQ(noted(without, with, on), what(GatedField::kVanished) + field);
  EXPECT_EQ(noted(without, with, off), what(GatedField::kVanished) + field);
}

TEST(DropGatedFields, DropsAFieldWhoseGateIsOff) {
  Json object = Json::parse(R"({"spec":{"podReplacementPolicy":"TerminationComplete","replicas":2}})");
  EXPECT_EQ(Dropped(Deployment(), object, nullptr, Gates("DeploymentPodReplacementPolicy=false")),
            Paths{"spec.podReplacementPolicy"});
  EXPECT_EQ(object, Json::parse(R"({"spec":{"replicas":2}})"));
}

TEST(DropGatedFields, KeepsAFieldWhoseGateIsOn) {
  const Json object = Json::parse(R"({"spec":{"podReplacementPolicy":"TerminationComplete"}})");
  Json copy = object;
  EXPECT_EQ(Dropped(Deployment(), copy, nullptr, Gates("DeploymentPodReplacementPolicy=true")), Paths{});
  EXPECT_EQ(copy, object);
}

TEST(DropGatedFields, AnObjectThatHasTheFieldKeepsItAndMayChangeIt) {
  const Json old = Json::parse(R"({"spec":{"podReplacementPolicy":"TerminationComplete"}})");
  Json object = Json::parse(R"({"spec":{"podReplacementPolicy":"TerminationStarted"}})");
  EXPECT_EQ(Dropped(Deployment(), object, &old, Gates("DeploymentPodReplacementPolicy=false")), Paths{});
  EXPECT_EQ(object["spec"]["podReplacementPolicy"], "TerminationStarted");
}

TEST(DropGatedFields, AnotherFieldOfTheOldObjectDoesNotHelp) {
  const Json old = Json::parse(R"({"spec":{"replicas":1,"podReplacementPolicy":null}})");
  Json object = Json::parse(R"({"spec":{"podReplacementPolicy":"TerminationStarted"}})");
  EXPECT_EQ(Dropped(Deployment(), object, &old, Gates("DeploymentPodReplacementPolicy=false")).size(), 1u);
}

TEST(DropGatedFields, EachGateOwnsItsFieldsInNestedStructs) {
  Json object = Json::parse(R"({"spec":{"jobTemplate":{"spec":{
      "backoffLimitPerIndex":1,"maxFailedIndexes":2,"podReplacementPolicy":"Failed"}}}})");
  Paths dropped = Dropped(CronJob(), object, nullptr, Gates("JobBackoffLimitPerIndex=false"));
  std::sort(dropped.begin(), dropped.end());
  EXPECT_EQ(dropped,
            (Paths{"spec.jobTemplate.spec.backoffLimitPerIndex", "spec.jobTemplate.spec.maxFailedIndexes"}));
  EXPECT_EQ(object["spec"]["jobTemplate"]["spec"], Json::parse(R"({"podReplacementPolicy":"Failed"})"));
}

TEST(DropGatedFields, StatusFieldsAreGatedToo) {
  Json object = Json::parse(R"({"status":{"terminatingReplicas":3,"replicas":1}})");
  api::FeatureGates off = Gates("DeploymentReplicaSetTerminatingReplicas=false");
  EXPECT_EQ(Dropped(Deployment(), object, nullptr, off), Paths{"status.terminatingReplicas"});
}

// Every case of the Kubernetes tests with these names: the gate, whether the stored status has the field, and
// the value that is left of the sent one. "-" means absent.
struct StatusCase {
  bool gate;
  const char* stored;
  const char* sent;
  const char* left;
};
constexpr StatusCase kStatusCases[] = {{true, "-", "2", "2"},  {true, "1", "2", "2"},  {true, "1", "-", "-"},
                                       {false, "-", "2", "-"}, {false, "1", "2", "2"}, {false, "1", "-", "-"},
                                       {false, "-", "-", "-"}};

void ExpectStatusCases(const api::Message& kind) {
  auto status = [](std::string_view number) {
    Json object = Json::parse(R"({"status":{"replicas":1}})");
    if (number != "-") object["status"]["terminatingReplicas"] = Json::parse(number);
    return object;
  };
  for (const StatusCase& c : kStatusCases) {
    const Json stored = status(c.stored);
    Json sent = status(c.sent);
    DropGatedFields(kind, sent, &stored,
                    Gates(c.gate ? "DeploymentReplicaSetTerminatingReplicas=true"
                                 : "DeploymentReplicaSetTerminatingReplicas=false"));
    EXPECT_EQ(sent, status(c.left)) << c.gate << " " << c.stored << " " << c.sent;
  }
}

TEST(DropGatedFields, TestReplicaSetStatusStrategyWithDeploymentReplicaSetTerminatingReplicas) {
  ExpectStatusCases(Kind("io.k8s.api.apps.v1.ReplicaSet"));
}

TEST(DropGatedFields, TestStatusUpdatesWithDeploymentReplicaSetTerminatingReplicas) {
  ExpectStatusCases(Deployment());
}

// No served kind has a gated field inside a list, but a List of objects does.
TEST(DropGatedFields, ItemsOfListsWithoutKeyAreMatchedByPosition) {
  const api::Message& list = Kind("io.k8s.api.apps.v1.DeploymentList");
  const Json old =
      Json::parse(R"({"items":[{"spec":{"podReplacementPolicy":"TerminationStarted"}},{"spec":{}}]})");
  Json object = Json::parse(R"({"items":[{"spec":{"podReplacementPolicy":"TerminationComplete"}},
                                         {"spec":{"podReplacementPolicy":"TerminationComplete"}},
                                         {"spec":{"podReplacementPolicy":"TerminationComplete"}}]})");
  EXPECT_EQ(Dropped(list, object, &old, Gates("DeploymentPodReplacementPolicy=false")),
            (Paths{"items[1].spec.podReplacementPolicy", "items[2].spec.podReplacementPolicy"}));
}

}  // namespace
}  // namespace terrarium::apiserver
