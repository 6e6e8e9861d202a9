#pragma once

// The head of an HTTP/1 request: request line and header fields, with the rules of RFC 9112 that decide where
// its body ends. Strict where a proxy in front of the server could find another end.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/base/status.h"

namespace terrarium::apiserver {

struct RequestHead {
  std::string method;
  std::string path;                                          // percent-decoded
  std::string query;                                         // as sent, without the question mark
  int minor_version = 1;                                     // HTTP/1.0 or HTTP/1.1
  std::vector<std::pair<std::string, std::string>> headers;  // names in lower case, values trimmed
  std::optional<std::uint64_t> content_length;
  bool chunked = false;
  bool keep_alive = true;
  bool expects_continue = false;

  // The value of the first field with this name, in lower case; empty if there is none.
  const std::string& Header(std::string_view name) const;
  bool HasBody() const { return chunked || content_length.value_or(0) > 0; }
  // Frees path, query and header fields, which may take a megabyte. Keeps what the response depends on:
  // method, version and framing.
  void DropFields();
};

// The size of the head that `text` begins with, its empty line included; npos if the head is incomplete. A
// caller that has searched a shorter `text` before passes its size, less 2, as `from`.
std::size_t FindHeadEnd(std::string_view text, std::size_t from = 0);

// REQUIRES: `text` is one whole head. Fails with 400, 417, 431, 501 or 505; the connection must then be
// closed.
api::Result<RequestHead> ParseRequestHead(std::string_view text);

}  // namespace terrarium::apiserver
