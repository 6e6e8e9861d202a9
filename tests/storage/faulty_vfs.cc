#include "tests/storage/faulty_vfs.h"

#include <new>

#include <sqlite3.h>

namespace terrarium::storage::testing {
namespace {

struct File {
  sqlite3_file base;  // SQLite sees this
  FaultyVfs* owner;
  sqlite3_file* real;  // behind this struct, in the room SQLite gave
};

File* Of(sqlite3_file* file) { return reinterpret_cast<File*>(file); }

int Close(sqlite3_file* file) { return Of(file)->real->pMethods->xClose(Of(file)->real); }
int Read(sqlite3_file* file, void* data, int size, sqlite3_int64 offset) {
  return Of(file)->real->pMethods->xRead(Of(file)->real, data, size, offset);
}
int FaultyWrite(sqlite3_file* file, const void* data, int size, sqlite3_int64 offset) {
  int code;
  bool first;
  sqlite3_file* real = Of(file)->real;
  if (Of(file)->owner->Allow(code, first)) return real->pMethods->xWrite(real, data, size, offset);
  // A torn write: its own result does not matter, the failure is returned.
  if (first) real->pMethods->xWrite(real, data, size / 2, offset);
  return code;
}
int Truncate(sqlite3_file* file, sqlite3_int64 size) {
  int code;
  bool first;
  sqlite3_file* real = Of(file)->real;
  return Of(file)->owner->Allow(code, first) ? real->pMethods->xTruncate(real, size) : code;
}
int Sync(sqlite3_file* file, int flags) {
  int code;
  bool first;
  sqlite3_file* real = Of(file)->real;
  return Of(file)->owner->Allow(code, first) ? real->pMethods->xSync(real, flags) : code;
}
int FileSize(sqlite3_file* file, sqlite3_int64* size) {
  return Of(file)->real->pMethods->xFileSize(Of(file)->real, size);
}
int Lock(sqlite3_file* file, int kind) { return Of(file)->real->pMethods->xLock(Of(file)->real, kind); }
int Unlock(sqlite3_file* file, int kind) { return Of(file)->real->pMethods->xUnlock(Of(file)->real, kind); }
int CheckReservedLock(sqlite3_file* file, int* out) {
  return Of(file)->real->pMethods->xCheckReservedLock(Of(file)->real, out);
}
int FileControl(sqlite3_file* file, int op, void* arg) {
  return Of(file)->real->pMethods->xFileControl(Of(file)->real, op, arg);
}
int SectorSize(sqlite3_file* file) { return Of(file)->real->pMethods->xSectorSize(Of(file)->real); }
int DeviceCharacteristics(sqlite3_file* file) {
  return Of(file)->real->pMethods->xDeviceCharacteristics(Of(file)->real);
}

// Version 1 has no shared memory: the store must not need it.
const sqlite3_io_methods kMethods = {.iVersion = 1,
                                     .xClose = Close,
                                     .xRead = Read,
                                     .xWrite = FaultyWrite,
                                     .xTruncate = Truncate,
                                     .xSync = Sync,
                                     .xFileSize = FileSize,
                                     .xLock = Lock,
                                     .xUnlock = Unlock,
                                     .xCheckReservedLock = CheckReservedLock,
                                     .xFileControl = FileControl,
                                     .xSectorSize = SectorSize,
                                     .xDeviceCharacteristics = DeviceCharacteristics,
                                     .xShmMap = nullptr,
                                     .xShmLock = nullptr,
                                     .xShmBarrier = nullptr,
                                     .xShmUnmap = nullptr,
                                     .xFetch = nullptr,
                                     .xUnfetch = nullptr};

}  // namespace

struct FaultyVfs::Vfs {
  sqlite3_vfs vfs;
  sqlite3_vfs* real;
  FaultyVfs* owner;

  static Vfs* Of(sqlite3_vfs* vfs) { return static_cast<Vfs*>(vfs->pAppData); }
  static int Open(sqlite3_vfs* vfs, sqlite3_filename name, sqlite3_file* room, int flags, int* out_flags) {
    File* file = new (room) File{};
    file->owner = Of(vfs)->owner;
    file->real = reinterpret_cast<sqlite3_file*>(file + 1);
    int rc = Of(vfs)->real->xOpen(Of(vfs)->real, name, file->real, flags, out_flags);
    file->base.pMethods = file->real->pMethods == nullptr ? nullptr : &kMethods;
    return rc;
  }
  static int Delete(sqlite3_vfs* vfs, const char* name, int sync_dir) {
    int code;
    bool first;
    return Of(vfs)->owner->Allow(code, first) ? Of(vfs)->real->xDelete(Of(vfs)->real, name, sync_dir) : code;
  }
};

FaultyVfs::FaultyVfs(std::string name) : name_(std::move(name)), vfs_(std::make_unique<Vfs>()) {
  vfs_->real = sqlite3_vfs_find(nullptr);
  vfs_->owner = this;
  vfs_->vfs = *vfs_->real;  // functions that are not replaced work as in the default VFS, which ignores the
                            // pointer to itself
  vfs_->vfs.pNext = nullptr;
  vfs_->vfs.szOsFile = static_cast<int>(sizeof(File)) + vfs_->real->szOsFile;
  vfs_->vfs.zName = name_.c_str();
  vfs_->vfs.pAppData = vfs_.get();
  vfs_->vfs.xOpen = Vfs::Open;
  vfs_->vfs.xDelete = Vfs::Delete;
  sqlite3_vfs_register(&vfs_->vfs, 0);
}

FaultyVfs::~FaultyVfs() { sqlite3_vfs_unregister(&vfs_->vfs); }

void FaultyVfs::FailAfter(int operations, int code) {
  allowed_ = operations;
  code_ = code;
}

void FaultyVfs::Heal() { code_ = 0; }

bool FaultyVfs::Allow(int& code, bool& first) {
  code = code_;
  first = false;
  if (code != 0) {
    int left = allowed_--;
    first = left == 0;
    if (left <= 0) return false;
  }
  ++operations_;
  return true;
}

}  // namespace terrarium::storage::testing
