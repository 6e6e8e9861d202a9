#pragma once

#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <utility>

#include <gtest/gtest.h>
#include <spdlog/sinks/ostream_sink.h>
#include <spdlog/spdlog.h>

#include "api/base/env.h"
#include "api/base/feature_gates.h"
#include "api/base/prng.h"
#include "api/json.h"
#include "apiserver/handler.h"
#include "storage/memory_store.h"
#include "tests/wire/manual_runtime.h"

namespace terrarium::apiserver {

// One control plane without controllers, called without HTTP.
struct BareServer {
  explicit BareServer(HandlerOptions options = {})
      : handler(Handler::Make({runtime, runtime, prng, gates, log}, *store, std::move(options))) {}

  Response Send(const std::string& method, const std::string& path, const api::Json& body = nullptr,
                const std::string& accept = "") {
    Request request;
    request.method = method;
    const std::size_t question = path.find('?');
    request.path = path.substr(0, question);
    if (question != std::string::npos) {
      const std::size_t equals = path.find('=', question);
      request.query.emplace_back(path.substr(question + 1, equals - question - 1), path.substr(equals + 1));
    }
    request.accept = accept;
    if (!body.is_null()) request.body = body.dump();
    std::optional<Response> answer;
    handler->Serve(std::move(request), [&](Response response) { answer = std::move(response); });
    EXPECT_TRUE(answer.has_value()) << path;
    return answer ? std::move(*answer) : Response{};
  }
  Response Get(const std::string& path, const std::string& accept = "") {
    return Send("GET", path, nullptr, accept);
  }
  api::Json GetJson(const std::string& path, const std::string& accept = "") {
    return api::Json::parse(Get(path, accept).body, nullptr, false);
  }
  ResourceRegistry& registry() { return handler->registry(); }

  wire::ManualRuntime runtime{api::Time(std::chrono::seconds(1'767'225'600))};
  api::Prng prng{1};
  api::FeatureGates gates;
  std::ostringstream logged;
  spdlog::logger log{"test", std::make_shared<spdlog::sinks::ostream_sink_mt>(logged)};
  std::unique_ptr<storage::Store> store = storage::OpenMemoryStore();
  std::unique_ptr<Handler> handler;
};

}  // namespace terrarium::apiserver
