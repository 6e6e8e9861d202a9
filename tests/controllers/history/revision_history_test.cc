#include "controllers/history/revision_history.h"

#include <optional>

#include <gtest/gtest.h>

#include "api/base/errors.h"
#include "tests/controllers/runtime/fake_client.h"
#include "tests/controllers/runtime/fake_runtime.h"

namespace terrarium::controllers::history {
namespace {

using api::Json;
using controllers_testing::FakeClient;
using controllers_testing::FakeRuntime;

class RevisionHistoryTest : public ::testing::Test {
 protected:
  RevisionHistoryTest() {
    owner_ = client_.Put("statefulsets", {{"metadata", {{"name", "web"}, {"namespace", "default"}}}});
    informers_.Start();
    runtime_.RunReady();
  }

  static Json Data(int number) { return {{"spec", {{"template", {{"n", number}}}}}}; }
  ObjectPtr Put(const std::string& name, std::int64_t number, const std::string& app = "web",
                const std::string& controller_uid = "") {
    Json revision = {{"metadata", {{"name", name}, {"namespace", "default"}, {"labels", {{"app", app}}}}},
                     {"data", Data(static_cast<int>(number))},
                     {"revision", number}};
    if (!controller_uid.empty())
      revision["metadata"]["ownerReferences"] = Json::array({{{"apiVersion", "apps/v1"},
                                                              {"kind", "StatefulSet"},
                                                              {"name", "web"},
                                                              {"uid", controller_uid},
                                                              {"controller", true}}});
    ObjectPtr put = client_.Put("controllerrevisions", std::move(revision));
    runtime_.RunReady();
    return put;
  }
  const std::string& uid() const { return owner_->header().uid; }
  Json NewOne(int data) {
    Json revision = NewRevision(*owner_, owner_->Parse(), "StatefulSet", Data(data), 1);
    revision["metadata"]["labels"] = {{"app", "web"}};
    return revision;
  }

  template <typename T>
  static api::Task<void> Store(api::Task<T> task, std::optional<T>* result) {
    result->emplace(co_await std::move(task));
  }
  template <typename T>
  T Run(api::Task<T> task) {
    std::optional<T> result;
    api::TaskScope scope;
    scope.Spawn(Store(std::move(task), &result));
    runtime_.RunReady();
    return std::move(*result);
  }
  static std::string Names(const std::vector<ObjectPtr>& revisions) {
    std::string names;
    for (const ObjectPtr& revision : revisions) names += (names.empty() ? "" : " ") + revision->header().name;
    return names;
  }

  FakeRuntime runtime_;
  FakeClient client_{runtime_};
  InformerSet informers_{runtime_.env(), client_};
  Metrics metrics_;
  EventRecorder recorder_{runtime_.env(), client_};
  WhyLog why_;
  ControllerContext context_{runtime_.env(), client_, informers_, recorder_, metrics_, why_};
  RevisionHistory history_{context_, "statefulsets", "StatefulSet"};
  api::LabelSelector selector_ = *api::LabelSelector::Parse("app=web");
  ObjectPtr owner_;
};

TEST_F(RevisionHistoryTest, ListsOwnRevisionsAndMatchingOrphansOldestFirst) {
  Put("b", 2, "web", uid());
  Put("a", 3, "web");
  Put("c", 1, "web", uid());
  Put("other", 4, "db");
  Put("foreign", 5, "web", "another");
  EXPECT_EQ(Names(history_.List(*owner_, selector_)), "c b a");
  EXPECT_TRUE(client_.writes.empty());
}

TEST_F(RevisionHistoryTest, ClaimAdoptsAndReleases) {
  Put("mine", 2, "web", uid());
  Put("orphan", 1, "web");
  Put("strayed", 3, "db", uid());
  auto claimed = Run(history_.Claim(owner_, selector_));
  ASSERT_TRUE(claimed.ok());
  EXPECT_EQ(Names(*claimed), "orphan mine");
  EXPECT_EQ(client_.Find("controllerrevisions", {"default", "orphan"})->controller()->uid, uid());
  EXPECT_EQ(client_.Find("controllerrevisions", {"default", "strayed"})->controller(), nullptr);
}

TEST_F(RevisionHistoryTest, CreatingWhatExistsReturnsIt) {
  Json revision = NewOne(1);
  auto first = Run(history_.CreateByData(revision, "web", 0));
  ASSERT_TRUE(first.ok());
  auto again = Run(history_.CreateByData(revision, "web", 0));
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(again->revision->header().uid, first->revision->header().uid);
  EXPECT_EQ(again->collision_count, 0);
}

TEST_F(RevisionHistoryTest, ACollisionIncrementsTheCount) {
  Json taken = NewOne(1);
  NameByData(taken, "web", 0);
  taken["data"] = Data(2);
  client_.Put("controllerrevisions", taken);
  auto created = Run(history_.CreateByData(NewOne(1), "web", 0));
  ASSERT_TRUE(created.ok());
  EXPECT_EQ(created->collision_count, 1);
  EXPECT_EQ(created->revision->header().name, RevisionName("web", DataHash(Data(1), 1)));

  Json once = NewOne(1);
  NameByData(once, "web", 0);
  auto refused = Run(history_.Create(once));
  ASSERT_FALSE(refused.ok());
  EXPECT_TRUE(refused.status().Is(api::reason::kAlreadyExists));
}

TEST_F(RevisionHistoryTest, RenumberRetriesWithTheLiveRevision) {
  ObjectPtr stale = Put("a", 1, "web", uid());
  Put("a", 2, "web", uid());
  auto written = Run(history_.Renumber(stale, 7));
  ASSERT_TRUE(written.ok());
  EXPECT_EQ(NumberOf(**written), 7);
  client_.writes.clear();
  ASSERT_TRUE(Run(history_.Renumber(*written, 7)).ok());
  EXPECT_TRUE(client_.writes.empty());
}

TEST_F(RevisionHistoryTest, DeletingWhatIsGoneSucceeds) {
  ObjectPtr revision = Put("a", 1, "web", uid());
  EXPECT_TRUE(Run(history_.Delete(revision)).ok());
  EXPECT_EQ(client_.Find("controllerrevisions", {"default", "a"}), nullptr);
  EXPECT_TRUE(Run(history_.Delete(revision)).ok());
  client_.write_failures.push_back(api::InternalError("down"));
  EXPECT_FALSE(Run(history_.Delete(revision)).ok());
}

}  // namespace
}  // namespace terrarium::controllers::history
