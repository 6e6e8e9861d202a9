#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace CLI {
class App;
}

namespace terrarium::testbed {

struct ServeFlags {
  std::string address = "127.0.0.1";
  int port = 8080;
  std::string data;
  std::string durability = "full";
  std::string feature_gates;
  std::string kubeconfig;
  std::string ready_file;
  std::string log_level = "warn";
  std::string tls_cert;
  std::string tls_key;
  std::string client_ca;
  std::string token_file;
  std::string controllers = "*";
  std::string clock = "real";
  std::string controller_manager_feature_gates;
  std::string kubelet_feature_gates;
  bool kubelet = true;
  bool scheduler = true;
  int nodes = 3;
  std::string pod_defaults;
  std::optional<std::uint64_t> seed;  // absent: from the machine's entropy
  int max_requests_inflight = 400;
  int max_mutating_requests_inflight = 200;
};

void AddServeFlags(CLI::App& app, ServeFlags& flags);

// Runs a server until SIGTERM or SIGINT. Returns the exit code: 0, or 2 after one line on standard error.
int RunServe(const ServeFlags& given);

}  // namespace terrarium::testbed
