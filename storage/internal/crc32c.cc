#include "storage/internal/crc32c.h"

#include <array>
#include <cstddef>

namespace terrarium::storage {
namespace {

// Eight bytes at a time: table[k] holds the effect of a byte with k more behind it.
constexpr std::size_t kSlices = 8;
using Tables = std::array<std::array<std::uint32_t, 256>, kSlices>;

constexpr Tables MakeTables() {
  constexpr std::uint32_t kPolynomial = 0x82F63B78;  // bits reversed
  Tables tables{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t value = byte;
    for (int bit = 0; bit < 8; ++bit) value = (value >> 1) ^ ((value & 1) != 0 ? kPolynomial : 0);
    tables[0][byte] = value;
  }
  for (std::size_t slice = 1; slice < kSlices; ++slice)
    for (std::size_t byte = 0; byte < 256; ++byte) {
      const std::uint32_t value = tables[slice - 1][byte];
      tables[slice][byte] = (value >> 8) ^ tables[0][value & 0xFF];
    }
  return tables;
}

constexpr Tables kTables = MakeTables();

}  // namespace

std::uint32_t Crc32c(std::string_view bytes, std::uint32_t before) {
  std::uint32_t crc = ~before;
  while (bytes.size() >= kSlices) {
    auto at = [&bytes](std::size_t i) { return std::uint32_t{static_cast<unsigned char>(bytes[i])}; };
    const std::uint32_t first = crc ^ (at(0) | at(1) << 8 | at(2) << 16 | at(3) << 24);
    crc = kTables[7][first & 0xFF] ^ kTables[6][(first >> 8) & 0xFF] ^ kTables[5][(first >> 16) & 0xFF] ^
          kTables[4][first >> 24] ^ kTables[3][at(4)] ^ kTables[2][at(5)] ^ kTables[1][at(6)] ^
          kTables[0][at(7)];
    bytes.remove_prefix(kSlices);
  }
  for (unsigned char byte : bytes) crc = (crc >> 8) ^ kTables[0][(crc ^ byte) & 0xFF];
  return ~crc;
}

}  // namespace terrarium::storage
