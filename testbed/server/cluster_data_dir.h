#pragma once

// The folder for the data files of clusters that clients create, chosen by the operator. A request must not
// be able to name any other file of the machine.

#include <string>

#include "api/base/status.h"

namespace terrarium::testbed {

class ClusterDataDir {
 public:
  // No folder: every name is refused.
  ClusterDataDir() = default;
  // Fails when `folder` is not a folder that can be used.
  static api::Result<ClusterDataDir> Open(const std::string& folder);

  // The file of `name`, which must be a relative path whose folders exist, without "..", symbolic links and
  // names that SQLite uses beside a data file. The file must be regular or absent.
  api::Result<std::string> Resolve(const std::string& name) const;

 private:
  explicit ClusterDataDir(std::string folder) : folder_(std::move(folder)) {}

  std::string folder_;  // absolute, without symbolic links; empty: none
};

}  // namespace terrarium::testbed
