#include "api/base/check.h"

#include <cstdio>
#include <cstdlib>

namespace terrarium::api {

void CheckFailed(const char* expression, const char* file, int line) {
  std::fprintf(stderr, "%s:%d: CHECK failed: %s\n", file, line, expression);
  std::abort();
}

}  // namespace terrarium::api
