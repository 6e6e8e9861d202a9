#include "storage/memory_store.h"

#include <mutex>
#include <utility>

#include "storage/internal/batch.h"
#include "storage/internal/store_base.h"

namespace terrarium::storage {
namespace {

class MemoryStore final : public StoreBase {
 public:
  explicit MemoryStore(const MemoryOptions& options)
      : StoreBase(std::make_unique<State>(options.history, kFreshRevision, 0)) {}
  MemoryStore(const MemoryStore&) = delete;
  MemoryStore& operator=(const MemoryStore&) = delete;
  ~MemoryStore() override { Shutdown(); }

  void Submit(Write write, WriteDone done) override {
    Wakes wakes;
    WriteOutcome outcome = Apply(std::move(write), wakes);
    CallWakes(wakes);
    done(std::move(outcome));
  }

  void Compact(std::int64_t revision) override { state_->Compact(revision); }

  void Shutdown() override {
    Wakes wakes;
    {
      std::lock_guard lock(sequencer_);
      if (shut_down_) return;
      shut_down_ = true;
      wakes = hub_.Close();
    }
    CallWakes(wakes);
  }

 private:
  WriteOutcome Apply(Write write, Wakes& wakes) {
    std::lock_guard lock(sequencer_);
    if (shut_down_) return ShutDownOutcome();
    Batch batch(*state_);
    WriteOutcome outcome = batch.Add(std::move(write));
    if (outcome.code == WriteOutcome::Code::kOk) {
      state_->Apply(batch.changes());
      wakes = hub_.Publish(batch.changes());
    }
    return outcome;
  }

  std::mutex sequencer_;
  bool shut_down_ = false;  // guarded by sequencer_
};

}  // namespace

std::unique_ptr<Store> OpenMemoryStore(const MemoryOptions& options) {
  return std::make_unique<MemoryStore>(options);
}

}  // namespace terrarium::storage
