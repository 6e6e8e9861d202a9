#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>

namespace terrarium::api {

// The only source of randomness: seeded, and the same numbers on every platform. Thread-safe.
class Prng {
 public:
  explicit Prng(std::uint64_t seed);

  std::uint64_t Next();
  // Uniform in [0, bound). REQUIRES: bound > 0
  std::uint64_t Below(std::uint64_t bound);
  // A stream of its own for a component, so that a draw added in one does not shift the others.
  Prng Fork(std::string_view name);

  std::string Uuid();  // version 4
  std::string NameSuffix(
      int length = 5);  // the alphabet of Kubernetes' generateName: no vowels, no 0, 1 and 3

 private:
  Prng(std::uint64_t seed, std::uint64_t stream);
  std::uint64_t NextLocked();

  std::mutex mutex_;
  std::uint64_t state_[4];
};

}  // namespace terrarium::api
