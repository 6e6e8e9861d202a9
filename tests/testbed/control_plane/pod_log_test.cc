// kubectl logs of pods on a virtual clock: lines printed so far, and lines printed as time passes.

#include <gtest/gtest.h>

#include "api/json_access.h"
#include "testbed/embedding/testbed.h"

namespace terrarium::testbed {
namespace {

using namespace std::chrono_literals;
using api::Json;
using State = apiserver::ResponseStream::State;

class PodLogs : public ::testing::Test {
 protected:
  PodLogs() : bed({.nodes = 1}) {}

  void AddPod(const Json& script) {
    Json annotations = Json::object();
    for (const auto& [key, value] : script.items()) annotations["terrarium.dev/" + key] = value;
    Json pod = {{"metadata", {{"name", "web"}, {"annotations", annotations}}},
                {"spec", {{"containers", {{{"name", "c"}, {"image", "i"}}}}}}};
    bed.Must(bed.Create("pods", "default", pod));
    bed.clock().Advance(0s);
  }

  apiserver::Response Log(std::vector<std::pair<std::string, std::string>> query = {}) {
    apiserver::Request request;
    request.method = "GET";
    request.path = "/api/v1/namespaces/default/pods/web/log";
    request.query = std::move(query);
    return bed.Serve(std::move(request));
  }
  std::string Message(const apiserver::Response& response) {
    return std::string(api::StringAt(Json::parse(response.body), "message"));
  }

  Testbed bed;
};

// The lines that a stream has now, and whether it was woken for them.
struct Follower {
  explicit Follower(apiserver::Response response) : stream(std::move(response.stream)) {
    stream->SetWake([this] { ++wakes; });
  }
  std::string Take() {
    std::string out;
    state = stream->Read(1 << 20, out);
    return out;
  }
  std::unique_ptr<apiserver::ResponseStream> stream;
  int wakes = 0;
  State state = State::kOpen;
};

TEST_F(PodLogs, AFollowedLogGetsLinesAsTimePassesUntilTheContainerEnds) {
  AddPod({{"log", "tick\n"}, {"log-every", "10s"}, {"run-for", "25s"}});
  apiserver::Response response = Log({{"follow", "true"}, {"timestamps", "true"}});
  EXPECT_EQ(response.content_type, "text/plain");
  Follower follower(std::move(response));
  std::string first = follower.Take();
  EXPECT_TRUE(first.ends_with("Z tick\n")) << first;
  EXPECT_EQ(follower.Take(), "");

  bed.clock().Advance(9s);
  EXPECT_EQ(follower.wakes, 0);
  bed.clock().Advance(1s);
  EXPECT_EQ(follower.wakes, 1);
  EXPECT_TRUE(follower.Take().ends_with("Z tick\n"));
  bed.clock().Advance(10s);
  EXPECT_EQ(follower.wakes, 2);
  EXPECT_TRUE(follower.Take().ends_with("Z tick\n"));
  EXPECT_EQ(follower.state, State::kOpen);

  bed.clock().Advance(5s);
  EXPECT_EQ(follower.wakes, 3);
  EXPECT_EQ(follower.Take(), "");
  EXPECT_EQ(follower.state, State::kEnd);
}

TEST_F(PodLogs, AFollowedLogEndsWithADeletedPod) {
  AddPod({{"log", "hello\n"}, {"stop-after", "3s"}});
  Follower follower(Log({{"follow", "true"}}));
  EXPECT_EQ(follower.Take(), "hello\n");
  bed.Must(bed.Delete("pods", {"default", "web"}));
  bed.clock().Advance(2s);
  follower.Take();
  EXPECT_EQ(follower.state, State::kOpen);
  bed.clock().Advance(1s);
  EXPECT_GT(follower.wakes, 0);
  follower.Take();
  EXPECT_EQ(follower.state, State::kEnd);
}

TEST_F(PodLogs, AFollowedLogDoesNotKeepTheClusterBusy) {
  AddPod({{"log", "tick\n"}, {"log-every", "1s"}});
  Follower follower(Log({{"follow", "true"}}));
  follower.Take();
  const api::Time before = bed.Now();
  bed.clock().RunUntilIdle(1h);
  EXPECT_LT(bed.Now() - before, 1min);
}

TEST_F(PodLogs, TheRunBeforeIsThereAfterARestart) {
  AddPod({{"log", "hello\n"}, {"log-every", "2s"}, {"run-for", "5s"}, {"exit-code", "1"}});
  EXPECT_EQ(Log().body, "hello\n");
  apiserver::Response none = Log({{"previous", "true"}});
  EXPECT_EQ(none.code, 400);
  EXPECT_EQ(Message(none), "previous terminated container \"c\" in pod \"web\" not found");
  bed.clock().Advance(5s);  // it has ended and started again
  EXPECT_EQ(Log().body, "hello\n");
  EXPECT_EQ(Log({{"previous", "true"}}).body, "hello\nhello\nhello\n");
  bed.clock().Advance(6s);  // it has ended and waits for its back-off
  EXPECT_EQ(Log().body, "hello\nhello\nhello\n");
  EXPECT_EQ(Log({{"previous", "true"}}).body, "hello\nhello\nhello\n");
}

TEST_F(PodLogs, OptionsChooseLines) {
  AddPod({{"log", "tick\n"}, {"log-every", "10s"}});
  bed.clock().Advance(35s);
  EXPECT_EQ(Log().body, "tick\ntick\ntick\ntick\n");
  EXPECT_EQ(Log({{"tailLines", "2"}}).body, "tick\ntick\n");
  EXPECT_EQ(Log({{"sinceSeconds", "10"}}).body, "tick\n");
  EXPECT_EQ(Log({{"sinceTime", api::FormatTime(bed.Now() - 16s)}}).body, "tick\ntick\n");
  EXPECT_EQ(Log({{"limitBytes", "7"}}).body, "tick\nti");
}

TEST_F(PodLogs, AKubeletThatIsDownCannotBeAsked) {
  AddPod({{"log", "hello\n"}});
  ASSERT_TRUE(bed.Stop("kubelet").ok());
  bed.clock().Advance(0s);
  apiserver::Response response = Log();
  EXPECT_EQ(response.code, 500);
  EXPECT_NE(Message(response).find("connect: connection refused"), std::string::npos) << Message(response);
}

}  // namespace
}  // namespace terrarium::testbed
