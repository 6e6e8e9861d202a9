// StorageClass and VolumeAttributesClass.

#include <algorithm>
#include <cctype>
#include <set>

#include "api/storage_v1/volume_script.h"
#include "apiserver/strategies.h"
#include "apiserver/strategy/internal/plain_kind.h"

namespace terrarium::apiserver {
namespace {

using namespace strategy;  // NOLINT: the helpers of this folder

constexpr int kParametersMax = 512;
constexpr int kParametersBytesMax = 256 * 1024;

// A driver's name, in any case.
void CheckDriver(std::string_view driver, const Path& path, FieldErrors& errors) {
  if (driver.empty()) {
    errors.push_back(api::RequiredError(path));
    return;
  }
  std::string lower(driver);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  AddInvalid(IsQualifiedName(lower), lower, path, errors);
}

void CheckParameters(const Json& parameters, bool required, FieldErrors& errors) {
  const Path path("parameters");
  if (parameters.size() > kParametersMax) {
    errors.push_back(api::TooLongError(path, kParametersMax));
    return;
  }
  std::size_t bytes = 0;
  for (const auto& [name, value] : parameters.items()) {
    if (name.empty()) errors.push_back(api::InvalidError(path, name, "field can not be empty."));
    bytes += name.size() + value.get_ref<const std::string&>().size();
  }
  if (bytes > kParametersBytesMax) errors.push_back(api::TooLongError(path, kParametersBytesMax));
  if (required && parameters.empty())
    errors.push_back(api::RequiredError(path, "must contain at least one key/value pair"));
}

void CheckRequirement(const Json& requirement, const Path& path, FieldErrors& errors) {
  if (ListAt(requirement, "values").empty()) errors.push_back(api::RequiredError(path.Child("values")));
  std::set<std::string_view> values;
  std::size_t i = 0;
  for (const Json& element : ListAt(requirement, "values")) {
    const std::string& value = element.get_ref<const std::string&>();
    if (!values.insert(value).second)
      errors.push_back(api::DuplicateError(path.Child("values").Index(i), value));
    ++i;
  }
  api::Append(errors, ValidateLabelName(StringAt(requirement, "key"), path.Child("key")));
}

void CheckTopologies(const Json& topologies, FieldErrors& errors) {
  const Path path("allowedTopologies");
  std::set<std::string> seen;
  for (std::size_t i = 0; i < topologies.size(); ++i) {
    const Path term = path.Index(i).Child("matchLabelExpressions");
    const Json& requirements = ListAt(topologies[i], "matchLabelExpressions");
    std::set<std::string_view> keys;
    for (std::size_t j = 0; j < requirements.size(); ++j) {
      CheckRequirement(requirements[j], term.Index(j), errors);
      const std::string_view key = StringAt(requirements[j], "key");
      if (!keys.insert(key).second) errors.push_back(api::DuplicateError(term.Index(j).Child("key"), key));
    }
    if (!seen.insert(requirements.dump()).second) errors.push_back(api::DuplicateError(term, ""));
  }
}

class StorageClass final : public PlainKind {
 public:
  StorageClass() : PlainKind({}) {}

 private:
  void Check(const Json& object, const Json* old, FieldErrors& errors) const override {
    if (old != nullptr) {
      for (const char* field : {"parameters", "provisioner", "reclaimPolicy", "volumeBindingMode"})
        Immutable(errors, object, *old, field, Path());
      return;
    }
    CheckDriver(StringAt(object, "provisioner"), Path("provisioner"), errors);
    CheckParameters(ObjectAt(object, "parameters"), false, errors);
    for (const api::ParameterError& error : api::CheckVolumeScript(ObjectAt(object, "parameters")))
      errors.push_back(api::InvalidError(Path("parameters").Key(error.parameter), error.value, error.why));
    if (const std::string_view policy = StringAt(object, "reclaimPolicy"); !policy.empty())
      OneOf(errors, Path("reclaimPolicy"), policy, {"Delete", "Retain"});
    OneOf(errors, Path("volumeBindingMode"), StringAt(object, "volumeBindingMode"),
          {"Immediate", "WaitForFirstConsumer"});
    CheckTopologies(ListAt(object, "allowedTopologies"), errors);
  }
};

class VolumeAttributesClass final : public PlainKind {
 public:
  VolumeAttributesClass() : PlainKind({}) {}

 private:
  void Check(const Json& object, const Json* old, FieldErrors& errors) const override {
    if (old != nullptr) {
      if (StringAt(object, "driverName") != StringAt(*old, "driverName"))
        errors.push_back(api::ForbiddenError(Path("driverName"), "updates to driverName are forbidden."));
      if (ObjectAt(object, "parameters") != ObjectAt(*old, "parameters"))
        errors.push_back(api::ForbiddenError(Path("parameters"), "updates to parameters are forbidden."));
    }
    CheckDriver(StringAt(object, "driverName"), Path("driverName"), errors);
    CheckParameters(ObjectAt(object, "parameters"), true, errors);
  }
};

}  // namespace

const Strategy& StorageClassStrategy() {
  static const StorageClass strategy;
  return strategy;
}

const Strategy& VolumeAttributesClassStrategy() {
  static const VolumeAttributesClass strategy;
  return strategy;
}

}  // namespace terrarium::apiserver
