#include "testbed/cli/serve.h"

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <unistd.h>
#include <utility>

#include <CLI/CLI.hpp>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include "api/base/errors.h"
#include "api/base/feature_gates.h"
#include "api/base/prng.h"
#include "apiserver/http/http_server.h"
#include "apiserver/http/listen_check.h"
#include "testbed/cli/kubeconfig.h"
#include "testbed/cli/tokens.h"
#include "testbed/control_api.h"
#include "testbed/plane.h"
#include "testbed/real_runtime.h"
#include "testbed/version.h"

namespace terrarium::testbed {
namespace {

using api::Result;

int Fail(const std::string& message) {
  std::fprintf(stderr, "terrarium: %s\n", message.c_str());
  return 2;
}

std::string DefaultKubeconfig(const std::string& url) {
  const char* folder = std::getenv("XDG_RUNTIME_DIR");
  std::string port = url.substr(url.rfind(':') + 1);
  return std::string(folder != nullptr && *folder != '\0' ? folder : "/tmp") + "/terrarium-" + port + ".kubeconfig";
}

std::string AbsolutePath(const std::string& path) {
  if (path.empty() || path.front() == '/') return path;
  char* folder = getcwd(nullptr, 0);
  std::string out = std::string(folder != nullptr ? folder : ".") + "/" + path;
  std::free(folder);
  return out;
}

// Everything that can be wrong with the flags themselves.
Result<bool> CheckFlags(const ServeFlags& flags) {
  if (flags.tls_cert.empty() != flags.tls_key.empty())
    return api::BadRequest("--tls-cert and --tls-key go together");
  if (!flags.client_ca.empty() && flags.tls_cert.empty())
    return api::BadRequest("--client-ca needs --tls-cert and --tls-key");
  if (flags.kubelet || flags.scheduler || flags.nodes > 0)
    return api::BadRequest("--kubelet, --scheduler and --nodes need parts that this version does not have yet");
  bool guarded = !flags.token_file.empty() || !flags.client_ca.empty();
  if (!apiserver::IsLoopback(flags.address) && !guarded)
    return api::BadRequest("--address " + flags.address +
                           " is not a loopback address: configure --token-file or --client-ca first");
  return true;
}

storage::Durability DurabilityOf(const std::string& name) {
  if (name == "off") return storage::Durability::kOff;
  return name == "normal" ? storage::Durability::kNormal : storage::Durability::kFull;
}

// Signals are blocked in every thread and waited for in one, where it is safe to do something about them.
class SignalWaiter {
 public:
  SignalWaiter() {
    sigemptyset(&set_);
    sigaddset(&set_, SIGTERM);
    sigaddset(&set_, SIGINT);
    pthread_sigmask(SIG_BLOCK, &set_, nullptr);
    std::signal(SIGPIPE, SIG_IGN);
  }
  ~SignalWaiter() {
    if (!thread_.joinable()) return;
    pthread_kill(thread_.native_handle(), SIGTERM);
    thread_.join();
  }
  void Start(std::function<void()> on_signal) {
    thread_ = std::thread([this, on_signal = std::move(on_signal)] {
      int signal = 0;
      sigwait(&set_, &signal);
      on_signal();
    });
  }

 private:
  sigset_t set_;
  std::thread thread_;
};

struct Access {
  std::optional<TokenFile> tokens;
  std::function<std::optional<apiserver::UserInfo>(const std::string&)> Authenticator() const {
    if (!tokens) return nullptr;
    return [this](const std::string& token) { return tokens->Find(token); };
  }
};

// Writes the files that tell others where we are, and says so on standard output.
Result<bool> Announce(const ServeFlags& flags, const std::string& url, const Access& access) {
  std::string path = AbsolutePath(flags.kubeconfig.empty() ? DefaultKubeconfig(url) : flags.kubeconfig);
  KubeconfigOptions options{url, AbsolutePath(flags.tls_cert), access.tokens ? access.tokens->first() : ""};
  if (auto written = WriteFile(path, MakeKubeconfig(options)); !written) return written.status();
  std::printf("Terrarium %s (Kubernetes %s) is ready at %s\nexport KUBECONFIG=%s\n", kVersion, kKubernetesVersion,
              url.c_str(), path.c_str());
  std::fflush(stdout);
  if (!flags.ready_file.empty()) {
    api::Json ready = {{"url", url}, {"kubeconfig", path}, {"pid", getpid()}};
    if (auto written = WriteFile(flags.ready_file, ready.dump() + "\n"); !written) return written.status();
  }
  return true;
}

}  // namespace

void AddServeFlags(CLI::App& app, ServeFlags& flags) {
  app.add_option("--port", flags.port, "port to listen on; 0 picks a free one")
      ->check(CLI::Range(0, 65535))
      ->capture_default_str();
  app.add_option("--address", flags.address, "IP address to listen on")->capture_default_str();
  app.add_option("--data", flags.data, "SQLite file to keep objects in (default: in memory)");
  app.add_option("--durability", flags.durability, "what an acknowledged write of --data survives")
      ->check(CLI::IsMember({"full", "normal", "off"}))
      ->capture_default_str();
  app.add_option("--feature-gates", flags.feature_gates, "Name=true,Other=false,...");
  app.add_option("--kubeconfig", flags.kubeconfig, "where to write the kubeconfig (default: a file per port)");
  app.add_option("--ready-file", flags.ready_file, "written when ready: {\"url\", \"kubeconfig\", \"pid\"}");
  app.add_option("--log-level", flags.log_level, "what to log on standard error")
      ->check(CLI::IsMember({"trace", "debug", "info", "warn", "error", "off"}))
      ->capture_default_str();
  app.add_option("--tls-cert", flags.tls_cert, "PEM certificate: serve HTTPS");
  app.add_option("--tls-key", flags.tls_key, "PEM key of --tls-cert");
  app.add_option("--client-ca", flags.client_ca, "PEM authority: clients must show a certificate it signed");
  app.add_option("--token-file", flags.token_file, "bearer tokens, a line each: token,user,uid[,\"group,...\"]");
  app.add_option("--controllers", flags.controllers, "controllers to run, as kube-controller-manager names them")
      ->capture_default_str();
  app.add_option("--kubelet", flags.kubelet, "run the fake kubelet")->capture_default_str();
  app.add_option("--scheduler", flags.scheduler, "run the scheduler")->capture_default_str();
  app.add_option("--nodes", flags.nodes, "nodes to register at start")->capture_default_str();
  app.add_option("--max-requests-inflight", flags.max_requests_inflight, "reads served at once; more get 429")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--max-mutating-requests-inflight", flags.max_mutating_requests_inflight,
                 "writes served at once; more get 429")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
}

int RunServe(const ServeFlags& given) {
  ServeFlags flags = given;
  if (flags.address == "localhost") flags.address = "127.0.0.1";
  SignalWaiter signals;
  spdlog::logger log("terrarium", std::make_shared<spdlog::sinks::stderr_sink_mt>());
  log.set_level(spdlog::level::from_str(flags.log_level));
  if (auto fine = CheckFlags(flags); !fine) return Fail(fine.status().message);
  auto gates = api::FeatureGates().With(flags.feature_gates);
  if (!gates) return Fail("--feature-gates: " + gates.status().message);
  Access access;
  if (!flags.token_file.empty()) {
    auto tokens = TokenFile::Read(flags.token_file);
    if (!tokens) return Fail(tokens.status().message);
    access.tokens = std::move(*tokens);
  }

  RealClock clock;
  api::Prng prng(RandomSeed());
  ThreadExecutor executor;
  api::Env env{clock, executor, prng, *gates, log};
  PlaneOptions plane_options;
  plane_options.data_file = flags.data;
  plane_options.durability = DurabilityOf(flags.durability);
  plane_options.handler.authenticate = access.Authenticator();
  plane_options.handler.max_requests_inflight = flags.max_requests_inflight;
  plane_options.handler.max_mutating_requests_inflight = flags.max_mutating_requests_inflight;
  auto plane = Plane::Make(env, std::move(plane_options));
  if (!plane) return Fail(plane.status().message);

  apiserver::HttpOptions http;
  http.address = flags.address;
  http.port = static_cast<std::uint16_t>(flags.port);
  http.tls_cert = flags.tls_cert;
  http.tls_key = flags.tls_key;
  http.client_ca = flags.client_ca;
  http.authenticate = access.Authenticator();
  Plane& served = **plane;
  auto server = apiserver::HttpServer::Make(http, [&served](apiserver::Request request, apiserver::Responder respond) {
    if (IsControlPath(request.path)) return respond(ServeControl(served, request));
    served.handler().Serve(std::move(request), std::move(respond));
  });
  if (!server) return Fail(server.status().message);

  int exit_code = 0;
  auto stop = [&] { (*server)->Stop([&served] { served.Shutdown(); }); };
  (*server)->Run([&] {
    signals.Start(stop);
    auto announced = Announce(flags, (*server)->Url(), access);
    if (announced) return;
    exit_code = Fail(announced.status().message);
    stop();
  });
  executor.Stop();
  return exit_code;
}

}  // namespace terrarium::testbed
