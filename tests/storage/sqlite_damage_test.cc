// Flipped bits in the database file.

#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>

#include <gtest/gtest.h>

#include "api/base/check.h"
#include "storage/sqlite_store.h"
#include "tests/storage/store_testing.h"

namespace terrarium::storage {
namespace {

using testing::CreateWrite;
using testing::DeleteWrite;
using testing::kPods;
using testing::Must;
using testing::UpdateWrite;

// A bit flip hits each bit with the same probability. One bit of every byte is enough to cover every field of
// every page.
class SqliteDamageTest : public ::testing::Test {
 protected:
  SqliteDamageTest() {
    options_.path = dir_.File("store.db");
    options_.durability = Durability::kOff;
    options_.inline_commits = true;
    auto store = OpenSqliteStore(options_);
    CHECK(store.ok());
    ObjectPtr x = Must(**store, CreateWrite("a", "x"));
    ObjectPtr y = Must(**store, CreateWrite("b", "y", 1, "secrets"));
    x = Must(**store, UpdateWrite(x, 1));
    Must(**store, CreateWrite("a", "gone"));
    (*store)->Compact((*store)->CurrentRevision());
    Must(**store, UpdateWrite(x, 2));
    Must(**store, DeleteWrite(y, "secrets"));
    Must(**store, CreateWrite("c", "z", 3));
    whole_ = Contents(**store);
    (*store)->Shutdown();
    std::ifstream in(options_.path, std::ios::binary);
    bytes_.assign(std::istreambuf_iterator<char>(in), {});
  }

  static std::string Contents(Store& store) {
    std::string out =
        std::to_string(store.CurrentRevision()) + " after " + std::to_string(store.CompactedRevision());
    for (std::int64_t revision = store.CompactedRevision(); revision <= store.CurrentRevision(); ++revision)
      for (const char* resource : {kPods, "secrets"}) {
        auto listing = store.List({.resource = resource, .at_revision = revision});
        CHECK(listing.ok());
        for (const ObjectPtr& object : listing->items)
          out += "\n" + object->header().ns + "/" + object->header().name + " " + std::string(object->body());
      }
    return out;
  }
  // The state of a store that opens the file `bytes`; nullopt if the file is refused.
  std::optional<std::string> Load(const std::string& bytes, std::string* error) {
    std::ofstream(options_.path, std::ios::binary)
        .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    for (const char* side : {"-wal", "-journal"}) std::filesystem::remove(options_.path + side);
    auto store = OpenSqliteStore(options_);
    if (store) return Contents(**store);
    *error = store.status().message;
    return std::nullopt;
  }

  testing::TempDir dir_;
  SqliteOptions options_;
  std::string bytes_;
  std::string whole_;
};

TEST_F(SqliteDamageTest, AFlippedBitIsNoticedOrChangesNothing) {
  std::string error;
  ASSERT_EQ(Load(bytes_, &error), whole_) << error;
  int refused = 0, harmless = 0;
  for (std::size_t at = 0; at < bytes_.size(); ++at) {
    // Pages are mostly unused space.
    if (bytes_[at] == 0 && at > 128 && at % 61 != 0) continue;
    std::string damaged = bytes_;
    damaged[at] = static_cast<char>(damaged[at] ^ (1 << (at % 8)));
    auto loaded = Load(damaged, &error);
    ++(loaded ? harmless : refused);
    if (loaded) {
      ASSERT_EQ(*loaded, whole_) << "byte " << at << " of " << bytes_.size();
    } else {
      ASSERT_TRUE(error.starts_with(options_.path + ": ")) << error;
      ASSERT_EQ(error.find('\n'), std::string::npos) << error;
    }
  }
  EXPECT_GT(refused, 500);
  EXPECT_GT(harmless, 20) << "the test does not reach the room between the rows";
}

TEST_F(SqliteDamageTest, EveryBitOfAnObjectsTextCounts) {
  const std::size_t begin = bytes_.find(R"({"metadata":{"resourceVersion")");
  ASSERT_NE(begin, std::string::npos);
  for (std::size_t at = begin; at < begin + 60; ++at)
    for (int bit = 0; bit < 8; ++bit) {
      std::string damaged = bytes_, error;
      damaged[at] = static_cast<char>(damaged[at] ^ (1 << bit));
      ASSERT_FALSE(Load(damaged, &error)) << "byte " << at << " bit " << bit;
      ASSERT_NE(error.find("damaged: revision "), std::string::npos) << error;
    }
}

}  // namespace
}  // namespace terrarium::storage
