#pragma once

#include <string>

#include "apiserver/request.h"

namespace terrarium::apiserver {

// Kubernetes' reading of a client certificate: the common name is the user, each organisation a group.
UserInfo UserOfCertificate(const std::string& pem);

}  // namespace terrarium::apiserver
