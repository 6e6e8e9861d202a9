#pragma once

// The names that getaddrinfo knows in a test program. It takes the place of the C library's function, so that
// libcurl asks here too.

#include <string>
#include <vector>

namespace terrarium::testbed {

// One at a time. Without one, and for names that it was not given, the system answers.
class FakeResolver {
 public:
  FakeResolver();
  ~FakeResolver();  // ends look-ups that hang, and waits until they have ended
  FakeResolver(const FakeResolver&) = delete;
  FakeResolver& operator=(const FakeResolver&) = delete;

  void Know(const std::string& name, std::vector<std::string> addresses);  // none: "no such name"
  void Hang(const std::string& name);                                      // until Release()
  void Release();
  std::vector<std::string> asked() const;  // names given here or not, in their order
};

}  // namespace terrarium::testbed
