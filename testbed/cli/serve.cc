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
#include "api/pod_script/pod_script.h"
#include "apiserver/http/http_server.h"
#include "apiserver/http/listen_check.h"
#include "controllers/controller_table.h"
#include "testbed/cli/kubeconfig.h"
#include "testbed/cli/tokens.h"
#include "testbed/clock_control.h"
#include "testbed/components.h"
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

// A server in the foreground has two cores' worth of work besides HTTP at most: writing is one sequence.
constexpr int kPlaneThreads = 2;

// "start-delay=2s,stop-after=5s" as a script that holds where neither a pod nor a rule says otherwise.
Result<api::PodScript> PodDefaults(const std::string& text) {
  api::Json keys = api::Json::object();
  std::string_view rest = text;
  while (!rest.empty()) {
    std::string_view item = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(rest.size(), item.size() + 1));
    std::size_t equals = item.find('=');
    if (equals == std::string_view::npos)
      return api::BadRequest("--pod-defaults: " + std::string(item) + " is not KEY=VALUE");
    keys[std::string(item.substr(0, equals))] = std::string(item.substr(equals + 1));
  }
  api::PodScript script;
  api::FieldErrors errors = api::ParseScriptKeys(keys, api::Path("--pod-defaults"), &script);
  if (!errors.empty()) return api::BadRequest(errors[0].field + ": " + errors[0].message);
  return script;
}

Result<ComponentOptions> ComponentsOf(const ServeFlags& flags, const api::FeatureGates& gates) {
  ComponentOptions out;
  if (auto known = controllers::SelectControllers(flags.controllers); !known)
    return api::BadRequest("--controllers: " + known.status().message);
  out.controllers = flags.controllers;
  out.scheduler = flags.scheduler;
  out.kubelet = flags.kubelet;
  out.nodes.nodes = flags.nodes;
  auto defaults = PodDefaults(flags.pod_defaults);
  if (!defaults) return defaults.status();
  out.pods.defaults = std::move(*defaults);
  // A component's own flag is said on top of what holds for all.
  auto manager = gates.With(flags.controller_manager_feature_gates);
  if (!manager) return api::BadRequest("--controller-manager-feature-gates: " + manager.status().message);
  out.controller_manager_gates = *manager;
  auto kubelet = gates.With(flags.kubelet_feature_gates);
  if (!kubelet) return api::BadRequest("--kubelet-feature-gates: " + kubelet.status().message);
  out.kubelet_gates = *kubelet;
  out.scheduler_gates = gates;
  return out;
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
  app.add_option("--feature-gates", flags.feature_gates, "of all components: Name=true,Other=false,...");
  app.add_option("--controller-manager-feature-gates", flags.controller_manager_feature_gates,
                 "where the controllers' gates differ from --feature-gates");
  app.add_option("--kubelet-feature-gates", flags.kubelet_feature_gates,
                 "where the kubelet's gates differ from --feature-gates");
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
  app.add_option("--nodes", flags.nodes, "nodes to register at start")
      ->check(CLI::Range(0, 100'000))
      ->capture_default_str();
  app.add_option("--pod-defaults", flags.pod_defaults,
                 "how pods behave that do not say: start-delay=2s,stop-after=5s,...");
  app.add_option("--clock", flags.clock, "the plane's time: real, scaled=N, virtual or auto")->capture_default_str();
  app.add_option("--seed", flags.seed, "of uids, names and choices (default: a different one each time)")
      ->check(CLI::NonNegativeNumber);
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

  auto mode = ClockMode::Parse(flags.clock);
  if (!mode) return Fail("--clock: " + mode.status().message);
  auto components = ComponentsOf(flags, *gates);
  if (!components) return Fail(components.status().message);

  RealClock wall_clock;
  ThreadExecutor connection_executor;
  Runtime runtime({.start = wall_clock.Now(), .mode = *mode, .wall = WallTime});
  PlaneOptions plane_options;
  plane_options.seed = flags.seed ? *flags.seed : RandomSeed();
  plane_options.gates = *gates;
  plane_options.handler.connection_clock = &wall_clock;
  plane_options.handler.connection_executor = &connection_executor;
  plane_options.data_file = flags.data;
  plane_options.durability = DurabilityOf(flags.durability);
  plane_options.handler.authenticate = access.Authenticator();
  plane_options.handler.max_requests_inflight = flags.max_requests_inflight;
  plane_options.handler.max_mutating_requests_inflight = flags.max_mutating_requests_inflight;
  auto plane = Plane::Make(runtime, log, std::move(plane_options), *components);
  if (!plane) return Fail(plane.status().message);
  LiveDriver driver(runtime, kPlaneThreads);
  ControlApi control(**plane, [&driver](std::function<void(ClockControl&)> work) { driver.Control(std::move(work)); });

  apiserver::HttpOptions http;
  http.address = flags.address;
  http.port = static_cast<std::uint16_t>(flags.port);
  http.tls_cert = flags.tls_cert;
  http.tls_key = flags.tls_key;
  http.client_ca = flags.client_ca;
  http.authenticate = access.Authenticator();
  http.executor = &runtime.Lane("http");
  Plane& served = **plane;
  auto serve = [&served, &control](apiserver::Request request, apiserver::Responder respond) {
    if (ControlApi::IsControlPath(request.path)) return control.Serve(request, std::move(respond));
    served.handler().Serve(std::move(request), std::move(respond));
  };
  auto server = apiserver::HttpServer::Make(http, serve);
  if (!server) return Fail(server.status().message);

  int exit_code = 0;
  auto stop = [&] {
    driver.EndMoves();  // requests that are under way are answered first, and a move may take as long as it likes
    (*server)->Stop([&served] { served.Shutdown(); });
  };
  // Ready means that the nodes are there as well: a pod made before would wait for the scheduler's next try, which is
  // for ever on a clock that stands still.
  auto announce = [&](ClockControl& clock) {
    if (clock.Settle().why == RunOutcome::Why::kBusy) return;  // it has been told to stop already
    auto announced = Announce(flags, (*server)->Url(), access);
    if (announced) return;
    exit_code = Fail(announced.status().message);
    stop();
  };
  (*server)->Run([&] {
    signals.Start(stop);
    driver.Control(announce);
  });
  driver.Stop();
  connection_executor.Stop();
  return exit_code;
}

}  // namespace terrarium::testbed
