#include "testbed/control_plane/http_client/internal/transfer.h"

#include <charconv>
#include <cstdlib>
#include <cstring>
#include <utility>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "api/base/check.h"
#include "api/base/errors.h"
#include "testbed/control_plane/http_client/internal/request_headers.h"

namespace terrarium::testbed::internal {
namespace {

template <typename T>
void Set(CURL* easy, CURLoption option, T value) {
  CHECK(curl_easy_setopt(easy, option, value) == CURLE_OK);
}

void Append(CurlPtr<curl_slist>& list, const std::string& line) {
  curl_slist* longer = curl_slist_append(list.get(), line.c_str());
  CHECK(longer != nullptr);
  list.release();  // `longer` owns its nodes now
  list.reset(longer);
}

// The host as a certificate names it: without the brackets of an address and without a final dot.
std::string ServerName(const std::string& host) {
  if (host.starts_with('[') && host.ends_with(']')) return host.substr(1, host.size() - 2);
  return host.ends_with('.') ? host.substr(0, host.size() - 1) : host;
}

std::string HostInUrl(const std::string& host) {
  return host.find(':') == std::string::npos ? host : "[" + host + "]";
}

std::string AddressText(const sockaddr& address) {
  char text[INET6_ADDRSTRLEN] = {};
  if (address.sa_family == AF_INET)
    inet_ntop(AF_INET, &reinterpret_cast<const sockaddr_in&>(address).sin_addr, text, sizeof text);
  else if (address.sa_family == AF_INET6)
    inet_ntop(AF_INET6, &reinterpret_cast<const sockaddr_in6&>(address).sin6_addr, text, sizeof text);
  return text;
}

std::uint16_t PortOf(const sockaddr& address) {
  return ntohs(address.sa_family == AF_INET6 ? reinterpret_cast<const sockaddr_in6&>(address).sin6_port
                                             : reinterpret_cast<const sockaddr_in&>(address).sin_port);
}

// The IP address in the spelling of AddressText(); empty when `host` is not an IP address.
std::string NormalAddress(const std::string& host) {
  unsigned char bytes[sizeof(in6_addr)];
  char text[INET6_ADDRSTRLEN] = {};
  for (int family : {AF_INET, AF_INET6})
    if (inet_pton(family, host.c_str(), bytes) == 1) inet_ntop(family, bytes, text, sizeof text);
  return text;
}

}  // namespace

void InitialiseCurl() {
  static const CURLcode code = curl_global_init(CURL_GLOBAL_DEFAULT);
  CHECK(code == CURLE_OK);
}

api::Result<std::unique_ptr<Transfer>> Transfer::Make(api::HttpCall call, CallTarget target,
                                                      const HttpCallerOptions& options) {
  auto headers = RequestHeaders(call);
  if (!headers) return headers.status();
  std::unique_ptr<Transfer> made(new Transfer(std::move(call), std::move(target)));
  for (const std::string& line : *headers) Append(made->headers_, line);
  made->easy_.reset(curl_easy_init());
  CHECK(made->easy_ != nullptr);
  if (!made->SetUrl()) return api::BadRequest("the host cannot be sent: it is neither a name nor an address");
  made->SetRequest();
  made->SetLimits();
  if (made->call_.tls) made->SetTls(options);
  return made;
}

Transfer& Transfer::Of(CURL* easy) {
  void* self = nullptr;
  CHECK(curl_easy_getinfo(easy, CURLINFO_PRIVATE, &self) == CURLE_OK);
  return *static_cast<Transfer*>(self);
}

// The URL has the host of the call, for which the certificate must be valid; CONNECT_TO has the target.
bool Transfer::SetUrl() {
  url_.reset(curl_url());
  CHECK(url_ != nullptr);
  std::string name = ServerName(call_.host);
  by_address_ = !NormalAddress(name).empty();
  std::string host = HostInUrl(name), port = std::to_string(target_.port);
  if (curl_url_set(url_.get(), CURLUPART_SCHEME, call_.tls ? "https" : "http", 0) != CURLUE_OK ||
      curl_url_set(url_.get(), CURLUPART_HOST, host.c_str(), 0) != CURLUE_OK ||
      curl_url_set(url_.get(), CURLUPART_PORT, port.c_str(), 0) != CURLUE_OK)
    return false;
  Append(connect_to_, "::" + HostInUrl(target_.host) + ":" + port);
  return true;
}

void Transfer::SetRequest() {
  CURL* easy = easy_.get();
  Set(easy, CURLOPT_PRIVATE, static_cast<void*>(this));
  Set(easy, CURLOPT_CURLU, url_.get());
  Set(easy, CURLOPT_CONNECT_TO, connect_to_.get());
  Set(easy, CURLOPT_REQUEST_TARGET, call_.path.c_str());
  Set(easy, CURLOPT_HTTPHEADER, headers_.get());
  if (call_.method == api::HttpCall::Method::kPost) {
    Set(easy, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(call_.body.size()));
    Set(easy, CURLOPT_POSTFIELDS, call_.body.data());
  }
  Set(easy, CURLOPT_HEADERFUNCTION, &Transfer::OnHeader);
  Set(easy, CURLOPT_HEADERDATA, static_cast<void*>(this));
  Set(easy, CURLOPT_WRITEFUNCTION, &Transfer::OnBody);
  Set(easy, CURLOPT_WRITEDATA, static_cast<void*>(this));
  Set(easy, CURLOPT_OPENSOCKETFUNCTION, &Transfer::OnSocket);
  Set(easy, CURLOPT_OPENSOCKETDATA, static_cast<void*>(this));
  Set(easy, CURLOPT_ERRORBUFFER, error_);
}

void Transfer::SetLimits() {
  CURL* easy = easy_.get();
  // libcurl counts whole milliseconds, and may end the last one early.
  Set(easy, CURLOPT_TIMEOUT_MS, static_cast<long>(call_.timeout.count() + 1));
  Set(easy, CURLOPT_MAXFILESIZE_LARGE, static_cast<curl_off_t>(call_.answer_bytes_max));
  Set(easy, CURLOPT_NOSIGNAL, 1L);
  // A call that has timed out does not wait for the thread that resolves its host.
  Set(easy, CURLOPT_QUICK_EXIT, 1L);
  Set(easy, CURLOPT_DNS_CACHE_TIMEOUT, 0L);
  Set(easy, CURLOPT_PROTOCOLS_STR, "http,https");
  Set(easy, CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
  Set(easy, CURLOPT_FOLLOWLOCATION, 0L);
  // Empty: ignore the proxies of the environment too.
  Set(easy, CURLOPT_PROXY, "");
  Set(easy, CURLOPT_NETRC, static_cast<long>(CURL_NETRC_IGNORED));
  // A connection serves one call.
  Set(easy, CURLOPT_FRESH_CONNECT, 1L);
  Set(easy, CURLOPT_FORBID_REUSE, 1L);
}

void Transfer::SetTls(const HttpCallerOptions& options) {
  CURL* easy = easy_.get();
  auto set_pem = [easy](CURLoption option, const std::string& pem) {
    curl_blob blob{const_cast<char*>(pem.data()), pem.size(), CURL_BLOB_NOCOPY};
    Set(easy, option, &blob);
  };
  Set(easy, CURLOPT_DEBUGFUNCTION, &Transfer::OnTrace);
  Set(easy, CURLOPT_DEBUGDATA, static_cast<void*>(this));
  Set(easy, CURLOPT_VERBOSE, 1L);  // enables OnTrace
  Set(easy, CURLOPT_SSLVERSION, static_cast<long>(CURL_SSLVERSION_TLSv1_2));
  Set(easy, CURLOPT_SSL_SESSIONID_CACHE, 0L);
  Set(easy, CURLOPT_SSL_VERIFYPEER, options.skip_tls_verify ? 0L : 1L);
  Set(easy, CURLOPT_SSL_VERIFYHOST, options.skip_tls_verify ? 0L : 2L);
  if (!options.ca_pem.empty()) {
    set_pem(CURLOPT_CAINFO_BLOB, options.ca_pem);
    Set(easy, CURLOPT_CAPATH, static_cast<char*>(nullptr));  // trust only the given authorities
  } else {
    // The environment variables of OpenSSL, which libcurl ignores.
    if (const char* file = std::getenv("SSL_CERT_FILE")) Set(easy, CURLOPT_CAINFO, file);
    if (const char* folder = std::getenv("SSL_CERT_DIR")) Set(easy, CURLOPT_CAPATH, folder);
  }
  if (options.client_certificate_pem.empty()) return;
  set_pem(CURLOPT_SSLCERT_BLOB, options.client_certificate_pem);
  set_pem(CURLOPT_SSLKEY_BLOB, options.client_key_pem);
}

std::size_t Transfer::OnHeader(char* bytes, std::size_t size, std::size_t count, void* self) {
  return static_cast<Transfer*>(self)->TakeHeader({bytes, size * count}) ? size * count : 0;
}

std::size_t Transfer::OnBody(char* bytes, std::size_t size, std::size_t count, void* self) {
  return static_cast<Transfer*>(self)->TakeBody({bytes, size * count}) ? size * count : 0;
}

// libcurl accepts any end of a TLS connection as the end of the answer, but an attacker on the network can
// close a connection. This records close notifications. The only messages of two bytes are alerts: a level,
// and 0 for a close notification.
int Transfer::OnTrace(CURL*, curl_infotype type, char* bytes, std::size_t count, void* self) {
  auto& transfer = *static_cast<Transfer*>(self);
  if (type == CURLINFO_SSL_DATA_OUT) transfer.tls_began_ = true;
  if (type == CURLINFO_SSL_DATA_IN && count == 2 && bytes[1] == 0) transfer.tls_closed_ = true;
  return 0;
}

// Names have been resolved here: the address is final.
curl_socket_t Transfer::OnSocket(void* self, curlsocktype, curl_sockaddr* address) {
  auto& transfer = *static_cast<Transfer*>(self);
  transfer.address_ = HostInUrl(AddressText(address->addr)) + ":" + std::to_string(PortOf(address->addr));
  if (!transfer.MayConnectTo(address->addr)) {
    transfer.Stop(Outcome::kNotAllowed, transfer.address_ + " is not where the call was sent to");
    return CURL_SOCKET_BAD;
  }
  return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

// The allow list was checked for the target. DNS answers are trusted.
bool Transfer::MayConnectTo(const sockaddr& address) const {
  if (PortOf(address) != target_.port) return false;
  std::string text = AddressText(address);
  if (target_.host == "localhost") return text == "127.0.0.1" || text == "::1";
  std::string wanted = NormalAddress(target_.host);
  return wanted.empty() || text == wanted;
}

bool Transfer::Stop(Outcome outcome, std::string error) {
  stopped_ = Failed(outcome, std::move(error));
  return false;
}

bool Transfer::TakeHeader(std::string_view line) {
  head_bytes_ += line.size();
  if (head_bytes_ > kHeadBytesMax) {
    stopped_ = Malformed("its header fields are too long");
    return false;
  }
  bool is_end = line == "\r\n" || line == "\n";
  return !is_end || head_done_ || EndOfHead();  // trailers come after the head
}

// Rejects answers whose end is ambiguous, which libcurl accepts: different lengths, a length with chunks,
// another transfer coding.
bool Transfer::EndOfHead() {
  // 100 Continue and the like precede the answer. 101 would end HTTP, and no request asks for that.
  if (Status() < 200 && Status() != 101) return true;
  auto find = [this](const char* name, std::size_t index, curl_header** header) {
    return curl_easy_header(easy_.get(), name, index, CURLH_HEADER, -1, header) == CURLHE_OK;
  };
  curl_header* header = nullptr;
  const char* fault = Status() == 101 ? "it changes the protocol" : nullptr;
  std::string length;
  bool chunked = false;
  for (std::size_t i = 0; find("Content-Length", i, &header); ++i) {
    if (i > 0 && length != header->value) fault = "it has several Content-Lengths";
    length = header->value;
  }
  for (std::size_t i = 0; find("Transfer-Encoding", i, &header); ++i) {
    if (i > 0 || !EqualNoCase(header->value, "chunked")) fault = "its Transfer-Encoding is not chunked";
    chunked = true;
    if (!length.empty()) fault = "it has both a Content-Length and a Transfer-Encoding";
  }
  if (fault != nullptr) {
    stopped_ = Malformed(fault);
    return false;
  }
  head_done_ = true;
  ends_with_connection_ = length.empty() && !chunked && Status() != 204 && Status() != 304;
  std::size_t number = 0;
  auto parsed = std::from_chars(length.data(), length.data() + length.size(), number);
  if (!length.empty() && parsed.ec == std::errc()) content_length_ = number;
  return WaitForRest();
}

bool Transfer::TakeBody(std::string_view bytes) {
  if (bytes.size() > call_.answer_bytes_max - body_.size()) {
    body_.clear();
    stopped_ = Finish(CURLE_FILESIZE_EXCEEDED);
    return false;
  }
  body_.append(bytes);
  return WaitForRest();
}

// libcurl would continue to send the request before it reports an answer below 300.
bool Transfer::WaitForRest() {
  complete_ = content_length_ == body_.size() && !IsRequestSent();
  return !complete_;
}

}  // namespace terrarium::testbed::internal
