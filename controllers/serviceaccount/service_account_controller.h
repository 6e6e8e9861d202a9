#pragma once

#include <memory>

#include "controllers/controller.h"

namespace terrarium::controllers {

// serviceaccount-controller: keeps a ServiceAccount `default` in every namespace that is not being deleted
// (mirrors pkg/controller/serviceaccount/serviceaccounts_controller.go, 1.36).
std::unique_ptr<Controller> MakeServiceAccountController(const ControllerContext& context);

}  // namespace terrarium::controllers
