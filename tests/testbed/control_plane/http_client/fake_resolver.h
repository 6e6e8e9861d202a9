#pragma once

// The names that getaddrinfo resolves in a test program. It replaces the C library's function, so that
// libcurl uses it too.

#include <string>
#include <vector>

namespace terrarium::testbed {

// At most one exists at a time. Without one, and for unknown names, the system resolves.
class FakeResolver {
 public:
  FakeResolver();
  ~FakeResolver();  // ends hanging lookups and waits for them
  FakeResolver(const FakeResolver&) = delete;
  FakeResolver& operator=(const FakeResolver&) = delete;

  void Know(const std::string& name, std::vector<std::string> addresses);  // none: "no such name"
  void Hang(const std::string& name);                                      // until Release()
  void Release();
  std::vector<std::string> asked() const;  // all requested names, in order
};

}  // namespace terrarium::testbed
