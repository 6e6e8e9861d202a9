#include <gtest/gtest.h>

#include "controllers/runtime/informer.h"
#include "tests/controllers/runtime/fake_client.h"
#include "tests/controllers/runtime/fake_runtime.h"
#include "tests/controllers/runtime/informer_testing.h"

namespace terrarium::controllers {
namespace {

using api::Json;
using controllers_testing::FakeClient;
using controllers_testing::FakeRuntime;
using controllers_testing::Names;
using controllers_testing::NodeIndex;
using controllers_testing::NodeOf;
using controllers_testing::Pod;

class InformerIndexTest : public ::testing::Test {
 protected:
  void Start() {
    informer_.Start();
    runtime_.RunReady();
  }

  FakeRuntime runtime_;
  FakeClient client_{runtime_};
  Informer informer_{runtime_.env(), client_, "pods"};
};

TEST_F(InformerIndexTest, FindsByNameNamespaceAndIndexInTheOrderOfNames) {
  informer_.AddIndex("node", NodeIndex);
  client_.Put("pods", Pod("b", "n1"));
  client_.Put("pods", Pod("a", "n1", "zoo"));
  client_.Put("pods", Pod("a", "n1"));
  client_.Put("pods", Pod("c", "n2"));
  client_.Put("pods", Pod("d"));
  Start();
  EXPECT_EQ(informer_.Get({"default", "b"})->header().name, "b");
  EXPECT_EQ(informer_.Get({"default", "x"}), nullptr);
  EXPECT_EQ(informer_.Get({"other", "b"}), nullptr);
  EXPECT_EQ(Names(informer_.List()), "default/a default/b default/c default/d zoo/a");
  EXPECT_EQ(Names(informer_.List("default")), "default/a default/b default/c default/d");
  EXPECT_EQ(Names(informer_.List("zo")), "");
  EXPECT_EQ(Names(informer_.ByIndex("node", "n1")), "default/a default/b zoo/a");
  EXPECT_EQ(Names(informer_.ByIndex("node", "n3")), "");
}

TEST_F(InformerIndexTest, IndexFollowsChanges) {
  informer_.AddIndex("node", NodeIndex);
  client_.Put("pods", Pod("a", "n1"));
  client_.Put("pods", Pod("b", "n1"));
  Start();
  client_.Put("pods", Pod("a", "n2"));
  runtime_.RunReady();
  EXPECT_EQ(Names(informer_.ByIndex("node", "n1")), "default/b");
  EXPECT_EQ(Names(informer_.ByIndex("node", "n2")), "default/a");
  Json same_node = Pod("a", "n2");
  same_node["metadata"]["labels"]["x"] = "y";
  client_.Put("pods", same_node);
  client_.Remove("pods", {"default", "b"});
  runtime_.RunReady();
  EXPECT_EQ(Names(informer_.ByIndex("node", "n1")), "");
  ASSERT_EQ(Names(informer_.ByIndex("node", "n2")), "default/a");
  EXPECT_EQ(informer_.ByIndex("node", "n2")[0]->header().labels.size(), 1u) << "the newest state";
}

TEST_F(InformerIndexTest, IndexFollowsAListAfterA410) {
  informer_.AddIndex("node", NodeIndex);
  client_.Put("pods", Pod("a", "n1"));
  client_.Put("pods", Pod("b", "n1"));
  Start();
  client_.Put("pods", Pod("a", "n2"));
  client_.Remove("pods", {"default", "b"});
  client_.Compact();
  informer_.Disconnect();
  runtime_.RunReady();
  EXPECT_EQ(Names(informer_.ByIndex("node", "n1")), "");
  EXPECT_EQ(Names(informer_.ByIndex("node", "n2")), "default/a");
}

TEST_F(InformerIndexTest, ObjectMayHaveSeveralIndexValues) {
  informer_.AddIndex("letters", [](const api::Object& object) {
    std::vector<std::string> letters;
    for (char c : NodeOf(object)) letters.emplace_back(1, c);
    return letters;
  });
  client_.Put("pods", Pod("a", "xyx"));
  client_.Put("pods", Pod("b", "y"));
  Start();
  EXPECT_EQ(Names(informer_.ByIndex("letters", "x")), "default/a");
  EXPECT_EQ(Names(informer_.ByIndex("letters", "y")), "default/a default/b");
  client_.Put("pods", Pod("a", "z"));
  runtime_.RunReady();
  EXPECT_EQ(Names(informer_.ByIndex("letters", "x")), "");
  EXPECT_EQ(Names(informer_.ByIndex("letters", "y")), "default/b");
  EXPECT_EQ(Names(informer_.ByIndex("letters", "z")), "default/a");
}

TEST_F(InformerIndexTest, IndexAddedLaterCoversWhatThereIsAndTheSameNameIsTheSameIndex) {
  client_.Put("pods", Pod("a", "n1"));
  Start();
  informer_.AddIndex("node", NodeIndex);
  informer_.AddIndex("node", [](const api::Object&) { return std::vector<std::string>{"wrong"}; });
  client_.Put("pods", Pod("b", "n1"));
  runtime_.RunReady();
  EXPECT_EQ(Names(informer_.ByIndex("node", "n1")), "default/a default/b");
  EXPECT_EQ(Names(informer_.ByIndex("node", "wrong")), "");
}

}  // namespace
}  // namespace terrarium::controllers
