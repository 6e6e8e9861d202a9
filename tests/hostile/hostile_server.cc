#include "tests/hostile/hostile_server.h"

#include <chrono>
#include <ctime>
#include <utility>

#include <spdlog/sinks/null_sink.h>

#include "storage/memory_store.h"

namespace terrarium::hostile {
namespace {

constexpr auto kStart = std::chrono::sys_days(std::chrono::year(2026) / 3 / 1);

double ThreadCpuMs() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
}

}  // namespace

HostileServer::HostileServer()
    : runtime_(kStart),
      prng_(1),
      log_("hostile", std::make_shared<spdlog::sinks::null_sink_mt>()),
      store_(storage::OpenMemoryStore()),
      handler_(apiserver::Handler::Make({runtime_, runtime_, prng_, gates_, log_}, *store_, {})) {}

apiserver::Response HostileServer::Serve(apiserver::Request request) {
  apiserver::Response response;
  response.code = 0;
  handler_->Serve(std::move(request), [&](apiserver::Response answer) { response = std::move(answer); });
  runtime_.RunReady();
  while (response.code == 0 && runtime_.AdvanceToNextTimer(std::chrono::seconds(100))) {
  }
  return response;
}

Served Play(const Exchange& exchange) {
  HostileServer server;
  Served served;
  for (const apiserver::Request& request : exchange.before) {
    apiserver::Response response = server.Serve(request);
    if (response.code >= 300)
      served.error = std::to_string(response.code) + " " + response.body.substr(0, 500);
  }
  apiserver::Request request = exchange.request;
  const double start = ThreadCpuMs();
  apiserver::Response response = server.Serve(std::move(request));
  served.cpu_ms = ThreadCpuMs() - start;
  served.code = response.code;
  return served;
}

}  // namespace terrarium::hostile
