#pragma once

// A small closed-loop HTTP/1.1 load generator: keep-alive connections on one thread, each with one request in
// flight. The same generator drives the server and the floor it is compared with, so its own cost
// cancels out.

#include <cstdint>
#include <functional>
#include <string>

namespace terrarium::bench {

struct LoadResult {
  std::uint64_t answers = 0;
  std::uint64_t errors = 0;  // responses other than 2xx
  double seconds = 0;
  double per_second() const { return seconds > 0 ? static_cast<double>(answers) / seconds : 0; }
};

struct Load {
  std::uint16_t port = 0;
  int connections = 16;
  double seconds_max = 2;
  std::uint64_t answers_max = UINT64_MAX;
  // The n-th request, whole: request line, headers, body.
  std::function<std::string(std::uint64_t n)> request;
};

LoadResult RunLoad(const Load& load);

std::string GetRequest(const std::string& path);
std::string BodyRequest(const std::string& method, const std::string& path, const std::string& content_type,
                        const std::string& body);

// One request on a new connection; the body of the response, and the time until it was complete.
struct OneAnswer {
  int code = 0;
  std::size_t bytes = 0;
  std::string body;
  double seconds = 0;
};
OneAnswer FetchOnce(std::uint16_t port, const std::string& request);

}  // namespace terrarium::bench
