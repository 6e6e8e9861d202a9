#pragma once

#include <string>

#include "api/base/status.h"

namespace terrarium::testbed {

struct KubeconfigOptions {
  std::string url;
  std::string certificate_authority;  // file; empty without TLS
  std::string token;                  // empty: none
  std::string name = "terrarium";     // of cluster, user and context
};

std::string MakeKubeconfig(const KubeconfigOptions& options);
// Where a kubeconfig's current context leads to, and with which token. Of several files with ':' between them the first
// counts. Fails when it cannot be read or names no server.
api::Result<KubeconfigOptions> ReadKubeconfig(const std::string& path);

// Writes `text` whole or not at all, readable by the owner alone.
api::Result<bool> WriteFile(const std::string& path, const std::string& text);

}  // namespace terrarium::testbed
