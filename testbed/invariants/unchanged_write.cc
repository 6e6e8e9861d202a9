#include "testbed/invariants/unchanged_write.h"

#include <algorithm>

namespace terrarium::testbed::invariants {

void UnchangedWrite::OnSent(const SentWrite& sent, api::Time now) {
  if (now != instant_) {
    instant_ = now;
    revision_at_start_ = sent.revision_before;
    writes_.clear();
  }
  if (sent.revision_after > sent.revision_before)
    writes_.push_back({sent.revision_before + 1, sent.revision_after, sent.component});
}

void UnchangedWrite::OnAnswer(const SentWrite& sent, const api::Client::Written& answer, api::Time now) {
  bool changes =
      sent.verb == api::WriteRequest::Verb::kUpdate || sent.verb == api::WriteRequest::Verb::kPatch;
  if (!answer && answer.status().Is(api::reason::kServiceUnavailable))
    in_doubt_.emplace(sent.component, sent.object.resource, sent.object.name);
  if (!changes || !answer || *answer == nullptr) return;
  if (in_doubt_.erase({sent.component, sent.object.resource, sent.object.name}) > 0) return;
  std::int64_t revision = (*answer)->revision();
  // A write that removed the last finalizer has deleted the object; the response shows an older state.
  if (sent.revision_after > sent.revision_before || revision > sent.revision_before) return;
  if (WrittenByAnotherJustNow(revision, sent.component)) return;
  std::string what = sent.verb == api::WriteRequest::Verb::kPatch ? "patches " : "updates ";
  std::string target = sent.object.resource + (sent.subresource.empty() ? "" : "/" + sent.subresource);
  report_({sent.revision_before,
           now,
           "unchanged-write",
           {sent.object},
           "at revision " + std::to_string(sent.revision_before) + " " + sent.component + " " + what +
               target + " " + sent.object.name.String() + " and changes nothing: a newer revision than " +
               std::to_string(revision) + " was expected"});
}

bool UnchangedWrite::WrittenByAnotherJustNow(std::int64_t revision, const std::string& component) const {
  if (revision <= revision_at_start_) return false;
  auto found =
      std::lower_bound(writes_.begin(), writes_.end(), revision,
                       [](const Writes& writes, std::int64_t wanted) { return writes.last < wanted; });
  bool by_component = found != writes_.end() && found->first <= revision;
  return !by_component || found->component != component;
}

}  // namespace terrarium::testbed::invariants
