#pragma once

// Plays the cells of a table that have one history of a gate, and counts them.

#include <cstdlib>
#include <iostream>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "tests/matrix/cell.h"
#include "tests/matrix/expectation.h"

namespace terrarium::matrix {

// An ordinary run plays every fifth cell. Five divides none of a table's dimensions, so that each policy,
// action, place and timing is played beside each other one somewhere. TERRARIUM_FULL=1 (./test --full) plays
// them all.
inline std::size_t CellStride() {
  const char* full = std::getenv("TERRARIUM_FULL");
  return full != nullptr && std::string_view(full) == "1" ? 1 : 5;
}

// A test for each history of a gate, with all its cells in it: a cell is too small to be a test of its own,
// and says itself which one it is when it fails.
class Matrix : public testing::TestWithParam<Sequence> {
 protected:
  // Three places, and two timings where something is switched.
  std::size_t Histories() const { return HistoriesAtRest() * (Switches() ? 2 : 1); }
  static std::size_t HistoriesAtRest() { return 3; }

  // REQUIRES: Play(cell) is declared.
  template <typename Cell>
  void PlayAll(const std::vector<Cell>& cells, std::size_t expected_cells, int checks_each_min) {
    std::set<std::string> names;
    int checks = 0;
    std::size_t played = 0;
    for (const Cell& cell : cells) {
      if (cell.history.sequence != GetParam()) continue;
      EXPECT_TRUE(names.insert(cell.Name()).second) << cell.Name() << " is there twice";
      if ((names.size() - 1) % CellStride() != 0) continue;
      ++played;
      const CellReport report = Play(cell);
      for (const std::string& failure : report.failures) ADD_FAILURE() << failure;
      EXPECT_GE(report.checks, checks_each_min) << cell.Name();
      checks += report.checks;
    }
    std::cout << played << " of " << names.size() << " cells, " << checks << " checks\n";
    EXPECT_EQ(names.size(), expected_cells);
  }

 private:
  bool Switches() const { return GetParam() != Sequence::kOn && GetParam() != Sequence::kOff; }
};

}  // namespace terrarium::matrix
