#include "testbed/scenario/field_check.h"

#include "api/base/field_error.h"
#include "api/codec/yaml.h"
#include "testbed/scenario/match.h"

namespace terrarium::testbed::scenario {
namespace {

using api::Cardinality;
using api::Field;
using api::FieldType;
using api::Message;
using api::YamlPathBelow;

class FieldChecker {
 public:
  FieldChecker(FieldUse use, Mistakes& mistakes) : use_(use), mistakes_(mistakes) {}

  void Members(const Message& message, const Json& value, const std::string& path, bool root) {
    std::vector<std::string> known;
    for (const auto& [key, below] : value.items()) {
      if (root && (key == "apiVersion" || key == "kind")) continue;
      if (use_ == FieldUse::kPatch && key.starts_with('$')) continue;
      const std::string its_path = YamlPathBelow(path, key);
      const Field* field = message.Find(key);
      if (field != nullptr) {
        Value(*field, below, its_path);
        continue;
      }
      if (known.empty())
        for (const Field& each : message.fields()) known.emplace_back(each.name());
      mistakes_.push_back({its_path + "#", std::string(message.short_name()) + " has no field " +
                                               api::Quote(key) + DidYouMean(key, known)});
    }
  }

 private:
  void Value(const Field& field, const Json& value, const std::string& path) {
    if (value.is_null() || Compared(value, path)) return;
    if (field.def.cardinality == Cardinality::kSingle) return Single(field, value, path);
    const bool list = field.def.cardinality == Cardinality::kList;
    if (list ? !value.is_array() : !value.is_object())
      return Wrong(path, std::string(field.name()) + " is a " + (list ? "list" : "mapping"));
    for (const auto& [key, below] : value.items()) {
      const std::string its_path = YamlPathBelow(path, key);
      if (!below.is_null() && !Compared(below, its_path)) Single(field, below, its_path);
    }
  }

  void Single(const Field& field, const Json& value, const std::string& path) {
    const std::string name(field.name());
    switch (field.def.type) {
      case FieldType::kMessage:
        if (!value.is_object()) return Wrong(path, name + " is a mapping");
        return Members(*field.message, value, path, false);
      case FieldType::kString:
      case FieldType::kBytes:
      case FieldType::kTime:
      case FieldType::kMicroTime:
      case FieldType::kDuration:
        if (!value.is_string()) Wrong(path, name + " is a string: put it in quotes");
        return;
      case FieldType::kBool:
        if (!value.is_boolean()) Wrong(path, name + " is true or false");
        return;
      case FieldType::kInt32:
      case FieldType::kInt64:
        if (!value.is_number_integer()) Wrong(path, name + " is a whole number");
        return;
      case FieldType::kDouble:
        if (!value.is_number()) Wrong(path, name + " is a number");
        return;
      case FieldType::kQuantity:
      case FieldType::kIntOrString:
        if (!value.is_string() && !value.is_number()) Wrong(path, name + " is a number or a string");
        return;
      case FieldType::kRawObject:
      case FieldType::kFieldsV1:
      case FieldType::kStringList:
      case FieldType::kAny: return;
    }
  }

  // A comparison is checked for itself. A label may be called like one in what is sent.
  bool Compared(const Json& value, const std::string& path) {
    if (use_ != FieldUse::kMatch || !IsComparison(value)) return false;
    if (std::string wrong = WrongComparison(value); !wrong.empty()) Wrong(path, wrong);
    return true;
  }

  void Wrong(const std::string& path, const std::string& message) { mistakes_.push_back({path, message}); }

  FieldUse use_;
  Mistakes& mistakes_;
};

}  // namespace

void CheckFields(const apiserver::ResourceInfo& resource, const Json& value, const std::string& path,
                 FieldUse use, Mistakes& mistakes) {
  if (value.is_object()) FieldChecker(use, mistakes).Members(resource.Schema(), value, path, true);
}

}  // namespace terrarium::testbed::scenario
