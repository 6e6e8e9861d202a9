#pragma once

#include <bitset>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace terrarium::kubelet_fake {

// Pod addresses: 10.244.<node>.<n>. Each node owns a block of 254 addresses. Blocks are assigned in the order
// in which nodes get their first pod; a node whose blocks are full gets another one. Blocks after 10.244.255
// continue at 10.245.0. The addresses of a block are used in turn, so a freed address is not reused
// immediately.
class AddressPool {
 public:
  std::string Take(const std::string& node);
  // Marks an address that a pod already has as used. Ignores addresses outside the pool.
  void Reserve(const std::string& node, const std::string& ip);
  void Free(const std::string& ip);

 private:
  struct Block {
    bool owned = false;
    std::bitset<256> used;
    std::size_t count = 0;
    std::size_t last = 0;  // the last address taken
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
