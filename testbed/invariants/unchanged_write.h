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

// A write of a component, from when it is sent until it is answered.
struct SentWrite {
  std::string component;
  api::WriteRequest::Verb verb = api::WriteRequest::Verb::kCreate;
  ObjectRef object;
  std::string subresource;
  std::int64_t revision_before = 0;  // the store's when it was sent
  std::int64_t revision_after = 0;   // and when Send returned
};

// No component sends an update or a patch that changes nothing. The apiserver swallows those, so the requests are
// looked at, not the revisions. Two are excused: when another component wrote the object at the same instant, which the
// sender need not have seen yet, and wrote the very same; and the first one after a write of that object whose answer
// was lost, which may have been carried out.
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
  // What components wrote at this instant, in order of revisions.
  api::Time instant_{};
  std::int64_t revision_at_start_ = 0;
  std::vector<Writes> writes_;
  std::set<std::tuple<std::string, std::string, api::ObjectName>> in_doubt_;  // component, resource, object
};

}  // namespace terrarium::testbed::invariants
