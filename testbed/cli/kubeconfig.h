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

// How a client reaches a server. Empty members are not set.
struct ServerAccess {
  std::string url;
  std::string token;
  std::string ca_pem;  // the authorities to trust instead of the system's
  bool skip_tls_verify = false;
  std::string tls_server_name;  // the name in the certificate, if it is not the URL's host
  std::string client_certificate_pem;
  std::string client_key_pem;
};

// Reads the current context of a kubeconfig, with the fields that kubectl reads: certificate-authority,
// insecure-skip-tls-verify, tls-server-name; token, tokenFile, client-certificate, client-key; each file also
// as data. Of several paths separated by ':' the first is used. Fails when a file cannot be read and when no
// server is set.
api::Result<ServerAccess> ReadKubeconfig(const std::string& path);

// The text of a file. Fails when it cannot be read.
api::Result<std::string> ReadText(const std::string& file);

}  // namespace terrarium::testbed
