#include "api/apply/check_types.h"

#include <algorithm>
#include <cstdio>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "api/base/clock.h"
#include "api/base/field_error.h"
#include "api/base/quantity.h"
#include "api/json_text.h"

namespace terrarium::api {
namespace {

using Kind = ValueType::Kind;

// As in the decoder's messages; Kubernetes has no limit.
constexpr std::size_t kMaxErrors = 100;
constexpr std::size_t kMaxPrinted = 4096;

std::string Number(const Json& value) {
  std::string text;
  AppendJson(value, text);
  return text;
}

// Go's %v and, with `syntax`, %#v of a value in an interface.
std::string Go(const Json& value, bool syntax) {
  switch (value.type()) {
    case Json::value_t::null: return "<nil>";
    case Json::value_t::boolean: return value.get<bool>() ? "true" : "false";
    case Json::value_t::string:
      return syntax ? Quote(value.get_ref<const std::string&>()) : value.get<std::string>();
    case Json::value_t::array: {
      std::string out = syntax ? "[]interface {}{" : "[";
      for (std::size_t i = 0; i < value.size() && out.size() < kMaxPrinted; ++i)
        out.append(i == 0 ? "" : (syntax ? ", " : " ")).append(Go(value[i], syntax));
      return out + (syntax ? "}" : "]");
    }
    case Json::value_t::object: {
      std::string out = syntax ? "map[string]interface {}{" : "map[";
      for (auto it = value.begin(); it != value.end() && out.size() < kMaxPrinted; ++it) {
        if (it != value.begin()) out += syntax ? ", " : " ";
        out.append(syntax ? Quote(it.key()) : it.key()).append(":").append(Go(*it, syntax));
      }
      return out + (syntax ? "}" : "]");
    }
    default: return Number(value);
  }
}

const char* GoType(const Json& value) {
  switch (value.type()) {
    case Json::value_t::boolean: return "bool";
    case Json::value_t::string: return "string";
    case Json::value_t::array: return "[]interface {}";
    case Json::value_t::object: return "map[string]interface {}";
    default: return "<nil>";
  }
}

struct TypeError {
  std::string path;
  std::string message;
};

class Checker {
 public:
  void Check(const ValueType& type, const Json& value, const std::string& path) {
    if (errors_.size() >= kMaxErrors) return;
    if (type.kind() == Kind::kNone) return Report(path, "field not declared in schema");
    if (value.is_null()) return;
    switch (type.kind()) {
      case Kind::kNone: return;
      case Kind::kScalar: return Scalar(type, value, path);
      case Kind::kRaw: return;
      case Kind::kFree:
        if (value.is_object()) Object(type, value, path);
        return;
      case Kind::kList: return List(type, value, path);
      case Kind::kStruct:
      case Kind::kMap:
        if (value.is_object()) return Object(type, value, path);
        return Report(path, "expected map, got &{" + Go(value, false) + "}");
    }
  }

  std::string Text() const {
    auto one = [](const TypeError& error) {
      return error.path.empty() ? error.message : error.path + ": " + error.message;
    };
    if (errors_.empty()) return "";
    if (errors_.size() == 1) return one(errors_[0]);
    std::string text = "errors:";
    for (const TypeError& error : errors_) text += "\n  " + one(error);
    return text;
  }

 private:
  void Report(const std::string& path, std::string message) { errors_.push_back({path, std::move(message)}); }

  void Scalar(const ValueType& type, const Json& value, const std::string& path) {
    const std::string printed = "&value.valueUnstructured{Value:";
    switch (type.scalar()) {
      case ValueType::Scalar::kNumber:
        if (!value.is_number())
          Report(path, std::string("expected numeric (int or float), got ") + GoType(value));
        return;
      case ValueType::Scalar::kString:
        if (!value.is_string()) Report(path, "expected string, got " + printed + Go(value, true) + "}");
        return;
      case ValueType::Scalar::kBool:
        if (!value.is_boolean()) Report(path, "expected boolean, got &{" + Go(value, false) + "}");
        return;
      case ValueType::Scalar::kAny:
        if (value.is_structured()) Report(path, "expected any scalar, got &{" + Go(value, false) + "}");
        return;
    }
  }

  void Object(const ValueType& type, const Json& value, const std::string& path) {
    for (const auto& member : value.get_ref<const Json::object_t&>())
      Check(type.Member(member.first), member.second, path + "." + member.first.text());
  }

  void List(const ValueType& type, const Json& value, const std::string& path) {
    if (!value.is_array()) return Report(path, "expected list, got &{" + Go(value, false) + "}");
    std::set<PathElement> seen;
    for (std::size_t i = 0; i < value.size(); ++i) {
      std::string error;
      std::optional<PathElement> element = PathElement::Index(static_cast<std::int64_t>(i));
      if (type.IsAssociativeList()) {
        element = type.ElementOf(value[i], &error);
        if (!element) return Report(path, "element " + std::to_string(i) + ": " + error);
        if (!seen.insert(*element).second) Report(path, "duplicate entries for key " + element->ToString());
      }
      if (value[i].is_primitive() && type.Element().kind() == Kind::kRaw) continue;
      Check(type.Element(), value[i], path + element->ToString());
    }
  }

  std::vector<TypeError> errors_;
};

void CanonicalizeScalar(const Field& field, Json& value) {
  if (field.def.type == FieldType::kQuantity) {
    const std::string text = value.is_string() ? value.get<std::string>() : Number(value);
    std::string error;
    if (!value.is_string() && !value.is_number()) return;
    if (auto quantity = Quantity::Parse(text, &error)) value = quantity->ToString();
  } else if (field.def.type == FieldType::kTime && value.is_string()) {
    if (auto time = ParseTime(value.get_ref<const std::string&>())) value = FormatTime(*time);
  } else if (field.def.type == FieldType::kMicroTime && value.is_string()) {
    if (auto time = ParseTime(value.get_ref<const std::string&>())) value = FormatMicroTime(*time);
  }
}

}  // namespace

std::string CheckTypes(const ValueType& type, const Json& config) {
  Checker checker;
  checker.Check(type, config, "");
  return checker.Text();
}

void CanonicalizeForms(const ValueType& type, Json& config) {
  switch (type.kind()) {
    case Kind::kScalar: return CanonicalizeScalar(*type.field(), config);
    case Kind::kList:
      if (config.is_array())
        for (Json& item : config) CanonicalizeForms(type.Element(), item);
      return;
    case Kind::kStruct:
    case Kind::kMap:
      if (config.is_object())
        for (auto& member : config.get_ref<Json::object_t&>())
          CanonicalizeForms(type.Member(member.first), member.second);
      return;
    default: return;
  }
}

}  // namespace terrarium::api
