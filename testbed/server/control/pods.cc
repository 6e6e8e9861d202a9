#include <utility>

#include "testbed/server/control/kubelet_call.h"

namespace terrarium::testbed::control {
namespace {

using kubelet_fake::PodRules;

// Requests and answers of these pass through to the kubelet's rules as they are.
template <api::Result<Json> (PodRules::*order)(const Json&)>
void Give(Call call) {
  OnKubelet(std::move(call), [](const KubeletControls& kubelet, const Call& asked) {
    return (kubelet.pods.*order)(asked.body);
  });
}

void ListRules(Call call) {
  OnKubelet(std::move(call), [](const KubeletControls& kubelet, const Call&) { return kubelet.pods.List(); });
}

void RemoveRule(Call call) {
  OnKubelet(std::move(call), [](const KubeletControls& kubelet, const Call& asked) {
    return kubelet.pods.Remove(asked.names[0]);
  });
}

constexpr Endpoint kEndpoints[] = {
    {"GET", "/pods/rules", "the pod rules, and the pods that are held at each point", "", ListRules},
    {"POST", "/pods/rules", "add a rule: a script for the pods of a namespace and selector",
     R"({"name": "slow", "namespace": "default", "selector": "app=web", "script": {"stop-after": "20s"}})",
     Give<&PodRules::Add>},
    {"DELETE", "/pods/rules/{name}", "remove a rule; pods that it alone held continue", "", RemoveRule,
     "slow"},
    {"POST", "/pods/hold", "hold a pod, or a rule's pods, before ready or in terminating",
     R"({"namespace": "default", "pod": "web", "point": "terminating"})", Give<&PodRules::Hold>},
    {"POST", "/pods/release", "release a held pod, or a rule's pods; an outcome is optional",
     R"({"namespace": "default", "pod": "web", "outcome": {"exitCode": 0}})", Give<&PodRules::Release>},
    {"POST", "/pods/fail", "end a pod now, phase Failed",
     R"({"namespace": "default", "pod": "web", "exitCode": 1})", Give<&PodRules::Fail>},
    {"POST", "/pods/crash", "end a container now; its restart policy applies",
     R"({"namespace": "default", "pod": "web", "container": "web", "exitCode": 137})",
     Give<&PodRules::Crash>},
    {"POST", "/pods/evict", "evict a pod as a node under pressure does",
     R"({"namespace": "default", "pod": "web"})", Give<&PodRules::Evict>},
};

}  // namespace

std::span<const Endpoint> PodEndpoints() { return kEndpoints; }

}  // namespace terrarium::testbed::control
