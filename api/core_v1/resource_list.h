#pragma once

// Amounts of resources by name (core/v1 ResourceList), and the totals of a pod.

#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "api/base/quantity.h"
#include "api/json.h"

namespace terrarium::api {

using ResourceList = std::map<std::string, Quantity, std::less<>>;

ResourceList ReadResourceList(const Json& list);  // a malformed quantity counts as 0
Json WriteResourceList(const ResourceList& list);

void AddTo(ResourceList& total, const ResourceList& more);
// Subtracts `less` from the resources in `total`, down to 0.
void TakeFrom(ResourceList& total, const ResourceList& less);
void RaiseTo(ResourceList& total, const ResourceList& floor);

bool IsHugePageResource(std::string_view name);

// The sum over the containers of a pod, sidecars included, or the peak while init containers run if that is
// more. `list` is "requests" or "limits".
ResourceList ContainersTotal(const Json& pod_spec, std::string_view list);
// The same with pod-level resources and overhead.
ResourceList PodTotal(const Json& pod_spec, std::string_view list);

}  // namespace terrarium::api
