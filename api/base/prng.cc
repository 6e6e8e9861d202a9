#include "api/base/prng.h"

#include <cstdio>

#include "api/base/check.h"

namespace terrarium::api {
namespace {

// splitmix64 spreads a small seed over the whole state.
std::uint64_t SplitMix(std::uint64_t& x) {
  x += 0x9e3779b97f4a7c15ULL;
  std::uint64_t z = x;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31);
}

std::uint64_t RotateLeft(std::uint64_t x, int k) { return (x << k) | (x >> (64 - k)); }

}  // namespace

Prng::Prng(std::uint64_t seed) : Prng(seed, 0) {}

Prng::Prng(std::uint64_t seed, std::uint64_t stream) {
  std::uint64_t x = seed ^ stream;
  for (std::uint64_t& s : state_) s = SplitMix(x);
}

// xoshiro256**
std::uint64_t Prng::NextLocked() {
  std::uint64_t result = RotateLeft(state_[1] * 5, 7) * 9;
  std::uint64_t t = state_[1] << 17;
  state_[2] ^= state_[0];
  state_[3] ^= state_[1];
  state_[1] ^= state_[2];
  state_[0] ^= state_[3];
  state_[2] ^= t;
  state_[3] = RotateLeft(state_[3], 45);
  return result;
}

std::uint64_t Prng::Next() {
  std::lock_guard lock(mutex_);
  return NextLocked();
}

std::uint64_t Prng::Below(std::uint64_t bound) {
  CHECK(bound > 0);
  // Values under `skew` would make small results likelier.
  std::uint64_t skew = -bound % bound;
  std::lock_guard lock(mutex_);
  std::uint64_t x = NextLocked();
  while (x < skew) x = NextLocked();
  return x % bound;
}

Prng Prng::Fork(std::string_view name) {
  std::uint64_t hash = 0xcbf29ce484222325ULL;  // FNV-1a
  for (unsigned char c : name) hash = (hash ^ c) * 0x100000001b3ULL;
  return Prng(Next(), hash);
}

std::string Prng::Uuid() {
  std::uint64_t hi, lo;
  {
    std::lock_guard lock(mutex_);
    hi = NextLocked();
    lo = NextLocked();
  }
  hi = (hi & ~0xf000ULL) | 0x4000ULL;
  lo = (lo & ~(0xc000ULL << 48)) | (0x8000ULL << 48);
  char text[37];
  std::snprintf(text, sizeof text, "%08x-%04x-%04x-%04x-%012llx", static_cast<unsigned>(hi >> 32),
                static_cast<unsigned>((hi >> 16) & 0xffff), static_cast<unsigned>(hi & 0xffff),
                static_cast<unsigned>(lo >> 48), static_cast<unsigned long long>(lo & 0xffffffffffffULL));
  return text;
}

std::string Prng::NameSuffix(int length) {
  static constexpr std::string_view kAlphabet = "bcdfghjklmnpqrstvwxz2456789";
  std::string out;
  for (int i = 0; i < length; ++i) out += kAlphabet[Below(kAlphabet.size())];
  return out;
}

}  // namespace terrarium::api
