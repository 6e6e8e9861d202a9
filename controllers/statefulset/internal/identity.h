#pragma once

// The names by which the pods and claims of a StatefulSet are recognised. Pure.

#include <string>
#include <string_view>

namespace terrarium::controllers::statefulset {

inline constexpr std::string_view kPodNameLabel = "statefulset.kubernetes.io/pod-name";
inline constexpr std::string_view kPodIndexLabel = "apps.kubernetes.io/pod-index";

inline constexpr int kNoOrdinal = -1;

// NAME-ORDINAL.
std::string PodName(std::string_view set, int ordinal);
// TEMPLATE-NAME-ORDINAL.
std::string ClaimName(std::string_view claim_template, std::string_view set, int ordinal);

// Whether a pod of that name may belong to the set: its name is the set's, a dash and digits.
bool IsMember(std::string_view set, std::string_view pod);
// The ordinal of the set's pod of that name; kNoOrdinal for other pods.
// DIVERGES: Kubernetes takes web-01 for the pod with ordinal 1 and fails to rename it. Here it has no ordinal
// and is ignored, like a pod whose number has more than 32 bits.
int OrdinalOf(std::string_view set, std::string_view pod);

}  // namespace terrarium::controllers::statefulset
