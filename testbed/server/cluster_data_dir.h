#pragma once

// Where the clusters that are made over HTTP may keep their data files: below one folder that the operator
// names. A request must not be able to name any other file of the machine.

#include <string>

#include "api/base/status.h"

namespace terrarium::testbed {

class ClusterDataDir {
 public:
  // No folder: every name is refused.
  ClusterDataDir() = default;
  // Fails when `folder` is not a folder that can be used.
  static api::Result<ClusterDataDir> Open(const std::string& folder);

  // The file that `name` stands for: a relative path whose folders exist, without "..", symbolic links and
  // names that SQLite uses beside a data file. The file itself is a regular one or does not exist yet.
  api::Result<std::string> Resolve(const std::string& name) const;

 private:
  explicit ClusterDataDir(std::string folder) : folder_(std::move(folder)) {}

  std::string folder_;  // absolute, without symbolic links; empty: none
};

}  // namespace terrarium::testbed
