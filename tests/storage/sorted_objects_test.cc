#include "storage/internal/sorted_objects.h"

#include <map>

#include <gtest/gtest.h>

#include "api/base/prng.h"
#include "tests/storage/store_testing.h"

namespace terrarium::storage {
namespace {

using testing::MakeObject;

// Compares the results of all queries.
void ExpectSame(const SortedObjects& objects, const std::map<std::string, api::ObjectPtr>& model) {
  ASSERT_EQ(objects.size(), model.size());
  SortedObjects::Position position = objects.begin();
  std::size_t rest = model.size();
  for (const auto& [name, object] : model) {
    ASSERT_FALSE(objects.AtEnd(position));
    ASSERT_EQ(objects.Name(position), name);
    ASSERT_EQ(objects.Object(position), object);
    ASSERT_EQ(objects.CountFrom(position), rest--);
    position = objects.Next(position);
  }
  EXPECT_TRUE(objects.AtEnd(position));
  EXPECT_EQ(objects.CountFrom(position), 0u);
}

TEST(SortedObjects, RandomPutsAndRemovesMatchAMap) {
  api::Prng prng(1);
  SortedObjects objects;
  std::map<std::string, api::ObjectPtr> model;
  // Grows, then shrinks, then grows again, over many blocks.
  for (int phase = 0; phase < 3; ++phase) {
    for (int i = 0; i < 3000; ++i) {
      std::string name = "n" + std::to_string(prng.Below(2000));
      if (prng.Below(10) < (phase == 1 ? 9u : 2u)) {
        EXPECT_EQ(objects.Remove(name), model.erase(name) > 0);
      } else {
        api::ObjectPtr object = MakeObject("a", name, i);
        EXPECT_EQ(objects.Put(object), !model.contains(name));
        model[name] = object;
      }
      std::string other = "n" + std::to_string(prng.Below(2000));
      auto found = model.find(other);
      const api::ObjectPtr* got = objects.Find(other);
      ASSERT_EQ(got != nullptr, found != model.end());
      auto after = model.upper_bound(other);
      SortedObjects::Position position = objects.UpperBound(other);
      ASSERT_EQ(objects.AtEnd(position), after == model.end());
      ASSERT_TRUE(after == model.end() || objects.Name(position) == after->first);
      if (i % 500 == 0) ExpectSame(objects, model);
    }
  }
  ExpectSame(objects, model);
  for (const auto& [name, object] : std::map(model)) {
    EXPECT_TRUE(objects.Remove(name));
    model.erase(name);
  }
  EXPECT_TRUE(objects.empty());
  ExpectSame(objects, model);
}

TEST(SortedObjects, AReplacedObjectIsNotKept) {
  SortedObjects objects;
  api::ObjectPtr old = MakeObject("a", "a-name-that-does-not-fit-into-a-short-string", 1);
  std::weak_ptr<const api::Object> gone = old;
  objects.Put(old);
  objects.Put(MakeObject("a", "a-name-that-does-not-fit-into-a-short-string", 2));
  old.reset();
  EXPECT_TRUE(gone.expired());
  EXPECT_NE(objects.Find("a-name-that-does-not-fit-into-a-short-string"), nullptr);
}

}  // namespace
}  // namespace terrarium::storage
