#include "testbed/cli/serve.h"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <thread>
#include <utility>

#include <CLI/CLI.hpp>
#include <poll.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "api/base/errors.h"
#include "apiserver/http/http_server.h"
#include "apiserver/http/listen_check.h"
#include "apiserver/local_access.h"
#include "testbed/cli/kubeconfig.h"
#include "testbed/cli/private_file.h"
#include "testbed/cli/tokens.h"
#include "testbed/cli/upkeep.h"
#include "testbed/control_plane/host_allow_list.h"
#include "testbed/control_plane/http_client/http_caller.h"
#include "testbed/embedding/version.h"
#include "testbed/runtime/clock_control.h"
#include "testbed/runtime/real_driver.h"
#include "testbed/runtime/real_runtime.h"
#include "testbed/server/cluster_data_dir.h"
#include "testbed/server/cluster_set.h"
#include "testbed/server/cluster_settings.h"

namespace terrarium::testbed {
namespace {

using api::Result;

int Fail(const std::string& message) {
  std::fprintf(stderr, "terrarium: %s\n", message.c_str());
  return 2;
}

std::string AbsolutePath(const std::string& path) {
  if (path.empty() || path.front() == '/') return path;
  char* folder = getcwd(nullptr, 0);
  std::string out = std::string(folder != nullptr ? folder : ".") + "/" + path;
  std::free(folder);
  return out;
}

Result<std::string> KubeconfigPath(const ServeFlags& flags, const std::string& url) {
  if (!flags.kubeconfig.empty()) return AbsolutePath(flags.kubeconfig);
  auto folder = PrivateFolder();
  if (!folder) return api::BadRequest("--kubeconfig: " + folder.status().message);
  return *folder + "/terrarium-" + url.substr(url.rfind(':') + 1) + ".kubeconfig";
}

// Checks combinations of flags.
Result<void> CheckFlags(const ServeFlags& flags) {
  if (flags.tls_cert.empty() != flags.tls_key.empty())
    return api::BadRequest("--tls-cert and --tls-key go together");
  if (!flags.client_ca.empty() && flags.tls_cert.empty())
    return api::BadRequest("--client-ca needs --tls-cert and --tls-key");
  bool guarded = !flags.token_file.empty() || !flags.client_ca.empty();
  if (!apiserver::IsLoopback(flags.address) && !guarded)
    return api::BadRequest("--address " + flags.address +
                           " is not a loopback address: configure --token-file or --client-ca first");
  return {};
}

// Besides HTTP, a server has work for two cores at most, because writes are serialized.
constexpr int kPoolThreads = 2;

// Blocks signals in every thread and waits for them in one thread, where the handler may call any function.
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
  // Calls `on_end` once: when a signal arrives, or, with `watch_stdin`, when the other end of standard input
  // is closed.
  void Start(bool watch_stdin, std::function<void()> on_end) {
    thread_ = std::thread([this, watch_stdin, on_end = std::move(on_end)] {
      pollfd wanted[] = {{signals_, POLLIN, 0}, {STDIN_FILENO, POLLIN, 0}};
      while (poll(wanted, watch_stdin ? 2 : 1, -1) < 0 || (wanted[0].revents == 0 && !StdinClosed())) {
      }
      on_end();
    });
  }

 private:
  // Discards the input and detects its end.
  static bool StdinClosed() {
    char ignored[256];
    ssize_t count = read(STDIN_FILENO, ignored, sizeof ignored);
    return count == 0 || (count < 0 && errno != EINTR && errno != EAGAIN);
  }

  int signals_;
  std::thread thread_;
};

// The origin must be checked with client certificates: a browser adds them to the requests of any page. It
// adds no bearer token.
apiserver::LocalAccess LocalAccessOf(const ServeFlags& flags) {
  return {.check_host = flags.token_file.empty() && flags.client_ca.empty(),
          .check_origin = flags.token_file.empty() || !flags.client_ca.empty(),
          .address = flags.address};
}

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

// Writes the kubeconfig and the ready file, then prints the server's URL on standard output.
Result<void> Announce(const ServeFlags& flags, const std::string& url, const Access& access) {
  auto path = KubeconfigPath(flags, url);
  if (!path) return path.status();
  std::string kubeconfig = MakeKubeconfig(AccessOf(flags, access, url, "terrarium"));
  if (auto written = WritePrivateFile(*path, kubeconfig); !written) return written.status();
  if (!flags.ready_file.empty()) {
    api::Json ready = {{"url", url}, {"kubeconfig", *path}, {"pid", getpid()}};
    if (auto written = WritePrivateFile(flags.ready_file, ready.dump() + "\n"); !written)
      return written.status();
  }
  // Printed last: a client that waits for this line finds the files complete.
  std::printf("Terrarium %s (Kubernetes %s) is ready at %s\nexport KUBECONFIG=%s\n", kVersion,
              kKubernetesVersion, url.c_str(), path->c_str());
  std::fflush(stdout);
  return {};
}

// The certificates of a PEM file, for pods that verify the server. Leaves out a key, which the file may have
// too. Empty when the file cannot be read, which HttpServer reports.
std::string CertificatesIn(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  std::string line, certificates;
  bool inside = false;
  while (std::getline(in, line)) {
    if (line.starts_with("-----BEGIN CERTIFICATE-----")) inside = true;
    if (inside) certificates.append(line).append("\n");
    if (line.starts_with("-----END CERTIFICATE-----")) inside = false;
  }
  return certificates;
}

}  // namespace

void AddServeFlags(CLI::App& app, ServeFlags& flags) {
  app.add_option("--port", flags.port, "port to listen on; 0 picks a free one")
      ->check(CLI::Range(0, 65535))
      ->capture_default_str();
  app.add_option("--address", flags.address, "IP address to listen on")->capture_default_str();
  app.add_option("--data", flags.cluster.data, "SQLite file to keep objects in (default: in memory)");
  app.add_option("--cluster-data-dir", flags.cluster_data_dir,
                 "folder below which clusters created over HTTP may keep data files (default: none)");
  app.add_option("--disable-admission-plugins", flags.cluster.disable_admission_plugins,
                 "admission plugins to turn off, such as ServiceAccount");
  app.add_option("--durability", flags.cluster.durability, "what an acknowledged write of --data survives")
      ->check(CLI::IsMember({"full", "normal", "off"}))
      ->capture_default_str();
  app.add_option("--enable-admission-plugins", flags.cluster.enable_admission_plugins,
                 "admission plugins to turn on: ServiceAccount where serviceaccount-controller does not run");
  app.add_option("--event-ttl", flags.cluster.event_ttl, "how long Events are kept after the last write")
      ->capture_default_str();
  app.add_option("--feature-gates", flags.cluster.feature_gates,
                 "feature gates of all components: Name=true,Other=false,...");
  app.add_option("--controller-manager-feature-gates", flags.cluster.controller_manager_feature_gates,
                 "gates of the controller-manager that differ from --feature-gates");
  app.add_option("--kubelet-feature-gates", flags.cluster.kubelet_feature_gates,
                 "gates of the kubelet that differ from --feature-gates");
  app.add_option("--kubeconfig", flags.kubeconfig,
                 "where to write the kubeconfig (default: a file per port, in a private folder)");
  app.add_option("--ready-file", flags.ready_file,
                 "file to write when ready: {\"url\", \"kubeconfig\", \"pid\"}");
  app.add_flag("--exit-on-stdin-close", flags.exit_on_stdin_close,
               "stop when standard input closes, so that a parent that dies leaves no server behind");
  app.add_option("--log-level", flags.log_level, "what to log on standard error")
      ->check(CLI::IsMember({"trace", "debug", "info", "warn", "error", "off"}))
      ->capture_default_str();
  app.add_option("--tls-cert", flags.tls_cert, "PEM certificate: serve HTTPS");
  app.add_option("--tls-key", flags.tls_key, "PEM key of --tls-cert");
  app.add_option("--client-ca", flags.client_ca,
                 "PEM authority of the certificates that clients must present");
  app.add_option("--token-file", flags.token_file,
                 "bearer tokens, a line each: token,user,uid[,\"group,...\"]");
  app.add_option("--controllers", flags.cluster.controllers,
                 "controllers to run, in kube-controller-manager's syntax")
      ->capture_default_str();
  app.add_option("--kubelet", flags.cluster.kubelet, "run the fake kubelet")->capture_default_str();
  app.add_option("--scheduler", flags.cluster.scheduler, "run the scheduler")->capture_default_str();
  app.add_option("--nodes", flags.cluster.nodes, "nodes to register at start")
      ->check(CLI::Range(0, kNodesMax))
      ->capture_default_str();
  app.add_option("--pod-defaults", flags.pod_defaults,
                 "script of pods that have none of their own: start-delay=2s,stop-after=5s,...");
  app.add_option("--pod-picker-allow", flags.pod_picker_allow,
                 "hosts that a downscalePodPicker may be on: names, *.SUFFIX, addresses, networks, each with "
                 ":PORT or for all ports; * for every host")
      ->capture_default_str();
  app.add_option("--pod-picker-ca", flags.pod_picker_ca,
                 "PEM authorities of downscalePodPickers that use HTTPS (default: the system's)");
  app.add_option("--clock", flags.cluster.clock, "the cluster's time: real, scaled=N, virtual or auto")
      ->capture_default_str();
  app.add_option("--seed", flags.cluster.seed,
                 "seed of uids, names and choices (default: a different one each time)")
      ->check(CLI::NonNegativeNumber);
  app.add_option("--max-requests-inflight", flags.max_requests_inflight,
                 "reads served in parallel; more get 429")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--max-mutating-requests-inflight", flags.max_mutating_requests_inflight,
                 "writes served in parallel; more get 429")
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
  if (!flags.tls_cert.empty()) flags.cluster.root_ca = CertificatesIn(flags.tls_cert);
  ClusterDataDir data_dir;
  if (!flags.cluster_data_dir.empty()) {
    auto opened = ClusterDataDir::Open(flags.cluster_data_dir);
    if (!opened) return Fail("--cluster-data-dir: " + opened.status().message);
    data_dir = std::move(*opened);
  }
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
                                [] { return RandomSeed() >> 11; },  // 53 bits, which JSON represents exactly
                                kubeconfig, std::move(*callable_hosts), http_caller, std::move(data_dir)});
  if (!made) return Fail(made.status().message);
  ClusterSet& clusters = **made;

  apiserver::HttpOptions http;
  http.address = flags.address;
  http.port = static_cast<std::uint16_t>(flags.port);
  http.tls_cert = flags.tls_cert;
  http.tls_key = flags.tls_key;
  http.client_ca = flags.client_ca;
  http.authenticate = access.Authenticator();
  const apiserver::LocalAccess local_access = LocalAccessOf(flags);
  auto serve = [&](apiserver::Request request, apiserver::RequestScopePtr scope) {
    if (auto allowed = local_access.Check(request); !allowed)
      return scope->Respond(ControlApi::Refusal(allowed.status()));
    clusters.Serve(std::move(request), std::move(scope));
  };
  auto server = apiserver::HttpServer::Make(http, serve);
  if (!server) return Fail(server.status().message);
  clusters.SetUrl((*server)->Url());

  int exit_code = 0;
  auto stop = [&] {
    clusters.EndMoves();  // Stop() waits for requests under way, and a clock move has no time limit
    (*server)->Stop([&clusters] { clusters.Shutdown(); });
  };
  // The server is ready once its nodes are registered. A pod created earlier would wait for the scheduler's
  // next retry, which never comes while a virtual clock stands still.
  auto announce = [&](ClockControl& clock) {
    if (clock.Settle().why == RunOutcome::Why::kEnded) return;  // the server is stopping already
    auto announced = Announce(flags, (*server)->Url(), access);
    if (announced) return;
    exit_code = Fail(announced.status().message);
    stop();
  };
  Upkeep upkeep(connection_executor, [&clusters] { clusters.CheckStores(); });
  (*server)->Run([&] {
    signals.Start(flags.exit_on_stdin_close, stop);
    clusters.root().Control(announce);
  });
  upkeep.Stop();
  made->reset();
  pool.Stop();
  connection_executor.Stop();
  return exit_code;
}

}  // namespace terrarium::testbed
