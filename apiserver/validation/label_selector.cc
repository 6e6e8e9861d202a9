#include "api/json_access.h"
#include "apiserver/validation/internal/text.h"
#include "apiserver/validation/metadata.h"

namespace terrarium::apiserver {
namespace {

using api::ListAt;
using api::Path;
using api::StringAt;

void CheckRequirement(const Json& requirement, const LabelSelectorOptions& options, const Path& path,
                      FieldErrors& errors) {
  const std::string_view op = StringAt(requirement, "operator");
  const Json& values = ListAt(requirement, "values");
  if (op == "In" || op == "NotIn") {
    if (values.empty()) {
      errors.push_back(
          api::RequiredError(path.Child("values"), "must be specified when `operator` is 'In' or 'NotIn'"));
    }
  } else if (op == "Exists" || op == "DoesNotExist") {
    if (!values.empty()) {
      errors.push_back(api::ForbiddenError(
          path.Child("values"), "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"));
    }
  } else {
    errors.push_back(api::InvalidError(path.Child("operator"), op, "not a valid selector operator"));
  }
  Append(errors, ValidateLabelName(StringAt(requirement, "key"), path.Child("key")));
  if (options.allow_invalid_label_values) return;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::string_view value = TextOf(values[i]);
    AddInvalid(IsValidLabelValue(value), value, path.Child("values").Index(i), errors);
  }
}

}  // namespace

FieldErrors ValidateLabelSelector(const Json& selector, const LabelSelectorOptions& options,
                                  const Path& path) {
  FieldErrors errors = ValidateLabels(api::ObjectAt(selector, "matchLabels"), path.Child("matchLabels"));
  const Json& expressions = ListAt(selector, "matchExpressions");
  for (std::size_t i = 0; i < expressions.size(); ++i) {
    CheckRequirement(expressions[i], options, path.Child("matchExpressions").Index(i), errors);
  }
  return errors;
}

}  // namespace terrarium::apiserver
