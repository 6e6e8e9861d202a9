#pragma once

// The expander (persistentvolume-expander-controller). No in-tree plugin can expand volumes any more: it
// reports that claims wait for the resizer of their driver. Mirrors pkg/controller/volume/expand, v1.36.

#include <memory>

#include "controllers/controller.h"

namespace terrarium::controllers {

std::unique_ptr<Controller> MakeVolumeExpander(const ControllerContext& context);

}  // namespace terrarium::controllers
