#include "apiserver/http/http_server.h"

#include <atomic>
#include <cstdio>
#include <map>
#include <mutex>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <drogon/HttpAppFramework.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <trantor/net/InetAddress.h>
#include <trantor/utils/Logger.h>

#include "apiserver/http/accept_gate.h"
#include "apiserver/http/connection_loop.h"
#include "apiserver/http/descriptors.h"
#include "apiserver/http/listen_check.h"
#include "apiserver/http/server_state.h"

namespace terrarium::apiserver {
namespace {

constexpr double kListenStepSeconds = 0.001;
constexpr double kDrainStepSeconds = 0.01;
constexpr int kDrainStepsMax = 500;

// The address and port of the client at the other end of `fd`, formatted as the library does. Empty: the
// client is gone already.
std::string PeerOf(int fd) {
  sockaddr_storage storage{};
  socklen_t length = sizeof storage;
  if (getpeername(fd, reinterpret_cast<sockaddr*>(&storage), &length) != 0) return "";
  if (storage.ss_family == AF_INET)
    return trantor::InetAddress(*reinterpret_cast<sockaddr_in*>(&storage)).toIpPort();
  return trantor::InetAddress(*reinterpret_cast<sockaddr_in6*>(&storage)).toIpPort();
}

void SetSocketOptions(int fd, const HttpOptions& options) {
  // With these settings the kernel detects a client that vanished without closing its connection within about
  // a minute.
  int on = 1, idle_seconds = 30, interval_seconds = 10, probes = 3;
  setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
  setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle_seconds, sizeof idle_seconds);
  setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &interval_seconds, sizeof interval_seconds);
  setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &probes, sizeof probes);
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  // Without an explicit size the kernel lets the send buffer grow to megabytes.
  setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &options.socket_buffer_bytes, sizeof options.socket_buffer_bytes);
  // The kernel closes the connection of a client that does not read when all that is left to send is in the
  // kernel's buffer, where the connection's own deadline does not see it.
  unsigned int stalled_ms = std::chrono::milliseconds(options.send_limit).count();
  setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &stalled_ms, sizeof stalled_ms);
}

class DrogonServer : public HttpServer {
 public:
  DrogonServer(HttpOptions options, Serve serve)
      : state_(std::move(options), std::move(serve)),
        gate_(state_.options.connections_max, state_.options.handshake_limit) {}

  std::string Url() const override {
    const std::string& address = state_.options.address;
    std::string host = address.find(':') == std::string::npos ? address : "[" + address + "]";
    return (state_.options.tls_cert.empty() ? "http://" : "https://") + host + ":" +
           std::to_string(state_.options.port);
  }

  void Run(std::function<void()> ready) override {
    Configure();
    drogon::app().registerBeginningAdvice([this, ready = std::move(ready)] { CallWhenListening(ready); });
    drogon::app().run();
    state_.workers.Stop();  // the handler that the workers call may be gone once Run() returns
  }

  void Stop(std::function<void()> close_streams) override {
    drogon::app().getLoop()->queueInLoop([this, close = std::move(close_streams)] {
      if (std::exchange(stopping_, true)) return;
      state_.requests->Close();
      close_streams_ = close;
      Drain(0);
    });
  }

 private:
  void Configure();
  void Listen();
  void CallWhenListening(const std::function<void()>& ready);
  void OnAccepted(int fd);
  void OnConnection(const trantor::TcpConnectionPtr& tcp);
  void WatchHandshakes();
  ConnectionLoop& LoopOf(trantor::EventLoop* loop);
  void Drain(int step);

  ServerState state_;
  AcceptGate gate_;
  std::mutex loops_mutex_;
  std::map<trantor::EventLoop*, std::unique_ptr<ConnectionLoop>> loops_;  // guarded by loops_mutex_
  std::atomic<bool> watching_handshakes_ = false;
  // Both are used on the main loop only.
  bool stopping_ = false;
  std::function<void()> close_streams_;
};

// Drogon starts its listeners on another thread some time after the beginning advices, and does not report
// when they are ready. So this method polls until it can connect.
void DrogonServer::CallWhenListening(const std::function<void()>& ready) {
  drogon::app().getLoop()->runAfter(kListenStepSeconds, [this, ready] {
    if (CanConnect(state_.options.address, state_.options.port)) return ready();
    CallWhenListening(ready);
  });
}

// Prints only errors that the library cannot recover from. The library logs every failed system call on a
// connection (for example, after a reset by the client) as FATAL with an error number. An error that it
// cannot recover from has no error number, or occurs while the library starts to listen.
void LogLibrary(const char* text, std::uint64_t length) {
  std::string_view line(text, length);
  auto has = [line](std::string_view part) { return line.find(part) != std::string_view::npos; };
  bool listening = has("Bind address") || has("listen failed");
  if (has(" FATAL ") && (listening || !has("(errno="))) std::fwrite(text, 1, length, stderr);
}

void DrogonServer::Configure() {
  auto& app = drogon::app();
  trantor::Logger::setLogLevel(trantor::Logger::kFatal);
  trantor::Logger::setOutputFunction(LogLibrary, [] { std::fflush(stderr); });
  int threads = state_.options.threads;
  if (threads <= 0) threads = static_cast<int>(std::thread::hardware_concurrency());
  app.setThreadNum(static_cast<std::size_t>(threads > 0 ? threads : 1))
      .setMaxConnectionNum(2 * state_.options.connections_max)  // gate_ refuses earlier
      .setIdleConnectionTimeout(0)                              // Connection has its own deadlines
      .disableSigtermHandling()
      // Drogon creates 256 folders below this path at start, even if no client uploads files. It cannot
      // create any below a device.
      .setUploadPath("/dev/null");
  Listen();
  app.setAfterAcceptSockOptCallback([this](int fd) { OnAccepted(fd); });
  app.setConnectionCallback([this](const trantor::TcpConnectionPtr& tcp) { OnConnection(tcp); });
}

void DrogonServer::Listen() {
  const HttpOptions& options = state_.options;
  if (options.tls_cert.empty()) {
    drogon::app().addListener(options.address, options.port);
    return;
  }
  std::vector<std::pair<std::string, std::string>> commands;
  if (!options.client_ca.empty()) commands = {{"VerifyCAFile", options.client_ca}, {"VerifyMode", "Require"}};
  drogon::app().addListener(options.address, options.port, true, options.tls_cert, options.tls_key, false,
                            commands);
}

void DrogonServer::OnAccepted(int fd) {
  SetSocketOptions(fd, state_.options);
  std::string peer = PeerOf(fd);
  // Do not close `fd` here: the library still makes a connection of it, and closes it when it reads the end
  // of the stream.
  if (peer.empty() || !gate_.Enter(peer, fd, std::chrono::steady_clock::now())) {
    shutdown(fd, SHUT_RDWR);
    return;
  }
  if (!state_.options.tls_cert.empty() && !watching_handshakes_.exchange(true))
    drogon::app().getLoop()->queueInLoop([this] { WatchHandshakes(); });
}

// Runs on the main loop.
void DrogonServer::WatchHandshakes() {
  auto now = std::chrono::steady_clock::now();
  // Reset this before the check: a connection that is accepted from now on is either checked below or
  // schedules another check.
  watching_handshakes_ = false;
  std::optional<SteadyTime> next = gate_.EndLateHandshakes(now);
  if (!next || watching_handshakes_.exchange(true)) return;
  std::chrono::duration<double> delay = *next - now;
  drogon::app().getLoop()->runAfter(delay.count(), [this] { WatchHandshakes(); });
}

ConnectionLoop& DrogonServer::LoopOf(trantor::EventLoop* loop) {
  std::lock_guard lock(loops_mutex_);
  std::unique_ptr<ConnectionLoop>& out = loops_[loop];
  if (out == nullptr) out = std::make_unique<ConnectionLoop>(loop, state_);
  return *out;
}

void DrogonServer::OnConnection(const trantor::TcpConnectionPtr& tcp) {
  std::string peer = tcp->peerAddr().toIpPort();
  if (!tcp->disconnected()) {
    if (gate_.Establish(peer))
      LoopOf(tcp->getLoop()).Add(tcp);
    else
      tcp->forceClose();
    return;
  }
  LoopOf(tcp->getLoop()).Remove(tcp);
  gate_.Leave(peer);
}

void DrogonServer::Drain(int step) {
  bool requests_done = state_.requests->count() == 0;
  bool close_now = requests_done || step >= kDrainStepsMax / 2;
  if (close_now && close_streams_) std::exchange(close_streams_, nullptr)();
  bool all_sent = state_.streams.load() == 0 && state_.sending.load() == 0;
  bool done = requests_done && !close_streams_ && all_sent;
  if (done || step >= kDrainStepsMax) return drogon::app().quit();
  drogon::app().getLoop()->runAfter(kDrainStepSeconds, [this, step] { Drain(step + 1); });
}

}  // namespace

api::Result<std::unique_ptr<HttpServer>> HttpServer::Make(HttpOptions options, Serve serve) {
  for (const std::string& file : {options.tls_cert, options.tls_key, options.client_ca})
    if (auto readable = CheckReadable(file); !readable) return readable.status();
  auto port = CheckListen(options.address, options.port);
  if (!port) return port.status();
  options.port = *port;
  options.connections_max = ConnectionsWithin(RaiseDescriptorLimit(), options.connections_max);
  return std::unique_ptr<HttpServer>(std::make_unique<DrogonServer>(std::move(options), std::move(serve)));
}

}  // namespace terrarium::apiserver
