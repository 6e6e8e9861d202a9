#pragma once

// The pods that a pod must, must not, prefers to or prefers not to run near: podAffinity and podAntiAffinity.

#include <cstdint>
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

struct PreferredPodTerm {
  PodTerm term;
  std::int64_t weight = 0;  // negative for podAntiAffinity
};
std::vector<PreferredPodTerm> PreferredPodTerms(const api::Json& pod_spec, const std::string& ns);

}  // namespace terrarium::kubelet_fake::scheduling
