#pragma once

// Protects a server on the user's own machine from the web pages of other sites.
//
// A browser sends the requests of any page to any address, loopback included. Two headers identify such
// requests: Origin names the site of the page, and Host is the name by which the browser reached the server.
// A page that makes its own name resolve to 127.0.0.1 (DNS rebinding) has a matching Origin but a foreign
// Host.

#include <string>

#include "api/base/status.h"
#include "apiserver/request.h"

namespace terrarium::apiserver {

struct LocalAccess {
  // Accept only loopback names and addresses, and `address`, as Host. Set for servers without authentication.
  // Other servers require a credential that a foreign page does not have.
  bool check_host = true;
  // Serve only the server's own pages. Unset for servers where every request carries a token, because a
  // browser does not add a token by itself.
  bool check_origin = true;
  std::string address = {};  // on which the server listens

  // 403 for a request that must be refused. A request without these headers does not come from a browser, and
  // is allowed.
  api::Result<void> Check(const Request& request) const;
};

}  // namespace terrarium::apiserver
