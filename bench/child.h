#pragma once

// A program started for a measurement and ended with it.

#include <cstdint>
#include <string>
#include <vector>

#include <sys/types.h>

namespace terrarium::bench {

class Child {
 public:
  // Starts the program and waits for the file that it writes when it is ready.
  Child(const std::vector<std::string>& command, const std::string& ready_file);
  ~Child();
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  double ready_seconds() const { return ready_seconds_; }
  std::uint16_t port() const { return port_; }  // from {"url": "http://host:port", ...} in the ready file
  long ResidentKb() const;

 private:
  pid_t pid_ = -1;
  std::uint16_t port_ = 0;
  double ready_seconds_ = 0;
};

}  // namespace terrarium::bench
