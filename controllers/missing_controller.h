#pragma once

// Kinds whose controller does not run, so that a client is warned instead of waiting.

#include <span>
#include <string>
#include <string_view>

#include "controllers/controller_table.h"

namespace terrarium::controllers {

// Why no controller acts on the objects of `resource` (its storage name) when `selected` run, as a message.
// Empty when one does, when kube-controller-manager has no controller for it, and when none of `selected`
// runs here: an apiserver without controllers is used on its own, as with envtest.
std::string WhyNothingActsOn(std::string_view resource, std::span<const ControllerEntry* const> selected);

}  // namespace terrarium::controllers
