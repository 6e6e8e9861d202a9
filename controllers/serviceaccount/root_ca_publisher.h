#pragma once

#include <memory>

#include "controllers/controller.h"

namespace terrarium::controllers {

// root-ca-certificate-publisher-controller: keeps a ConfigMap `kube-root-ca.crt` with the certificates of
// ControllerContext::root_ca in every namespace that is not being deleted (mirrors
// pkg/controller/certificates/rootcacertpublisher, 1.36).
std::unique_ptr<Controller> MakeRootCaPublisher(const ControllerContext& context);

}  // namespace terrarium::controllers
