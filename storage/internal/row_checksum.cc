#include "storage/internal/row_checksum.h"

#include <array>

#include <sqlite3.h>

#include "storage/internal/crc32c.h"

namespace terrarium::storage {
namespace {

// Eight bytes, the lowest first, so that a file can be moved between machines.
std::uint32_t AddNumber(std::uint64_t number, std::uint32_t crc) {
  std::array<char, 8> bytes{};
  for (char& byte : bytes) {
    byte = static_cast<char>(number & 0xFF);
    number >>= 8;
  }
  return Crc32c({bytes.data(), bytes.size()}, crc);
}

std::string_view BytesOf(sqlite3_value* value) {
  const void* data = sqlite3_value_blob(value);
  return {static_cast<const char*>(data), static_cast<std::size_t>(sqlite3_value_bytes(value))};
}

void RowFunction(sqlite3_context* context, int, sqlite3_value** values) {
  sqlite3_result_int64(context, ChecksumOf({.revision = sqlite3_value_int64(values[0]),
                                            .resource = BytesOf(values[1]),
                                            .ns = BytesOf(values[2]),
                                            .name = BytesOf(values[3]),
                                            .op = sqlite3_value_int64(values[4]),
                                            .previous_revision = sqlite3_value_int64(values[5]),
                                            .body = BytesOf(values[6])}));
}

void MetaFunction(sqlite3_context* context, int, sqlite3_value** values) {
  sqlite3_result_int64(context,
                       ChecksumOfMeta(sqlite3_value_int64(values[0]), sqlite3_value_int64(values[1])));
}

}  // namespace

std::uint32_t ChecksumOf(const LogRow& row) {
  std::uint32_t crc = 0;
  for (std::int64_t number : {row.revision, row.op, row.previous_revision})
    crc = AddNumber(static_cast<std::uint64_t>(number), crc);
  // With their lengths, so that nothing can move from one to the next.
  for (std::string_view text : {row.resource, row.ns, row.name, row.body}) {
    crc = AddNumber(text.size(), crc);
    crc = Crc32c(text, crc);
  }
  return crc;
}

std::uint32_t ChecksumOfMeta(std::int64_t compacted, std::int64_t revision) {
  return AddNumber(static_cast<std::uint64_t>(revision), AddNumber(static_cast<std::uint64_t>(compacted), 0));
}

bool AddChecksumFunctions(sqlite3* db) {
  constexpr int kFlags = SQLITE_UTF8 | SQLITE_DETERMINISTIC;
  return sqlite3_create_function_v2(db, "row_checksum", 7, kFlags, nullptr, RowFunction, nullptr, nullptr,
                                    nullptr) == SQLITE_OK &&
         sqlite3_create_function_v2(db, "meta_checksum", 2, kFlags, nullptr, MetaFunction, nullptr, nullptr,
                                    nullptr) == SQLITE_OK;
}

}  // namespace terrarium::storage
