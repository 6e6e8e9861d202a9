#pragma once

// What a downscalePodPicker is asked, and what its answer says about the pods (KEP-3189). Pure.
//
// Whatever an answer contains may be an echo of what was sent along, header values from Secrets included. So nothing of
// it is repeated in messages and records but names that were asked about.

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
  int number = 0;                       // how many names are asked for, at least; 0: nobody need be asked
  std::vector<std::string> candidates;  // sorted

  api::Json ToJson() const;
  friend bool operator==(const PickRequest&, const PickRequest&) = default;
};
// For deleting `count` of `pods`. Those without a node, Pending, Unknown or not ready go before all others whatever a
// picker says: they are no candidates, and each of them is one less to ask for.
PickRequest RequestFor(const std::vector<RankedPod>& pods, int count);

struct PickAnswer {
  std::set<std::string, std::less<>> chosen;
  std::set<std::string, std::less<>> tied;  // none that is chosen

  bool NamesNobody() const { return chosen.empty() && tied.empty(); }
  // Lower goes first: chosen 0, tied 1, all others 3.
  int RankOf(std::string_view pod) const;
  api::Json ToJson() const;
};

// Why there is no answer.
struct PickFault {
  std::string_view outcome;  // as metrics name it
  std::string message;       // for people
  bool worth_retrying = true;
};
using PickResult = std::variant<PickAnswer, PickFault>;

// As metrics name what came of a call.
namespace pick_outcome {
inline constexpr std::string_view kSuccess = "success";
inline constexpr std::string_view kNoChoice = "no_choice";  // an answer that names nobody
inline constexpr std::string_view kNotAllowed = "not_allowed";
inline constexpr std::string_view kUnknownHost = "unknown_host";
inline constexpr std::string_view kConnection = "connection_failed";
inline constexpr std::string_view kTls = "tls_failed";
inline constexpr std::string_view kTimeout = "timeout";
inline constexpr std::string_view kTooLarge = "too_large";
inline constexpr std::string_view kMalformed = "malformed";
inline constexpr std::string_view kStatus = "bad_status";
inline constexpr std::string_view kRedirect = "redirect";
inline constexpr std::string_view kAbandoned = "abandoned";  // nobody waited for the answer any more
// There was no call.
inline constexpr std::string_view kSecret = "secret_unusable";
inline constexpr std::string_view kNoClient = "no_client";
// The answer was to a question that is not the same any more.
inline constexpr std::string_view kStale = "stale";
}  // namespace pick_outcome

PickResult ReadAnswer(const api::HttpAnswer& answer, const PickRequest& request);
// One of the outcomes above.
std::string_view OutcomeOf(const PickResult& result);

}  // namespace terrarium::controllers::replicaset
