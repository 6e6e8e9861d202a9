#pragma once

// The layout of the file and its versions.
//
//   log   One row per write, never changed. The key is the revision; previous_revision is the one it replaced
//         (0: none); op is 0 create, 1 update, 2 delete; body is the object's text (of a deletion: its last
//         state), owners its managedFields (empty: none); checksum covers all of these
//         (storage/internal/row_checksum.h).
//   meta  'compacted': the rows superseded or deleted at or below it are gone; all rows above it exist.
//         'revision': a revision that the store has reached. It outlives the rows, so that revisions never go
//         back. 'checksum' covers both.
//
// The state at 'compacted' is the rows at and below it; the current state is that plus the rows above, in
// order.

#include <cstdint>

namespace terrarium::storage {

inline constexpr int kSchemaVersion = 4;                    // PRAGMA user_version
inline constexpr std::int64_t kApplicationId = 0x54727261;  // PRAGMA application_id, "Trra"

enum class LogOp { kCreate = 0, kUpdate = 1, kDelete = 2 };

}  // namespace terrarium::storage
