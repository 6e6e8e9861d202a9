#include "testbed/scenario/target.h"

#include <algorithm>
#include <utility>

#include "api/base/errors.h"
#include "api/codec/yaml.h"
#include "api/json_access.h"
#include "testbed/scenario/field_check.h"
#include "testbed/scenario/match.h"
#include "testbed/scenario/shapes.h"

namespace terrarium::testbed::scenario {
namespace {

using api::YamlPathBelow;
using apiserver::ResourceInfo;
using apiserver::ResourceTable;

bool IsKept(const ResourceInfo& resource) {
  return resource.strategy != nullptr && resource.stored_as == nullptr;
}

std::vector<std::string> WordsOf(const ResourceInfo& resource) {
  std::vector<std::string> words{std::string(resource.plural), std::string(resource.singular),
                                 std::string(resource.kind)};
  words.insert(words.end(), resource.short_names.begin(), resource.short_names.end());
  return words;
}

const std::vector<std::pair<std::string, const ResourceInfo*>>& KindWords() {
  static const auto all = [] {
    std::vector<std::pair<std::string, const ResourceInfo*>> out;
    for (const ResourceInfo& resource : ResourceTable::BuiltIn()->all())
      if (IsKept(resource))
        for (std::string& word : WordsOf(resource)) out.emplace_back(std::move(word), &resource);
    return out;
  }();
  return all;
}

}  // namespace

std::string JoinedKindWords() {
  std::string out;
  for (const auto& [word, resource] : KindWords()) out += (out.empty() ? "" : "|") + word;
  return out;
}

api::Result<KindAndName> ParseKindAndName(std::string_view text) {
  const std::size_t slash = text.find('/');
  const std::string word(text.substr(0, slash));
  for (const auto& [known, resource] : KindWords()) {
    if (known != word) continue;
    std::string name(slash == std::string_view::npos ? "" : text.substr(slash + 1));
    if (slash != std::string_view::npos && (name.empty() || name.find('/') != std::string::npos))
      return api::BadRequest(api::Quote(text) +
                             " is not KIND/NAME; a namespace is given by the key namespace");
    return KindAndName{resource, std::move(name)};
  }
  std::vector<std::string> words;
  for (const auto& known : KindWords()) words.push_back(known.first);
  return api::BadRequest("unknown kind " + api::Quote(word) +
                         DidYouMeanOr(word, words, "write KIND/NAME or KIND, like deployment/web or pods"));
}

const ResourceInfo* ResourceOfManifest(const Json& manifest) {
  const std::string_view version = api::StringAt(manifest, "apiVersion");
  const std::size_t slash = version.find('/');
  const std::string_view group = slash == std::string_view::npos ? "" : version.substr(0, slash);
  const ResourceInfo* found = ResourceTable::BuiltIn()->FindKind(
      group, slash == std::string_view::npos ? version : version.substr(slash + 1),
      api::StringAt(manifest, "kind"));
  return found == nullptr || found->strategy == nullptr ? nullptr : found;
}

const Members& NamespaceMember() {
  static const Members members{{"namespace", AnyText(), "the objects' namespace; default by default"}};
  return members;
}

const Members& SelectionMembers() {
  static const Members members = [] {
    Members out = NamespaceMember();
    out.push_back({"selector", SelectorText(), "labels of the objects, as kubectl -l"});
    out.push_back({"where", AnyObject(), "a part of the objects: only those that match it"});
    return out;
  }();
  return members;
}

const Members& ActingMembers() {
  static const Members members = [] {
    Members out = SelectionMembers();
    out.push_back({"first", Positive(), "only so many of them, the oldest first"});
    return out;
  }();
  return members;
}

ObjectTarget ObjectTarget::Of(const Json& step, const std::string& verb) {
  auto parsed = ParseKindAndName(step[verb].get_ref<const std::string&>());
  ObjectTarget out;
  out.resource_ = parsed->resource;
  out.name_ = parsed->name;
  if (out.resource_->namespaced)
    out.ns_ = step.contains("namespace") ? step["namespace"].get<std::string>() : "default";
  if (step.contains("selector")) {
    auto selector = api::LabelSelector::Parse(step["selector"].get_ref<const std::string&>());
    CHECK(selector.ok());
    out.selector_ = std::move(*selector);
  }
  if (step.contains("where")) out.where_ = step["where"];
  if (step.contains("first")) out.first_ = step["first"].get<std::size_t>();
  return out;
}

bool ObjectTarget::Selects(const api::ObjectPtr& object) const {
  const api::ObjectHeader& header = object->header();
  if (header.ns != ns_ || (!name_.empty() && header.name != name_)) return false;
  if (selector_ && !selector_->Matches(header)) return false;
  return where_.is_null() || Matches(where_, *object->Document());
}

std::vector<api::ObjectPtr> ObjectTarget::Select(Testbed& bed) const {
  std::vector<std::pair<std::string, api::ObjectPtr>> found;
  for (api::ObjectPtr& object : bed.List(Storage(), ns_.empty() ? std::nullopt : std::optional(ns_)))
    if (Selects(object)) {
      std::string born(api::StringAt(*object->Document(), "metadata", "creationTimestamp"));
      found.emplace_back(std::move(born), std::move(object));
    }
  std::stable_sort(found.begin(), found.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  if (first_ > 0 && found.size() > first_) found.resize(first_);
  std::vector<api::ObjectPtr> out;
  for (auto& each : found) out.push_back(std::move(each.second));
  return out;
}

std::string ObjectTarget::String() const {
  if (!name_.empty())
    return std::string(resource_->singular) + " " + (ns_.empty() ? name_ : ns_ + "/" + name_);
  std::string out(resource_->plural);
  if (!ns_.empty() && ns_ != "default") out += " of " + ns_;
  if (selector_) out += " with " + selector_->String();
  if (!where_.is_null()) out += " that match " + where_.dump();
  return out;
}

void CheckTarget(const Json& step, const std::string& verb, const std::string& path, std::string_view only,
                 Mistakes& mistakes) {
  auto parsed = ParseKindAndName(step[verb].get_ref<const std::string&>());
  if (!parsed) return;  // reported already
  const ResourceInfo& resource = *parsed->resource;
  if (!only.empty() && resource.plural != only)
    mistakes.push_back({YamlPathBelow(path, verb), verb + " is for " + std::string(only) + " only"});
  if (step.contains("namespace") && !resource.namespaced)
    mistakes.push_back(
        {YamlPathBelow(path, "namespace"), std::string(resource.plural) + " have no namespace"});
  for (const char* key : {"selector", "where", "first"})
    if (step.contains(key) && !parsed->name.empty())
      mistakes.push_back(
          {YamlPathBelow(path, key) + "#",
           std::string(key) + " goes with a kind without a name, like " + std::string(resource.plural)});
  if (step.contains("where"))
    CheckFields(resource, step["where"], YamlPathBelow(path, "where"), FieldUse::kMatch, mistakes);
}

}  // namespace terrarium::testbed::scenario
