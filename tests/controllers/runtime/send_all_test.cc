#include "controllers/runtime/send_all.h"

#include <optional>

#include <gtest/gtest.h>

#include "api/base/errors.h"
#include "tests/controllers/runtime/fake_client.h"
#include "tests/controllers/runtime/fake_runtime.h"

namespace terrarium::controllers {
namespace {

using controllers_testing::FakeClient;
using controllers_testing::FakeRuntime;
using Answers = std::vector<api::Client::Written>;

api::WriteRequest CreateOf(const std::string& name) {
  api::WriteRequest request;
  request.resource = "pods";
  request.object.ns = "default";
  request.body = {{"metadata", {{"name", name}}}};
  return request;
}

api::Task<void> Collect(api::Client* client, std::vector<api::WriteRequest> requests,
                        std::optional<Answers>* answers) {
  Answers sent = co_await SendAll(*client, std::move(requests));
  answers->emplace(std::move(sent));
}

TEST(SendAll, AnswersComeTogetherInTheOrderOfTheRequests) {
  FakeRuntime runtime;
  FakeClient client(runtime);
  client.write_failures = {std::nullopt, api::InternalError("no room")};
  client.HoldWrites();
  std::optional<Answers> answers;
  api::TaskScope scope;
  scope.Spawn(Collect(&client, {CreateOf("a"), CreateOf("b"), CreateOf("c")}, &answers));
  runtime.RunReady();
  EXPECT_EQ(client.writes.size(), 3u) << "all are in flight";
  EXPECT_FALSE(answers.has_value());
  client.ReleaseWrites();
  runtime.RunReady();
  ASSERT_TRUE(answers.has_value());
  ASSERT_EQ(answers->size(), 3u);
  EXPECT_EQ((*(*answers)[0])->header().name, "a");
  EXPECT_FALSE((*answers)[1].ok());
  EXPECT_EQ((*(*answers)[2])->header().name, "c");
}

TEST(SendAll, AnEmptyListCompletesImmediately) {
  FakeRuntime runtime;
  FakeClient client(runtime);
  std::optional<Answers> answers;
  api::TaskScope scope;
  scope.Spawn(Collect(&client, {}, &answers));
  ASSERT_TRUE(answers.has_value());
  EXPECT_TRUE(answers->empty());
}

TEST(SendAll, AnswersAfterTheTasksDestructionAreIgnored) {
  FakeRuntime runtime;
  FakeClient client(runtime);
  client.HoldWrites();
  std::optional<Answers> answers;
  {
    api::TaskScope scope;
    scope.Spawn(Collect(&client, {CreateOf("a")}, &answers));
  }
  client.ReleaseWrites();
  runtime.RunReady();
  EXPECT_FALSE(answers.has_value());
}

}  // namespace
}  // namespace terrarium::controllers
