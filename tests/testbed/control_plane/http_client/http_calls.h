#pragma once

// Calls with a real caller, and waiting for their answers.

#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <string>
#include <utility>

#include "api/base/check.h"
#include "testbed/control_plane/http_client/http_caller.h"

namespace terrarium::testbed {

using Outcome = api::HttpAnswer::Outcome;

// Longer than any call: a call that has not ended by then never does.
inline constexpr std::chrono::seconds kLongerThanAnyCall{60};

// Allows every call, to the host that it names.
inline std::variant<CallTarget, api::HttpAnswer> AsCalled(const api::HttpCall& call) {
  return CallTarget{call.host, static_cast<std::uint16_t>(std::stoi(call.port))};
}

inline std::unique_ptr<api::HttpCaller> MakeCaller(HttpCallerOptions options) {
  if (!options.locate) options.locate = AsCalled;
  auto made = MakeHttpCaller(std::move(options));
  CHECK(made.ok());
  return std::move(*made);
}

inline std::future<api::HttpAnswer> Begin(api::HttpCaller& caller, api::HttpCall call) {
  auto promise = std::make_shared<std::promise<api::HttpAnswer>>();
  auto future = promise->get_future();
  caller.Call(std::move(call), [promise](api::HttpAnswer answer) { promise->set_value(std::move(answer)); });
  return future;
}

inline api::HttpAnswer Wait(std::future<api::HttpAnswer>& future) {
  CHECK(future.wait_for(kLongerThanAnyCall) == std::future_status::ready);
  return future.get();
}

inline api::HttpAnswer Ask(api::HttpCaller& caller, api::HttpCall call) {
  auto future = Begin(caller, std::move(call));
  return Wait(future);
}

inline api::HttpCall CallTo(std::string port, std::chrono::milliseconds timeout = kLongerThanAnyCall) {
  api::HttpCall call;
  call.host = "127.0.0.1";
  call.port = std::move(port);
  call.path = "/pick";
  call.body = "{}";
  call.timeout = timeout;
  return call;
}

}  // namespace terrarium::testbed
