#include "testbed/cli/http_get.h"

#include <chrono>
#include <future>
#include <utility>

#include "api/base/errors.h"
#include "testbed/control_plane/http_client/http_caller.h"
#include "testbed/control_plane/http_client/http_url.h"

namespace terrarium::testbed {
namespace {

constexpr std::chrono::seconds kTimeout{30};
constexpr std::size_t kAnswerBytesMax = 256 * 1024 * 1024;

}  // namespace

api::Result<HttpAnswerText> HttpGet(const ServerAccess& server, const std::string& path) {
  auto url = ParseHttpUrl(server.url);
  if (!url) return url.status();
  auto caller = MakeHttpCaller({.locate =
                                    [&](const api::HttpCall&) {
                                      return CallTarget{url->host, url->port};
                                    },
                                .ca_pem = server.ca_pem,
                                .client_certificate_pem = server.client_certificate_pem,
                                .client_key_pem = server.client_key_pem,
                                .skip_tls_verify = server.skip_tls_verify});
  if (!caller) return caller.status();
  api::HttpCall call;
  call.method = api::HttpCall::Method::kGet;
  call.tls = url->tls;
  call.host = server.tls_server_name.empty() ? url->host : server.tls_server_name;
  call.port = std::to_string(url->port);
  call.path = url->path + path;
  call.timeout = kTimeout;
  call.answer_bytes_max = kAnswerBytesMax;
  if (!server.tls_server_name.empty()) call.headers.emplace_back("Host", url->Authority());
  if (!server.token.empty()) call.headers.emplace_back("Authorization", "Bearer " + server.token);
  std::promise<api::HttpAnswer> promise;
  (*caller)->Call(std::move(call), [&](api::HttpAnswer answer) { promise.set_value(std::move(answer)); });
  api::HttpAnswer answer = promise.get_future().get();
  if (answer.outcome != api::HttpAnswer::Outcome::kAnswered)
    return api::BadRequest("cannot reach " + server.url + ": " + answer.error);
  return HttpAnswerText{answer.status, std::move(answer.body)};
}

}  // namespace terrarium::testbed
