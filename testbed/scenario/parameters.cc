#include "testbed/scenario/parameters.h"

#include <algorithm>
#include <optional>

#include "api/base/field_error.h"
#include "api/codec/yaml.h"
#include "api/json_access.h"
#include "testbed/scenario/shapes.h"

namespace terrarium::testbed::scenario {
namespace {

using api::YamlPathBelow;

std::string Printed(const Json& value) { return value.is_string() ? value.get<std::string>() : value.dump(); }

std::vector<std::string> NamesOf(const Json& values) {
  std::vector<std::string> names;
  for (const auto& [name, value] : values.items()) names.push_back(name);
  return names;
}

// The value of "policy" or "row.policy"; nullptr when there is none. *rest is left at the name that was not
// found, *last at where it was looked for.
const Json* FindValue(const Json& values, const std::string& name, std::string_view* rest,
                      const Json** last) {
  *rest = name;
  *last = &values;
  while (true) {
    const std::size_t dot = rest->find('.');
    const std::string step(rest->substr(0, dot));
    if (!(*last)->is_object() || !(*last)->contains(step)) return nullptr;
    *last = &(**last)[step];
    if (dot == std::string_view::npos) return *last;
    rest->remove_prefix(dot + 1);
  }
}

const Json* FindValue(const Json& values, const std::string& name) {
  std::string_view rest;
  const Json* last = nullptr;
  return FindValue(values, name, &rest, &last);
}

class Substitution {
 public:
  Substitution(const Json& values, Mistakes& mistakes) : values_(values), mistakes_(mistakes) {}

  Json In(const Json& value, const std::string& path) {
    if (value.is_string()) return InText(value.get_ref<const std::string&>(), path);
    if (value.is_array()) {
      Json out = Json::array();
      for (std::size_t i = 0; i < value.size(); ++i)
        out.push_back(In(value[i], YamlPathBelow(path, std::to_string(i))));
      return out;
    }
    if (!value.is_object()) return value;
    Json out = Json::object();
    for (const auto& [key, below] : value.items()) {
      const std::string its_path = YamlPathBelow(path, key);
      out[Printed(InText(key, its_path + "#"))] = In(below, its_path);
    }
    return out;
  }

 private:
  Json InText(const std::string& text, const std::string& path) {
    std::string out;
    std::size_t at = 0;
    while (true) {
      const std::size_t open = text.find("${", at);
      if (open == std::string::npos) break;
      if (open > 0 && text[open - 1] == '$') {  // $${ is a plain ${
        out += text.substr(at, open - 1 - at) + "${";
        at = open + 2;
        continue;
      }
      const std::size_t close = text.find('}', open);
      if (close == std::string::npos) {
        mistakes_.push_back({path, "a ${ is not closed; a plain ${ is written $${"});
        return text;
      }
      const Json* value = Find(text.substr(open + 2, close - open - 2), path);
      if (value == nullptr) return text;
      if (open == 0 && close + 1 == text.size()) return *value;
      out += text.substr(at, open - at) + Printed(*value);
      at = close + 1;
    }
    return at == 0 ? text : out + text.substr(at);
  }

  const Json* Find(const std::string& name, const std::string& path) {
    std::string_view rest;
    const Json* at = nullptr;
    if (const Json* value = FindValue(values_, name, &rest, &at)) return value;
    std::string hint = at->is_object() ? DidYouMean(rest, NamesOf(*at)) : "";
    mistakes_.push_back(
        {path, "${" + name + "} is not a parameter" + hint + ": " +
                   (values_.empty() ? "there is no `each`" : "there are " + JoinOr(NamesOf(values_)))});
    return nullptr;
  }

  const Json& values_;
  Mistakes& mistakes_;
};

}  // namespace

const Shape& EachShape() {
  static const Shape values{
      .type = Shape::Type::kList, .is = "a list of values", .of = &Anything(), .least = 1};
  static const Shape each{.type = Shape::Type::kMap,
                          .is = "parameters, each with a list of values",
                          .wrong = [](const Json& value) -> std::string {
                            for (const char* word : {"true", "false"})
                              if (value.contains(word))
                                return "a parameter cannot be called y, n, yes, no, on or off, which are " +
                                       std::string(word) + " in YAML";
                            return "";
                          },
                          .of = &values};
  return each;
}

std::size_t CombinationCount(const Json& each) {
  std::size_t count = 1;
  for (const Json& values : each) {
    count *= values.size();
    if (count > kCombinationsMax) break;
  }
  return count;
}

std::vector<Json> Combinations(const Json& each) {
  std::vector<Json> out{Json::object()};
  if (each.is_null()) return out;
  for (const auto& [name, values] : each.items()) {
    std::vector<Json> more;
    for (const Json& so_far : out)
      for (const Json& value : values) {
        more.push_back(so_far);
        more.back()[name] = value;
      }
    out = std::move(more);
  }
  return out;
}

Json Substitute(const Json& document, const Json& values, const std::string& path, Mistakes& mistakes) {
  return Substitution(values, mistakes).In(document, path);
}

std::string CombinationName(const Json& values) {
  std::string out;
  for (const auto& [name, value] : values.items()) {
    const std::string_view own = api::StringAt(value, "name");
    out += (out.empty() ? "" : ", ") + name + "=" + (own.empty() ? Printed(value) : std::string(own));
  }
  return out;
}

bool Applies(const Json& when, const Json& values) {
  return std::all_of(when.items().begin(), when.items().end(), [&values](const auto& item) {
    const Json* value = FindValue(values, item.key());
    if (value == nullptr) return true;  // reported elsewhere
    const Json& wanted = item.value();
    return wanted.is_array() ? std::find(wanted.begin(), wanted.end(), *value) != wanted.end()
                             : wanted == *value;
  });
}

void CheckWhen(const Json& when, const Json& values, const std::string& path, Mistakes& mistakes) {
  for (const auto& [name, wanted] : when.items())
    if (FindValue(values, name) == nullptr)
      mistakes.push_back({YamlPathBelow(path, name) + "#", "when: " + api::Quote(name) +
                                                               " is not a parameter of `each`" +
                                                               DidYouMean(name, NamesOf(values))});
}

}  // namespace terrarium::testbed::scenario
