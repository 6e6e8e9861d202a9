#pragma once

// The grammar of label selectors' text form. Errors are plain text here; label_selector.cc makes Statuses of
// them.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/selector/label_selector.h"

namespace terrarium::api::internal {

struct RequirementOrError {
  std::optional<LabelRequirement> requirement;
  std::string error;  // set when `requirement` is empty
};

struct RequirementsOrError {
  std::optional<std::vector<LabelRequirement>> requirements;
  std::string error;
};

// Checks key, number of values and each value. Several findings are joined as "[a, b]".
RequirementOrError MakeRequirement(std::string key, LabelOperator op, std::vector<std::string> values);

// In the order of the text.
RequirementsOrError ParseRequirements(std::string_view text);

}  // namespace terrarium::api::internal
