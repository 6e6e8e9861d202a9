#pragma once

// One call as a libcurl transfer: its request, the limits on its response, and its outcome.

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <curl/curl.h>

#include "api/base/status.h"
#include "api/http_caller.h"
#include "testbed/control_plane/http_client/http_caller.h"

namespace terrarium::testbed::internal {

// Initialises libcurl for the process; thread-safe, and a no-op after the first time.
void InitialiseCurl();

struct CurlFree {
  void operator()(CURL* easy) const { curl_easy_cleanup(easy); }
  void operator()(CURLU* url) const { curl_url_cleanup(url); }
  void operator()(curl_slist* list) const { curl_slist_free_all(list); }
};
template <typename T>
using CurlPtr = std::unique_ptr<T, CurlFree>;

// Belongs to the thread of its client. Destroy it only when no multi handle has its easy handle.
class Transfer {
 public:
  // Of the status line and all header fields together, including interim responses and trailers.
  static constexpr std::size_t kHeadBytesMax = 64 * 1024;

  // Fails when the request cannot be sent. `options` outlive the transfer.
  static api::Result<std::unique_ptr<Transfer>> Make(api::HttpCall call, CallTarget target,
                                                     const HttpCallerOptions& options);
  static Transfer& Of(CURL* easy);

  CURL* easy() const { return easy_.get(); }
  // The response, given libcurl's result. REQUIRES: called once.
  api::HttpAnswer Finish(CURLcode code);

 private:
  using Outcome = api::HttpAnswer::Outcome;
  using Answer = api::HttpAnswer;

  Transfer(api::HttpCall call, CallTarget target) : call_(std::move(call)), target_(std::move(target)) {}
  bool SetUrl();
  void SetRequest();
  void SetLimits();
  void SetTls(const HttpCallerOptions& options);

  // libcurl's callbacks. One that takes less than it was given ends the transfer.
  static std::size_t OnHeader(char* bytes, std::size_t size, std::size_t count, void* self);
  static std::size_t OnBody(char* bytes, std::size_t size, std::size_t count, void* self);
  static int OnTrace(CURL* easy, curl_infotype type, char* bytes, std::size_t count, void* self);
  static curl_socket_t OnSocket(void* self, curlsocktype purpose, curl_sockaddr* address);

  bool TakeHeader(std::string_view line);
  bool EndOfHead();
  bool TakeBody(std::string_view bytes);
  // False when the response is complete although the server has not read the request.
  bool WaitForRest();
  bool MayConnectTo(const sockaddr& address) const;
  bool Stop(Outcome outcome, std::string error);

  bool IsRequestSent() const;
  curl_off_t Number(CURLINFO what) const;
  int Status() const;
  Answer Failed(Outcome outcome, std::string error) const;
  Answer Malformed(const std::string& what) const;
  Answer Answered();
  Answer TimedOut() const;
  Answer NotConnected() const;
  Answer BrokenOff() const;
  Answer TlsFailed(CURLcode code) const;

  const api::HttpCall call_;
  const CallTarget target_;
  // The last address that libcurl connected to, for error messages: 127.0.0.1:80 or [::1]:80.
  std::string address_;
  bool by_address_ = false;  // the call names its host by an IP address
  std::size_t head_bytes_ = 0;
  bool head_done_ = false;
  std::optional<std::size_t> content_length_;
  bool ends_with_connection_ = false;  // the body has neither a length nor chunks
  bool tls_began_ = false;
  bool tls_closed_ = false;        // the server has sent a close notification
  bool complete_ = false;          // ended by WaitForRest()
  std::optional<Answer> stopped_;  // the transfer was ended here, with this result
  std::string body_;
  char error_[CURL_ERROR_SIZE] = {};
  CurlPtr<curl_slist> headers_;
  CurlPtr<curl_slist> connect_to_;
  CurlPtr<CURLU> url_;
  CurlPtr<CURL> easy_;  // last: destroyed before what it refers to
};

}  // namespace terrarium::testbed::internal
