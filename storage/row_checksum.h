#pragma once

// Checksums of what the file holds. SQLite checks the structure of its pages, not what is stored in them.

#include <cstdint>
#include <string_view>

struct sqlite3;

namespace terrarium::storage {

// One row of the log, as it is stored.
struct LogRow {
  std::int64_t revision;
  std::string_view resource, ns, name;
  std::int64_t op;
  std::int64_t previous_revision;
  std::string_view body;
};

std::uint32_t ChecksumOf(const LogRow& row);
std::uint32_t ChecksumOfMeta(std::int64_t compacted, std::int64_t revision);

// Gives SQL of this connection the functions row_checksum(revision, resource, ns, name, op,
// previous_revision, body) and meta_checksum(compacted, revision). Whether it worked.
bool AddChecksumFunctions(sqlite3* db);

}  // namespace terrarium::storage
