#include "controllers/serviceaccount/internal/token_secret.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "api/base/base64.h"
#include "api/json_access.h"
#include "controllers/serviceaccount/internal/root_ca_map.h"

namespace terrarium::controllers::serviceaccount {
namespace {

using api::Json;
using api::StringAt;

Json TokenSecret() {
  return {
      {"metadata", {{"name", "token"}, {"namespace", "ns"}, {"annotations", {{kAccountName, "builder"}}}}},
      {"type", kTokenType}};
}

std::string Decoded(std::string_view text) {
  std::string out;
  EXPECT_TRUE(api::DecodeBase64(text, &out));
  return out;
}

TEST(TokenSecret, NamesItsAccount) {
  ASSERT_TRUE(AccountOf(TokenSecret()));
  EXPECT_EQ(AccountOf(TokenSecret())->name, "builder");
  Json opaque = TokenSecret();
  opaque["type"] = "Opaque";
  EXPECT_FALSE(AccountOf(opaque));
  Json nobodys = TokenSecret();
  nobodys["metadata"].erase("annotations");
  EXPECT_FALSE(AccountOf(nobodys));
}

TEST(TokenSecret, IsFilledInOnce) {
  auto filled = FilledIn(TokenSecret(), "u-1", "PEM");
  ASSERT_TRUE(filled);
  EXPECT_EQ(Decoded(StringAt(*filled, "data", "ca.crt")), "PEM");
  EXPECT_EQ(Decoded(StringAt(*filled, "data", "namespace")), "ns");
  EXPECT_EQ(Decoded(StringAt(*filled, "data", "token")), UnsignedToken("ns", "token", "builder", "u-1"));
  EXPECT_EQ(StringAt(*filled, "metadata", "annotations", kAccountUid), "u-1");
  EXPECT_FALSE(FilledIn(*filled, "u-1", "PEM"));
  EXPECT_TRUE(FilledIn(*filled, "u-1", "other PEM"));
  EXPECT_FALSE(FilledIn(*filled, "u-1", "")) << "there is no certificate to compare";
}

TEST(TokenSecret, ATokenHasThreeSegmentsAndNoSignature) {
  const std::string token = UnsignedToken("ns", "s", "a", "u");
  EXPECT_EQ(std::count(token.begin(), token.end(), '.'), 2);
  EXPECT_EQ(token.back(), '.');
  EXPECT_EQ(token.find_first_of("+/="), std::string::npos);
}

TEST(RootCaMap, IsWrittenWhenItDiffersOnly) {
  auto map = RootCaMapOf(Json(), "PEM");
  ASSERT_TRUE(map);
  EXPECT_EQ(StringAt(*map, "metadata", "name"), "kube-root-ca.crt");
  EXPECT_EQ(StringAt(*map, "data", "ca.crt"), "PEM");
  EXPECT_FALSE(RootCaMapOf(*map, "PEM"));
  Json more = *map;
  more["data"]["own"] = "x";
  ASSERT_TRUE(RootCaMapOf(more, "PEM"));
  EXPECT_EQ(RootCaMapOf(more, "PEM")->at("data"), map->at("data"));
  Json described = *map;
  described["metadata"]["annotations"]["kubernetes.io/description"] = "mine";
  EXPECT_FALSE(RootCaMapOf(described, "PEM")) << "another description is left alone";
}

}  // namespace
}  // namespace terrarium::controllers::serviceaccount
