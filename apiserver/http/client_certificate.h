#pragma once

#include <string>

#include "apiserver/request.h"

namespace terrarium::apiserver {

// The user of a client certificate, as in Kubernetes: the common name is the user, each organisation a group.
UserInfo UserOfCertificate(const std::string& pem);

}  // namespace terrarium::apiserver
