#include "controllers/deployment/internal/selection.h"

#include <algorithm>

#include <gtest/gtest.h>

namespace terrarium::controllers::deployment {
namespace {

api::ObjectHeader Labelled(std::vector<std::pair<std::string, std::string>> labels) {
  api::ObjectHeader header;
  header.ns = "default";
  header.labels = std::move(labels);
  return header;
}

bool IsFound(const char* selector, const api::ObjectHeader& header, const std::string& ns = "default") {
  auto parsed = api::LabelSelector::Parse(selector);
  EXPECT_TRUE(parsed.ok());
  std::vector<std::string> places = LabelPlaces(header);
  return std::count(places.begin(), places.end(), SelectorPlace(ns, *parsed)) == 1;
}

TEST(Selection, EveryMatchIsAmongTheCandidates) {
  const api::ObjectHeader web = Labelled({{"app", "web"}, {"tier", "front"}});
  for (const char* selector : {"app=web", "app=web,tier=front", "tier in (front)", "tier in (front,back)",
                               "tier", "app=web,other!=x", "!canary", "app notin (api)"})
    EXPECT_TRUE(IsFound(selector, web)) << selector;
}

TEST(Selection, MostMismatchesAreNotCandidates) {
  const api::ObjectHeader web = Labelled({{"app", "web"}});
  EXPECT_FALSE(IsFound("app=api", web));
  EXPECT_FALSE(IsFound("tier=web", web));
  EXPECT_FALSE(IsFound("app=web", web, "other"));
  EXPECT_FALSE(IsFound("tier", web, "other"));
}

}  // namespace
}  // namespace terrarium::controllers::deployment
