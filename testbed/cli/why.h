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

// Asks a running server why an object, and what belongs to it, was created, deleted and scaled. Returns the
// exit code: 0, 1 when the server does not answer, 2 for bad usage.
int RunWhy(const WhyFlags& flags);

}  // namespace terrarium::testbed
