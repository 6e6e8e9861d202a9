#pragma once

// Amounts of resources by name (core/v1 ResourceList), and what a pod asks for as a whole.

#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "api/base/quantity.h"
#include "api/json.h"

namespace terrarium::api {

using ResourceList = std::map<std::string, Quantity, std::less<>>;

ResourceList ReadResourceList(const Json& list);  // a text that is no quantity counts as 0
Json WriteResourceList(const ResourceList& list);

void AddTo(ResourceList& total, const ResourceList& more);
// Takes `less` off what is there, down to 0.
void TakeFrom(ResourceList& total, const ResourceList& less);
void RaiseTo(ResourceList& total, const ResourceList& floor);

bool IsHugePageResource(std::string_view name);

// What the containers of a pod take together, with sidecars and the most that any moment of the start takes.
// `list` is "requests" or "limits".
ResourceList ContainersTotal(const Json& pod_spec, std::string_view list);
// The same with what the pod says for itself as a whole, and its overhead.
ResourceList PodTotal(const Json& pod_spec, std::string_view list);

}  // namespace terrarium::api
