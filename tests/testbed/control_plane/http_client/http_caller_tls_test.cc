#include <cstdlib>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/testbed/control_plane/http_client/certificates.h"
#include "tests/testbed/control_plane/http_client/http_calls.h"
#include "tests/testbed/control_plane/http_client/misbehaving_server.h"

namespace terrarium::testbed {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::SizeIs;
using testing_tls::Identity;
using testing_tls::MakeIdentity;
using testing_tls::TemporaryFile;
using Connection = MisbehavingServer::Connection;

constexpr const char* kGood =
    "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}";

class HttpsCallerTest : public testing::Test {
 protected:
  // A server with a certificate for these names, signed by the test's authority.
  testing_tls::ContextPtr Server(const std::string& names) {
    return testing_tls::ServerContext(MakeIdentity({.alternative_names = names, .issuer = &authority}));
  }
  static api::HttpCall SecureCallTo(const std::string& port,
                                    std::chrono::milliseconds timeout = kLongerThanAnyCall) {
    api::HttpCall call = CallTo(port, timeout);
    call.tls = true;
    return call;
  }
  api::HttpAnswer AskSecurely(MisbehavingServer::Script script, SSL_CTX* context) {
    MisbehavingServer server(std::move(script), {.tls = context});
    return Ask(*caller, SecureCallTo(server.port()));
  }

  Identity authority = MakeIdentity({.common_name = "our authority", .authority = true});
  TemporaryFile ca{authority.Pem()};
  std::unique_ptr<api::HttpCaller> caller = MakeCaller({.ca_file = ca.path()});
};

TEST_F(HttpsCallerTest, ATrustedServerIsAsked) {
  auto context = Server("IP:127.0.0.1");
  MisbehavingServer server(AnswerWith(kGood), {.tls = context.get()});
  api::HttpCall call = SecureCallTo(server.port());
  call.body = std::string(1'000'000, ' ');
  api::HttpAnswer answer = Ask(*caller, call);
  EXPECT_EQ(answer.outcome, Outcome::kAnswered) << answer.error;
  EXPECT_EQ(answer.body, "{}");
  ASSERT_THAT(server.requests(), SizeIs(1));
  EXPECT_THAT(server.requests()[0], testing::EndsWith(call.body));
}

// The picker runs elsewhere and has the certificate of its Service name.
TEST_F(HttpsCallerTest, TheCertificateIsForTheHostThatIsCalledAndNotForWhereItIs) {
  auto context = Server("DNS:picker.default.svc");
  MisbehavingServer server(AnswerWith(kGood), {.tls = context.get()});
  auto sending =
      MakeCaller({.locate =
                      [&](const api::HttpCall&) {
                        return CallTarget{"127.0.0.1", static_cast<std::uint16_t>(std::stoi(server.port()))};
                      },
                  .ca_file = ca.path()});
  api::HttpCall call = SecureCallTo("443");
  call.host = "picker.default.svc";
  EXPECT_EQ(Ask(*sending, call).body, "{}");
  EXPECT_THAT(server.requests()[0], HasSubstr("Host: picker.default.svc\r\n"));
  call.host = "other.default.svc";
  EXPECT_EQ(Ask(*sending, call).error, "certificate: hostname mismatch");
}

// The outcome of a call to that host on a server whose certificate is for those names.
TEST_F(HttpsCallerTest, NamesAddressesAndWildcardsOfACertificate) {
  struct {
    const char *names, *host, *server_name, *error;
  } cases[] = {{"IP:127.0.0.1", "127.0.0.1", "", ""},  // an address is not a name
               {"IP:0:0:0:0:0:0:0:1", "::1", "", ""},
               {"DNS:picker.default.svc", "picker.default.svc", "picker.default.svc", ""},
               {"DNS:picker.test", "picker.test.", "picker.test", ""},
               {"DNS:*.default.svc", "picker.default.svc", "picker.default.svc", ""},
               {"DNS:A.test", "a.TEST", "a.test", ""},
               {"DNS:other.test", "a.test", "a.test", "certificate: hostname mismatch"},
               {"DNS:*.test", "b.a.test", "b.a.test", "certificate: hostname mismatch"},
               {"DNS:pick*.test", "picker.test", "picker.test", "certificate: hostname mismatch"},
               {"IP:127.0.0.2", "127.0.0.1", "", "certificate: IP address mismatch"},
               {"DNS:127.0.0.1", "127.0.0.1", "", "certificate: IP address mismatch"}};
  for (const auto& each : cases) {
    auto context = Server(each.names);
    std::promise<std::string> asked_for;
    MisbehavingServer server(
        [&](Connection& connection) {
          asked_for.set_value(connection.ServerName());
          AnswerWith(kGood)(connection);
        },
        {.tls = context.get()});
    auto port = static_cast<std::uint16_t>(std::stoi(server.port()));
    auto leading = MakeCaller({.locate =
                                   [&](const api::HttpCall&) {
                                     return CallTarget{"127.0.0.1", port};
                                   },
                               .ca_file = ca.path()});
    api::HttpCall call = SecureCallTo(server.port());
    call.host = each.host;
    EXPECT_EQ(Ask(*leading, call).error, each.error) << each.names << " " << each.host;
    if (*each.error != '\0') continue;
    EXPECT_EQ(asked_for.get_future().get(), each.server_name);
  }
}

TEST_F(HttpsCallerTest, ACertificateOutsideItsTimeIsRefused) {
  struct {
    long from, to;
    const char* error;
  } cases[] = {{-7200, -3600, "certificate: certificate has expired"},
               {3600, 7200, "certificate: certificate is not yet valid"}};
  for (const auto& each : cases) {
    auto context = testing_tls::ServerContext(MakeIdentity({.alternative_names = "IP:127.0.0.1",
                                                            .issuer = &authority,
                                                            .valid_from_seconds = each.from,
                                                            .valid_to_seconds = each.to}));
    api::HttpAnswer answer = AskSecurely(AnswerWith(kGood), context.get());
    EXPECT_EQ(answer.outcome, Outcome::kTlsFailure);
    EXPECT_EQ(answer.error, each.error);
  }
}

TEST_F(HttpsCallerTest, ACertificateOfAnotherAuthorityIsRefused) {
  Identity stranger = MakeIdentity({.common_name = "other authority", .authority = true});
  auto context =
      testing_tls::ServerContext(MakeIdentity({.alternative_names = "IP:127.0.0.1", .issuer = &stranger}));
  api::HttpAnswer answer = AskSecurely(AnswerWith(kGood), context.get());
  EXPECT_EQ(answer.outcome, Outcome::kTlsFailure);
  EXPECT_THAT(answer.error, HasSubstr("issuer certificate"));
  // The certificates of the file replace the system's.
  TemporaryFile system(stranger.Pem());
  setenv("SSL_CERT_FILE", system.path().c_str(), 1);
  EXPECT_EQ(AskSecurely(AnswerWith(kGood), context.get()).outcome, Outcome::kTlsFailure);
  unsetenv("SSL_CERT_FILE");
}

TEST_F(HttpsCallerTest, VerificationCanBeSkipped) {
  auto context = testing_tls::ServerContext(MakeIdentity({.alternative_names = "DNS:other.test"}));
  caller = MakeCaller({.skip_tls_verify = true});
  EXPECT_EQ(AskSecurely(AnswerWith(kGood), context.get()).body, "{}");
}

TEST_F(HttpsCallerTest, AClientCertificateIsShown) {
  auto context = Server("IP:127.0.0.1");
  SSL_CTX_load_verify_file(context.get(), ca.path().c_str());
  SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
  EXPECT_NE(AskSecurely(AnswerWith(kGood), context.get()).outcome, Outcome::kAnswered);
  Identity client = MakeIdentity({.common_name = "client", .issuer = &authority});
  caller = MakeCaller(
      {.ca_pem = authority.Pem(), .client_certificate_pem = client.Pem(), .client_key_pem = client.KeyPem()});
  api::HttpAnswer answer = AskSecurely(AnswerWith(kGood), context.get());
  EXPECT_EQ(answer.body, "{}") << answer.error;
}

TEST_F(HttpsCallerTest, OldVersionsOfTlsAreRefused) {
  auto context = Server("IP:127.0.0.1");
  SSL_CTX_set_min_proto_version(context.get(), TLS1_VERSION);
  SSL_CTX_set_max_proto_version(context.get(), TLS1_1_VERSION);
  EXPECT_EQ(AskSecurely(AnswerWith(kGood), context.get()).outcome, Outcome::kTlsFailure);
}

TEST_F(HttpsCallerTest, CertificatesThatAreNotTrusted) {
  auto other_host = Server("DNS:other.test");
  api::HttpAnswer answer = AskSecurely(AnswerWith(kGood), other_host.get());
  EXPECT_EQ(answer.outcome, Outcome::kTlsFailure);
  EXPECT_THAT(answer.error, HasSubstr("IP address mismatch"));

  Identity self_signed = MakeIdentity({.alternative_names = "IP:127.0.0.1"});
  auto own_word = testing_tls::ServerContext(self_signed);
  MisbehavingServer server(AnswerWith(kGood), {.tls = own_word.get()});
  answer = Ask(*caller, SecureCallTo(server.port()));
  EXPECT_EQ(answer.outcome, Outcome::kTlsFailure);
  EXPECT_EQ(answer.error, "certificate: self-signed certificate");
  EXPECT_THAT(server.requests(), SizeIs(0));  // it has not seen the request

  auto by_system = MakeCaller({});  // which does not trust the test's authority
  auto ours = Server("IP:127.0.0.1");
  MisbehavingServer other(AnswerWith(kGood), {.tls = ours.get()});
  EXPECT_EQ(Ask(*by_system, SecureCallTo(other.port())).outcome, Outcome::kTlsFailure);
}

// OpenSSL reads the system's roots from the path in this variable.
TEST_F(HttpsCallerTest, WithoutAFileTheSystemsRootsAreTrusted) {
  setenv("SSL_CERT_FILE", ca.path().c_str(), 1);
  auto context = Server("IP:127.0.0.1");
  MisbehavingServer server(AnswerWith(kGood), {.tls = context.get()});
  auto by_system = MakeCaller({});
  EXPECT_EQ(Ask(*by_system, SecureCallTo(server.port())).body, "{}");
  unsetenv("SSL_CERT_FILE");
}

TEST_F(HttpsCallerTest, ServersThatSpeakSomethingElse) {
  MisbehavingServer plain([](Connection& connection) {
    connection.Send("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n");
    connection.WaitForClose();
  });
  api::HttpAnswer answer = Ask(*caller, SecureCallTo(plain.port()));
  EXPECT_EQ(answer.outcome, Outcome::kTlsFailure);
  EXPECT_EQ(answer.error, "wrong version number");
  MisbehavingServer closing([](Connection&) {});
  EXPECT_EQ(Ask(*caller, SecureCallTo(closing.port())).outcome, Outcome::kTlsFailure);
  auto context = Server("IP:127.0.0.1");
  MisbehavingServer secure(AnswerWith(kGood), {.tls = context.get()});
  answer = Ask(*caller, CallTo(secure.port()));  // plain HTTP to a port that speaks TLS
  EXPECT_TRUE(answer.outcome == Outcome::kMalformed || answer.outcome == Outcome::kRefused) << answer.error;
}

TEST_F(HttpsCallerTest, TheTimeLimitHoldsInTheHandshakeAndInTheBody) {
  MisbehavingServer silent([](Connection& connection) { connection.WaitForClose(); });
  auto context = Server("IP:127.0.0.1");
  MisbehavingServer dripping(
      [](Connection& connection) {
        connection.ReadRequest();
        connection.Send("HTTP/1.1 200 OK\r\n\r\n");
        connection.Drip("x");
      },
      {.tls = context.get()});
  auto in_handshake = Begin(*caller, SecureCallTo(silent.port(), 2s));
  auto in_body = Begin(*caller, SecureCallTo(dripping.port(), 2s));
  EXPECT_EQ(Wait(in_handshake).error, "after 2s the TLS handshake was not over");
  EXPECT_EQ(Wait(in_body).error, "after 2s the answer was not complete");
}

TEST_F(HttpsCallerTest, AnswersInSingleRecords) {
  auto context = Server("IP:127.0.0.1");
  api::HttpAnswer answer = AskSecurely(
      [](Connection& connection) {
        connection.ReadRequest();
        for (char c :
             std::string("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n"))
          connection.Send({&c, 1});
      },
      context.get());
  EXPECT_EQ(answer.body, "{}") << answer.error;
}

TEST_F(HttpsCallerTest, AResetIsAFault) {
  auto context = Server("IP:127.0.0.1");
  for (const char* text : {"", "HTTP/1.1 200 OK\r\n\r\n{"}) {
    api::HttpAnswer answer = AskSecurely(
        [text](Connection& connection) {
          connection.ReadRequest();
          connection.Send(text);
          connection.Reset();
        },
        context.get());
    EXPECT_EQ(answer.outcome, Outcome::kRefused) << answer.error;
    EXPECT_THAT(answer.error, testing::StartsWith("the connection "));
  }
}

TEST_F(HttpsCallerTest, OnlyACloseNotifyEndsABodyWithoutALength) {
  auto context = Server("IP:127.0.0.1");
  std::string text = "HTTP/1.1 200 OK\r\n\r\n{}";
  EXPECT_EQ(AskSecurely(AnswerWith(text), context.get()).body, "{}");
  api::HttpAnswer answer = AskSecurely(
      [&](Connection& connection) {
        connection.ReadRequest();
        connection.Send(text);
      },
      context.get());
  EXPECT_EQ(answer.outcome, Outcome::kRefused);
  EXPECT_EQ(answer.error, "the connection broke off in the middle of the answer");
}

TEST_F(HttpsCallerTest, ABodyAboveTheLimitIsNotRead) {
  auto context = Server("IP:127.0.0.1");
  api::HttpAnswer answer = AskSecurely(
      [](Connection& connection) {
        connection.ReadRequest();
        connection.Send("HTTP/1.1 200 OK\r\n\r\n");
        std::string piece(10'000, 'x');
        while (connection.Send(piece)) {
        }
      },
      context.get());
  EXPECT_EQ(answer.outcome, Outcome::kTooLarge);
}

TEST(MakeHttpCaller, AFileWithoutCertificatesIsRefused) {
  EXPECT_FALSE(MakeHttpCaller({.locate = AsCalled, .ca_file = "/no/such/file"}).ok());
  TemporaryFile nothing("no certificate\n");
  EXPECT_THAT(MakeHttpCaller({.locate = AsCalled, .ca_file = nothing.path()}).status().message,
              HasSubstr(nothing.path()));
  EXPECT_FALSE(MakeHttpCaller({.locate = AsCalled, .ca_pem = "no certificate\n"}).ok());
}

}  // namespace
}  // namespace terrarium::testbed
