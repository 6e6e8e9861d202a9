#pragma once

#include "storage/internal/sqlite_db.h"

namespace terrarium::storage {

// Brings the file to kSchemaVersion, from nothing or from any older version, in one transaction; or changes
// nothing and returns why the file cannot be used.
SqlError PrepareSchema(SqliteDb& db);

}  // namespace terrarium::storage
