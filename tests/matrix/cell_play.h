#pragma once

// Plays a cell phase by phase, and compares the cluster with the model at each stop.

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "testbed/invariants/violation.h"
#include "tests/matrix/cell.h"
#include "tests/matrix/expectation.h"

namespace terrarium::matrix {

class CellPlay {
 public:
  CellPlay(std::string name, const History& history)
      : name_(std::move(name)), in_flight_(history.timing == Timing::kInFlight), phases_(history.Phases()) {}
  virtual ~CellPlay() = default;

  CellReport Play();

 protected:
  // The steps of a phase, on the cluster and in the model.
  virtual void Switch() = 0;  // components get the gates of the phase
  virtual void Apply() = 0;   // the user applies the manifest, from the second phase on again
  virtual void Begin() = 0;   // the action; pods that it deletes are held in terminating
  virtual void End() = 0;     // the held pods end
  virtual void Check(Moment& moment) = 0;

  std::size_t number() const { return number_; }
  const Phase& phase(std::size_t number) const { return phases_[number]; }
  const Phase& phase() const { return phases_[number_]; }
  // For TestbedOptions::on_violation: a broken invariant fails the cell.
  testbed::invariants::Report Violations();
  void Fail(const std::string& what) { report_.Fail(name_ + ": " + what); }

 private:
  void Stop(const char* when);

  const std::string name_;
  const bool in_flight_;
  const std::vector<Phase> phases_;
  std::size_t number_ = 0;
  CellReport report_;
};

}  // namespace terrarium::matrix
