#include "kubelet-fake/scheduler/internal/taints.h"

#include <algorithm>
#include <string_view>

#include "api/json_access.h"

namespace terrarium::kubelet_fake::scheduling {
namespace {

using api::Json;
using api::ListAt;
using api::StringAt;

std::optional<TaintEffect> ReadEffect(std::string_view text) {
  if (text == "NoSchedule") return TaintEffect::kNoSchedule;
  if (text == "PreferNoSchedule") return TaintEffect::kPreferNoSchedule;
  if (text == "NoExecute") return TaintEffect::kNoExecute;
  return std::nullopt;
}

}  // namespace

bool Toleration::Tolerates(const Taint& taint) const {
  return (!effect || *effect == taint.effect) && (key.empty() || key == taint.key) &&
         (!value || *value == taint.value);
}

std::vector<Taint> TaintsOf(const Json& node_spec) {
  std::vector<Taint> out;
  for (const Json& taint : ListAt(node_spec, "taints")) {
    const auto effect = ReadEffect(StringAt(taint, "effect"));
    if (effect)
      out.push_back({std::string(StringAt(taint, "key")), std::string(StringAt(taint, "value")), *effect});
  }
  return out;
}

std::vector<Toleration> TolerationsOf(const Json& pod_spec) {
  std::vector<Toleration> out;
  for (const Json& item : ListAt(pod_spec, "tolerations")) {
    Toleration toleration{.key = std::string(StringAt(item, "key")),
                          .value = std::nullopt,
                          .effect = ReadEffect(StringAt(item, "effect"))};
    const std::string_view op = StringAt(item, "operator");
    if (op.empty() || op == "Equal") {
      toleration.value = StringAt(item, "value");
    } else if (op != "Exists") {
      continue;  // Lt and Gt are behind a gate that is off, and tolerate nothing
    }
    out.push_back(std::move(toleration));
  }
  return out;
}

bool Tolerated(const Taint& taint, const std::vector<Toleration>& tolerations) {
  return std::any_of(tolerations.begin(), tolerations.end(),
                     [&](const Toleration& toleration) { return toleration.Tolerates(taint); });
}

}  // namespace terrarium::kubelet_fake::scheduling
