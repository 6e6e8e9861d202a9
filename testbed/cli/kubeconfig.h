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

// Writes `text` whole or not at all, readable by the owner alone.
api::Result<bool> WriteFile(const std::string& path, const std::string& text);

}  // namespace terrarium::testbed
