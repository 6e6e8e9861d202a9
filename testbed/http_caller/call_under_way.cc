#include "testbed/http_caller/internal/call_under_way.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <utility>

#include "api/base/duration.h"
#include "testbed/http_caller/internal/http_text.h"

namespace terrarium::testbed::internal {
namespace {

// The name in a certificate: without the brackets of an address and the dot at the end of a name.
std::string ServerName(const std::string& host) {
  if (host.starts_with('[') && host.ends_with(']')) return host.substr(1, host.size() - 2);
  return host.ends_with('.') ? host.substr(0, host.size() - 1) : host;
}

int SocketError(int fd) {
  int error = 0;
  socklen_t length = sizeof error;
  return getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &length) == 0 ? error : errno;
}

}  // namespace

CallUnderWay::CallUnderWay(PollLoop& loop, api::HttpCall call, PollLoop::Clock::time_point began, Roots roots,
                           Done done)
    : loop_(loop), call_(std::move(call)), roots_(std::move(roots)), done_(std::move(done)),
      parser_(call_.answer_bytes_max) {
  timer_ = loop_.At(began + call_.timeout, [this] { TimedOut(); });
}

CallUnderWay::~CallUnderWay() { CloseSocket(); }

void CallUnderWay::Finish(api::HttpAnswer answer) {
  if (!done_) return;
  loop_.Cancel(timer_);
  CloseSocket();
  Done done = std::exchange(done_, nullptr);
  done(std::move(answer));
}

void CallUnderWay::Fail(Outcome outcome, std::string error) {
  api::HttpAnswer answer;
  answer.outcome = outcome;
  answer.error = std::move(error);
  Finish(std::move(answer));
}

void CallUnderWay::TimedOut() {
  std::string doing;
  switch (stage_) {
    case Stage::kLookUp: doing = "the name was still being looked up"; break;
    case Stage::kConnect: doing = "there was no connection yet"; break;
    case Stage::kTls: doing = "the TLS handshake was not over"; break;
    case Stage::kRequest: doing = "the request had not been taken"; break;
    case Stage::kAnswer:
      doing = parser_.begun() ? "the answer was not complete" : "there was no answer yet";
      break;
  }
  Fail(Outcome::kTimedOut, "after " + api::FormatDuration(call_.timeout) + " " + doing);
}

void CallUnderWay::Start(const CallTarget& target, const LookUp& look_up, Deliver deliver) {
  if (!done_) return;
  auto text = RequestText(call_);
  if (!text) return Fail(Outcome::kMalformed, text.status().message);
  request_ = std::move(*text);
  port_ = target.port;
  // Never asked of anybody else, who might say something else.
  if (target.host == "localhost") return OnLookedUp({{"127.0.0.1", "::1"}, ""});
  if (ParseAddress(target.host, port_)) return OnLookedUp({{target.host}, ""});
  look_up(target.host, [call = weak_from_this(), deliver = std::move(deliver)](NameLookUp found) {
    deliver([call, found = std::move(found)] {
      if (auto self = call.lock(); self != nullptr && self->done_) self->OnLookedUp(found);
    });
  });
}

void CallUnderWay::OnLookedUp(const NameLookUp& found) {
  for (const std::string& address : found.addresses)
    if (auto parsed = ParseAddress(address, port_)) addresses_.push_back(std::move(*parsed));
  if (addresses_.empty())
    return Fail(Outcome::kUnknownHost, "no address is known for " + call_.host + ": " + found.error);
  stage_ = Stage::kConnect;
  ConnectNext();
}

void CallUnderWay::ConnectNext() {
  std::string why;
  while (next_address_ < addresses_.size()) {
    const SocketAddress& address = addresses_[next_address_++];
    CloseSocket();
    fd_ = socket(address.storage.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd_ >= 0 && (connect(fd_, reinterpret_cast<const sockaddr*>(&address.storage), address.length) == 0 ||
                     errno == EINPROGRESS))
      return WatchSocket();
    why = std::strerror(errno);
  }
  Fail(Outcome::kRefused, "cannot connect to " + addresses_.back().text + ": " + why);
}

void CallUnderWay::Connected() {
  int on = 1;
  setsockopt(fd_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  if (!call_.tls) return BeginRequest();
  auto roots = roots_();
  if (!roots) return Fail(Outcome::kTlsFailure, roots.status().message);
  stage_ = Stage::kTls;
  tls_.emplace(**roots, ServerName(call_.host));
  if (tls_->Start() == TlsSession::State::kFailed) return Fail(Outcome::kTlsFailure, tls_->error());
  out_ = tls_->TakeOutput();
}

void CallUnderWay::BeginRequest() {
  stage_ = Stage::kRequest;
  if (!tls_) {
    out_ = std::move(request_);
    return;
  }
  if (tls_->Write(request_) != TlsSession::State::kOpen) return Fail(Outcome::kTlsFailure, tls_->error());
  out_ += tls_->TakeOutput();
}

void CallUnderWay::WatchSocket() {
  bool writes = stage_ == Stage::kConnect || (out_sent_ < out_.size() && !out_broken_);
  short events = static_cast<short>((stage_ == Stage::kConnect ? 0 : POLLIN) | (writes ? POLLOUT : 0));
  loop_.Watch(fd_, events, [self = weak_from_this()](short ready) {
    if (auto call = self.lock()) call->OnReady(ready);
  });
}

void CallUnderWay::OnReady(short events) {
  if (stage_ == Stage::kConnect) {
    int error = SocketError(fd_);
    if (error != 0 && next_address_ < addresses_.size()) return ConnectNext();
    if (error != 0)
      return Fail(Outcome::kRefused, "cannot connect to " + addresses_.back().text + ": " + std::strerror(error));
    Connected();
    if (!done_) return;
    events = POLLOUT;
  }
  // Reading first: an answer that came before the server stopped reading counts.
  if ((events & ~POLLOUT) != 0 && !ReadSocket()) return;
  if (!WriteSocket()) return;
  WatchSocket();
}

bool CallUnderWay::WriteSocket() {
  while (!out_broken_ && out_sent_ < out_.size()) {
    ssize_t count = send(fd_, out_.data() + out_sent_, out_.size() - out_sent_, MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return true;
    // The server takes no more. It may have answered all the same; if not, reading tells.
    if (count < 0) out_broken_ = true;
    else out_sent_ += static_cast<std::size_t>(count);
  }
  out_.clear();
  out_sent_ = 0;
  if (stage_ == Stage::kRequest) stage_ = Stage::kAnswer;
  return true;
}

bool CallUnderWay::ReadSocket() {
  char buffer[64 * 1024];
  ssize_t count = recv(fd_, buffer, sizeof buffer, 0);
  if (count > 0) return TakeBytes({buffer, static_cast<std::size_t>(count)});
  if (count < 0 && (errno == EINTR || errno == EAGAIN || errno == EWOULDBLOCK)) return true;
  if (count < 0) {
    Outcome outcome = stage_ == Stage::kTls ? Outcome::kTlsFailure : Outcome::kRefused;
    Fail(outcome, "the connection broke off: " + std::string(std::strerror(errno)));
  } else {
    OnEnd();
  }
  return false;
}

bool CallUnderWay::TakeBytes(std::string_view bytes) {
  if (!tls_) return TakePlain(bytes);
  std::string plain;
  TlsSession::State state = tls_->Feed(bytes, &plain);
  out_ += tls_->TakeOutput();
  if (stage_ == Stage::kTls && state == TlsSession::State::kOpen) {
    BeginRequest();
    if (!done_) return false;
  }
  if (!plain.empty() && !TakePlain(plain)) return false;
  if (state == TlsSession::State::kFailed) {
    WriteSocket();  // the alert, so that the server's log says why
    Fail(Outcome::kTlsFailure, tls_->error());
    return false;
  }
  if (state == TlsSession::State::kClosed) {
    OnEnd();
    return false;
  }
  return true;
}

bool CallUnderWay::TakePlain(std::string_view bytes) {
  api::HttpAnswer answer;
  switch (parser_.Feed(bytes)) {
    case AnswerParser::State::kMore: return true;
    case AnswerParser::State::kTooLarge:
      answer.outcome = Outcome::kTooLarge;
      answer.status = parser_.status();
      answer.error = "the answer's body is above " + std::to_string(call_.answer_bytes_max) + " bytes";
      break;
    case AnswerParser::State::kMalformed:
    case AnswerParser::State::kCutOff:
      answer.outcome = Outcome::kMalformed;
      answer.error = "the answer is not HTTP: " + parser_.error();
      break;
    case AnswerParser::State::kDone: FinishAnswered(); return false;
  }
  Finish(std::move(answer));
  return false;
}

void CallUnderWay::FinishAnswered() {
  api::HttpAnswer answer;
  answer.status = parser_.status();
  answer.content_type = parser_.content_type();
  answer.body = std::move(parser_.body());
  Finish(std::move(answer));
}

// Under TLS only a goodbye is an end that can be believed: anybody on the way can close a connection.
void CallUnderWay::OnEnd() {
  if (stage_ == Stage::kTls)
    return Fail(Outcome::kTlsFailure, "the connection was closed in the TLS handshake");
  if (tls_ && tls_->state() != TlsSession::State::kClosed)
    return Fail(Outcome::kRefused, parser_.begun() ? "the connection broke off in the middle of the answer"
                                                   : "the connection was closed without an answer");
  if (parser_.End() != AnswerParser::State::kDone) return Fail(Outcome::kRefused, parser_.error());
  FinishAnswered();
}

void CallUnderWay::CloseSocket() {
  if (fd_ < 0) return;
  loop_.Forget(fd_);
  close(fd_);
  fd_ = -1;
}

}  // namespace terrarium::testbed::internal
