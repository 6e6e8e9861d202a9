#include "kubelet-fake/scheduler/internal/pod_terms.h"

#include <algorithm>

#include "api/json_access.h"

namespace terrarium::kubelet_fake::scheduling {
namespace {

using api::Find;
using api::Json;
using api::LabelSelector;
using api::ListAt;

// What admission should have refused selects nothing.
LabelSelector ReadSelector(const Json* document) {
  auto selector = LabelSelector::FromDocument(document);
  return selector ? std::move(*selector) : LabelSelector::Nothing();
}

PodTerm ReadTerm(const Json& term, const std::string& own_namespace) {
  const Json* namespace_selector = Find(term, "namespaceSelector");
  PodTerm out{.text = term.dump(),
              .namespaces = {},
              .namespace_selector = ReadSelector(namespace_selector),
              .selector = ReadSelector(Find(term, "labelSelector")),
              .topology_key = std::string(api::StringAt(term, "topologyKey"))};
  for (const Json& name : ListAt(term, "namespaces")) out.namespaces.push_back(name.get<std::string>());
  if (out.namespaces.empty() && namespace_selector == nullptr) {
    out.namespaces.push_back(own_namespace);
    out.text += own_namespace;
  }
  return out;
}

}  // namespace

bool PodTerm::Matches(const api::ObjectHeader& pod, const Namespaces& all) const {
  const auto in_namespace = [&] {
    if (std::find(namespaces.begin(), namespaces.end(), pod.ns) != namespaces.end()) return true;
    if (!DependsOnNamespaceLabels()) return namespace_selector.selects_everything();
    const auto it = all.find(pod.ns);
    return it != all.end() && namespace_selector.Matches(it->second->header());
  };
  return in_namespace() && selector.Matches(pod);
}

bool MatchesAll(const std::vector<PodTerm>& terms, const api::ObjectHeader& pod, const Namespaces& all) {
  return std::all_of(terms.begin(), terms.end(), [&](const PodTerm& term) { return term.Matches(pod, all); });
}

std::vector<PodTerm> RequiredPodTerms(const Json& pod_spec, const char* kind, const std::string& ns) {
  std::vector<PodTerm> out;
  for (const Json& term :
       ListAt(api::ObjectAt(pod_spec, "affinity"), kind, "requiredDuringSchedulingIgnoredDuringExecution")) {
    out.push_back(ReadTerm(term, ns));
  }
  return out;
}

std::vector<PreferredPodTerm> PreferredPodTerms(const Json& pod_spec, const std::string& ns) {
  std::vector<PreferredPodTerm> out;
  for (const auto& [kind, sign] : {std::pair("podAffinity", 1), std::pair("podAntiAffinity", -1)}) {
    for (const Json& item : ListAt(api::ObjectAt(pod_spec, "affinity"), kind,
                                   "preferredDuringSchedulingIgnoredDuringExecution")) {
      out.push_back(
          {ReadTerm(api::ObjectAt(item, "podAffinityTerm"), ns), sign * api::IntAt(item, 0, "weight")});
    }
  }
  return out;
}

}  // namespace terrarium::kubelet_fake::scheduling
