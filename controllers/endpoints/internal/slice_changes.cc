#include "controllers/endpoints/internal/slice_changes.h"

#include <utility>

namespace terrarium::controllers::endpoints {
namespace {

using api::Json;

struct Counts {
  int added = 0;
  int changed = 0;
  int removed = 0;
  bool hints = false;
};

Counts CountChanges(const std::vector<Endpoint>& before, const std::vector<Endpoint>& after) {
  Counts counts;
  EndpointSet old(before.begin(), before.end());
  for (const Endpoint& endpoint : after) {
    const auto found = old.find(endpoint);
    if (found == old.end()) {
      ++counts.added;
      continue;
    }
    if (!IsUpToDate(*found, endpoint)) ++counts.changed;
    counts.hints = counts.hints || found->hints != endpoint.hints;
    old.erase(found);
  }
  counts.removed = static_cast<int>(old.size());
  return counts;
}

void AddPart(std::string& text, int count, const char* what) {
  if (count == 0) return;
  if (!text.empty()) text += ", ";
  text += std::to_string(count) + " " + what;
}

std::string RuleOf(const SliceDraft& draft, const Counts& counts) {
  if (draft.stored == nullptr)
    return draft.endpoints.empty() ? "a Service without endpoints has an empty slice"
                                   : "the endpoints fit into no slice with their ports";
  std::string text;
  AddPart(text, counts.added, "added");
  AddPart(text, counts.changed, "changed");
  AddPart(text, counts.removed, "removed");
  if (!text.empty()) return "endpoints have changed: " + text;
  return counts.hints ? "hints have changed" : "metadata or ports have changed";
}

}  // namespace

SliceChange DescribeChange(const SliceDraft& draft) {
  const Counts counts = CountChanges(
      draft.stored == nullptr ? std::vector<Endpoint>() : draft.stored->endpoints, draft.endpoints);
  int ready = 0;
  int serving = 0;
  int terminating = 0;
  for (const Endpoint& endpoint : draft.endpoints) {
    ready += endpoint.IsReady() ? 1 : 0;
    serving += endpoint.serving.value_or(false) ? 1 : 0;
    terminating += endpoint.terminating.value_or(false) ? 1 : 0;
  }
  return {RuleOf(draft, counts), Json{{"endpoints", draft.endpoints.size()},
                                      {"ready", ready},
                                      {"serving", serving},
                                      {"terminating", terminating},
                                      {"added", counts.added},
                                      {"changed", counts.changed},
                                      {"removed", counts.removed}}};
}

}  // namespace terrarium::controllers::endpoints
