#pragma once

// One connection on a clock that the test advances, with a client that reads when the test lets it.

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "apiserver/http/connection.h"
#include "tests/apiserver/http/event_loop.h"
#include "tests/apiserver/http/fake_tcp.h"

namespace terrarium::apiserver {

using std::chrono::seconds;

inline SteadyTime g_now{};

inline constexpr std::string_view kGet = "GET /a HTTP/1.1\r\nHost: x\r\n\r\n";

inline std::string Post(std::size_t length) {
  return "POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: " + std::to_string(length) + "\r\n\r\n";
}

inline HttpOptions SmallOptions() {
  HttpOptions options;
  options.head_bytes_max = 1000;
  options.body_bytes_max = 10'000;
  options.received_bytes_max = 15'000;
  options.unsent_bytes_max = 1'000'000;
  options.loop_body_bytes_max = 5'000;
  return options;
}

class ConnectionTest : public testing::Test {
 protected:
  struct Client {
    std::shared_ptr<FakeTcp> tcp;
    std::shared_ptr<Connection> connection;
    std::optional<SteadyTime> timer;

    void Send(std::string_view text) { connection->OnData(text); }
    void SendInSteps(std::string_view text, std::size_t step) {
      for (std::size_t at = 0; at < text.size(); at += step) Send(text.substr(at, step));
    }
    const std::string& answers() const { return tcp->sent; }
  };

  explicit ConnectionTest(HttpOptions options = SmallOptions())
      : state_(
            std::move(options),
            [this](Request request, const RequestScopePtr& scope) { Serve(request, scope->AsResponder()); },
            [] { return g_now; }) {}

  std::unique_ptr<Client> Connect() {
    auto client = std::make_unique<Client>();
    client->tcp = std::make_shared<FakeTcp>(&loop_);
    client->connection = std::make_shared<Connection>(
        state_, *client->tcp, [raw = client.get()](SteadyTime due) { raw->timer = due; });
    client->tcp->on_close = [raw = client.get()] { raw->connection->OnClosed(); };
    client->connection->OnOpened();
    return client;
  }

  virtual void Serve(const Request& request, const Responder& respond) {
    requests_.push_back(request);
    if (answer_) return answer_(respond);
    Response response;
    response.body = "answer " + std::to_string(requests_.size());
    respond(std::move(response));
  }

  // Runs the queued work of the loop, including work that it queues.
  void RunLoop() {
    for (int i = 0; i < 3; ++i) {
      loop_.queueInLoop([this] { loop_.quit(); });
      loop_.loop();
    }
  }

  // Advances the clock by `time`, in steps small enough for every timer to fire when it is due.
  void Pass(seconds time, Client& client) {
    for (int i = 0; i < time.count(); ++i) {
      g_now += seconds(1);
      if (!client.timer || *client.timer > g_now || client.tcp->closed) continue;
      client.timer.reset();
      client.connection->OnTimer();
      RunLoop();
    }
  }

  trantor::EventLoop& loop_ = Loop();
  std::vector<Request> requests_;
  std::function<void(const Responder&)> answer_;
  ServerState state_;
};

}  // namespace terrarium::apiserver
