#include "kubelet-fake/kubelet/internal/address_pool.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "api/base/check.h"

namespace terrarium::kubelet_fake {
namespace {

constexpr std::size_t kFirstSecondByte = 244;
constexpr std::size_t kBlocks = 65'536;
constexpr std::size_t kAddresses = 254;  // neither .0 nor .255

std::optional<std::array<std::size_t, 4>> Bytes(const std::string& ip) {
  std::array<std::size_t, 4> out;
  const char* at = ip.data();
  const char* end = at + ip.size();
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (i > 0 && (at == end || *at++ != '.')) return std::nullopt;
    const auto [stop, error] = std::from_chars(at, end, out[i]);
    if (error != std::errc() || out[i] > 255) return std::nullopt;
    at = stop;
  }
  return at == end ? std::optional(out) : std::nullopt;
}

}  // namespace

std::optional<AddressPool::Place> AddressPool::PlaceOf(const std::string& ip) {
  const auto bytes = Bytes(ip);
  if (!bytes || (*bytes)[0] != 10 || (*bytes)[3] == 0 || (*bytes)[3] > kAddresses) return std::nullopt;
  return Place{((*bytes)[1] + 256 - kFirstSecondByte) % 256 * 256 + (*bytes)[2], (*bytes)[3]};
}

AddressPool::Block& AddressPool::BlockAt(std::size_t index) {
  CHECK(index < kBlocks);
  if (blocks_.size() <= index) blocks_.resize(index + 1);
  return blocks_[index];
}

std::size_t AddressPool::BlockWithRoom(const std::string& node) {
  std::vector<std::size_t>& own = nodes_[node];
  const auto roomy =
      std::find_if(own.begin(), own.end(), [&](std::size_t b) { return blocks_[b].count < kAddresses; });
  if (roomy != own.end()) return *roomy;
  while (BlockAt(first_free_).owned) ++first_free_;
  blocks_[first_free_].owned = true;
  own.push_back(first_free_);
  return first_free_;
}

std::string AddressPool::Take(const std::string& node) {
  const std::size_t index = BlockWithRoom(node);
  Block& block = blocks_[index];
  do {
    block.last = block.last % kAddresses + 1;
  } while (block.used[block.last]);
  block.used[block.last] = true;
  ++block.count;
  return "10." + std::to_string((kFirstSecondByte + index / 256) % 256) + "." + std::to_string(index % 256) +
         "." + std::to_string(block.last);
}

void AddressPool::Reserve(const std::string& node, const std::string& ip) {
  const std::optional<Place> place = PlaceOf(ip);
  if (!place) return;
  Block& block = BlockAt(place->block);
  if (!block.owned) {
    block.owned = true;
    nodes_[node].push_back(place->block);
  }
  if (block.used[place->n]) return;
  block.used[place->n] = true;
  ++block.count;
  block.last = std::max(block.last, place->n);
}

void AddressPool::Free(const std::string& ip) {
  const std::optional<Place> place = PlaceOf(ip);
  if (!place || place->block >= blocks_.size() || !blocks_[place->block].used[place->n]) return;
  blocks_[place->block].used[place->n] = false;
  --blocks_[place->block].count;
}

}  // namespace terrarium::kubelet_fake
