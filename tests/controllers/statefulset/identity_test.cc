#include "controllers/statefulset/internal/identity.h"

#include <gtest/gtest.h>

namespace terrarium::controllers::statefulset {
namespace {

TEST(Identity, NamesOfPodsAndClaims) {
  EXPECT_EQ(PodName("web", 0), "web-0");
  EXPECT_EQ(PodName("web-1", 12), "web-1-12");
  EXPECT_EQ(ClaimName("data", "web", 3), "data-web-3");
}

TEST(Identity, MembersHaveTheSetsNameAndANumber) {
  struct Case {
    const char* set;
    const char* pod;
    bool member;
    int ordinal;
  };
  const Case cases[] = {
      {"web", "web-0", true, 0},
      {"web", "web-17", true, 17},
      {"web", "web-1-2", false, kNoOrdinal},
      {"web-1", "web-1-2", true, 2},
      {"web", "web", false, kNoOrdinal},
      {"web", "web-", false, kNoOrdinal},
      {"web", "web-a", false, kNoOrdinal},
      {"web", "web-1a", false, kNoOrdinal},
      {"web", "other-1", false, kNoOrdinal},
      {"web", "web--1", false, kNoOrdinal},
      // Members by name, without an ordinal.
      {"web", "web-01", true, kNoOrdinal},
      {"web", "web-2147483648", true, kNoOrdinal},
      {"web", "web-2147483647", true, 2147483647},
  };
  for (const Case& each : cases) {
    EXPECT_EQ(IsMember(each.set, each.pod), each.member) << each.set << " " << each.pod;
    EXPECT_EQ(OrdinalOf(each.set, each.pod), each.ordinal) << each.set << " " << each.pod;
  }
}

}  // namespace
}  // namespace terrarium::controllers::statefulset
