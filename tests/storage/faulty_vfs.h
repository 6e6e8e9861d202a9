#pragma once

#include <atomic>
#include <memory>
#include <string>

namespace terrarium::storage::testing {

// A VFS for SQLite that forwards everything to the default one until the test makes it fail. It is registered
// under its name during its lifetime and must outlive stores that use it.
class FaultyVfs {
 public:
  explicit FaultyVfs(std::string name);
  FaultyVfs(const FaultyVfs&) = delete;
  FaultyVfs& operator=(const FaultyVfs&) = delete;
  ~FaultyVfs();

  const std::string& name() const { return name_; }

  // The next `operations` that change a file succeed. Then each of them fails with `code` (a SQLite result
  // code). If the first of these is a write, half of its bytes are written. To the file that is the end of
  // the process.
  void FailAfter(int operations, int code);
  void Heal();
  // The number of operations that changed a file.
  int operations() const { return operations_; }

  // For the VFS: whether the next operation succeeds; if not, the `code` to return, and whether it is the
  // first one to fail.
  bool Allow(int& code, bool& first);

 private:
  struct Vfs;
  const std::string name_;
  std::unique_ptr<Vfs> vfs_;
  std::atomic<int> operations_ = 0;
  std::atomic<int> allowed_ = 0;
  std::atomic<int> code_ = 0;  // 0: everything succeeds
};

}  // namespace terrarium::storage::testing
