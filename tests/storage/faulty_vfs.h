#pragma once

#include <atomic>
#include <memory>
#include <string>

namespace terrarium::storage::testing {

// A file layer for SQLite that passes everything on to the default one until it is told to fail. Registered
// under its name as long as it lives; stores that use it must be gone before it.
class FaultyVfs {
 public:
  explicit FaultyVfs(std::string name);
  FaultyVfs(const FaultyVfs&) = delete;
  FaultyVfs& operator=(const FaultyVfs&) = delete;
  ~FaultyVfs();

  const std::string& name() const { return name_; }

  // The next `operations` that change a file work; then each of them fails with `code` (a SQLite result
  // code), the first, when it is a write, after half of its bytes. To the file that is the end of the
  // process.
  void FailAfter(int operations, int code);
  void Heal();
  // Operations that changed a file, so far.
  int operations() const { return operations_; }

  // For the file layer: whether the operation that begins now works; if not, `code` to return, and whether it
  // is the first one to fail.
  bool Allow(int& code, bool& first);

 private:
  struct Vfs;
  const std::string name_;
  std::unique_ptr<Vfs> vfs_;
  std::atomic<int> operations_ = 0;
  std::atomic<int> allowed_ = 0;
  std::atomic<int> code_ = 0;  // 0: everything works
};

}  // namespace terrarium::storage::testing
