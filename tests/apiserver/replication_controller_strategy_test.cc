#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "apiserver/strategies.h"
#include "tests/apiserver/strategy_testing.h"

namespace terrarium::apiserver {
namespace {

using ::testing::ElementsAre;
using testing::Kind;
using testing::kTemplate;
using testing::WithSpec;

Kind Controller() { return Kind(ReplicationControllerStrategy(), "core.v1.ReplicationController"); }

TEST(ReplicationControllerStrategy, TemplateLabelsStandInForSelectorAndLabels) {
  const Json rc = Controller().New(WithSpec({kTemplate}));
  EXPECT_EQ(rc["spec"]["selector"], Json::parse(R"({"app":"x"})"));
  EXPECT_EQ(rc["metadata"]["labels"], Json::parse(R"({"app":"x"})"));
}

TEST(ReplicationControllerStrategy, TemplateIsRequired) {
  EXPECT_THAT(Controller().CreateErrors(WithSpec({R"("replicas":1)"})),
              ElementsAre("spec.selector: Required value", "spec.template: Required value"));
}

TEST(ReplicationControllerStrategy, SelectorMustMatch) {
  EXPECT_THAT(
      Controller().CreateErrors(WithSpec({R"("selector":{"app":"y"})", kTemplate})),
      ElementsAre(
          "spec.template.metadata.labels: Invalid value: {\"app\":\"x\"}: `selector` does not match template "
          "`labels`"));
}

TEST(ReplicationControllerStrategy, StatusReplicasCanBeSelected) {
  const auto fields = ReplicationControllerStrategy().SelectableFields();
  ASSERT_EQ(fields.size(), 1u);
  EXPECT_EQ(fields[0].value(Json::parse(R"({"status":{"replicas":4}})")), "4");
  EXPECT_TRUE(ReplicationControllerStrategy().OrphansDependentsByDefault());
}

}  // namespace
}  // namespace terrarium::apiserver
