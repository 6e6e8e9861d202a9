#include "api/patch/json_patch.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>
#include <utility>

#include "api/base/errors.h"
#include "api/patch/internal/patch_words.h"

namespace terrarium::api {
namespace {

// One step of a path: the container it ends in and the last token. `container` is null when the way there is missing.
struct Target {
  Json* container = nullptr;
  std::string token;
};

// "~1" stands for '/' and "~0" for '~'.
std::string DecodeToken(std::string_view token) {
  std::string out;
  for (std::size_t i = 0; i < token.size(); ++i) {
    if (token[i] == '~' && i + 1 < token.size() && (token[i + 1] == '0' || token[i + 1] == '1'))
      out += token[++i] == '0' ? '~' : '/';
    else
      out += token[i];
  }
  return out;
}

std::optional<long> ParseIndex(std::string_view token) {
  if (token.size() > 1 && token[0] == '+' && token[1] != '-') token.remove_prefix(1);
  long value = 0;
  auto [end, error] = std::from_chars(token.data(), token.data() + token.size(), value);
  if (error != std::errc() || end != token.data() + token.size()) return std::nullopt;
  return value;
}

// A position in 0..size-1, where a negative index counts from the end.
std::optional<std::size_t> Position(const std::string& token, std::size_t size) {
  std::optional<long> index = ParseIndex(token);
  if (!index) return std::nullopt;
  long limit = static_cast<long>(size);
  if (*index < 0) *index += limit;
  if (*index < 0 || *index >= limit) return std::nullopt;
  return static_cast<std::size_t>(*index);
}

// The existing value a token names in a container, or null.
Json* Lookup(Json& container, const std::string& token) {
  if (container.is_array()) {
    std::optional<std::size_t> at = Position(token, container.size());
    return at ? &container[*at] : nullptr;
  }
  auto it = container.find(token);
  return it == container.end() ? nullptr : &*it;
}

Target Resolve(Json& document, std::string_view path) {
  std::size_t slash = path.find('/');
  if (slash == std::string_view::npos) return {};
  Json* container = &document;
  for (;;) {
    if (!container->is_object() && !container->is_array()) return {};
    path.remove_prefix(slash + 1);
    slash = path.find('/');
    std::string token = DecodeToken(path.substr(0, slash));
    if (slash == std::string_view::npos) return {container, std::move(token)};
    container = Lookup(*container, token);
    if (container == nullptr) return {};
  }
}

bool Add(const Target& target, Json value) {
  if (target.container == nullptr) return false;
  if (target.container->is_object()) {
    (*target.container)[target.token] = std::move(value);
    return true;
  }
  Json::array_t& list = target.container->get_ref<Json::array_t&>();
  if (target.token == "-") {
    list.push_back(std::move(value));
    return true;
  }
  std::optional<std::size_t> at = Position(target.token, list.size() + 1);
  if (!at) return false;
  list.insert(list.begin() + static_cast<long>(*at), std::move(value));
  return true;
}

bool Remove(const Target& target) {
  if (target.container == nullptr) return false;
  if (target.container->is_object()) return target.container->erase(target.token) == 1;
  std::optional<std::size_t> at = Position(target.token, target.container->size());
  if (!at) return false;
  target.container->erase(*at);
  return true;
}

// Equality of the texts rather than of the numbers: 1 and 1.0 differ.
bool Same(const Json& a, const Json& b) {
  if (a.is_number() && b.is_number()) return a.is_number_float() == b.is_number_float() && a == b;
  if (a.type() != b.type()) return false;
  if (a.is_array()) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), Same);
  }
  if (a.is_object()) {
    if (a.size() != b.size()) return false;
    for (auto i = a.begin(), j = b.begin(); i != a.end(); ++i, ++j)
      if (i.key() != j.key() || !Same(*i, *j)) return false;
    return true;
  }
  return a == b;
}

// Applies the operations one by one; each method tells whether its operation applied.
class Patcher {
 public:
  explicit Patcher(Json document) : document_(std::move(document)) {}

  bool Apply(const Json& operation) {
    const std::string* op = Text(operation, "op");
    const std::string* path = Text(operation, "path");
    if (op == nullptr || path == nullptr) return false;
    if (*op == "add") return Add(Resolve(document_, *path), Value(operation));
    if (*op == "remove") return Remove(Resolve(document_, *path));
    if (*op == "replace") return Replace(*path, operation);
    if (*op == "test") return Test(*path, operation);
    const std::string* from = Text(operation, "from");
    if (from == nullptr) return false;
    if (*op == "move") return Move(*from, *path);
    if (*op == "copy") return Copy(*from, *path);
    return false;
  }

  Json Take() { return std::move(document_); }

 private:
  static const std::string* Text(const Json& operation, const char* member) {
    if (!operation.is_object()) return nullptr;
    auto it = operation.find(member);
    return it != operation.end() && it->is_string() ? it->get_ptr<const std::string*>() : nullptr;
  }

  static Json Value(const Json& operation) {
    auto it = operation.find("value");
    return it == operation.end() ? Json() : *it;
  }

  bool Replace(const std::string& path, const Json& operation) {
    Json value = Value(operation);
    if (path.empty()) {
      if (!value.is_object() && !value.is_array()) return false;
      document_ = std::move(value);
      return true;
    }
    Target target = Resolve(document_, path);
    if (target.container == nullptr) return false;
    if (target.container->is_object()) return Add(target, std::move(value));
    Json* existing = Lookup(*target.container, target.token);
    if (existing == nullptr) return false;
    *existing = std::move(value);
    return true;
  }

  bool Test(const std::string& path, const Json& operation) {
    auto expected = operation.find("value");
    bool expects_null = expected == operation.end() || expected->is_null();
    if (path.empty()) return !expects_null && Same(document_, *expected);
    Target target = Resolve(document_, path);
    if (target.container == nullptr) return false;
    const Json* actual = Lookup(*target.container, target.token);
    if (actual == nullptr) return target.container->is_object() && expects_null;
    if (actual->is_null() || expects_null) return actual->is_null() && expects_null;
    return Same(*actual, *expected);
  }

  bool Move(const std::string& from, const std::string& path) {
    Target source = Resolve(document_, from);
    Json* value = source.container == nullptr ? nullptr : Lookup(*source.container, source.token);
    if (value == nullptr) return false;
    Json moved = std::move(*value);
    return Remove(source) && Add(Resolve(document_, path), std::move(moved));
  }

  bool Copy(const std::string& from, const std::string& path) {
    Target source = Resolve(document_, from);
    if (source.container == nullptr) return false;
    const Json* value = Lookup(*source.container, source.token);
    if (value == nullptr && source.container->is_array()) return false;
    Json copied = value == nullptr ? Json() : *value;
    copied_bytes_ += copied.dump(-1, ' ', false, Json::error_handler_t::replace).size();
    return copied_bytes_ <= kMaxJsonPatchCopiedBytes && Add(Resolve(document_, path), std::move(copied));
  }

  Json document_;
  std::size_t copied_bytes_ = 0;
};

Status NotAPatch(const Json& value, std::string_view into) {
  return BadRequest("error decoding patch: " + CannotUnmarshal(value, into));
}

// What is wrong with the shape of the patch, before anything is applied.
std::optional<Status> CheckShape(const Json& patch) {
  if (!patch.is_array()) return NotAPatch(patch, "value of type []handlers.jsonPatchOp");
  for (const Json& operation : patch) {
    if (operation.is_null()) continue;
    if (!operation.is_object()) return NotAPatch(operation, "value of type handlers.jsonPatchOp");
    for (const char* member : {"from", "op", "path"}) {
      auto it = operation.find(member);
      if (it != operation.end() && !it->is_null() && !it->is_string())
        return NotAPatch(*it, "struct field jsonPatchOp." + std::string(member) + " of type string");
    }
  }
  if (patch.size() > kMaxJsonPatchOperations) {
    return RequestTooLarge("The allowed maximum operations in a JSON patch is " +
                           std::to_string(kMaxJsonPatchOperations) + ", got " + std::to_string(patch.size()));
  }
  return std::nullopt;
}

}  // namespace

Result<Json> ApplyJsonPatch(Json document, const Json& patch) {
  if (patch.is_null()) return document;
  if (std::optional<Status> wrong = CheckShape(patch)) return *std::move(wrong);
  Patcher patcher(std::move(document));
  for (const Json& operation : patch)
    if (!patcher.Apply(operation)) return RejectedPatch();
  return patcher.Take();
}

std::vector<std::string> JsonPatchUnknownFields(const Json& patch) {
  std::vector<std::string> out;
  if (!patch.is_array()) return out;
  for (std::size_t i = 0; i < patch.size(); ++i) {
    if (!patch[i].is_object()) continue;
    for (const auto& [name, value] : patch[i].items()) {
      if (name == "op" || name == "path" || name == "from" || name == "value") continue;
      out.push_back("json patch unknown field \"[" + std::to_string(i) + "]." + name + "\"");
    }
  }
  return out;
}

}  // namespace terrarium::api
