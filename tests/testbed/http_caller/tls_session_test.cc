#include "testbed/http_caller/internal/tls_session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/ssl.h>

#include <string>

#include "tests/testbed/http_caller/certificates.h"

namespace terrarium::testbed::internal {
namespace {

using testing::HasSubstr;
using testing_tls::Identity;
using testing_tls::MakeIdentity;
using testing_tls::TemporaryFile;
using State = TlsSession::State;

// The other side, in memory as well.
class Server {
 public:
  explicit Server(const Identity& identity) : context_(testing_tls::ServerContext(identity)) {
    ssl_ = SSL_new(context_.get());
    SSL_set_bio(ssl_, BIO_new(BIO_s_mem()), BIO_new(BIO_s_mem()));
    SSL_set_accept_state(ssl_);
  }
  ~Server() { SSL_free(ssl_); }

  void Feed(const std::string& bytes) {
    BIO_write(SSL_get_rbio(ssl_), bytes.data(), static_cast<int>(bytes.size()));
    char buffer[1024];
    for (int count; (count = SSL_read(ssl_, buffer, sizeof buffer)) > 0;) received += std::string(buffer, count);
  }
  void Write(const std::string& text) { SSL_write(ssl_, text.data(), static_cast<int>(text.size())); }
  void Close() { SSL_shutdown(ssl_); }
  std::string TakeOutput() {
    std::string out(BIO_ctrl_pending(SSL_get_wbio(ssl_)), '\0');
    if (!out.empty()) BIO_read(SSL_get_wbio(ssl_), out.data(), static_cast<int>(out.size()));
    return out;
  }
  std::string sni() const {
    const char* name = SSL_get_servername(ssl_, TLSEXT_NAMETYPE_host_name);
    return name == nullptr ? "" : name;
  }

  std::string received;

 private:
  testing_tls::ContextPtr context_;
  SSL* ssl_;
};

class TlsSessionTest : public testing::Test {
 protected:
  Identity Signed(const std::string& names) {
    return MakeIdentity({.common_name = "server", .alternative_names = names, .issuer = &authority});
  }
  // What becomes of a handshake in which the client calls the server so.
  State Meet(const Identity& identity, const std::string& name) {
    server = std::make_unique<Server>(identity);
    session = std::make_unique<TlsSession>(*roots, name);
    session->Start();
    Exchange();
    return session->state();
  }
  void Exchange() {
    for (int round = 0; round < 5; ++round) {
      server->Feed(session->TakeOutput());
      session->Feed(server->TakeOutput(), &plain);
    }
  }

  Identity authority = MakeIdentity({.common_name = "our authority", .authority = true});
  TemporaryFile ca{authority.Pem()};
  std::unique_ptr<TlsRoots> roots = std::move(*TlsRoots::Make(ca.path()));
  std::unique_ptr<Server> server;
  std::unique_ptr<TlsSession> session;
  std::string plain;
};

TEST_F(TlsSessionTest, CarriesTextBothWays) {
  ASSERT_EQ(Meet(Signed("DNS:picker.default.svc"), "picker.default.svc"), State::kOpen);
  EXPECT_EQ(server->sni(), "picker.default.svc");
  std::string much(3'000'000, 'x');
  EXPECT_EQ(session->Write("hello " + much), State::kOpen);
  server->Write("and " + much);
  Exchange();
  EXPECT_EQ(server->received, "hello " + much);
  EXPECT_EQ(plain, "and " + much);
  server->Close();
  Exchange();
  EXPECT_EQ(session->state(), State::kClosed);
}

TEST_F(TlsSessionTest, WorksByteByByte) {
  Server other(Signed("DNS:a.test"));
  TlsSession slow(*roots, "a.test");
  slow.Start();
  other.Write("");
  for (int round = 0; round < 5; ++round) {
    other.Feed(slow.TakeOutput());
    for (char c : other.TakeOutput()) slow.Feed({&c, 1}, &plain);
  }
  EXPECT_EQ(slow.state(), State::kOpen);
}

TEST_F(TlsSessionTest, NamesAddressesAndWildcardsOfACertificate) {
  EXPECT_EQ(Meet(Signed("IP:127.0.0.1"), "127.0.0.1"), State::kOpen);
  EXPECT_EQ(server->sni(), "");  // an address is no name
  EXPECT_EQ(Meet(Signed("IP:0:0:0:0:0:0:0:1"), "::1"), State::kOpen);
  EXPECT_EQ(Meet(Signed("DNS:*.default.svc"), "picker.default.svc"), State::kOpen);
  EXPECT_EQ(Meet(Signed("DNS:A.test"), "a.TEST"), State::kOpen);
}

TEST_F(TlsSessionTest, ACertificateForSomebodyElseIsRefused) {
  EXPECT_EQ(Meet(Signed("DNS:other.test"), "a.test"), State::kFailed);
  EXPECT_EQ(session->error(), "certificate: hostname mismatch");
  EXPECT_EQ(Meet(Signed("DNS:*.test"), "b.a.test"), State::kFailed);
  EXPECT_EQ(Meet(Signed("DNS:pick*.test"), "picker.test"), State::kFailed);
  EXPECT_EQ(Meet(Signed("IP:127.0.0.2"), "127.0.0.1"), State::kFailed);
  EXPECT_THAT(session->error(), HasSubstr("IP address mismatch"));
  EXPECT_EQ(Meet(Signed("DNS:127.0.0.1"), "127.0.0.1"), State::kFailed);  // an address is no name
}

TEST_F(TlsSessionTest, ACertificateThatNobodyVouchesForIsRefused) {
  Identity self_signed = MakeIdentity({.common_name = "a.test", .alternative_names = "DNS:a.test"});
  EXPECT_EQ(Meet(self_signed, "a.test"), State::kFailed);
  EXPECT_EQ(session->error(), "certificate: self-signed certificate");
  Identity stranger = MakeIdentity({.common_name = "other authority", .authority = true});
  EXPECT_EQ(Meet(MakeIdentity({.alternative_names = "DNS:a.test", .issuer = &stranger}), "a.test"), State::kFailed);
  EXPECT_THAT(session->error(), HasSubstr("issuer certificate"));
}

TEST_F(TlsSessionTest, ACertificateOutsideItsTimeIsRefused) {
  EXPECT_EQ(Meet(MakeIdentity({.alternative_names = "DNS:a.test", .issuer = &authority, .valid_from_seconds = -7200,
                               .valid_to_seconds = -3600}), "a.test"), State::kFailed);
  EXPECT_EQ(session->error(), "certificate: certificate has expired");
  EXPECT_EQ(Meet(MakeIdentity({.alternative_names = "DNS:a.test", .issuer = &authority, .valid_from_seconds = 3600,
                               .valid_to_seconds = 7200}), "a.test"), State::kFailed);
  EXPECT_EQ(session->error(), "certificate: certificate is not yet valid");
}

TEST_F(TlsSessionTest, PlainTextIsNoTls) {
  TlsSession session(*roots, "a.test");
  session.Start();
  EXPECT_EQ(session.Feed("HTTP/1.1 400 Bad Request\r\n\r\n", &plain), State::kFailed);
  EXPECT_EQ(session.error(), "wrong version number");
}

TEST_F(TlsSessionTest, ASessionWithNobodyDoesNotBegin) {
  TlsSession session(*roots, "");
  EXPECT_EQ(session.Start(), State::kFailed);
}

TEST(TlsRoots, AFileWithoutCertificatesIsRefused) {
  TemporaryFile nothing("no certificate\n");
  EXPECT_THAT(TlsRoots::Make(nothing.path()).status().message, HasSubstr(nothing.path()));
  EXPECT_FALSE(TlsRoots::Make("/no/such/file").ok());
  EXPECT_TRUE(TlsRoots::Make("").ok());
}

}  // namespace
}  // namespace terrarium::testbed::internal
