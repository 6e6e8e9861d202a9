#include "controllers/job/internal/success_policy.h"

#include "api/json_access.h"

namespace terrarium::controllers::job {
namespace {

bool IsMet(const api::Json& rule, int completions, const IndexSet& succeeded) {
  const api::Json* count = api::Find(rule, "succeededCount");
  const api::Json* indexes = api::Find(rule, "succeededIndexes");
  if (indexes == nullptr) return count != nullptr && succeeded.size() >= count->get<int>();
  const IndexSet required = IndexSet::Parse(api::StringAt(rule, "succeededIndexes"), completions);
  // Unreadable or all beyond the end: a rule about nothing is never met.
  if (required.empty()) return false;
  const int shared = required.SharedWith(succeeded);
  return shared == required.size() || (count != nullptr && shared >= count->get<int>());
}

}  // namespace

std::optional<int> MatchSuccessPolicy(const api::Json* policy, int completions, const IndexSet& succeeded) {
  if (policy == nullptr || succeeded.empty()) return std::nullopt;
  int position = 0;
  for (const api::Json& rule : api::ListAt(*policy, "rules")) {
    if (IsMet(rule, completions, succeeded)) return position;
    ++position;
  }
  return std::nullopt;
}

std::string SuccessPolicyMessage(int rule) { return "Matched rules at index " + std::to_string(rule); }

}  // namespace terrarium::controllers::job
