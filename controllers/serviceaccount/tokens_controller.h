#pragma once

#include <memory>

#include "controllers/controller.h"

namespace terrarium::controllers {

// serviceaccount-token-controller: fills in Secrets of type kubernetes.io/service-account-token and deletes
// those whose account does not exist (mirrors pkg/controller/serviceaccount/tokens_controller.go, 1.36).
//
// DIVERGES: there are no signing keys. A token has the claims of a legacy token and no signature, and the
// apiserver does not accept it.
std::unique_ptr<Controller> MakeServiceAccountTokenController(const ControllerContext& context);

}  // namespace terrarium::controllers
