#pragma once

// Field selectors: "status.phase=Running,metadata.name!=x". The accepted labels of each kind, and the
// messages for other labels, are Kubernetes' own. An immutable value; matching compares strings of the header
// only.

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/base/status.h"
#include "api/object.h"

namespace terrarium::api {

// The kind that a selector is applied to.
struct FieldSelectorScope {
  std::string_view group;
  std::string_view kind;
  // The labels behind ObjectHeader::fields, in its order, by the names they are stored under or those that
  // clients of this group use. The header's own members (status.phase, spec.nodeName) are not among them.
  std::span<const std::string_view> selectable{};
};

class FieldSelector {
 public:
  // Selects everything.
  FieldSelector() = default;

  // The text of a fieldSelector parameter; empty text selects everything. In values, \\ \, and \= stand for
  // the characters themselves. Fails with 400 and Kubernetes' message for malformed text and for labels that
  // the kind does not support. Labels with an older or another group's name (spec.host, regarding.name)
  // become the stored ones.
  static Result<FieldSelector> Parse(std::string_view text, const FieldSelectorScope& scope);
  // metadata.name=`name`, as for a watch of one object.
  static FieldSelector ForName(std::string_view name);

  bool Matches(const ObjectHeader& header) const;

  bool selects_everything() const { return terms_.empty(); }
  // The value that every selected object has in this field, or nullopt.
  std::optional<std::string> RequiresExactMatch(std::string_view label) const;

  // The text form, which Parse() accepts; terms are sorted.
  std::string String() const;

 private:
  enum class Source { kName, kNamespace, kPhase, kNodeName, kField, kAlwaysEmpty };

  struct Term {
    std::string label;
    std::string value;
    bool negated = false;
    Source source = Source::kAlwaysEmpty;
    std::size_t index = 0;  // into ObjectHeader::fields for kField
  };

  // Where the values of a field come from. `accepted` is the label as the client wrote it.
  static Term Resolve(std::string_view label, std::string_view accepted, const FieldSelectorScope& scope);
  static std::string TermText(const Term& term);

  std::vector<Term> terms_;
};

}  // namespace terrarium::api
