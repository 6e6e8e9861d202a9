#pragma once

// All controllers by their names in kube-controller-manager, and the selection of a `--controllers` list.

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/base/status.h"
#include "controllers/controller.h"
#include "controllers/runtime/served_resource.h"

namespace terrarium::controllers {

struct ControllerEntry {
  std::string_view name;
  std::string_view alias;  // its name before Kubernetes 1.28, still accepted; empty: none
  // `resources` outlives the controller. nullptr: only kube-controller-manager has it; lists may name it
  // nevertheless.
  std::unique_ptr<Controller> (*make)(const ControllerContext& context, ServedResources& resources);
};

// Sorted by name.
std::span<const ControllerEntry> AllControllers();

// The controllers of a list like "*,-pod-garbage-collector-controller": * is all of them, a name is that one,
// -name is all but that one. A name wins over its minus, and without * only the named ones run. Fails when a
// name is unknown.
api::Result<std::vector<const ControllerEntry*>> SelectControllers(const std::string& list);

}  // namespace terrarium::controllers
