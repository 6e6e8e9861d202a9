#pragma once

// Plays and counts the cells of a table for one history of a gate.

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

// An ordinary run plays every fifth cell. Five divides none of a table's dimensions, so that each pair of
// policy, action, component and timing occurs. TERRARIUM_FULL=1 (./test --full) plays all cells.
inline std::size_t CellStride() {
  const char* full = std::getenv("TERRARIUM_FULL");
  return full != nullptr && std::string_view(full) == "1" ? 1 : 5;
}

// One test per history of a gate, with all its cells: a cell is too small to be a test, and prints its name
// when it fails.
class Matrix : public testing::TestWithParam<Sequence> {
 protected:
  // Three components, and two timings if a gate is switched.
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
