#include "controllers/runtime/selector_index.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/controllers/runtime/fake_client.h"

namespace terrarium::controllers {
namespace {

using api::Json;
using testing::ElementsAre;
using testing::IsEmpty;

class SelectorIndexTest : public testing::Test {
 protected:
  void Set(const std::string& name, const std::string& selector, const std::string& ns = "default") {
    index_.Set({ns, name}, *api::LabelSelector::Parse(selector));
  }
  std::vector<std::string> Matching(const Json& labels) {
    std::vector<std::string> names;
    auto object =
        controllers_testing::MakeObject({{"metadata", {{"namespace", "default"}, {"labels", labels}}}});
    for (const api::ObjectName& name : index_.Matching(object->header())) names.push_back(name.name);
    return names;
  }
  SelectorIndex index_;
};

TEST_F(SelectorIndexTest, FindsSelectorsOfEveryForm) {
  Set("equals", "app=web");
  Set("two", "app=web,tier=front");
  Set("in", "app in (db,web)");
  Set("exists", "app");
  Set("not", "app!=db");
  Set("elsewhere", "app=web", "other");
  EXPECT_THAT(Matching({{"app", "web"}}), ElementsAre("equals", "exists", "in", "not"));
  EXPECT_THAT(Matching({{"app", "web"}, {"tier", "front"}}),
              ElementsAre("equals", "exists", "in", "not", "two"));
  EXPECT_THAT(Matching({{"app", "db"}}), ElementsAre("exists", "in"));
  EXPECT_THAT(Matching({{"tier", "front"}}), ElementsAre("not"));
}

TEST_F(SelectorIndexTest, ASelectorIsReplacedAndRemoved) {
  Set("a", "app=web");
  Set("a", "app=db");
  EXPECT_THAT(Matching({{"app", "web"}}), IsEmpty());
  EXPECT_THAT(Matching({{"app", "db"}}), ElementsAre("a"));
  Set("a", "app");
  EXPECT_THAT(Matching({{"app", "web"}}), ElementsAre("a"));
  index_.Remove({"default", "a"});
  index_.Remove({"default", "a"});
  EXPECT_THAT(Matching({{"app", "web"}}), IsEmpty());
}

TEST_F(SelectorIndexTest, SelectorThatSelectsNothingIsNeverFound) {
  index_.Set({"default", "a"}, api::LabelSelector::Nothing());
  EXPECT_THAT(Matching({{"app", "web"}}), IsEmpty());
}

}  // namespace
}  // namespace terrarium::controllers
