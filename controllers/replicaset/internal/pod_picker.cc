#include "controllers/replicaset/internal/pod_picker.h"

#include <algorithm>
#include <utility>

#include "api/codec/decode.h"
#include "api/json_access.h"

namespace terrarium::controllers::replicaset {
namespace {

using api::HttpAnswer;
using api::Json;
using Names = std::set<std::string, std::less<>>;

constexpr const char* kChosenPods = "chosen_pods";
constexpr const char* kTiedPods = "tied_pods";

bool IsCandidate(const PodFacts& pod) {
  return pod.assigned && pod.phase == api::Phase::kRunning && pod.ready;
}

PickFault Malformed(std::string message) { return {pick_outcome::kMalformed, std::move(message)}; }

// Uses the HTTP caller's error message if there is one.
PickFault Unanswered(const HttpAnswer& answer) {
  auto fault = [&](std::string_view outcome, const char* message, bool worth_retrying = true) {
    return PickFault{outcome, answer.error.empty() ? message : answer.error, worth_retrying};
  };
  switch (answer.outcome) {
    // The allowed hosts do not change while the control plane runs.
    case HttpAnswer::Outcome::kNotAllowed:
      return fault(pick_outcome::kNotAllowed, "the host is not one that may be called", false);
    case HttpAnswer::Outcome::kUnknownHost: return fault(pick_outcome::kUnknownHost, "the host is unknown");
    case HttpAnswer::Outcome::kRefused: return fault(pick_outcome::kConnection, "the connection failed");
    case HttpAnswer::Outcome::kTlsFailure:
      return fault(pick_outcome::kTls, "there is no trusted TLS connection");
    // A retry could take as long again, and timeoutSeconds limits exactly that time.
    case HttpAnswer::Outcome::kTimedOut:
      return fault(pick_outcome::kTimeout, "the time-out was reached", false);
    case HttpAnswer::Outcome::kTooLarge: return fault(pick_outcome::kTooLarge, "the answer is too large");
    case HttpAnswer::Outcome::kMalformed: return fault(pick_outcome::kMalformed, "the answer is not HTTP");
    case HttpAnswer::Outcome::kAnswered: break;
  }
  return Malformed("the answer is not HTTP");
}

// A missing content type counts as JSON; parameters, such as a character set, are ignored.
bool IsJson(std::string_view content_type) {
  constexpr std::string_view kJson = "application/json";
  content_type = content_type.substr(0, content_type.find(';'));
  while (!content_type.empty() && (content_type.back() == ' ' || content_type.back() == '\t'))
    content_type.remove_suffix(1);
  while (!content_type.empty() && (content_type.front() == ' ' || content_type.front() == '\t'))
    content_type.remove_prefix(1);
  auto same = [](char a, char b) { return (a >= 'A' && a <= 'Z' ? a - 'A' + 'a' : a) == b; };
  return content_type.empty() ||
         std::equal(content_type.begin(), content_type.end(), kJson.begin(), kJson.end(), same);
}

// Returns the error in a list of names; empty when it is valid. An absent or null list is empty, as some
// languages serialize an empty list.
std::string ReadNames(const Json& body, const char* field, const std::vector<std::string>& candidates,
                      Names& names) {
  const Json* list = api::Find(body, field);
  if (list == nullptr) return "";
  if (!list->is_array()) return std::string(field) + " is not a list";
  for (std::size_t i = 0; i < list->size(); ++i) {
    auto at = [&](const char* what) { return std::string(field) + "[" + std::to_string(i) + "] is " + what; };
    if (!(*list)[i].is_string()) return at("not a name");
    const std::string& name = (*list)[i].get_ref<const std::string&>();
    if (!std::binary_search(candidates.begin(), candidates.end(), name))
      return at("not one of the candidate_pods");
    names.insert(name);
  }
  return "";
}

}  // namespace

Json PickRequest::ToJson() const {
  return {{"number_of_pods_requested", number}, {"candidate_pods", candidates}};
}

PickRequest RequestFor(const std::vector<RankedPod>& pods, int count) {
  PickRequest request{.number = count, .candidates = {}};
  for (const RankedPod& pod : pods) {
    if (IsCandidate(*pod.facts))
      request.candidates.push_back(pod.pod->header().name);
    else if (--request.number == 0)
      return {};
  }
  std::sort(request.candidates.begin(), request.candidates.end());
  return request;
}

int PickAnswer::RankOf(std::string_view pod) const {
  if (chosen.contains(pod)) return 0;
  return tied.contains(pod) ? 1 : 3;
}

Json PickAnswer::ToJson() const { return {{kChosenPods, chosen}, {kTiedPods, tied}}; }

PickResult ReadAnswer(const HttpAnswer& answer, const PickRequest& request) {
  if (answer.outcome != HttpAnswer::Outcome::kAnswered) return Unanswered(answer);
  const std::string status = std::to_string(answer.status);
  if (answer.status >= 300 && answer.status < 400)
    return PickFault{pick_outcome::kRedirect,
                     "it answered with a redirect (" + status + "), which is not followed"};
  if (answer.status < 200 || answer.status >= 300)
    return PickFault{pick_outcome::kStatus, "it answered with status " + status};
  constexpr int kNoContent = 204;
  if (answer.status == kNoContent) return PickAnswer{};
  if (!IsJson(answer.content_type))
    return Malformed("the content type of the answer is not application/json");
  const api::Decoded body = api::DecodeJson(answer.body, {.strict = false});
  if (body.error)
    return Malformed(answer.body.empty() ? "the answer is empty" : "the answer is not valid JSON");
  if (!body.object.is_object()) return Malformed("the answer is not a JSON object");
  PickAnswer read;
  std::string wrong = ReadNames(body.object, kChosenPods, request.candidates, read.chosen);
  if (wrong.empty()) wrong = ReadNames(body.object, kTiedPods, request.candidates, read.tied);
  if (!wrong.empty()) return Malformed("in the answer, " + wrong);
  for (const std::string& name : read.chosen) read.tied.erase(name);
  return read;
}

std::string_view OutcomeOf(const PickResult& result) {
  if (const auto* fault = std::get_if<PickFault>(&result)) return fault->outcome;
  return std::get<PickAnswer>(result).IsEmpty() ? pick_outcome::kNoChoice : pick_outcome::kSuccess;
}

}  // namespace terrarium::controllers::replicaset
