#pragma once

// Finding the ReplicaSets that a selector may match, and the Deployments whose selectors may match a
// ReplicaSet, without looking at all of them: by one label that a matching ReplicaSet must have. Pure.

#include <string>
#include <vector>

#include "api/object.h"
#include "api/selector/label_selector.h"

namespace terrarium::controllers::deployment {

// Where to look for what the selector matches in that namespace: under a label if it names one, else under
// all.
std::string SelectorPlace(const std::string& ns, const api::LabelSelector& selector);
// The places where an object with those labels is looked for.
std::vector<std::string> LabelPlaces(const api::ObjectHeader& header);

}  // namespace terrarium::controllers::deployment
