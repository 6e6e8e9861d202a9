#pragma once

#include <cstdint>
#include <ctime>
#include <optional>
#include <string>
#include <string_view>

#include "apiserver/request.h"

namespace terrarium::apiserver {

// How a client finds the end of a response's body.
enum class BodyEnd { kLength, kChunks, kConnectionClose, kNoBody };

struct ResponseHeadOptions {
  BodyEnd end = BodyEnd::kLength;
  int minor_version = 1;             // of the request: an HTTP/1.0 client gets HTTP/1.0
  std::uint64_t content_length = 0;  // for kLength
  bool close = false;                // the connection closes after this response
  bool keep_alive = false;           // send keep-alive, which HTTP/1.0 clients do not assume
  std::time_t now = 0;               // for the Date header
};

// Status line and header fields, up to and including the empty line.
std::string FormatResponseHead(const Response& response, const ResponseHeadOptions& options);

// The reason phrase of a status line, e.g. "Not Found"; never empty.
std::string_view ReasonPhrase(int code);

}  // namespace terrarium::apiserver
