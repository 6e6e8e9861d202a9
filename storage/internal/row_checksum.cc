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

// With its length, so that nothing can move from one text to the next.
std::uint32_t AddText(std::string_view text, std::uint32_t crc) {
  return Crc32c(text, AddNumber(text.size(), crc));
}

std::uint32_t ChecksumWithoutOwners(const LogRow& row) {
  std::uint32_t crc = 0;
  for (std::int64_t number : {row.revision, row.op, row.previous_revision})
    crc = AddNumber(static_cast<std::uint64_t>(number), crc);
  for (std::string_view text : {row.resource, row.ns, row.name, row.body}) crc = AddText(text, crc);
  return crc;
}

// Arguments of row_checksum().
constexpr int kColumns = 8;

std::string_view BytesOf(sqlite3_value* value) {
  const void* data = sqlite3_value_blob(value);
  return {static_cast<const char*>(data), static_cast<std::size_t>(sqlite3_value_bytes(value))};
}

void RowFunction(sqlite3_context* context, int count, sqlite3_value** values) {
  const LogRow row{.revision = sqlite3_value_int64(values[0]),
                   .resource = BytesOf(values[1]),
                   .ns = BytesOf(values[2]),
                   .name = BytesOf(values[3]),
                   .op = sqlite3_value_int64(values[4]),
                   .previous_revision = sqlite3_value_int64(values[5]),
                   .body = BytesOf(values[6]),
                   .owners = count == kColumns ? BytesOf(values[7]) : std::string_view()};
  sqlite3_result_int64(context, count == kColumns ? ChecksumOf(row) : ChecksumWithoutOwners(row));
}

void MetaFunction(sqlite3_context* context, int, sqlite3_value** values) {
  sqlite3_result_int64(context,
                       ChecksumOfMeta(sqlite3_value_int64(values[0]), sqlite3_value_int64(values[1])));
}

}  // namespace

std::uint32_t ChecksumOf(const LogRow& row) { return AddText(row.owners, ChecksumWithoutOwners(row)); }

std::uint32_t ChecksumOfMeta(std::int64_t compacted, std::int64_t revision) {
  return AddNumber(static_cast<std::uint64_t>(revision), AddNumber(static_cast<std::uint64_t>(compacted), 0));
}

bool AddChecksumFunctions(sqlite3* db) {
  constexpr int kFlags = SQLITE_UTF8 | SQLITE_DETERMINISTIC;
  for (int columns : {kColumns - 1, kColumns})
    if (sqlite3_create_function_v2(db, "row_checksum", columns, kFlags, nullptr, RowFunction, nullptr,
                                   nullptr, nullptr) != SQLITE_OK)
      return false;
  return sqlite3_create_function_v2(db, "meta_checksum", 2, kFlags, nullptr, MetaFunction, nullptr, nullptr,
                                    nullptr) == SQLITE_OK;
}

}  // namespace terrarium::storage
