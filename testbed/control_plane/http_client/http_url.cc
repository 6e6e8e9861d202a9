#include "testbed/control_plane/http_client/http_url.h"

#include "api/base/check.h"
#include "api/base/errors.h"
#include "testbed/control_plane/http_client/internal/transfer.h"

namespace terrarium::testbed {

std::string HttpUrl::Authority() const {
  return (host.find(':') == std::string::npos ? host : "[" + host + "]") + ":" + std::to_string(port);
}

api::Result<HttpUrl> ParseHttpUrl(const std::string& url) {
  internal::CurlPtr<CURLU> parsed(curl_url());
  CHECK(parsed != nullptr);
  // Empty for a part that the URL does not have.
  auto part = [&parsed](CURLUPart which, unsigned flags = 0) {
    char* text = nullptr;
    std::string out;
    if (curl_url_get(parsed.get(), which, &text, flags) == CURLUE_OK) out = text;
    curl_free(text);
    return out;
  };
  HttpUrl out;
  bool good = curl_url_set(parsed.get(), CURLUPART_URL, url.c_str(), 0) == CURLUE_OK;
  std::string scheme = part(CURLUPART_SCHEME);
  good = good && (scheme == "http" || scheme == "https") && part(CURLUPART_USER).empty() &&
         part(CURLUPART_QUERY).empty() && part(CURLUPART_FRAGMENT).empty();
  std::string port = part(CURLUPART_PORT, CURLU_DEFAULT_PORT);
  if (!good || port.empty() || port == "0")
    return api::BadRequest(url + " is not http://HOST:PORT or https://HOST:PORT");
  out.tls = scheme == "https";
  out.host = part(CURLUPART_HOST);
  if (out.host.starts_with('[')) out.host = out.host.substr(1, out.host.size() - 2);
  out.port = static_cast<std::uint16_t>(std::stoi(port));
  out.path = part(CURLUPART_PATH);
  while (out.path.ends_with('/')) out.path.pop_back();
  return out;
}

}  // namespace terrarium::testbed
