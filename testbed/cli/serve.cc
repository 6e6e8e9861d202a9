#include "testbed/cli/serve.h"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <poll.h>
#include <sys/signalfd.h>
#include <thread>
#include <unistd.h>
#include <utility>

#include <CLI/CLI.hpp>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include "api/base/errors.h"
#include "apiserver/http/http_server.h"
#include "apiserver/http/listen_check.h"
#include "testbed/cli/kubeconfig.h"
#include "testbed/cli/tokens.h"
#include "testbed/clock_control.h"
#include "testbed/cluster_set.h"
#include "testbed/cluster_settings.h"
#include "testbed/host_allow_list.h"
#include "testbed/http_caller/http_caller.h"
#include "testbed/real_driver.h"
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

// A server in the foreground has two cores' worth of work besides HTTP at most: writing is one sequence.
constexpr int kPoolThreads = 2;

// Signals are blocked in every thread and waited for in one, where it is safe to do something about them.
class SignalWaiter {
 public:
  SignalWaiter() {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    pthread_sigmask(SIG_BLOCK, &set, nullptr);
    std::signal(SIGPIPE, SIG_IGN);
    signals_ = signalfd(-1, &set, SFD_CLOEXEC);
  }
  ~SignalWaiter() {
    if (thread_.joinable()) {
      pthread_kill(thread_.native_handle(), SIGTERM);
      thread_.join();
    }
    close(signals_);
  }
  // Calls `on_end` once: when a signal comes, or, if it is watched, when nobody holds the other end of standard input.
  void Start(bool watch_stdin, std::function<void()> on_end) {
    thread_ = std::thread([this, watch_stdin, on_end = std::move(on_end)] {
      pollfd wanted[] = {{signals_, POLLIN, 0}, {STDIN_FILENO, POLLIN, 0}};
      while (poll(wanted, watch_stdin ? 2 : 1, -1) < 0 || (wanted[0].revents == 0 && !StdinClosed())) {
      }
      on_end();
    });
  }

 private:
  // What comes there is of no interest, only that it ends.
  static bool StdinClosed() {
    char ignored[256];
    ssize_t count = read(STDIN_FILENO, ignored, sizeof ignored);
    return count == 0 || (count < 0 && errno != EINTR && errno != EAGAIN);
  }

  int signals_;
  std::thread thread_;
};

struct Access {
  std::optional<TokenFile> tokens;
  std::function<std::optional<apiserver::UserInfo>(const std::string&)> Authenticator() const {
    if (!tokens) return nullptr;
    return [this](const std::string& token) { return tokens->Find(token); };
  }
};

KubeconfigOptions AccessOf(const ServeFlags& flags, const Access& access, const std::string& url,
                           const std::string& name) {
  return {url, AbsolutePath(flags.tls_cert), access.tokens ? access.tokens->first() : "", name};
}

// Writes the files that tell others where we are, and says so on standard output.
Result<bool> Announce(const ServeFlags& flags, const std::string& url, const Access& access) {
  std::string path = AbsolutePath(flags.kubeconfig.empty() ? DefaultKubeconfig(url) : flags.kubeconfig);
  std::string kubeconfig = MakeKubeconfig(AccessOf(flags, access, url, "terrarium"));
  if (auto written = WriteFile(path, kubeconfig); !written) return written.status();
  if (!flags.ready_file.empty()) {
    api::Json ready = {{"url", url}, {"kubeconfig", path}, {"pid", getpid()}};
    if (auto written = WriteFile(flags.ready_file, ready.dump() + "\n"); !written) return written.status();
  }
  // Last: whoever waits for a line here finds the files.
  std::printf("Terrarium %s (Kubernetes %s) is ready at %s\nexport KUBECONFIG=%s\n", kVersion, kKubernetesVersion,
              url.c_str(), path.c_str());
  std::fflush(stdout);
  return true;
}

}  // namespace

void AddServeFlags(CLI::App& app, ServeFlags& flags) {
  app.add_option("--port", flags.port, "port to listen on; 0 picks a free one")
      ->check(CLI::Range(0, 65535))
      ->capture_default_str();
  app.add_option("--address", flags.address, "IP address to listen on")->capture_default_str();
  app.add_option("--data", flags.cluster.data, "SQLite file to keep objects in (default: in memory)");
  app.add_option("--durability", flags.cluster.durability, "what an acknowledged write of --data survives")
      ->check(CLI::IsMember({"full", "normal", "off"}))
      ->capture_default_str();
  app.add_option("--feature-gates", flags.cluster.feature_gates, "of all components: Name=true,Other=false,...");
  app.add_option("--controller-manager-feature-gates", flags.cluster.controller_manager_feature_gates,
                 "where the controllers' gates differ from --feature-gates");
  app.add_option("--kubelet-feature-gates", flags.cluster.kubelet_feature_gates,
                 "where the kubelet's gates differ from --feature-gates");
  app.add_option("--kubeconfig", flags.kubeconfig, "where to write the kubeconfig (default: a file per port)");
  app.add_option("--ready-file", flags.ready_file, "written when ready: {\"url\", \"kubeconfig\", \"pid\"}");
  app.add_flag("--exit-on-stdin-close", flags.exit_on_stdin_close,
               "end when standard input closes: nothing is left behind by a parent that dies");
  app.add_option("--log-level", flags.log_level, "what to log on standard error")
      ->check(CLI::IsMember({"trace", "debug", "info", "warn", "error", "off"}))
      ->capture_default_str();
  app.add_option("--tls-cert", flags.tls_cert, "PEM certificate: serve HTTPS");
  app.add_option("--tls-key", flags.tls_key, "PEM key of --tls-cert");
  app.add_option("--client-ca", flags.client_ca, "PEM authority: clients must show a certificate it signed");
  app.add_option("--token-file", flags.token_file, "bearer tokens, a line each: token,user,uid[,\"group,...\"]");
  app.add_option("--controllers", flags.cluster.controllers, "controllers to run, as kube-controller-manager names them")
      ->capture_default_str();
  app.add_option("--kubelet", flags.cluster.kubelet, "run the fake kubelet")->capture_default_str();
  app.add_option("--scheduler", flags.cluster.scheduler, "run the scheduler")->capture_default_str();
  app.add_option("--nodes", flags.cluster.nodes, "nodes to register at start")
      ->check(CLI::Range(0, 100'000))
      ->capture_default_str();
  app.add_option("--pod-defaults", flags.pod_defaults,
                 "how pods behave that do not say: start-delay=2s,stop-after=5s,...");
  app.add_option("--pod-picker-allow", flags.pod_picker_allow,
                 "hosts that a downscalePodPicker may be on: names, *.SUFFIX, addresses, networks, each with :PORT or "
                 "for all ports; * for every host")
      ->capture_default_str();
  app.add_option("--pod-picker-ca", flags.pod_picker_ca,
                 "PEM authorities of downscalePodPickers that speak HTTPS (default: the system's)");
  app.add_option("--clock", flags.cluster.clock, "the plane's time: real, scaled=N, virtual or auto")->capture_default_str();
  app.add_option("--seed", flags.cluster.seed, "of uids, names and choices (default: a different one each time)")
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
  auto pod_defaults = ParsePodDefaults(flags.pod_defaults);
  if (!pod_defaults) return Fail("--pod-defaults: " + pod_defaults.status().message);
  flags.cluster.pod_defaults = std::move(*pod_defaults);
  auto callable_hosts = HostAllowList::Parse(flags.pod_picker_allow);
  if (!callable_hosts) return Fail("--pod-picker-allow: " + callable_hosts.status().message);
  auto http_caller = [&flags](Locate locate) {
    auto caller = MakeHttpCaller({.locate = std::move(locate), .ca_file = flags.pod_picker_ca});
    if (!caller) caller.status().message = "--pod-picker-ca: " + caller.status().message;
    return caller;
  };
  Access access;
  if (!flags.token_file.empty()) {
    auto tokens = TokenFile::Read(flags.token_file);
    if (!tokens) return Fail(tokens.status().message);
    access.tokens = std::move(*tokens);
  }

  RealClock wall_clock;
  ThreadExecutor connection_executor;
  LivePool pool(kPoolThreads);
  apiserver::HandlerOptions handler;
  handler.connection_clock = &wall_clock;
  handler.connection_executor = &connection_executor;
  handler.authenticate = access.Authenticator();
  handler.max_requests_inflight = flags.max_requests_inflight;
  handler.max_mutating_requests_inflight = flags.max_mutating_requests_inflight;
  auto kubeconfig = [&](const std::string& name, const std::string& url) {
    return MakeKubeconfig(AccessOf(flags, access, url, "terrarium-" + name));
  };
  auto made = ClusterSet::Make({pool, wall_clock, log, flags.cluster, handler,
                                [] { return RandomSeed() >> 11; },  // a number that JSON keeps exactly
                                kubeconfig, std::move(*callable_hosts), http_caller});
  if (!made) return Fail(made.status().message);
  ClusterSet& clusters = **made;

  apiserver::HttpOptions http;
  http.address = flags.address;
  http.port = static_cast<std::uint16_t>(flags.port);
  http.tls_cert = flags.tls_cert;
  http.tls_key = flags.tls_key;
  http.client_ca = flags.client_ca;
  http.authenticate = access.Authenticator();
  auto serve = [&clusters](apiserver::Request request, apiserver::Responder respond) {
    clusters.Serve(std::move(request), std::move(respond));
  };
  auto server = apiserver::HttpServer::Make(http, serve);
  if (!server) return Fail(server.status().message);
  clusters.SetUrl((*server)->Url());

  int exit_code = 0;
  auto stop = [&] {
    clusters.EndMoves();  // requests that are under way are answered first, and a move may take as long as it likes
    (*server)->Stop([&clusters] { clusters.Shutdown(); });
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
    signals.Start(flags.exit_on_stdin_close, stop);
    clusters.root().Control(announce);
  });
  made->reset();
  pool.Stop();
  connection_executor.Stop();
  return exit_code;
}

}  // namespace terrarium::testbed
