#include <gtest/gtest.h>

#include "api/base/errors.h"
#include "controllers/runtime/informer.h"
#include "tests/controllers/runtime/fake_client.h"
#include "tests/controllers/runtime/fake_runtime.h"
#include "tests/controllers/runtime/informer_testing.h"

namespace terrarium::controllers {
namespace {

using controllers_testing::FakeClient;
using controllers_testing::FakeRuntime;
using controllers_testing::Pod;
using std::chrono::seconds;

class InformerSetTest : public ::testing::Test {
 protected:
  FakeRuntime runtime_;
  FakeClient client_{runtime_};
  InformerSet set_{runtime_.env(), client_};
};

TEST_F(InformerSetTest, ThereIsOneInformerForEachResource) {
  Informer& pods = set_.For("pods");
  EXPECT_EQ(&set_.For("pods"), &pods);
  EXPECT_NE(&set_.For("nodes"), &pods);
  EXPECT_EQ(pods.resource(), "pods");
  EXPECT_EQ(set_.all().size(), 2u);
  EXPECT_EQ(set_.all().begin()->first, "nodes");
}

TEST_F(InformerSetTest, HasSyncedWhenAllHave) {
  set_.For("nodes");
  set_.For("pods");
  client_.list_failures.push_back(api::ServiceUnavailable("not now"));
  int synced = 0;
  set_.OnSynced([&] { ++synced; });
  set_.Start();
  EXPECT_FALSE(set_.HasSynced());
  EXPECT_EQ(synced, 0);
  runtime_.Advance(seconds(1));
  EXPECT_TRUE(set_.HasSynced());
  EXPECT_EQ(synced, 1);
  set_.OnSynced([&] { ++synced; });
  EXPECT_EQ(synced, 2) << "immediately";
}

TEST_F(InformerSetTest, OnSyncedWithoutInformersIsCalledImmediately) {
  int synced = 0;
  set_.OnSynced([&] { ++synced; });
  EXPECT_EQ(synced, 1);
}

TEST_F(InformerSetTest, InformerRequestedAfterTheStartIsStartedImmediately) {
  set_.Start();
  EXPECT_TRUE(set_.For("pods").HasSynced());
  EXPECT_EQ(client_.lists, 1);
}

TEST_F(InformerSetTest, InformerRequestedByAHandlerDuringTheStartListsOnce) {
  client_.Put("nodes", Pod("x"));
  set_.For("nodes").AddHandler(
      {.added = [&](const ObjectPtr&) { set_.For("pods"); }, .updated = {}, .deleted = {}});
  set_.Start();
  EXPECT_TRUE(set_.HasSynced());
  EXPECT_EQ(client_.lists, 2);
}

}  // namespace
}  // namespace terrarium::controllers
