#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "api/base/clock.h"
#include "api/client.h"
#include "testbed/invariants/violation.h"

namespace terrarium::testbed::invariants {

// A write of a component, from the request to the response.
struct SentWrite {
  std::string component;
  api::WriteRequest::Verb verb = api::WriteRequest::Verb::kCreate;
  ObjectRef object;
  std::string subresource;
  std::int64_t revision_before = 0;  // of the store, when the request was sent
  std::int64_t revision_after = 0;   // of the store, when Send() returned
};

// No component sends an update or a patch that changes nothing. The apiserver creates no revision for such a
// write, so the rule checks the requests. Two are allowed. The first: another component wrote the same
// content at the same instant, which the sender need not have observed yet. The second: the first write after
// one of the same object whose response was lost, since the lost write may have succeeded.
class UnchangedWrite {
 public:
  explicit UnchangedWrite(Report report) : report_(std::move(report)) {}

  void OnSent(const SentWrite& sent, api::Time now);
  void OnAnswer(const SentWrite& sent, const api::Client::Written& answer, api::Time now);

 private:
  struct Writes {
    std::int64_t first;
    std::int64_t last;
    std::string component;
  };
  bool WrittenByAnotherJustNow(std::int64_t revision, const std::string& component) const;

  Report report_;
  // The components' writes at this instant, in the order of their revisions.
  api::Time instant_{};
  std::int64_t revision_at_start_ = 0;
  std::vector<Writes> writes_;
  std::set<std::tuple<std::string, std::string, api::ObjectName>> in_doubt_;  // component, resource, object
};

}  // namespace terrarium::testbed::invariants
