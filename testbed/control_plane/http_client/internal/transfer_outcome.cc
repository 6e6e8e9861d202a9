// Translates the outcome of a transfer into an api::HttpAnswer. No message repeats data from the server.

#include <cstring>
#include <utility>

#include "api/base/duration.h"
#include "testbed/control_plane/http_client/internal/transfer.h"

namespace terrarium::testbed::internal {
namespace {

constexpr const char* kNoAnswer = "the connection was closed without an answer";
constexpr const char* kHalfAnswer = "the connection broke off in the middle of the answer";

// The part of `text` after the last `mark`, or all of it.
std::string After(std::string_view mark, std::string_view text) {
  std::size_t at = text.rfind(mark);
  return std::string(at == std::string_view::npos ? text : text.substr(at + mark.size()));
}

}  // namespace

curl_off_t Transfer::Number(CURLINFO what) const {
  curl_off_t number = 0;
  curl_easy_getinfo(easy_.get(), what, &number);
  return number;
}

int Transfer::Status() const {
  long status = 0;
  curl_easy_getinfo(easy_.get(), CURLINFO_RESPONSE_CODE, &status);
  return static_cast<int>(status);
}

bool Transfer::IsRequestSent() const {
  return Number(CURLINFO_SIZE_UPLOAD_T) >= static_cast<curl_off_t>(call_.body.size());
}

api::HttpAnswer Transfer::Failed(Outcome outcome, std::string error) const {
  Answer answer;
  answer.outcome = outcome;
  answer.error = std::move(error);
  return answer;
}

api::HttpAnswer Transfer::Malformed(const std::string& what) const {
  return Failed(Outcome::kMalformed, "the answer is not HTTP: " + what);
}

api::HttpAnswer Transfer::Answered() {
  bool truncated = call_.tls && ends_with_connection_ && !tls_closed_;
  if (!head_done_ || truncated) return Failed(Outcome::kRefused, kHalfAnswer);
  Answer answer;
  answer.status = Status();
  answer.body = std::move(body_);
  curl_header* type = nullptr;
  if (curl_easy_header(easy_.get(), "Content-Type", 0, CURLH_HEADER, -1, &type) == CURLHE_OK)
    answer.content_type = type->value;
  return answer;
}

api::HttpAnswer Transfer::TimedOut() const {
  std::string doing = "there was no answer yet";
  if (Number(CURLINFO_NAMELOOKUP_TIME_T) == 0)
    doing = "the name was still being looked up";
  else if (call_.tls ? !tls_began_ : Number(CURLINFO_CONNECT_TIME_T) == 0)
    doing = "there was no connection yet";
  else if (call_.tls && Number(CURLINFO_APPCONNECT_TIME_T) == 0)
    doing = "the TLS handshake was not over";
  else if (!IsRequestSent())
    doing = "the request had not been taken";
  else if (Number(CURLINFO_STARTTRANSFER_TIME_T) != 0)
    doing = "the answer was not complete";
  return Failed(Outcome::kTimedOut, "after " + api::FormatDuration(call_.timeout) + " " + doing);
}

api::HttpAnswer Transfer::NotConnected() const {
  long error = 0;
  curl_easy_getinfo(easy_.get(), CURLINFO_OS_ERRNO, &error);
  return Failed(Outcome::kRefused,
                "cannot connect to " + address_ + ": " + std::strerror(static_cast<int>(error)));
}

// libcurl has one code for a broken connection and for malformed chunks; only its text differs.
api::HttpAnswer Transfer::BrokenOff() const {
  std::string_view text = error_;
  for (std::string_view mark : {"Recv failure: ", "Send failure: "})
    if (text.starts_with(mark))
      return Failed(Outcome::kRefused, "the connection broke off: " + std::string(text.substr(mark.size())));
  // A TLS connection that ended without a close notification: an attacker on the network can close a
  // connection.
  if (text.starts_with("OpenSSL") || text.starts_with("SSL"))
    return Failed(Outcome::kRefused, head_bytes_ > 0 ? kHalfAnswer : kNoAnswer);
  return Malformed(error_);
}

api::HttpAnswer Transfer::TlsFailed(CURLcode code) const {
  constexpr std::string_view kChain = "SSL certificate problem: ";
  std::string_view text = error_;
  if (code != CURLE_PEER_FAILED_VERIFICATION)  // "error:0A00010B:SSL routines::wrong version number"
    return Failed(Outcome::kTlsFailure, After("::", text));
  if (text.starts_with(kChain))
    return Failed(Outcome::kTlsFailure, "certificate: " + std::string(text.substr(kChain.size())));
  // All other certificate errors are name mismatches.
  return Failed(Outcome::kTlsFailure,
                by_address_ ? "certificate: IP address mismatch" : "certificate: hostname mismatch");
}

api::HttpAnswer Transfer::Finish(CURLcode code) {
  if (stopped_) return std::move(*stopped_);
  if (complete_) return Answered();
  switch (code) {
    case CURLE_OK: return Answered();
    case CURLE_OPERATION_TIMEDOUT: return TimedOut();
    case CURLE_COULDNT_RESOLVE_HOST:
      return Failed(Outcome::kUnknownHost, "no address is known for " + call_.host);
    case CURLE_COULDNT_CONNECT: return NotConnected();
    case CURLE_GOT_NOTHING: return Failed(Outcome::kRefused, head_bytes_ > 0 ? kHalfAnswer : kNoAnswer);
    case CURLE_PARTIAL_FILE: return Failed(Outcome::kRefused, kHalfAnswer);
    case CURLE_SEND_ERROR:
    case CURLE_RECV_ERROR: return BrokenOff();
    case CURLE_SSL_CONNECT_ERROR:
    case CURLE_SSL_CERTPROBLEM:
    case CURLE_SSL_CIPHER:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_PEER_FAILED_VERIFICATION: return TlsFailed(code);
    case CURLE_FILESIZE_EXCEEDED: {
      Answer answer = Failed(Outcome::kTooLarge, "the answer's body is above " +
                                                     std::to_string(call_.answer_bytes_max) + " bytes");
      answer.status = Status();
      return answer;
    }
    case CURLE_UNSUPPORTED_PROTOCOL: return Malformed("its first line is not an HTTP/1.1 status line");
    // libcurl returns this for a header line of more than 100 KB.
    case CURLE_OUT_OF_MEMORY: return Malformed("its header fields are too long");
    default: return Malformed(error_[0] != '\0' ? error_ : curl_easy_strerror(code));
  }
}

}  // namespace terrarium::testbed::internal
