#include "tests/testbed/scenario/json_schema.h"

#include <algorithm>
#include <regex>

#include "api/base/check.h"

namespace terrarium::testbed::scenario {
namespace {

using api::Json;

class Validator {
 public:
  explicit Validator(const Json& root) : root_(root) {}

  std::string Check(const Json& schema, const Json& value, const std::string& at) {
    for (const auto& [keyword, argument] : schema.items()) {
      std::string wrong = Keyword(schema, keyword, argument, value, at);
      if (!wrong.empty()) return wrong;
    }
    return "";
  }

 private:
  std::string Keyword(const Json& schema, const std::string& keyword, const Json& argument, const Json& value,
                      const std::string& at) {
    for (const char* annotation : {"$schema", "title", "description", "definitions"})
      if (keyword == annotation) return "";
    if (keyword == "$ref")
      return Check(root_.at(Json::json_pointer(argument.get<std::string>().substr(1))), value, at);
    if (keyword == "type")
      return HasType(argument, value) ? "" : at + " is no " + argument.get<std::string>();
    if (keyword == "enum")
      return std::find(argument.begin(), argument.end(), value) != argument.end()
                 ? ""
                 : at + " is not one of the words";
    if (keyword == "pattern")
      return !value.is_string() ||
                     std::regex_search(value.get<std::string>(), std::regex(argument.get<std::string>()))
                 ? ""
                 : at + " is not like " + argument.get<std::string>();
    if (keyword == "minimum")
      return !value.is_number() || value.get<double>() >= argument.get<double>() ? "" : at + " is too small";
    if (keyword == "minItems")
      return !value.is_array() || value.size() >= argument.get<std::size_t>() ? ""
                                                                              : at + " has too few items";
    if (keyword == "required") return Required(argument, value, at);
    if (keyword == "properties") return Properties(argument, value, at);
    if (keyword == "additionalProperties") return Others(schema, argument, value, at);
    if (keyword == "propertyNames") return Names(argument, value, at);
    if (keyword == "items") return Items(argument, value, at);
    if (keyword == "anyOf" || keyword == "oneOf") return Choices(keyword, argument, value, at);
    return "keyword " + keyword + " is not known here";
  }

  static bool HasType(const Json& type, const Json& value) {
    if (type == "object") return value.is_object();
    if (type == "array") return value.is_array();
    if (type == "string") return value.is_string();
    if (type == "boolean") return value.is_boolean();
    if (type == "integer") return value.is_number_integer();
    CHECK(type == "number");
    return value.is_number();
  }

  static std::string Required(const Json& names, const Json& value, const std::string& at) {
    for (const Json& name : names)
      if (value.is_object() && !value.contains(name.get<std::string>()))
        return at + " lacks " + name.get<std::string>();
    return "";
  }

  std::string Properties(const Json& properties, const Json& value, const std::string& at) {
    for (const auto& [name, schema] : properties.items()) {
      if (!value.is_object() || !value.contains(name)) continue;
      if (std::string wrong = Check(schema, value[name], at + "/" + name); !wrong.empty()) return wrong;
    }
    return "";
  }

  std::string Others(const Json& schema, const Json& argument, const Json& value, const std::string& at) {
    if (!value.is_object()) return "";
    for (const auto& [name, below] : value.items()) {
      if (schema.contains("properties") && schema["properties"].contains(name)) continue;
      if (argument == false) return at + " has an unknown " + name;
      if (std::string wrong = Check(argument, below, at + "/" + name); !wrong.empty()) return wrong;
    }
    return "";
  }

  std::string Names(const Json& schema, const Json& value, const std::string& at) {
    if (!value.is_object()) return "";
    for (const auto& [name, below] : value.items())
      if (std::string wrong = Check(schema, name, at + "/" + name + "#"); !wrong.empty()) return wrong;
    return "";
  }

  std::string Items(const Json& schema, const Json& value, const std::string& at) {
    for (std::size_t i = 0; value.is_array() && i < value.size(); ++i)
      if (std::string wrong = Check(schema, value[i], at + "/" + std::to_string(i)); !wrong.empty())
        return wrong;
    return "";
  }

  std::string Choices(const std::string& keyword, const Json& choices, const Json& value,
                      const std::string& at) {
    int fitting = 0;
    std::string last;
    for (const Json& choice : choices) {
      std::string wrong = Check(choice, value, at);
      if (wrong.empty())
        ++fitting;
      else
        last = wrong;
    }
    if (fitting == 0) return at + " fits no choice, at last: " + last;
    return keyword == "oneOf" && fitting > 1 ? at + " fits several choices" : "";
  }

  const Json& root_;
};

}  // namespace

std::string SchemaViolation(const Json& schema, const Json& value) {
  return Validator(schema).Check(schema, value, "");
}

}  // namespace terrarium::testbed::scenario
