#pragma once

#include <cstdint>
#include <string_view>

namespace terrarium::storage {

// CRC-32C (Castagnoli) of `bytes`, continuing from the checksum of the bytes before them.
std::uint32_t Crc32c(std::string_view bytes, std::uint32_t before = 0);

}  // namespace terrarium::storage
