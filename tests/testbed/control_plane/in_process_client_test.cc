#include "apiserver/in_process_client.h"

#include <optional>
#include <vector>

#include <gtest/gtest.h>

#include "api/base/task.h"
#include "api/json_access.h"
#include "testbed/embedding/testbed.h"

namespace terrarium::testbed {
namespace {

using namespace std::chrono_literals;
using api::Client;
using api::Json;
using api::WatchEvent;

Json ConfigMap(const std::string& name, const std::string& value) {
  return {{"metadata", {{"name", name}, {"namespace", "default"}}}, {"data", {{"k", value}}}};
}

class InProcessClientTest : public ::testing::Test {
 protected:
  InProcessClientTest()
      : env{bed.control_plane().env().clock, bed.control_plane().runtime().Lane("component"),
            bed.control_plane().env().prng, bed.control_plane().env().gates, bed.control_plane().env().log},
        client(apiserver::MakeInProcessClient(env, bed.control_plane().handler(), bed.control_plane().store(),
                                              {})) {}

  // The response to a write, after all ready work has run.
  Client::Written Answer(api::Awaitable<Client::Written> write) {
    std::optional<Client::Written> answer;
    scope.Spawn(Keep(std::move(write), &answer));
    EXPECT_FALSE(answer.has_value()) << "answers come later, on the lane";
    bed.clock().Settle();
    return answer.has_value() ? std::move(*answer) : Client::Written(api::ObjectPtr());
  }
  static api::Task<void> Keep(api::Awaitable<Client::Written> write, std::optional<Client::Written>* answer) {
    Client::Written written = co_await std::move(write);
    *answer = std::move(written);
  }

  Testbed bed{{.controllers = "", .kubelet = false, .scheduler = false, .nodes = 0}};
  api::Env env;
  std::unique_ptr<Client> client;
  api::TaskScope scope;
};

TEST_F(InProcessClientTest, WritesAreAdmittedDefaultedAndValidatedLikeAnyOthers) {
  Json pod = {{"metadata", {{"name", "web"}}},
              {"spec", {{"containers", {{{"name", "web"}, {"image", "x"}}}}}}};
  auto created = Answer(client->Create("pods", "default", pod));
  ASSERT_TRUE(created.ok());
  EXPECT_EQ(api::StringAt(*(*created)->Document(), "spec", "restartPolicy"), "Always");
  EXPECT_EQ(api::StringAt(*(*created)->Document(), "status", "phase"), "Pending");

  auto again = Answer(client->Create("pods", "default", pod));
  ASSERT_FALSE(again.ok());
  EXPECT_EQ(again.status().message, R"(pods "web" already exists)");
  pod["metadata"]["name"] = "Not_A_Name";
  auto bad = Answer(client->Create("pods", "default", pod));
  ASSERT_FALSE(bad.ok());
  EXPECT_EQ(bad.status().code, 422);
}

TEST_F(InProcessClientTest, AnUpdateOfAnOldVersionIsAConflict) {
  Json first = *(*Answer(client->Create("configmaps", "default", ConfigMap("c", "a"))))->Document();
  Json second = first;
  second["data"]["k"] = "b";
  ASSERT_TRUE(Answer(client->Update("configmaps", second)).ok());
  auto stale = Answer(client->Update("configmaps", second));
  ASSERT_FALSE(stale.ok());
  EXPECT_TRUE(stale.status().Is(api::reason::kConflict));
}

TEST_F(InProcessClientTest, PatchesOfEveryKindAndSubresourcesWork) {
  Testbed::Must(bed.Create("configmaps", "default", ConfigMap("c", "a")));
  Json merge = {{"data", {{"k", "b"}}}};
  EXPECT_EQ(api::StringAt(*(*Answer(client->Patch("configmaps", {"default", "c"}, merge)))->Document(),
                          "data", "k"),
            "b");
  Json operations = Json::array({{{"op", "remove"}, {"path", "/data/k"}}});
  auto patched = Answer(client->Patch("configmaps", {"default", "c"}, operations, "", api::PatchKind::kJson));
  ASSERT_TRUE(patched.ok());
  EXPECT_TRUE(api::StringAt(*(*patched)->Document(), "data", "k").empty());

  auto missing = Answer(client->Patch("configmaps", {"default", "none"}, merge));
  ASSERT_FALSE(missing.ok());
  EXPECT_TRUE(missing.status().Is(api::reason::kNotFound));
  auto no_such = Answer(client->Patch("configmaps", {"default", "c"}, merge, "status"));
  ASSERT_FALSE(no_such.ok());
  EXPECT_EQ(no_such.status().code, 404);
}

TEST_F(InProcessClientTest, ADeleteKeepsItsPreconditions) {
  api::ObjectPtr object = Testbed::Must(bed.Create("configmaps", "default", ConfigMap("c", "a")));
  auto refused = Answer(client->Delete("configmaps", {"default", "c"}, {.uid = "another client"}));
  ASSERT_FALSE(refused.ok());
  EXPECT_TRUE(refused.status().Is(api::reason::kConflict));
  EXPECT_TRUE(Answer(client->Delete("configmaps", {"default", "c"}, {.uid = object->header().uid})).ok());
  EXPECT_EQ(bed.Get("configmaps", "default", "c"), nullptr);
}

TEST_F(InProcessClientTest, AListAndTheWatchFromItsRevisionMissNothing) {
  Testbed::Must(bed.Create("configmaps", "default", ConfigMap("a", "1")));
  auto list = client->List("configmaps", std::nullopt);
  ASSERT_EQ(list->items.size(), 1u);
  auto watch = std::move(*client->Watch("configmaps", list->revision));
  int woken = 0;
  watch->SetWake([&woken] { ++woken; });
  Testbed::Must(bed.Create("configmaps", "default", ConfigMap("b", "1")));
  Testbed::Must(bed.Update("configmaps", ConfigMap("b", "2")));
  api::ObjectPtr gone = Testbed::Must(bed.Delete("configmaps", {"default", "a"}));
  EXPECT_EQ(woken, 0) << "wake-ups come on the lane";
  bed.clock().Settle();
  EXPECT_GE(woken, 1);
  std::vector<WatchEvent> events;
  EXPECT_EQ(watch->Take(100, events), api::ClientWatch::State::kOpen);
  ASSERT_EQ(events.size(), 3u);
  EXPECT_EQ(events[0].type, WatchEvent::Type::kAdded);
  EXPECT_EQ(events[1].type, WatchEvent::Type::kModified);
  EXPECT_EQ(events[2].type, WatchEvent::Type::kDeleted);
  EXPECT_EQ(watch->DeliveredRevision(), events[2].object->revision());
}

TEST_F(InProcessClientTest, AWatchFromACompactedRevisionIsExpired) {
  std::int64_t old = bed.control_plane().store().CurrentRevision();
  Testbed::Must(bed.Create("configmaps", "default", ConfigMap("a", "1")));
  Testbed::Must(bed.Create("configmaps", "default", ConfigMap("b", "1")));
  bed.control_plane().store().Compact(bed.control_plane().store().CurrentRevision());
  auto watch = client->Watch("configmaps", old);
  ASSERT_FALSE(watch.ok());
  EXPECT_TRUE(watch.status().Is(api::reason::kExpired));
}

TEST_F(InProcessClientTest, ADestroyedTaskIsNotResumed) {
  std::optional<Client::Written> answer;
  {
    api::TaskScope crashed;
    crashed.Spawn(Keep(client->Create("configmaps", "default", ConfigMap("c", "a")), &answer));
  }
  bed.clock().Settle();
  EXPECT_FALSE(answer.has_value());
  EXPECT_NE(bed.Get("configmaps", "default", "c"), nullptr) << "what was sent has happened all the same";
}

}  // namespace
}  // namespace terrarium::testbed
