#pragma once

// The layout of the file and its versions.
//
//   log   one row per write, never changed: the revision is the key, previous_revision the one it replaced
//   (0: none),
//         op 0 create, 1 update, 2 delete, body the object's text (of a deletion: its last state), checksum
//         that of all the rest (storage/row_checksum.h).
//   meta  'compacted': rows superseded or deleted at or below it are gone, all rows above it are there,
//   without a hole.
//         'revision': a revision the store had reached; it outlives the rows, so that revisions never go
//         back. 'checksum': that of the two.
//
// The state at 'compacted' is the rows at and below it, the current one that plus the rows above in order.

#include <cstdint>

namespace terrarium::storage {

inline constexpr int kSchemaVersion = 3;                    // PRAGMA user_version
inline constexpr std::int64_t kApplicationId = 0x54727261;  // PRAGMA application_id, "Trra"

enum class LogOp { kCreate = 0, kUpdate = 1, kDelete = 2 };

}  // namespace terrarium::storage
