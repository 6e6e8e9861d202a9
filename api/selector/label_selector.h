#pragma once

// Label selectors, from their text form ("app=web,tier in (a,b),!canary,weight>3") or from a
// metav1.LabelSelector document. A selector is an immutable value; matching parses nothing and allocates
// nothing.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "api/base/status.h"
#include "api/json.h"
#include "api/object.h"

namespace terrarium::api {

enum class LabelOperator {
  kEquals,
  kDoubleEquals,
  kNotEquals,
  kIn,
  kNotIn,
  kExists,
  kDoesNotExist,
  kGreaterThan,
  kLessThan,
};

struct LabelRequirement {
  std::string key;
  LabelOperator op = LabelOperator::kExists;
  std::vector<std::string> values;  // sorted
  std::int64_t number = 0;          // the value of kGreaterThan and kLessThan

  // `value` is the label's, or nullptr when the object has none of that key.
  bool Matches(const std::string* value) const;
  std::string String() const;

  friend bool operator==(const LabelRequirement&, const LabelRequirement&) = default;
};

class LabelSelector {
 public:
  // Selects everything.
  LabelSelector() = default;
  static LabelSelector Nothing();

  // The text of a labelSelector parameter; empty text selects everything. Fails with 400 and Kubernetes'
  // words.
  static Result<LabelSelector> Parse(std::string_view text);
  // A metav1.LabelSelector: nullptr selects nothing, an empty one everything. Fails with 400.
  static Result<LabelSelector> FromDocument(const Json* selector);
  // A plain map of labels that must all be equal (ReplicationController, Service). An empty one selects
  // everything.
  static LabelSelector FromMap(const Json& labels);

  bool Matches(const ObjectHeader& header) const;
  // `labels` is a metadata.labels object (null and absent mean none).
  bool Matches(const Json& labels) const;

  bool selects_everything() const { return !nothing_ && requirements_.empty(); }
  // True only for Nothing(), not for requirements that no object can meet.
  bool selects_nothing() const { return nothing_; }
  // Sorted by key.
  const std::vector<LabelRequirement>& requirements() const { return requirements_; }

  // The text form, which Parse() accepts: requirements by key, values sorted. Empty for everything and for
  // nothing.
  std::string String() const;

  friend bool operator==(const LabelSelector&, const LabelSelector&) = default;

 private:
  explicit LabelSelector(std::vector<LabelRequirement> requirements);

  bool nothing_ = false;
  std::vector<LabelRequirement> requirements_;
};

}  // namespace terrarium::api
