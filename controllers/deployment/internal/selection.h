#pragma once

// Index keys to find the ReplicaSets that a selector may match, and the Deployments whose selectors may match
// a ReplicaSet, by one label that a matching ReplicaSet must have. Pure.

#include <string>
#include <vector>

#include "api/object.h"
#include "api/selector/label_selector.h"

namespace terrarium::controllers::deployment {

// The index key of a selector in a namespace: a label that it requires, or the key of all objects.
std::string SelectorPlace(const std::string& ns, const api::LabelSelector& selector);
// The index keys of an object with those labels.
std::vector<std::string> LabelPlaces(const api::ObjectHeader& header);

}  // namespace terrarium::controllers::deployment
