#pragma once

// A request and its response as the handler sees them: no sockets, no HTTP library.

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/base/cancel_token.h"
#include "api/base/status.h"

namespace terrarium::apiserver {

struct UserInfo {
  std::string name = "system:admin";
  std::string uid;
  std::vector<std::string> groups = {"system:masters", "system:authenticated"};
};

// Who sends the writes of a component in the same process.
struct Sender {
  UserInfo user;
  std::string user_agent;
};

struct Request {
  std::string method;                                      // GET, POST, ...
  std::string path;                                        // percent-decoded, without the query
  std::vector<std::pair<std::string, std::string>> query;  // decoded, in order
  std::string content_type;
  std::string accept;
  std::string user_agent;
  std::string host;    // as the client names us
  std::string origin;  // of the page that a browser sends the request for; empty: no page
  std::string if_none_match;
  std::string body;
  UserInfo user;
  // Cancelled when the client closes its connection before it has the response; nullptr: the caller cannot
  // disconnect.
  std::shared_ptr<api::CancelToken> client_gone = nullptr;

  // The first value of a query parameter, or nullptr.
  const std::string* Query(std::string_view name) const;
  // The content type without its parameters.
  std::string_view MediaType() const;
};

// The body of a long-running response: a watch. The adapter reads when it is woken and its socket has room.
class ResponseStream {
 public:
  virtual ~ResponseStream() = default;
  enum class State {
    kOpen,
    kEnd,
    kCut,  // the server crashed: the connection closes in the middle of the response
  };
  // Appends the available data, in whole frames, until `out` has grown by about `max_bytes`.
  virtual State Read(std::size_t max_bytes, std::string& out) = 0;
  // `wake` is called from any thread when Read() would find something new. It must not block.
  virtual void SetWake(std::function<void()> wake) = 0;
};

struct Response {
  int code = 200;
  std::string content_type = "application/json";
  std::string body;
  std::vector<std::string> warnings;  // each becomes a Warning: 299 header
  std::vector<std::pair<std::string, std::string>> headers;
  std::unique_ptr<ResponseStream> stream;  // when set, body is empty
  // The adapter holds its result while data of the stream is on its way to the socket, so that a virtual
  // clock waits for watchers too. Called from any thread, also after the stream is gone; may be empty and may
  // return nullptr.
  std::function<std::shared_ptr<void>()> stream_busy;
};

using Responder = std::function<void(Response)>;

}  // namespace terrarium::apiserver
