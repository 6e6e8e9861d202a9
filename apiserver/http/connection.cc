#include "apiserver/http/connection.h"

#include <algorithm>
#include <exception>
#include <utility>

#include <spdlog/spdlog.h>

#include "api/base/errors.h"
#include "apiserver/http/bearer_token.h"
#include "apiserver/http/client_certificate.h"
#include "apiserver/http/url.h"
#include "apiserver/panic.h"

namespace terrarium::apiserver {
namespace {

// What a client may send ahead of its answer: one more request of the largest size.
std::size_t WaitingBytesMax(const HttpOptions& options) {
  return options.head_bytes_max + options.body_bytes_max;
}

// Without the query, which may be large.
Request ToRequest(RequestHead& head) {
  Request out;
  out.method = head.method;
  out.path = std::move(head.path);
  out.content_type = head.Header("content-type");
  out.accept = head.Header("accept");
  out.user_agent = head.Header("user-agent");
  out.host = head.Header("host");
  out.origin = head.Header("origin");
  out.if_none_match = head.Header("if-none-match");
  head.DropFields();
  return out;
}

api::Status HeadTooLarge(std::size_t limit) {
  return api::MakeStatus(431, "", "request header fields too large, limit is " + std::to_string(limit));
}

api::Status TooSlow(std::string_view what) {
  return api::MakeStatus(408, "", std::string(what) + " was not received in time");
}

api::Status TooMuchReceived() {
  return api::TooManyRequests("the requests being received take too much memory, please try again later", 1);
}

// An exception that leaves the handler ends its request, not the process.
void ServeGuarded(ServerState& server, Request request, const RequestScopePtr& scope) {
  try {
    server.serve(std::move(request), scope);
  } catch (const std::exception& e) {
    spdlog::error("exception in {}: {}", scope->what(), e.what());
    scope->Respond(StatusResponse(api::InternalError(kPanicMessage)));
  }
}

}  // namespace

Response StatusResponse(const api::Status& status) {
  Response response;
  response.code = status.code;
  response.body = status.ToJson().dump() + "\n";
  // As in the handler's own responses: no cache may keep an error for another client.
  response.headers.emplace_back("Cache-Control", "no-cache, private");
  if (status.details && status.details->retry_after_seconds > 0)
    response.headers.emplace_back("Retry-After", std::to_string(status.details->retry_after_seconds));
  return response;
}

Connection::Connection(ServerState& server, trantor::TcpConnection& tcp, SetTimer set_timer)
    : server_(server),
      tcp_(&tcp),
      loop_(tcp.getLoop()),
      set_timer_(std::move(set_timer)),
      now_(server.now()),
      input_share_(server.received),
      unsent_share_(server.unsent) {}

void Connection::OnOpened() { BeginIdle(); }

void Connection::OnData(std::string_view input) {
  auto self = shared_from_this();  // a connection that is closed on the way is let go by all others
  now_ = server_.now();
  KeepForLater(Read(input));
  ArmReadDeadline();
}

void Connection::BeginIdle() {
  phase_ = Phase::kIdle;
  // Not moved by the empty lines that a client may send between requests.
  read_due_ = now_ + server_.options.idle_limit;
  ArmReadDeadline();
}

std::string_view Connection::Read(std::string_view input) {
  while (!input.empty()) {
    switch (phase_) {
      case Phase::kIdle:
      case Phase::kHead: input.remove_prefix(ReadHead(input)); break;
      case Phase::kBody: input.remove_prefix(ReadBody(input)); break;
      case Phase::kStreaming:
        if (!websocket_) return input;
        input.remove_prefix(ReadWebsocket(input));
        break;
      case Phase::kServing:
      case Phase::kSending: return input;
      case Phase::kLingering:
      case Phase::kClosed: return {};
    }
  }
  return {};
}

std::size_t Connection::ReadHead(std::string_view input) {
  // Empty lines before a request are skipped (RFC 9112, 2.2).
  if (phase_ == Phase::kIdle && (input.front() == '\r' || input.front() == '\n')) return 1;
  if (phase_ == Phase::kIdle) {
    // Nearly always all of it is there.
    std::size_t end = FindHeadEnd(input);
    if (end != std::string_view::npos && end <= server_.options.head_bytes_max) {
      OnHead(input.substr(0, end));
      return end;
    }
    phase_ = Phase::kHead;
    read_due_ = now_ + server_.options.head_limit;
  }
  std::size_t before = partial_head_.size();
  partial_head_ += input;
  std::size_t end = FindHeadEnd(partial_head_, before < 2 ? 0 : before - 2);
  if (std::min(end, partial_head_.size()) > server_.options.head_bytes_max) {
    Refuse(HeadTooLarge(server_.options.head_bytes_max));
    return input.size();
  }
  if (end == std::string_view::npos) {
    if (!input_share_.Resize(partial_head_.size())) Refuse(TooMuchReceived());
    return input.size();
  }
  std::string head = std::move(partial_head_);
  partial_head_.clear();
  input_share_.Reset();
  OnHead(std::string_view(head).substr(0, end));
  return end - before;
}

void Connection::OnHead(std::string_view text) {
  head_bytes_ = text.size();
  request_share_ = std::make_shared<BudgetShare>(server_.received);
  if (!request_share_->Resize(head_bytes_)) return Refuse(TooMuchReceived());
  auto head = ParseRequestHead(text);
  if (!head) return Refuse(head.status());
  head_ = std::move(*head);
  close_ = !head_.keep_alive;
  // A client that is not authenticated is refused before any part of a body is kept.
  std::optional<UserInfo> user = Authenticate();
  bool with_body = head_.HasBody();
  if (!user && with_body) return Refuse(api::Unauthorized());
  if (!user) return Answer(StatusResponse(api::Unauthorized()));
  user_ = std::move(*user);
  if (head_.content_length.value_or(0) > server_.options.body_bytes_max)
    return Refuse(api::RequestTooLarge("limit is " + std::to_string(server_.options.body_bytes_max)));
  if (!with_body) return Dispatch();
  body_ = head_.chunked ? BodyDecoder::OfChunks(server_.options.body_bytes_max)
                        : BodyDecoder::OfLength(*head_.content_length);
  phase_ = Phase::kBody;
  read_due_ = now_ + server_.options.body_limit;
  if (head_.expects_continue) tcp_->send(std::string("HTTP/1.1 100 Continue\r\n\r\n"));
}

std::size_t Connection::ReadBody(std::string_view input) {
  std::size_t taken = body_->Read(input);
  if (body_->error()) {
    Refuse(api::Status(*body_->error()));
    return input.size();
  }
  if (!request_share_->Resize(head_bytes_ + body_->size())) {
    Refuse(TooMuchReceived());
    return input.size();
  }
  if (body_->done()) Dispatch();
  return taken;
}

void Connection::KeepForLater(std::string_view input) {
  if (input.empty()) return;
  DropReadPart();
  std::size_t size = waiting_.size() + input.size();
  // A client that sends so much ahead does not read responses either: close without one.
  if (size - waiting_read_ > WaitingBytesMax(server_.options) || !input_share_.Resize(size))
    return tcp_->forceClose();
  waiting_ += input;
}

void Connection::DropReadPart() {
  if (waiting_read_ < waiting_.size() / 2) return;
  waiting_.erase(0, waiting_read_);
  waiting_read_ = 0;
}

void Connection::ReadWaiting() {
  if (waiting_.empty()) return;
  // The rest stays where it is: a copy for every request would make a long pipeline quadratic.
  std::string input = std::exchange(waiting_, {});
  input_share_.Reset();
  std::string_view rest = Read(std::string_view(input).substr(std::exchange(waiting_read_, 0)));
  if (rest.empty()) return;
  waiting_read_ = input.size() - rest.size();
  waiting_ = std::move(input);
  DropReadPart();
  if (!input_share_.Resize(waiting_.size())) tcp_->forceClose();
}

std::optional<UserInfo> Connection::Authenticate() {
  const HttpOptions& options = server_.options;
  if (options.authenticate) {
    if (auto token = BearerToken(head_.Header("authorization"))) return options.authenticate(*token);
    if (options.client_ca.empty()) return std::nullopt;
  }
  if (certificate_user_) return certificate_user_;
  certificate_user_.emplace();
  if (const trantor::CertificatePtr certificate = tcp_->peerCertificate())
    certificate_user_ = UserOfCertificate(certificate->pem());
  return certificate_user_;
}

void Connection::Dispatch() {
  phase_ = Phase::kServing;
  SetDeadline(SteadyTime::max());  // the handler has its own
  std::string query = std::move(head_.query);
  handshake_ = ReadWebsocketHandshake(head_);
  Request request = ToRequest(head_);
  request.user = std::move(user_);
  if (body_) request.body = body_->Take();
  body_.reset();
  request.client_gone = client_gone_ = std::make_shared<api::CancelToken>();
  // Head and body are in memory, parsed and unparsed, until there is a response.
  auto deliver = [weak = weak_from_this(), loop = loop_, share = std::exchange(request_share_, nullptr)](
                     Response response, std::shared_ptr<void> in_flight) {
    auto answer = [weak, share, in_flight = std::move(in_flight)](Response response) {
      if (auto self = weak.lock()) self->Answer(std::move(response));
      if (share) share->Reset();
    };
    if (loop->isInLoopThread()) return answer(std::move(response));
    auto carried = std::make_shared<Response>(std::move(response));
    loop->queueInLoop([answer = std::move(answer), carried] { answer(std::move(*carried)); });
  };
  auto scope = RequestScope::Make(request, std::move(deliver));
  if (!scope->Enter(server_.requests)) return Refuse(api::ServiceUnavailable("the server is shutting down"));
  const bool large = request.body.size() + query.size() > server_.options.loop_body_bytes_max;
  auto serve = [server = &server_, query = std::move(query), request = std::move(request),
                scope = std::move(scope)]() mutable {
    request.query = ParseQuery(query);
    std::string().swap(query);
    ServeGuarded(*server, std::move(request), scope);
  };
  if (!large) return serve();
  // Parsing it takes so long that the other connections of this loop would notice.
  server_.workers.Post(std::move(serve));
}

void Connection::Refuse(const api::Status& status) {
  if (phase_ == Phase::kIdle || phase_ == Phase::kHead)
    head_ = {};  // it has the fields of the previous request
  close_ = true;
  body_.reset();
  handshake_ = nullptr;
  request_share_ = nullptr;
  std::string().swap(partial_head_);
  input_share_.Reset();
  Answer(StatusResponse(status));
}

void Connection::ArmReadDeadline() {
  if (phase_ == Phase::kIdle || phase_ == Phase::kHead || phase_ == Phase::kBody) SetDeadline(read_due_);
}

// A deadline that moves away costs nothing: the timer finds out when it fires.
void Connection::SetDeadline(SteadyTime due) {
  deadline_ = due;
  if (due >= timer_due_) return;
  timer_due_ = due;
  set_timer_(due);
}

void Connection::OnTimer() {
  auto self = shared_from_this();
  timer_due_ = SteadyTime::max();
  now_ = server_.now();
  if (deadline_ > now_) return SetDeadline(deadline_);
  switch (phase_) {
    case Phase::kHead: return Refuse(TooSlow("the request's head"));
    case Phase::kBody: return Refuse(TooSlow("the request's body"));
    case Phase::kIdle:
    case Phase::kLingering: return tcp_->forceClose();
    case Phase::kSending:
    case Phase::kStreaming: {
      if (tcp_->bytesSent() != sent_at_check_) NoteProgress();
      if (now_ >= std::min(stalled_due_, piece_due_)) return tcp_->forceClose();
      return ArmSendDeadline();
    }
    case Phase::kServing:
    case Phase::kClosed: return;
  }
}

void Connection::OnClosed() {
  if (phase_ == Phase::kSending) server_.sending.fetch_sub(1);
  if (phase_ == Phase::kServing) client_gone_->Cancel();
  StopStream();
  phase_ = Phase::kClosed;
  tcp_ = nullptr;
  deadline_ = SteadyTime::max();
  body_.reset();
  handshake_ = nullptr;
  websocket_ = nullptr;
  request_share_ = nullptr;
  input_share_.Reset();
  unsent_share_.Reset();
  std::string().swap(waiting_);
  std::string().swap(partial_head_);
  std::string().swap(rest_);
}

}  // namespace terrarium::apiserver
