#include "apiserver/warning_list.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace terrarium::apiserver {
namespace {

using testing::ElementsAre;

TEST(WarningList, GivesEachTextOnceInItsOrder) {
  WarningList list;
  for (const char* text : {"b", "a", "b", ""}) list.Add(text);
  EXPECT_THAT(list.Take(), ElementsAre("b", "a"));
}

TEST(WarningList, OneLongTextIsLeftAsItIsUpToTheLimit) {
  WarningList list;
  list.Add(std::string(4096, 'x'));
  EXPECT_THAT(list.Take(), ElementsAre(std::string(4096, 'x')));
}

TEST(WarningList, TextsAreCutWhenTogetherTheyAreTooLong) {
  WarningList list;
  std::string accents;
  for (int i = 0; i < 300; ++i) accents += "\u00e9";
  list.Add(accents);
  list.Add(std::string(4000, 'x'));
  list.Add("short");
  EXPECT_THAT(list.Take(), ElementsAre(accents.substr(0, 512), std::string(256, 'x'), "short"));
}

TEST(WarningList, TakesNoMoreThanIsSent) {
  WarningList list;
  int added = 0;
  for (; !list.full(); ++added) list.Add(std::string(400, 'x') + std::to_string(added));
  EXPECT_EQ(added, 16);
  list.Add("more");
  const auto sent = list.Take();
  EXPECT_EQ(sent.size(), 16u);
  EXPECT_EQ(sent.back(), std::string(256, 'x'));
}

}  // namespace
}  // namespace terrarium::apiserver
