#include "storage/internal/row_checksum.h"

#include <string>

#include <gtest/gtest.h>

#include "storage/internal/crc32c.h"

namespace terrarium::storage {
namespace {

// From RFC 3720, B.4.
TEST(Crc32c, KnownValues) {
  EXPECT_EQ(Crc32c(""), 0u);
  EXPECT_EQ(Crc32c("123456789"), 0xE3069283u);
  EXPECT_EQ(Crc32c(std::string(32, '\0')), 0x8A9136AAu);
  EXPECT_EQ(Crc32c(std::string(32, '\xFF')), 0x62A8AB43u);
}

TEST(Crc32c, GoesOnFromWhatCameBefore) {
  const std::string text = "the quick brown fox jumps over the lazy dog";
  for (std::size_t cut = 0; cut <= text.size(); ++cut)
    EXPECT_EQ(Crc32c(text.substr(cut), Crc32c(text.substr(0, cut))), Crc32c(text)) << cut;
}

TEST(RowChecksum, CoversEveryColumn) {
  const LogRow row{7, "pods", "a", "b", 1, 3, "{}", "[]"};
  const std::uint32_t whole = ChecksumOf(row);
  auto with = [&row](auto change) {
    LogRow changed = row;
    change(changed);
    return ChecksumOf(changed);
  };
  EXPECT_EQ(with([](LogRow&) {}), whole);
  EXPECT_NE(with([](LogRow& r) { r.revision = 8; }), whole);
  EXPECT_NE(with([](LogRow& r) { r.resource = "pod"; }), whole);
  EXPECT_NE(with([](LogRow& r) { r.ns = "b"; }), whole);
  EXPECT_NE(with([](LogRow& r) { r.name = "c"; }), whole);
  EXPECT_NE(with([](LogRow& r) { r.op = 0; }), whole);
  EXPECT_NE(with([](LogRow& r) { r.previous_revision = 4; }), whole);
  EXPECT_NE(with([](LogRow& r) { r.body = "{ }"; }), whole);
  EXPECT_NE(with([](LogRow& r) { r.owners = ""; }), whole);
  EXPECT_NE(with([](LogRow& r) { r.body = "{}[]", r.owners = ""; }), whole);
  EXPECT_NE(with([](LogRow& r) { r.ns = "ab", r.name = ""; }), whole) << "the same letters, elsewhere";
}

}  // namespace
}  // namespace terrarium::storage
