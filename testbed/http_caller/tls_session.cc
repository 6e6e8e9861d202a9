#include "testbed/http_caller/internal/tls_session.h"

#include <algorithm>
#include <arpa/inet.h>

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509_vfy.h>
#include <openssl/x509v3.h>

#include "api/base/check.h"
#include "api/base/errors.h"

namespace terrarium::testbed::internal {
namespace {

// The newest of OpenSSL's errors of this thread, in its words.
std::string TakeError() {
  unsigned long code = ERR_peek_last_error();
  ERR_clear_error();
  const char* reason = code == 0 ? nullptr : ERR_reason_error_string(code);
  return reason == nullptr ? "unknown error" : reason;
}

bool IsAddress(const std::string& server) {
  unsigned char bytes[sizeof(in6_addr)];
  return inet_pton(AF_INET, server.c_str(), bytes) == 1 || inet_pton(AF_INET6, server.c_str(), bytes) == 1;
}

}  // namespace

api::Result<std::unique_ptr<TlsRoots>> TlsRoots::Make(const std::string& ca_file) {
  ERR_clear_error();
  SSL_CTX* context = SSL_CTX_new(TLS_client_method());
  CHECK(context != nullptr);
  std::unique_ptr<TlsRoots> roots(new TlsRoots(context));
  SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
  SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nullptr);
  bool loaded = ca_file.empty() ? SSL_CTX_set_default_verify_paths(context) == 1
                                : SSL_CTX_load_verify_file(context, ca_file.c_str()) == 1;
  if (loaded) return roots;
  std::string why = TakeError();
  return api::BadRequest(ca_file.empty() ? "cannot read the system's certificate authorities: " + why
                                         : "no certificate authorities in " + ca_file + ": " + why);
}

TlsRoots::~TlsRoots() { SSL_CTX_free(context_); }

TlsSession::TlsSession(const TlsRoots& roots, const std::string& server) : ssl_(SSL_new(roots.context())) {
  CHECK(ssl_ != nullptr);
  SSL_set_bio(ssl_, BIO_new(BIO_s_mem()), BIO_new(BIO_s_mem()));  // the session owns them
  SSL_set_connect_state(ssl_);
  X509_VERIFY_PARAM* wanted = SSL_get0_param(ssl_);
  bool set = false;
  if (IsAddress(server)) {
    set = X509_VERIFY_PARAM_set1_ip_asc(wanted, server.c_str()) == 1;
  } else {
    X509_VERIFY_PARAM_set_hostflags(wanted, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
    set = !server.empty() && X509_VERIFY_PARAM_set1_host(wanted, server.data(), server.size()) == 1 &&
          SSL_set_tlsext_host_name(ssl_, server.c_str()) == 1;
  }
  // A session that would take anybody's certificate must not begin.
  if (!set) Fail();
}

TlsSession::~TlsSession() { SSL_free(ssl_); }

TlsSession::State TlsSession::Fail() {
  long verdict = SSL_get_verify_result(ssl_);
  std::string error = TakeError();
  error_ = verdict == X509_V_OK ? error : "certificate: " + std::string(X509_verify_cert_error_string(verdict));
  return state_ = State::kFailed;
}

TlsSession::State TlsSession::Feed(std::string_view bytes, std::string* plain) {
  if (state_ == State::kFailed || state_ == State::kClosed) return state_;
  ERR_clear_error();
  if (!bytes.empty()) {
    int written = BIO_write(SSL_get_rbio(ssl_), bytes.data(), static_cast<int>(bytes.size()));
    CHECK(written == static_cast<int>(bytes.size()));
  }
  if (state_ == State::kHandshake && Handshake() != State::kOpen) return state_;
  return plain == nullptr ? state_ : Read(plain);
}

TlsSession::State TlsSession::Handshake() {
  int result = SSL_do_handshake(ssl_);
  if (result == 1) return state_ = State::kOpen;
  return SSL_get_error(ssl_, result) == SSL_ERROR_WANT_READ ? state_ : Fail();
}

TlsSession::State TlsSession::Read(std::string* plain) {
  char buffer[16 * 1024];
  for (;;) {
    int count = SSL_read(ssl_, buffer, sizeof buffer);
    if (count > 0) {
      plain->append(buffer, static_cast<std::size_t>(count));
      continue;
    }
    int error = SSL_get_error(ssl_, count);
    if (error == SSL_ERROR_WANT_READ) return state_;
    if (error == SSL_ERROR_ZERO_RETURN) return state_ = State::kClosed;
    return Fail();
  }
}

TlsSession::State TlsSession::Write(std::string_view plain) {
  CHECK(state_ == State::kOpen);
  ERR_clear_error();
  // A memory BIO takes everything at once.
  while (!plain.empty()) {
    int count = SSL_write(ssl_, plain.data(), static_cast<int>(std::min<std::size_t>(plain.size(), 1 << 20)));
    if (count <= 0) return Fail();
    plain.remove_prefix(static_cast<std::size_t>(count));
  }
  return state_;
}

std::string TlsSession::TakeOutput() {
  std::string out;
  BIO* bio = SSL_get_wbio(ssl_);
  out.resize(BIO_ctrl_pending(bio));
  if (!out.empty()) CHECK(BIO_read(bio, out.data(), static_cast<int>(out.size())) == static_cast<int>(out.size()));
  return out;
}

}  // namespace terrarium::testbed::internal
