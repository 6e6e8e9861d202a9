#pragma once

// The expected values of a cell at a moment, each with the sentence it comes from, and the comparison with
// the actual values.

#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace terrarium::matrix {

// A sentence of a KEP, or of Kubernetes if the KEP is silent or Kubernetes decided otherwise.
struct Sentence {
  const char* source;  // "KEP-3973 (first text), Version Skew Strategy"
  const char* text;
};

template <typename T>
std::string TextOf(const T& value) {
  std::ostringstream out;
  out << std::boolalpha << value;
  return out.str();
}
template <typename T>
std::string TextOf(const std::optional<T>& value) {
  return value ? TextOf(*value) : "absent";
}

// Expectations of one moment of one cell. A failure names the cell, the moment, the value and the sentence.
class Moment {
 public:
  Moment(std::string cell, std::string moment) : where_(std::move(cell) + ", " + std::move(moment)) {}

  template <typename T>
  void Expect(const char* what, const T& expected, const T& got, const Sentence& sentence) {
    ++checks_;
    if (expected == got) return;
    failures_.push_back(where_ + ": " + what + ": expected " + TextOf(expected) + ", got " + TextOf(got) +
                        "\n    this breaks " + sentence.source + ": \"" + sentence.text + "\"");
  }

  int checks() const { return checks_; }
  const std::vector<std::string>& failures() const { return failures_; }

 private:
  std::string where_;
  int checks_ = 0;
  std::vector<std::string> failures_;
};

// The outcome of a cell.
struct CellReport {
  int checks = 0;
  std::vector<std::string> failures;

  void Add(const Moment& moment) {
    checks += moment.checks();
    failures.insert(failures.end(), moment.failures().begin(), moment.failures().end());
  }
  void Fail(std::string what) { failures.push_back(std::move(what)); }
};

}  // namespace terrarium::matrix
