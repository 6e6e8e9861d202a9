#pragma once

// The pods that a pod must or must not run near: required podAffinity and podAntiAffinity.

#include <map>
#include <string>
#include <vector>

#include "api/json.h"
#include "api/object.h"
#include "api/selector/label_selector.h"

namespace terrarium::kubelet_fake::scheduling {

using Namespaces = std::map<std::string, api::ObjectPtr>;  // by name

struct PodTerm {
  std::string text;  // equal for equivalent terms, also of different pods
  std::vector<std::string> namespaces;
  api::LabelSelector namespace_selector;  // selects further namespaces
  api::LabelSelector selector;
  std::string topology_key;

  // Reads only the namespace and the labels of `pod`.
  bool Matches(const api::ObjectHeader& pod, const Namespaces& all) const;
  bool DependsOnNamespaceLabels() const {
    return !namespace_selector.selects_nothing() && !namespace_selector.selects_everything();
  }
};

bool MatchesAll(const std::vector<PodTerm>& terms, const api::ObjectHeader& pod, const Namespaces& all);

// `kind` is podAffinity or podAntiAffinity. A term that names no namespace applies to `ns`, the pod's own.
std::vector<PodTerm> RequiredPodTerms(const api::Json& pod_spec, const char* kind, const std::string& ns);

}  // namespace terrarium::kubelet_fake::scheduling
