#include "controllers/endpoints/internal/service_pods.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/controllers/runtime/fake_client.h"

namespace terrarium::controllers::endpoints {
namespace {

using api::Json;
using api::ObjectName;
using api::ObjectPtr;
using testing::ElementsAre;
using testing::IsEmpty;

const ObjectName kWeb{"default", "web"};
const ObjectName kOther{"default", "other"};

ObjectPtr Pod(const char* app, bool ready, const char* phase = "Running", bool deleting = false) {
  Json pod = {{"metadata", {{"name", "p"}, {"namespace", "default"}, {"labels", {{"app", app}}}}},
              {"spec", {{"nodeName", "node-0"}, {"containers", Json::array()}}},
              {"status",
               {{"phase", phase},
                {"podIPs", {{{"ip", "10.244.0.1"}}}},
                {"conditions", {{{"type", "Ready"}, {"status", ready ? "True" : "False"}}}}}}};
  if (deleting) pod["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z";
  return controllers_testing::MakeObject(pod);
}

class ServicePodsTest : public testing::Test {
 protected:
  ServicePodsTest() {
    pods_.Set(kWeb, api::LabelSelector::FromMap({{"app", "web"}}), {});
    pods_.Set(kOther, api::LabelSelector::FromMap({{"app", "other"}}), {});
  }
  std::vector<ObjectName> Follow(const ObjectPtr& before, const ObjectPtr& after) {
    return pods_.Follow(before.get(), after.get());
  }
  ServicePods pods_;
};

TEST_F(ServicePodsTest, ANewAndADeletedPodConcernTheServicesThatSelectIt) {
  const ObjectPtr pod = Pod("web", true);
  EXPECT_THAT(Follow(nullptr, pod), ElementsAre(kWeb));
  EXPECT_EQ(pods_.PodsOf(kWeb).size(), 1u);
  EXPECT_THAT(Follow(pod, nullptr), ElementsAre(kWeb));
  EXPECT_THAT(pods_.PodsOf(kWeb), IsEmpty());
  EXPECT_THAT(Follow(nullptr, Pod("third", true)), IsEmpty());
}

TEST_F(ServicePodsTest, OnlyChangesThatEndpointsShowConcernAService) {
  const ObjectPtr waiting = Pod("web", false);
  const ObjectPtr ready = Pod("web", true);
  Follow(nullptr, waiting);
  EXPECT_THAT(Follow(waiting, Pod("web", false)), IsEmpty());
  EXPECT_THAT(Follow(waiting, ready), ElementsAre(kWeb));
  const ObjectPtr terminating = Pod("web", true, "Running", true);
  EXPECT_THAT(Follow(ready, terminating), ElementsAre(kWeb));
  EXPECT_THAT(Follow(terminating, Pod("web", true, "Succeeded", true)), ElementsAre(kWeb));
}

// As in Kubernetes 1.36.
TEST_F(ServicePodsTest, APodThatFailsBeforeItIsReadyIsNotNoticed) {
  const ObjectPtr waiting = Pod("web", false);
  Follow(nullptr, waiting);
  EXPECT_THAT(Follow(waiting, Pod("web", false, "Failed")), IsEmpty());
  EXPECT_FALSE(pods_.PodsOf(kWeb).at("p")->HasEndpoint());
}

TEST_F(ServicePodsTest, OtherLabelsConcernTheServicesThatGainOrLoseThePod) {
  const ObjectPtr before = Pod("web", true);
  const ObjectPtr after = Pod("other", true);
  Follow(nullptr, before);
  EXPECT_THAT(Follow(before, after), ElementsAre(kOther, kWeb));
  EXPECT_THAT(pods_.PodsOf(kWeb), IsEmpty());
  EXPECT_EQ(pods_.PodsOf(kOther).size(), 1u);
  // A Service that selects the pod before and after is synced only when the pod itself has changed.
  pods_.Set({"default", "all"}, api::LabelSelector(), {after});
  EXPECT_THAT(Follow(after, before), ElementsAre(kOther, kWeb));
  EXPECT_THAT(Follow(before, Pod("other", false)), ElementsAre(ObjectName{"default", "all"}, kOther, kWeb));
}

TEST_F(ServicePodsTest, ANewSelectorSelectsExistingPods) {
  pods_.Set(kWeb, api::LabelSelector::FromMap({{"app", "new"}}), {Pod("new", true)});
  EXPECT_EQ(pods_.PodsOf(kWeb).size(), 1u);
  pods_.Remove(kWeb);
  EXPECT_THAT(pods_.PodsOf(kWeb), IsEmpty());
}

}  // namespace
}  // namespace terrarium::controllers::endpoints
