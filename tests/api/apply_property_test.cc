// Properties of server-side apply, on random sequences of writes by several managers.

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "api/apply/check_types.h"
#include "api/apply/listed_fields.h"
#include "api/apply/ownership.h"
#include "api/base/prng.h"
#include "api/codec/normalize.h"

namespace terrarium::api {
namespace {

constexpr std::uint64_t kSeeds = 30;
constexpr std::array<const char*, 4> kNames = {"a", "b", "c", "d"};

class Documents {
 public:
  explicit Documents(std::uint64_t seed) : prng_(seed) {}

  std::size_t Below(std::size_t n) { return static_cast<std::size_t>(prng_.Below(n)); }
  bool Maybe() { return Below(2) == 0; }

  // A part of a Pod. The value of a field depends on `owner`, so that configurations of one owner agree.
  Json Config(const std::string& owner) {
    Json config = {{"metadata", {{"name", "p"}}}};
    if (Maybe()) config["metadata"]["labels"] = Map(owner);
    if (Maybe()) config["metadata"]["finalizers"] = Finalizers();
    if (Maybe()) config["spec"]["containers"] = Containers(owner);
    if (Maybe()) config["spec"]["nodeSelector"] = {{"zone", owner}};
    if (Maybe()) config["spec"]["restartPolicy"] = owner;
    // An empty list or map is a value of its own, which conflicts with one that is not empty.
    for (const char* part : {"metadata", "spec"})
      if (config.contains(part))
        config[part].get_ref<Json::object_t&>().EraseIf(
            [](const auto& member) { return member.second.is_structured() && member.second.empty(); });
    if (config.contains("spec") && config["spec"].empty()) config.erase("spec");
    return config;
  }

 private:
  Json Map(const std::string& value) {
    Json map = Json::object();
    for (const char* name : kNames)
      if (Maybe()) map[name] = value;
    return map;
  }
  Json Finalizers() {
    Json list = Json::array();
    for (const char* name : kNames)
      if (Maybe()) list.push_back(name);
    return list;
  }
  Json Containers(const std::string& owner) {
    Json list = Json::array();
    for (const char* name : kNames) {
      if (Maybe()) continue;
      Json container = {{"name", name}};
      if (Maybe()) container["image"] = owner;
      if (Maybe()) container["args"] = {owner};
      if (Maybe()) container["ports"] = {{{"containerPort", 80 + Below(2)}, {"protocol", "TCP"}}};
      list.insert(list.begin() + static_cast<std::ptrdiff_t>(Below(list.size() + 1)), std::move(container));
    }
    return list;
  }

  Prng prng_;
};

struct State {
  OwnedType type{ValueType::Of(Schema::Get().Must("io.k8s.api.core.v1.Pod")), nullptr, {}};
  Json object = EmptyDocument(*type.type.message());
  ManagedFields managed;
  std::map<std::string, Json> last;  // configuration of each manager

  bool Apply(const std::string& name, const Json& config, bool force = true) {
    EXPECT_EQ(CheckTypes(type.type, config), "");
    const FieldManager manager = {MemberName(name), MemberName("v1"), MemberName(std::string_view()), true};
    ApplyOutcome outcome =
        ApplyConfiguration(type, {object, config, manager, force, Time()}, std::move(managed));
    if (!std::holds_alternative<Applied>(outcome)) return false;
    Applied& applied = std::get<Applied>(outcome);
    if (applied.object) object = std::move(*applied.object);
    EXPECT_EQ(Normalize(*type.type.message(), object, nullptr), std::nullopt);
    managed = std::move(applied.managed);
    last[name] = config;
    return true;
  }
  void Update(const std::string& name, Json after) {
    EXPECT_EQ(Normalize(*type.type.message(), after, nullptr), std::nullopt);
    std::string error;
    const FieldManager manager = {MemberName(name), MemberName("v1"), MemberName(std::string_view()), false};
    auto owners = OwnersAfterUpdate(type, object, after, std::move(managed), manager, Time(), &error);
    ASSERT_TRUE(owners.has_value()) << error;
    managed = std::move(*owners);
    object = std::move(after);
  }
  FieldSetPtr Listed(const Json& document) const {
    std::string error;
    auto set = ListedFields(type.type, document, &error);
    EXPECT_TRUE(set.has_value()) << error;
    return set ? *set : nullptr;
  }
};

// The paths of leaves, without those of the object's name.
std::vector<FieldPath> Leaves(const FieldSetPtr& set) {
  std::vector<FieldPath> leaves;
  ForEachPath(set, [&](const FieldPath& path) {
    if (PathText(path) != ".metadata.name") leaves.push_back(path);
  });
  return leaves;
}

TEST(ApplyProperties, ApplyIsIdempotent) {
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    Documents documents(seed);
    State state;
    for (int i = 0; i < 6; ++i) {
      const std::string name = kNames[documents.Below(3)];
      const Json config = documents.Config(name);
      ASSERT_TRUE(state.Apply(name, config));
      const State once = state;
      ASSERT_TRUE(state.Apply(name, config));
      EXPECT_EQ(state.object, once.object) << "seed " << seed;
      EXPECT_TRUE(state.managed == once.managed) << "seed " << seed;
    }
  }
}

TEST(ApplyProperties, TheOrderOfManagersWithoutConflictsDoesNotMatter) {
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    Documents documents(seed);
    std::vector<std::pair<std::string, Json>> configs;
    for (const char* name : kNames) configs.emplace_back(name, documents.Config("same"));
    State forwards, backwards;
    for (auto it = configs.begin(); it != configs.end(); ++it)
      ASSERT_TRUE(forwards.Apply(it->first, it->second, /*force=*/false));
    for (auto it = configs.rbegin(); it != configs.rend(); ++it)
      ASSERT_TRUE(backwards.Apply(it->first, it->second, /*force=*/false));
    // Lists have the same items; their order is that of the writes.
    EXPECT_TRUE(Equal(forwards.Listed(forwards.object), backwards.Listed(backwards.object)))
        << "seed " << seed << "\n"
        << forwards.object << "\n"
        << backwards.object;
    std::string error;
    const auto comparison = Compare(forwards.type.type, forwards.object, backwards.object, &error);
    ASSERT_TRUE(comparison.has_value());
    EXPECT_TRUE(comparison->IsSame()) << "seed " << seed;
    EXPECT_TRUE(forwards.managed.IsSameButForTimes(backwards.managed)) << "seed " << seed;
  }
}

TEST(ApplyProperties, WhatAManagerListedLastIsThereUntilAnotherTakesIt) {
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    Documents documents(seed);
    State state;
    for (int i = 0; i < 8; ++i) {
      const std::string name = kNames[documents.Below(3)];
      ASSERT_TRUE(state.Apply(name, documents.Config("same"), /*force=*/false));
      const FieldSetPtr present = state.Listed(state.object);
      for (const auto& [manager, config] : state.last)
        for (const FieldPath& path : Leaves(state.Listed(config)))
          EXPECT_TRUE(Has(present, path)) << "seed " << seed << " " << manager << " " << PathText(path);
    }
  }
}

TEST(ApplyProperties, WhatNoManagerListsAnyMoreIsGone) {
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    Documents documents(seed);
    State state;
    FieldSetPtr ever;
    for (int i = 0; i < 8; ++i) {
      const std::string name = kNames[documents.Below(3)];
      ASSERT_TRUE(state.Apply(name, documents.Config(name)));
      ever = Union(ever, state.Listed(state.last[name]));
    }
    for (const char* name : kNames) ASSERT_TRUE(state.Apply(name, {{"metadata", {{"name", "p"}}}}));
    EXPECT_TRUE(state.managed.empty());
    const FieldSetPtr present = state.Listed(state.object);
    for (const FieldPath& path : Leaves(ever))
      EXPECT_FALSE(Has(present, path)) << "seed " << seed << " " << PathText(path);
  }
}

TEST(ApplyProperties, EveryFieldHasOneUpdaterAtMost) {
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    Documents documents(seed);
    State state;
    state.Update("creator", documents.Config("creator"));
    for (int i = 0; i < 8; ++i) {
      const std::string name = kNames[documents.Below(3)];
      if (documents.Maybe())
        state.Update(name, documents.Config(name));
      else
        ASSERT_TRUE(state.Apply(name, documents.Config(name)));
      FieldSetPtr updated;
      for (const ManagedEntry& entry : state.managed.entries()) {
        if (entry.manager.applied) continue;
        EXPECT_EQ(Intersection(updated, entry.fields), nullptr) << "seed " << seed;
        updated = Union(updated, entry.fields);
      }
    }
  }
}

}  // namespace
}  // namespace terrarium::api
