// Deadlines of connections by the timer of a real event loop.

#include "apiserver/http/connection_loop.h"

#include <algorithm>
#include <memory>
#include <vector>

#include <gtest/gtest.h>

#include "tests/apiserver/http/event_loop.h"
#include "tests/apiserver/http/fake_tcp.h"

namespace terrarium::apiserver {
namespace {

using namespace std::chrono_literals;

class ConnectionLoopTest : public testing::Test {
 protected:
  static HttpOptions Options() {
    HttpOptions options;
    options.head_limit = options.body_limit = 20ms;
    return options;
  }
  std::shared_ptr<FakeTcp> Connect() {
    auto tcp = std::make_shared<FakeTcp>(&Loop());
    connections_.Add(tcp);
    return tcp;
  }
  // Runs the loop until every connection has been answered.
  void RunUntilAnswered(const std::vector<std::shared_ptr<FakeTcp>>& clients) {
    while (!std::all_of(clients.begin(), clients.end(), [](const auto& tcp) { return !tcp->sent.empty(); })) {
      Loop().runAfter(0.001, [] { Loop().quit(); });
      Loop().loop();
    }
  }

  ServerState state_{Options(), [](Request, const RequestScopePtr&) { ADD_FAILURE() << "served"; }};
  ConnectionLoop connections_{&Loop(), state_};
};

TEST_F(ConnectionLoopTest, HeadsAndBodiesThatTrickleAreAnsweredWith408WhenTheirTimeIsOver) {
  auto head = Connect(), body = Connect();
  head->Receive("GET / HTTP");
  body->Receive("POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nabc");
  RunUntilAnswered({head, body});
  EXPECT_TRUE(head->sent.starts_with("HTTP/1.1 408")) << head->sent;
  EXPECT_TRUE(body->sent.starts_with("HTTP/1.1 408")) << body->sent;
  for (const auto& client : {head, body}) connections_.Remove(client);
}

}  // namespace
}  // namespace terrarium::apiserver
