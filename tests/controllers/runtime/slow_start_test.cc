#include "controllers/runtime/slow_start.h"

#include <optional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/base/errors.h"
#include "tests/controllers/runtime/fake_client.h"
#include "tests/controllers/runtime/fake_runtime.h"

namespace terrarium::controllers {
namespace {

using testing::ElementsAre;
using testing::SizeIs;

class SlowStartTest : public testing::Test {
 protected:
  using Answers = std::vector<api::Client::Written>;

  static api::Task<void> Store(api::Task<Answers> sending, std::optional<Answers>* answers) {
    Answers sent = co_await std::move(sending);
    answers->emplace(std::move(sent));
  }
  // The number of requests per batch.
  std::vector<std::size_t> Send(std::size_t count) {
    auto make = [](std::size_t i) {
      return api::WriteRequest{.resource = "pods",
                               .object = {"default", ""},
                               .subresource = "",
                               .body = {{"metadata", {{"name", "p" + std::to_string(i)}}}}};
    };
    api::TaskScope scope;
    std::vector<std::size_t> batches;
    client_.HoldWrites();
    scope.Spawn(Store(SendSlowStart(client_, count, make), &answers_));
    for (std::size_t sent = 0; client_.writes.size() > sent;) {
      batches.push_back(client_.writes.size() - sent);
      sent = client_.writes.size();
      client_.ReleaseWrites();
      client_.HoldWrites();
      runtime_.RunReady();
    }
    return batches;
  }

  controllers_testing::FakeRuntime runtime_;
  controllers_testing::FakeClient client_{runtime_};
  std::optional<Answers> answers_;
};

TEST_F(SlowStartTest, BatchesDouble) {
  EXPECT_THAT(Send(20), ElementsAre(1, 2, 4, 8, 5));
  EXPECT_THAT(*answers_, SizeIs(20));
  EXPECT_EQ((*answers_)[19]->get()->header().name, "p19");
}

TEST_F(SlowStartTest, AfterAFailureTheRestIsNotSent) {
  client_.write_failures = {std::nullopt, std::nullopt, api::InternalError("no")};
  EXPECT_THAT(Send(20), ElementsAre(1, 2));
  ASSERT_THAT(*answers_, SizeIs(3));
  EXPECT_TRUE((*answers_)[1].ok());
  EXPECT_FALSE((*answers_)[2].ok());
}

TEST_F(SlowStartTest, FirstRequestThatFailsIsTheOnlyOne) {
  client_.write_failures = {api::InternalError("no")};
  EXPECT_THAT(Send(500), ElementsAre(1));
  EXPECT_THAT(*answers_, SizeIs(1));
}

TEST_F(SlowStartTest, AnEmptyBatchCompletesImmediately) {
  EXPECT_THAT(Send(0), ElementsAre());
  EXPECT_THAT(*answers_, SizeIs(0));
}

}  // namespace
}  // namespace terrarium::controllers
