#include "apiserver/http/descriptors.h"

#include <algorithm>

#include <sys/resource.h>

namespace terrarium::apiserver {
namespace {

constexpr std::size_t kReservedMin = 64;
// What a limit is taken to be that cannot be read.
constexpr std::size_t kUnknownLimit = 1024;

}  // namespace

std::size_t RaiseDescriptorLimit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return kUnknownLimit;
  rlim_t soft = limit.rlim_cur;
  limit.rlim_cur = limit.rlim_max;
  if (soft < limit.rlim_max && setrlimit(RLIMIT_NOFILE, &limit) == 0) soft = limit.rlim_max;
  return static_cast<std::size_t>(soft);
}

std::size_t ConnectionsWithin(std::size_t limit, std::size_t wanted) {
  std::size_t reserved = std::max(kReservedMin, limit / 8);
  std::size_t room = limit > 2 * reserved ? limit - reserved : limit / 2;
  return std::max<std::size_t>(1, std::min(room, wanted));
}

}  // namespace terrarium::apiserver
