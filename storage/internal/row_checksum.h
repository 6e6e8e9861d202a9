#pragma once

// Checksums of the file's content. SQLite checks the structure of its pages, not the stored data.

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
  std::string_view owners;
};

std::uint32_t ChecksumOf(const LogRow& row);
std::uint32_t ChecksumOfMeta(std::int64_t compacted, std::int64_t revision);

// Adds to this connection the SQL functions row_checksum(revision, resource, ns, name, op, previous_revision,
// body, owners) and meta_checksum(compacted, revision). The former without `owners` is that of files that did
// not have them. Returns false on failure.
bool AddChecksumFunctions(sqlite3* db);

}  // namespace terrarium::storage
