#include "api/patch/json_patch.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>
#include <utility>

#include "api/base/errors.h"
#include "api/codec/decode.h"
#include "api/codec/normalize.h"
#include "api/patch/internal/patch_tree.h"
#include "api/patch/internal/patch_words.h"

namespace terrarium::api {
namespace {

// The target of a path: the container that holds the value, and the last token. `container` is null when the
// path to it does not exist.
struct Target {
  PatchNode* container = nullptr;
  std::string token;
  std::size_t level = 0;  // of the value: 1 is a member of the document
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
PatchNode* Lookup(PatchNode& container, const std::string& token) {
  if (container.IsObject()) return container.FindMember(token);
  std::optional<std::size_t> at = Position(token, container.ListSize());
  return at ? &container.Item(*at) : nullptr;
}

Target Resolve(PatchNode& document, std::string_view path) {
  std::size_t slash = path.find('/');
  if (slash == std::string_view::npos) return {};
  PatchNode* container = &document;
  for (std::size_t level = 1;; ++level) {
    if (!container->IsObject() && !container->IsList()) return {};
    path.remove_prefix(slash + 1);
    slash = path.find('/');
    std::string token = DecodeToken(path.substr(0, slash));
    if (slash == std::string_view::npos) return {container, std::move(token), level};
    container = Lookup(*container, token);
    if (container == nullptr) return {};
  }
}

bool Remove(const Target& target) {
  if (target.container == nullptr) return false;
  if (target.container->IsObject()) return target.container->EraseMember(target.token);
  std::optional<std::size_t> at = Position(target.token, target.container->ListSize());
  if (!at) return false;
  target.container->EraseItem(*at);
  return true;
}

// Applies the operations one by one. Each method returns whether its operation succeeded.
class Patcher {
 public:
  explicit Patcher(Json document) : depth_(DepthOf(document)), document_(std::move(document)) {}

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

  Json Take() { return document_.Take(); }

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

  // A patch can nest values in each other, deeper than the decoder allows in a request, so the depth is
  // checked here too.
  bool Add(const Target& target, PatchNode value, std::size_t value_depth) {
    if (target.container == nullptr || target.level + value_depth > kMaxJsonDepth) return false;
    if (target.container->IsObject()) {
      target.container->SetMember(target.token, std::move(value));
    } else {
      const std::size_t size = target.container->ListSize();
      std::optional<std::size_t> at = target.token == "-" ? size : Position(target.token, size + 1);
      if (!at) return false;
      target.container->InsertItem(*at, std::move(value));
    }
    depth_ = std::max(depth_, target.level + value_depth);
    return true;
  }
  bool Add(const Target& target, Json value) {
    const std::size_t depth = DepthOf(value);
    return Add(target, PatchNode(std::move(value)), depth);
  }

  bool Replace(const std::string& path, const Json& operation) {
    Json value = Value(operation);
    if (path.empty()) {
      if (!value.is_object() && !value.is_array()) return false;
      depth_ = DepthOf(value);
      document_ = PatchNode(std::move(value));
      return true;
    }
    Target target = Resolve(document_, path);
    if (target.container == nullptr) return false;
    if (target.container->IsObject()) return Add(target, std::move(value));
    PatchNode* existing = Lookup(*target.container, target.token);
    const std::size_t depth = DepthOf(value);
    if (existing == nullptr || target.level + depth > kMaxJsonDepth) return false;
    *existing = PatchNode(std::move(value));
    depth_ = std::max(depth_, target.level + depth);
    return true;
  }

  bool Test(const std::string& path, const Json& operation) {
    auto expected = operation.find("value");
    bool expects_null = expected == operation.end() || expected->is_null();
    if (path.empty()) return !expects_null && document_.HasText(*expected);
    Target target = Resolve(document_, path);
    if (target.container == nullptr) return false;
    const PatchNode* actual = Lookup(*target.container, target.token);
    if (actual == nullptr) return target.container->IsObject() && expects_null;
    if (actual->IsNull() || expects_null) return actual->IsNull() && expects_null;
    return actual->HasText(*expected);
  }

  bool Move(const std::string& from, const std::string& path) {
    Target source = Resolve(document_, from);
    PatchNode* value = source.container == nullptr ? nullptr : Lookup(*source.container, source.token);
    if (value == nullptr) return false;
    PatchNode moved = std::move(*value);
    if (!Remove(source)) return false;
    Target target = Resolve(document_, path);
    // The cost of walking the value to find its depth is not bounded by the size of the patch, so the number
    // of walks is limited.
    std::size_t depth = depth_ - source.level;
    if (target.level + depth > kMaxJsonDepth) {
      if (++walks_ > kWalksMax) return false;
      depth = moved.Depth();
    }
    return Add(target, std::move(moved), depth);
  }

  bool Copy(const std::string& from, const std::string& path) {
    Target source = Resolve(document_, from);
    if (source.container == nullptr) return false;
    const PatchNode* value = Lookup(*source.container, source.token);
    if (value == nullptr && source.container->IsList()) return false;
    Json copied = value == nullptr ? Json() : value->Copy();
    copied_bytes_ += copied.dump(-1, ' ', false, Json::error_handler_t::replace).size();
    return copied_bytes_ <= kMaxJsonPatchCopiedBytes && Add(Resolve(document_, path), std::move(copied));
  }

  static constexpr int kWalksMax = 100;

  std::size_t depth_;  // upper bound of the depth of the document
  PatchNode document_;
  std::size_t copied_bytes_ = 0;
  int walks_ = 0;
};

Status NotAPatch(const Json& value, std::string_view into) {
  return BadRequest("error decoding patch: " + CannotUnmarshal(value, into));
}

// Returns the error when the patch is malformed. Called before any operation is applied.
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
      if (out.size() >= kMaxStrictErrors) return out;
      out.push_back("json patch unknown field \"[" + std::to_string(i) + "]." + name + "\"");
    }
  }
  return out;
}

}  // namespace terrarium::api
