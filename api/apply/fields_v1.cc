#include "api/apply/fields_v1.h"

#include <string_view>
#include <utility>

#include "api/json_text.h"

namespace terrarium::api {
namespace {

bool IsPlain(std::string_view text) {
  for (const char c : text)
    if (c == '"' || c == '\\' || static_cast<unsigned char>(c) < 0x20 ||
        static_cast<unsigned char>(c) >= 0x7f)
      return false;
  return true;
}

void AppendName(const PathElement& element, std::string& out) {
  if (element.kind() == PathElement::Kind::kField && IsPlain(element.name())) {
    out.append("\"f:").append(element.name()).append("\"");
    return;
  }
  std::string text;
  element.AppendTo(text);
  AppendJson(Json(std::move(text)), out);
}

void AppendLevel(const FieldSet& set, bool self, std::string& out) {
  out += '{';
  if (self) out += R"(".":{})";
  bool first = !self;
  for (const FieldSet::Entry& entry : set.entries()) {
    if (!first) out += ',';
    first = false;
    AppendName(entry.element, out);
    out += ':';
    if (entry.below == nullptr)
      out += "{}";
    else
      AppendLevel(*entry.below, entry.member, out);
  }
  out += '}';
}

std::optional<FieldNode> ReadLevel(const Json& fields, std::size_t depth, std::string* error) {
  FieldNode node;
  FieldSetBuilder builder;
  if (depth > kFieldDepthMax) {
    *error = "exceeded max depth of " + std::to_string(kFieldDepthMax);
    return std::nullopt;
  }
  if (!fields.is_object()) {
    *error = "ReadMapCB: expect { or n, but found a value that is not an object";
    return std::nullopt;
  }
  for (auto it = fields.begin(); it != fields.end(); ++it) {
    if (it.key() == ".") {
      node.member = true;
      continue;
    }
    std::optional<PathElement> element = PathElement::Parse(it.key(), error);
    if (!element && error->empty()) continue;
    if (!element) return std::nullopt;
    std::optional<FieldNode> below =
        it->is_null() ? FieldNode{true, nullptr} : ReadLevel(*it, depth + 1, error);
    if (!below) return std::nullopt;
    builder.Add(std::move(*element), std::move(*below));
  }
  node.below = builder.Build();
  if (node.below == nullptr) node.member = true;
  return node;
}

}  // namespace

void AppendFieldsV1(const FieldSetPtr& set, std::string& out) {
  if (set == nullptr)
    out += "{}";
  else
    AppendLevel(*set, /*self=*/false, out);
}

Json FieldsV1Of(const FieldSetPtr& set) {
  Json out = Json::object();
  if (set == nullptr) return out;
  auto& members = out.get_ref<Json::object_t&>();
  for (const FieldSet::Entry& entry : set->entries()) {
    std::string name;
    entry.element.AppendTo(name);
    Json below = FieldsV1Of(entry.below);
    if (entry.member && entry.below != nullptr) below["."] = Json::object();
    members.AppendUnsorted(name) = std::move(below);
  }
  members.SortMembers();
  return out;
}

std::optional<FieldSetPtr> ReadFieldsV1(const Json& fields, std::string* error) {
  error->clear();
  if (fields.is_null()) return FieldSetPtr();
  std::optional<FieldNode> node = ReadLevel(fields, 0, error);
  if (!node) return std::nullopt;
  return std::move(node->below);
}

}  // namespace terrarium::api
