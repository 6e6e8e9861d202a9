#include "apiserver/resource_table.h"

#include <algorithm>
#include <atomic>
#include <cctype>
#include <iterator>
#include <utility>

#include "apiserver/resources/built_in_resources.h"
#include "apiserver/openapi/openapi.h"

namespace terrarium::apiserver {
namespace {

// A version as Kubernetes ranks it: v2, v1, v1beta2, v1beta1, v1alpha1, then all other names by their text.
struct VersionRank {
  int stage = 0;  // 3: v1, 2: v1beta1, 1: v1alpha1, 0: another name
  int major = 0;
  int minor = 0;
};

int TakeNumber(std::string_view& text) {
  int value = 0;
  std::size_t digits = 0;
  while (digits < text.size() && digits < 6 && std::isdigit(static_cast<unsigned char>(text[digits])) != 0)
    value = value * 10 + (text[digits++] - '0');
  text.remove_prefix(digits);
  return digits == 0 ? -1 : value;
}

VersionRank RankOf(std::string_view version) {
  VersionRank rank;
  if (!version.starts_with('v')) return {};
  version.remove_prefix(1);
  rank.major = TakeNumber(version);
  rank.stage = version.empty() ? 3 : version.starts_with("beta") ? 2 : version.starts_with("alpha") ? 1 : 0;
  if (rank.major < 0 || rank.stage == 0) return {};
  if (rank.stage == 3) return rank;
  version.remove_prefix(rank.stage == 2 ? 4 : 5);
  rank.minor = TakeNumber(version);
  return rank.minor < 0 || !version.empty() ? VersionRank{} : rank;
}

bool VersionComesFirst(std::string_view a, std::string_view b) {
  const VersionRank left = RankOf(a), right = RankOf(b);
  auto key = [](const VersionRank& rank) { return std::tuple(rank.stage, rank.major, rank.minor); };
  if (key(left) != key(right)) return key(left) > key(right);
  return a < b;
}

bool ComesFirst(const ResourcePtr& a, const ResourcePtr& b) {
  if (a->group != b->group) return a->group < b->group;
  if (a->version != b->version) return VersionComesFirst(a->version, b->version);
  return a->plural < b->plural;
}

}  // namespace

std::uint64_t NextResourceSerial() {
  static std::atomic<std::uint64_t> last = 0;
  return ++last;
}

std::string ResourceInfo::GroupVersion() const { return group.empty() ? version : group + "/" + version; }

api::GroupResource ResourceInfo::Resource() const { return {group, plural}; }

api::GroupKind ResourceInfo::Kind() const { return {group, kind}; }

const api::Message& ResourceInfo::Schema() const {
  return (schema == nullptr ? api::Schema::Get() : *schema).Must(message);
}

const api::Message& ResourceInfo::ListSchema() const {
  return (schema == nullptr ? api::Schema::Get() : *schema).Must(message + "List");
}

const SubresourceInfo* ResourceInfo::Subresource(std::string_view name) const {
  auto it = std::find_if(subresources.begin(), subresources.end(),
                         [&](const SubresourceInfo& s) { return s.name == name; });
  return it == subresources.end() ? nullptr : &*it;
}

bool ResourceInfo::HasVerb(std::string_view verb) const {
  return std::find(verbs.begin(), verbs.end(), verb) != verbs.end();
}

const std::shared_ptr<const ResourceTable>& ResourceTable::BuiltIn() {
  static const std::shared_ptr<const ResourceTable> table = [] {
    std::vector<ResourcePtr> resources = BuiltInResources();
    const std::size_t count = resources.size();
    return std::shared_ptr<const ResourceTable>(new ResourceTable(std::move(resources), count));
  }();
  return table;
}

std::shared_ptr<const ResourceTable> ResourceTable::Make(std::vector<ResourcePtr> added) {
  if (added.empty()) return BuiltIn();
  std::sort(added.begin(), added.end(), ComesFirst);
  std::vector<ResourcePtr> resources = BuiltIn()->resources_;
  const std::size_t built_in = resources.size();
  resources.insert(resources.end(), std::make_move_iterator(added.begin()),
                   std::make_move_iterator(added.end()));
  return std::shared_ptr<const ResourceTable>(new ResourceTable(std::move(resources), built_in));
}

ResourceTable::ResourceTable(std::vector<ResourcePtr> resources, std::size_t built_in)
    : resources_(std::move(resources)), built_in_(built_in) {
  for (const ResourcePtr& r : resources_) {
    by_plural_.emplace(Name(r->plural, r->group, r->version), r.get());
    by_kind_.emplace(Name(r->kind, r->group, r->version), r.get());
    if (r->strategy != nullptr && r->stored_as == nullptr) by_storage_.emplace(r->storage, r.get());
    if (HasGroupVersion(r->group, r->version)) continue;
    // A version of a group that is there already comes behind the group's others.
    auto last = std::find_if(group_versions_.rbegin(), group_versions_.rend(),
                             [&](const auto& gv) { return gv.group == r->group; });
    group_versions_.insert(last == group_versions_.rend() ? group_versions_.end() : last.base(),
                           {r->group, r->version});
  }
  openapi_ = std::make_unique<OpenApiDocuments>(*this);
}

ResourceTable::~ResourceTable() = default;

const ResourceInfo* ResourceTable::Find(std::string_view group, std::string_view version,
                                        std::string_view plural) const {
  auto it = by_plural_.find(Name(plural, group, version));
  return it == by_plural_.end() ? nullptr : it->second;
}

const ResourceInfo* ResourceTable::FindKind(std::string_view group, std::string_view version,
                                            std::string_view kind) const {
  auto it = by_kind_.find(Name(kind, group, version));
  return it == by_kind_.end() ? nullptr : it->second;
}

const ResourceInfo* ResourceTable::FindStorage(std::string_view storage) const {
  auto it = by_storage_.find(storage);
  return it == by_storage_.end() ? nullptr : it->second;
}

bool ResourceTable::HasGroup(std::string_view group) const {
  return std::any_of(group_versions_.begin(), group_versions_.end(),
                     [&](const auto& g) { return g.group == group; });
}

bool ResourceTable::HasGroupVersion(std::string_view group, std::string_view version) const {
  return std::any_of(group_versions_.begin(), group_versions_.end(),
                     [&](const auto& g) { return g.group == group && g.version == version; });
}

}  // namespace terrarium::apiserver
