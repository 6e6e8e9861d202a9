#pragma once

#include <string>

#include "testbed/control_plane/host_allow_list.h"
#include "testbed/server/cluster_settings.h"

namespace CLI {
class App;
}

namespace terrarium::testbed {

struct ServeFlags {
  std::string address = "127.0.0.1";
  int port = 8080;
  ClusterSettings cluster;  // of the root cluster, and defaults of the others
  std::string pod_defaults;
  std::string kubeconfig;
  std::string ready_file;
  bool exit_on_stdin_close = false;
  std::string log_level = "warn";
  std::string tls_cert;
  std::string tls_key;
  std::string client_ca;
  std::string token_file;
  std::string cluster_data_dir;
  std::string pod_picker_allow = std::string(HostAllowList::kDefault);
  std::string pod_picker_ca;
  int max_requests_inflight = 400;
  int max_mutating_requests_inflight = 200;
};

void AddServeFlags(CLI::App& app, ServeFlags& flags);

// Runs a server until SIGTERM or SIGINT, or until standard input closes if exit_on_stdin_close is set.
// Returns the exit code: 0, or 2 after one line on standard error.
int RunServe(const ServeFlags& given);

}  // namespace terrarium::testbed
