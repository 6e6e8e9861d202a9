#pragma once

// The request to a downscalePodPicker, and the meaning of its response for the pods (KEP-3189). Pure.
//
// A response may echo anything that was sent, including header values from Secrets. Messages and records
// therefore repeat nothing of it but the names of candidates.

#include <set>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "api/http_caller.h"
#include "api/json.h"
#include "controllers/replicaset/internal/pod_ranking.h"

namespace terrarium::controllers::replicaset {

struct PickRequest {
  int number = 0;                       // the least number of names to return; 0: no call is needed
  std::vector<std::string> candidates;  // sorted

  api::Json ToJson() const;
  friend bool operator==(const PickRequest&, const PickRequest&) = default;
};
// The request for deleting `count` of `pods`. Pods that have no node, are Pending or Unknown, or are not
// ready are deleted first whatever the picker returns: they are not candidates, and each reduces the number
// by one.
PickRequest RequestFor(const std::vector<RankedPod>& pods, int count);

struct PickAnswer {
  std::set<std::string, std::less<>> chosen;
  std::set<std::string, std::less<>> tied;  // disjoint from `chosen`

  bool IsEmpty() const { return chosen.empty() && tied.empty(); }
  // Lower ranks are deleted first: chosen 0, tied 1, all others 3.
  int RankOf(std::string_view pod) const;
  api::Json ToJson() const;
};

// Why no response can be used.
struct PickFault {
  std::string_view outcome;  // the label in metrics
  std::string message;       // for events and logs
  bool worth_retrying = true;
};
using PickResult = std::variant<PickAnswer, PickFault>;

// The outcomes of a call, as labels in metrics.
namespace pick_outcome {
inline constexpr std::string_view kSuccess = "success";
inline constexpr std::string_view kNoChoice = "no_choice";  // the response names no pod
inline constexpr std::string_view kNotAllowed = "not_allowed";
inline constexpr std::string_view kUnknownHost = "unknown_host";
inline constexpr std::string_view kConnection = "connection_failed";
inline constexpr std::string_view kTls = "tls_failed";
inline constexpr std::string_view kTimeout = "timeout";
inline constexpr std::string_view kTooLarge = "too_large";
inline constexpr std::string_view kMalformed = "malformed";
inline constexpr std::string_view kStatus = "bad_status";
inline constexpr std::string_view kRedirect = "redirect";
// The controller no longer waited for the response.
inline constexpr std::string_view kAbandoned = "abandoned";
// No call was made.
inline constexpr std::string_view kSecret = "secret_unusable";
inline constexpr std::string_view kNoClient = "no_client";
// The question changed before the response arrived.
inline constexpr std::string_view kStale = "stale";
}  // namespace pick_outcome

PickResult ReadAnswer(const api::HttpAnswer& answer, const PickRequest& request);
// One of the outcomes above.
std::string_view OutcomeOf(const PickResult& result);

}  // namespace terrarium::controllers::replicaset
