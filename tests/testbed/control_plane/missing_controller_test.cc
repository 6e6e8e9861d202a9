// A client that creates an object on which no controller acts is warned.

#include "controllers/missing_controller.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "testbed/embedding/testbed.h"

namespace terrarium::testbed {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr const char* kDeployment =
    R"({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"},
        "spec": {"selector": {"matchLabels": {"a": "b"}},
                 "template": {"metadata": {"labels": {"a": "b"}},
                              "spec": {"containers": [{"name": "c", "image": "i"}]}}}})";

std::vector<std::string> WarningsOfCreate(const std::string& controllers) {
  Testbed bed({.controllers = controllers, .nodes = 0});
  apiserver::Request request;
  request.method = "POST";
  request.path = "/apis/apps/v1/namespaces/default/deployments";
  request.content_type = "application/json";
  request.body = kDeployment;
  apiserver::Response response = bed.Serve(std::move(request));
  EXPECT_EQ(response.code, 201) << response.body;
  return response.warnings;
}

TEST(MissingController, AControllerThatWasNotSelectedIsWarnedOf) {
  const std::string warning =
      "nothing acts on deployments here: deployment-controller was not selected by --controllers";
  EXPECT_THAT(WarningsOfCreate("*,-deployment-controller"), ElementsAre(warning));
  EXPECT_THAT(WarningsOfCreate("replicaset-controller"), ElementsAre(warning));
}

TEST(MissingController, AServiceWithoutItsSlicesIsWarnedOf) {
  auto selected = controllers::SelectControllers("*,-endpointslice-controller");
  ASSERT_TRUE(selected.ok());
  EXPECT_EQ(controllers::WhyNothingActsOn("services", *selected),
            "nothing acts on services here: endpointslice-controller was not selected by --controllers");
}

TEST(MissingController, OneThatRunsIsNot) { EXPECT_THAT(WarningsOfCreate("*"), IsEmpty()); }

TEST(MissingController, AnApiserverWithoutControllersWarnsOfNothing) {
  EXPECT_THAT(WarningsOfCreate("-*"), IsEmpty());
}

TEST(MissingController, OneThatTerrariumLacksIsWarnedOfWhileOthersRun) {
  auto selected = controllers::SelectControllers("*");
  ASSERT_TRUE(selected.ok());
  EXPECT_EQ(controllers::WhyNothingActsOn("certificatesigningrequests", *selected),
            "nothing acts on certificatesigningrequests here: Terrarium has no "
            "certificatesigningrequest-signing-controller");
  for (const char* resource :
       {"resourceclaims", "resourceclaimtemplates", "servicecidrs", "validatingadmissionpolicies"})
    EXPECT_NE(controllers::WhyNothingActsOn(resource, *selected), "") << resource;
  for (const char* resource : {"cronjobs", "daemonsets", "horizontalpodautoscalers", "persistentvolumeclaims",
                               "persistentvolumes", "services", "statefulsets", "configmaps"})
    EXPECT_EQ(controllers::WhyNothingActsOn(resource, *selected), "") << resource;
}

}  // namespace
}  // namespace terrarium::testbed
