#include "apiserver/http/http_server.h"

#include <drogon/HttpAppFramework.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <trantor/utils/Logger.h>

#include <atomic>
#include <thread>
#include <utility>

#include "api/base/errors.h"
#include "apiserver/http/client_certificate.h"
#include "apiserver/http/listen_check.h"
#include "apiserver/http/stream_pump.h"
#include "apiserver/http/url.h"

namespace terrarium::apiserver {
namespace {

// A connection on which nothing moves, be it a request that never ends or none at all, is closed after this long.
constexpr std::size_t kIdleSeconds = 180;
constexpr double kListenStepSeconds = 0.001;
constexpr double kDrainStepSeconds = 0.01;
constexpr int kDrainStepsMax = 500;

Request ToRequest(const drogon::HttpRequestPtr& req) {
  Request out;
  out.method = req->isHead() ? "HEAD" : req->methodString();  // Drogon turns HEAD into GET
  out.path = req->path();
  out.query = ParseQuery(req->query());
  out.content_type = req->getHeader("content-type");
  out.accept = req->getHeader("accept");
  out.user_agent = req->getHeader("user-agent");
  out.host = req->getHeader("host");
  out.if_none_match = req->getHeader("if-none-match");
  out.body = std::string(req->body());
  return out;
}

// Warning headers quote their text: backslashes and quotes are escaped.
std::string WarningHeader(const std::string& text) {
  std::string out = "299 - \"";
  for (char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c == '\n' || c == '\r' ? ' ' : c;
  }
  return out + "\"";
}

void SetHeaders(const Response& response, const drogon::HttpResponsePtr& resp) {
  resp->setCustomStatusCode(response.code);
  resp->setContentTypeString(response.content_type);
  for (const auto& [name, value] : response.headers) resp->addHeader(name, value);
  std::string warnings;
  for (const std::string& warning : response.warnings)
    warnings += (warnings.empty() ? "" : ", ") + WarningHeader(warning);
  if (!warnings.empty()) resp->addHeader("Warning", warnings);
}

drogon::HttpResponsePtr PlainResponse(Response response) {
  drogon::HttpResponsePtr resp = drogon::HttpResponse::newHttpResponse();
  SetHeaders(response, resp);
  resp->setBody(std::move(response.body));
  return resp;
}

Response StatusResponse(const api::Status& status) {
  Response response;
  response.code = status.code;
  response.body = status.ToJson().dump() + "\n";
  return response;
}

class DrogonServer : public HttpServer {
 public:
  DrogonServer(HttpOptions options, Serve serve) : options_(std::move(options)), serve_(std::move(serve)) {}

  std::string Url() const override {
    std::string host = options_.address.find(':') == std::string::npos ? options_.address : "[" + options_.address + "]";
    return (options_.tls_cert.empty() ? "http://" : "https://") + host + ":" + std::to_string(options_.port);
  }

  void Run(std::function<void()> ready) override {
    Configure();
    drogon::app().registerBeginningAdvice([this, ready = std::move(ready)] { TellWhenListening(ready); });
    drogon::app().run();
  }

  void Stop(std::function<void()> close_streams) override {
    drogon::app().getLoop()->queueInLoop([this, close = std::move(close_streams)] {
      if (stopping_.exchange(true)) return;
      close_streams_ = close;
      Drain(0);
    });
  }

 private:
  void Configure();
  void TellWhenListening(const std::function<void()>& ready);
  void Handle(const drogon::HttpRequestPtr& req, std::function<void(const drogon::HttpResponsePtr&)>&& send);
  std::optional<UserInfo> Authenticate(const drogon::HttpRequestPtr& req) const;
  void SendStream(Response response, const drogon::HttpRequestPtr& req,
                  const std::function<void(const drogon::HttpResponsePtr&)>& send);
  void Drain(int step);

  HttpOptions options_;
  Serve serve_;
  StreamRegistry streams_;
  std::atomic<int> inflight_ = 0;
  std::atomic<bool> stopping_ = false;
  std::function<void()> close_streams_;  // touched on the main loop only
};

// Listeners start on a thread of their own some time after the beginning advices, and nobody is told when.
void DrogonServer::TellWhenListening(const std::function<void()>& ready) {
  drogon::app().getLoop()->runAfter(kListenStepSeconds, [this, ready] {
    if (CanConnect(options_.address, options_.port)) return ready();
    TellWhenListening(ready);
  });
}

void DrogonServer::Configure() {
  auto& app = drogon::app();
  trantor::Logger::setLogLevel(trantor::Logger::kFatal);
  int threads = options_.threads > 0 ? options_.threads : static_cast<int>(std::thread::hardware_concurrency());
  app.setThreadNum(static_cast<std::size_t>(threads > 0 ? threads : 1))
      // Drogon drops what is larger without a word of ours, so it is let in up to here and refused by Handle().
      .setClientMaxBodySize(options_.body_bytes_max * 3)
      .setClientMaxMemoryBodySize(options_.body_bytes_max * 3 + 1)  // never to a file
      .setMaxConnectionNum(options_.connections_max)
      .setIdleConnectionTimeout(kIdleSeconds)  // streams are exempt
      .setKeepaliveRequestsNumber(0)
      .setPipeliningRequestsNumber(0)
      .enableServerHeader(false)
      .enableGzip(false)  // loopback is faster than zlib
      .enableSendfile(false)
      .disableSigtermHandling()
      .setUploadPath("/nonexistent");
  if (options_.tls_cert.empty()) {
    app.addListener(options_.address, options_.port);
  } else {
    std::vector<std::pair<std::string, std::string>> commands;
    if (!options_.client_ca.empty()) commands = {{"VerifyCAFile", options_.client_ca}, {"VerifyMode", "Require"}};
    app.addListener(options_.address, options_.port, true, options_.tls_cert, options_.tls_key, false, commands);
  }
  app.setCustomErrorHandler([](drogon::HttpStatusCode code, const drogon::HttpRequestPtr&) {
    api::Status status = api::BadRequest("the request could not be read");
    status.code = code;
    return PlainResponse(StatusResponse(status));
  });
  app.setAfterAcceptSockOptCallback([](int fd) {
    // A client that vanished without a word is noticed by the kernel within a minute or so.
    int on = 1, idle_seconds = 30, interval_seconds = 10, probes = 3;
    setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle_seconds, sizeof idle_seconds);
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &interval_seconds, sizeof interval_seconds);
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &probes, sizeof probes);
  });
  app.setConnectionCallback([this](const trantor::TcpConnectionPtr& connection) {
    if (connection->disconnected()) streams_.OnClosed(connection.get());
  });
  app.registerPreRoutingAdvice([this](const drogon::HttpRequestPtr& req, drogon::AdviceCallback&& send,
                                      drogon::AdviceChainCallback&&) { Handle(req, std::move(send)); });
}

std::optional<UserInfo> DrogonServer::Authenticate(const drogon::HttpRequestPtr& req) const {
  if (options_.authenticate) {
    static constexpr std::string_view kBearer = "Bearer ";
    const std::string& header = req->getHeader("authorization");
    if (header.starts_with(kBearer)) return options_.authenticate(header.substr(kBearer.size()));
    if (options_.client_ca.empty()) return std::nullopt;
  }
  UserInfo user;
  if (const trantor::CertificatePtr& certificate = req->peerCertificate())
    user = UserOfCertificate(certificate->pem());
  return user;
}

void DrogonServer::Handle(const drogon::HttpRequestPtr& req,
                          std::function<void(const drogon::HttpResponsePtr&)>&& send) {
  std::optional<UserInfo> user = Authenticate(req);
  if (!user) return send(PlainResponse(StatusResponse(api::Unauthorized())));
  // Counted before it is looked at: whoever is let in is waited for.
  inflight_.fetch_add(1);
  if (stopping_) {
    inflight_.fetch_sub(1);
    auto resp = PlainResponse(StatusResponse(api::ServiceUnavailable("the server is shutting down")));
    resp->setCloseConnection(true);
    return send(resp);
  }
  if (req->bodyLength() > options_.body_bytes_max) {
    inflight_.fetch_sub(1);
    return send(PlainResponse(
        StatusResponse(api::RequestTooLarge("limit is " + std::to_string(options_.body_bytes_max)))));
  }
  Request request = ToRequest(req);
  request.user = std::move(*user);
  serve_(std::move(request), [this, req, send = std::move(send)](Response response) {
    if (response.stream) SendStream(std::move(response), req, send);
    else send(PlainResponse(std::move(response)));
    inflight_.fetch_sub(1);
  });
}

void DrogonServer::SendStream(Response response, const drogon::HttpRequestPtr& req,
                              const std::function<void(const drogon::HttpResponsePtr&)>& send) {
  auto pump = std::make_shared<StreamPump>(std::move(response.stream), req->getConnectionPtr(), streams_,
                                           options_.stream_backlog_bytes_max, std::move(response.stream_busy));
  auto resp = drogon::HttpResponse::newAsyncStreamResponse(
      [pump](drogon::ResponseStreamPtr sink) { pump->Start(std::move(sink)); }, true);
  SetHeaders(response, resp);
  send(resp);
}

void DrogonServer::Drain(int step) {
  bool requests_done = inflight_.load() == 0;
  if ((requests_done || step >= kDrainStepsMax / 2) && close_streams_) std::exchange(close_streams_, nullptr)();
  bool done = requests_done && !close_streams_ && streams_.size() == 0;
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
  return std::unique_ptr<HttpServer>(std::make_unique<DrogonServer>(std::move(options), std::move(serve)));
}

}  // namespace terrarium::apiserver
