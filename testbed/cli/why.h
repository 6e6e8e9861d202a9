#pragma once

#include <string>

namespace CLI {
class App;
}

namespace terrarium::testbed {

struct WhyFlags {
  std::string object;  // KIND/NAME
  std::string server;
  std::string kubeconfig;
  std::string token;
  std::string certificate_authority;  // file
  bool skip_tls_verify = false;
  std::string ns = "default";
  std::string output = "text";
};

void AddWhyFlags(CLI::App& app, WhyFlags& flags);

// Prints why an object, and the objects it owns, were created, deleted and scaled, from a running server.
// Returns the exit code: 0, 1 when the server does not respond, 2 for bad usage.
int RunWhy(const WhyFlags& flags);

}  // namespace terrarium::testbed
