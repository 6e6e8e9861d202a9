#pragma once

#include <bitset>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace terrarium::kubelet_fake {

// Pod addresses: 10.244.<node>.<n>. A node has a block of 254 addresses, in the order in which nodes get their first
// pod, and another one when that is full; blocks after 10.244.255 go on at 10.245.0. Addresses of a block are given out
// in turn, so that one that has become free is not used again at once.
class AddressPool {
 public:
  std::string Take(const std::string& node);
  // An address that a pod has already. One that is not ours is left alone.
  void Reserve(const std::string& node, const std::string& ip);
  void Free(const std::string& ip);

 private:
  struct Block {
    bool owned = false;
    std::bitset<256> used;
    std::size_t count = 0;
    std::size_t last = 0;  // given out
  };
  struct Place {
    std::size_t block;
    std::size_t n;
  };
  static std::optional<Place> PlaceOf(const std::string& ip);
  Block& BlockAt(std::size_t index);
  std::size_t BlockWithRoom(const std::string& node);

  std::vector<Block> blocks_;
  std::size_t first_free_ = 0;  // every block before it is owned
  std::map<std::string, std::vector<std::size_t>> nodes_;
};

}  // namespace terrarium::kubelet_fake
