// Concurrent creations, with a store that commits when the test lets it.

#include <deque>
#include <memory>
#include <string>
#include <utility>

#include <gtest/gtest.h>
#include <spdlog/sinks/null_sink.h>
#include <spdlog/spdlog.h>

#include "api/base/env.h"
#include "api/base/feature_gates.h"
#include "api/base/prng.h"
#include "api/json_access.h"
#include "api/write_request.h"
#include "apiserver/handler.h"
#include "storage/memory_store.h"
#include "tests/wire/manual_runtime.h"

namespace terrarium::apiserver {
namespace {

using api::Json;

// Holds writes back while `hold` is set.
class HeldStore : public storage::Store {
 public:
  bool hold = false;
  // Commits the held writes in order, and the writes that follow from them.
  void Release() {
    while (!held_.empty()) {
      auto [write, done] = std::move(held_.front());
      held_.pop_front();
      store_->Submit(std::move(write), std::move(done));
    }
  }

  void Submit(storage::Write write, storage::WriteDone done) override {
    if (hold) return held_.emplace_back(std::move(write), std::move(done)), void();
    store_->Submit(std::move(write), std::move(done));
  }
  storage::ObjectPtr Get(const storage::ObjectKey& key) const override { return store_->Get(key); }
  api::Result<storage::Listing> List(const storage::ListQuery& query) const override {
    return store_->List(query);
  }
  std::size_t Count(std::string_view resource) const override { return store_->Count(resource); }
  api::Result<std::unique_ptr<storage::Watch>> StartWatch(const storage::WatchQuery& query) override {
    return store_->StartWatch(query);
  }
  storage::ListAndWatchResult ListAndWatch(const storage::WatchQuery& query) override {
    return store_->ListAndWatch(query);
  }
  std::int64_t CurrentRevision() const override { return store_->CurrentRevision(); }
  std::int64_t CompactedRevision() const override { return store_->CompactedRevision(); }
  void Compact(std::int64_t revision) override { store_->Compact(revision); }
  void Shutdown() override { store_->Shutdown(); }

 private:
  std::unique_ptr<storage::Store> store_ = storage::OpenMemoryStore();
  std::deque<std::pair<storage::Write, storage::WriteDone>> held_;
};

class QuotaAdmission : public testing::Test {
 protected:
  // HTTP code of the response; 0 until it arrives.
  using Answer = std::shared_ptr<api::Status>;

  Answer Send(api::WriteRequest request) {
    auto answer = std::make_shared<api::Status>();
    answer->code = 0;
    handler_->Write(std::move(request), {}, [answer](api::Client::Written written) {
      if (written) {
        answer->code = 200;
      } else {
        *answer = written.status();
      }
    });
    return answer;
  }

  Answer CreatePod(const std::string& name) {
    return Send(api::RequestToCreate(
        "pods", "default",
        {{"metadata", {{"name", name}}}, {"spec", {{"containers", {{{"name", "c"}, {"image", "i"}}}}}}}));
  }

  // A quota with the status that the controller has written.
  void MakeQuota(const std::string& name, const std::string& pods) {
    Json quota = {{"metadata", {{"name", name}, {"namespace", "default"}}},
                  {"spec", {{"hard", {{"pods", pods}}}}}};
    ASSERT_EQ(Send(api::RequestToCreate("resourcequotas", "default", quota))->code, 200);
    quota["status"] = {{"hard", {{"pods", pods}}}, {"used", {{"pods", "0"}}}};
    ASSERT_EQ(Send(api::RequestToUpdate("resourcequotas", quota, "status"))->code, 200);
  }

  std::string Used(const std::string& quota) const {
    return std::string(
        api::StringAt(store_.Get({"resourcequotas", "default", quota})->Parse(), "status", "used", "pods"));
  }
  std::size_t Pods() const { return store_.Count("pods"); }

  wire::ManualRuntime runtime_{api::Time(std::chrono::seconds(1'767'225'600))};
  api::Prng prng_{1};
  api::FeatureGates gates_;
  spdlog::logger log_{"test", std::make_shared<spdlog::sinks::null_sink_mt>()};
  HeldStore store_;
  std::unique_ptr<Handler> handler_ = Handler::Make({runtime_, runtime_, prng_, gates_, log_}, store_, {});
};

TEST_F(QuotaAdmission, OfTwoConcurrentCreationsOneGetsTheLastPlace) {
  MakeQuota("q", "1");
  store_.hold = true;
  Answer a = CreatePod("a");
  Answer b = CreatePod("b");
  store_.Release();
  EXPECT_EQ(a->code, 200);
  EXPECT_EQ(b->code, 403);
  EXPECT_EQ(b->message,
            "pods \"b\" is forbidden: exceeded quota: q, requested: pods=1, used: pods=1, limited: pods=1");
  EXPECT_EQ(Pods(), 1u);
  EXPECT_EQ(Used("q"), "1");
}

TEST_F(QuotaAdmission, ANameTakenMeanwhileReturnsTheReservation) {
  MakeQuota("q", "5");
  store_.hold = true;
  Answer first = CreatePod("a");
  Answer second = CreatePod("a");
  store_.Release();
  EXPECT_EQ(first->code, 200);
  EXPECT_EQ(second->code, 409);
  EXPECT_EQ(Used("q"), "1");
}

TEST_F(QuotaAdmission, ATakenNameReservesNothing) {
  MakeQuota("q", "5");
  EXPECT_EQ(CreatePod("a")->code, 200);
  const std::int64_t before = store_.CurrentRevision();
  EXPECT_EQ(CreatePod("a")->code, 409);
  EXPECT_EQ(store_.CurrentRevision(), before);
}

TEST_F(QuotaAdmission, AReservationIsReturnedWhenTheNextQuotaRefuses) {
  MakeQuota("roomy", "5");
  MakeQuota("tight", "1");
  store_.hold = true;
  Answer a = CreatePod("a");
  Answer b = CreatePod("b");
  store_.Release();
  EXPECT_EQ(a->code, 200);
  EXPECT_EQ(b->code, 403);
  EXPECT_EQ(Used("roomy"), "1");
  EXPECT_EQ(Used("tight"), "1");
}

TEST_F(QuotaAdmission, AQuotaThatGoesMeanwhileLimitsNothing) {
  MakeQuota("q", "1");
  store_.hold = true;
  Answer gone = Send(api::RequestToDelete("resourcequotas", {"default", "q"}, {}));
  Answer a = CreatePod("a");
  store_.Release();
  EXPECT_EQ(gone->code, 200);
  EXPECT_EQ(a->code, 200);
  EXPECT_EQ(Pods(), 1u);
}

TEST_F(QuotaAdmission, ARefusalWritesNothing) {
  MakeQuota("q", "0");
  const std::int64_t before = store_.CurrentRevision();
  EXPECT_EQ(CreatePod("a")->code, 403);
  EXPECT_EQ(store_.CurrentRevision(), before);
}

}  // namespace
}  // namespace terrarium::apiserver
