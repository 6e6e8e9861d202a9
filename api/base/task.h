#pragma once

// Coroutines: how controllers call the apiserver without blocking the one thread they share.
//
//   Task<Result<void>> Controller::Sync(ObjectName name) {
//     auto created = co_await client_.Create("pods", name.ns, std::move(pod));
//     if (!created) co_return created.status();
//     ...
//   }
//
// A Task does nothing until it is awaited or given to a TaskScope. A task runs on the lane on which it was
// started. It needs no locks between two waits, but other tasks may change any state during a wait.
// Destroying a waiting Task (or the scope that owns it) destroys its locals, and the task never resumes: this
// is how a component crashes in the middle of a reconcile.
//
// A function that ends with a call of another coroutine awaits it into a local and returns the local:
//
//   ReconcileResult written = co_await WriteStatus(sync);
//   co_return written;
//
// A co_await is a statement of its own, never a part of a larger expression such as `co_return co_await f()`.
// Each wait, after which everything may have changed, is then a line that a reader sees. The rule also avoids
// bugs of GCC 12, which may destroy the temporaries of an expression with a co_await twice. For the same
// reason a call whose arguments are temporaries with destructors, such as a lambda with captures, is stored
// as a Task first: `Task<T> sending = Send(...); T sent = co_await std::move(sending);`.
//
// A coroutine takes its arguments by value, since it can outlive the object that a reference points to. For
// the same reason a lambda that is a coroutine captures nothing.

#include <coroutine>
#include <exception>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <utility>

#include "api/base/check.h"
#include "api/base/clock.h"
#include "api/base/executor.h"

namespace terrarium::api {

template <typename T>
class Task;

namespace internal {

struct PromiseBase {
  std::coroutine_handle<> continuation = std::noop_coroutine();
  std::suspend_always initial_suspend() noexcept { return {}; }
  struct FinalAwaiter {
    bool await_ready() noexcept { return false; }
    template <typename P>
    std::coroutine_handle<> await_suspend(std::coroutine_handle<P> done) noexcept {
      return done.promise().continuation;
    }
    void await_resume() noexcept {}
  };
  FinalAwaiter final_suspend() noexcept { return {}; }
  // Failures are values here (Result), so an exception is a programmer error.
  void unhandled_exception() noexcept { std::terminate(); }
};

template <typename T>
struct Promise : PromiseBase {
  std::optional<T> value;
  Task<T> get_return_object();
  void return_value(T v) { value.emplace(std::move(v)); }
  T Take() { return std::move(*value); }
};

template <>
struct Promise<void> : PromiseBase {
  Task<void> get_return_object();
  void return_void() {}
  void Take() {}
};

}  // namespace internal

template <typename T>
class [[nodiscard]] Task {
 public:
  using promise_type = internal::Promise<T>;
  using Handle = std::coroutine_handle<promise_type>;

  explicit Task(Handle handle) : handle_(handle) {}
  Task(Task&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Task& operator=(Task&& other) noexcept {
    if (this != &other) {
      if (handle_) handle_.destroy();
      handle_ = std::exchange(other.handle_, nullptr);
    }
    return *this;
  }
  ~Task() {
    if (handle_) handle_.destroy();
  }

  bool await_ready() const noexcept { return false; }
  std::coroutine_handle<> await_suspend(std::coroutine_handle<> caller) noexcept {
    handle_.promise().continuation = caller;
    return handle_;
  }
  T await_resume() { return handle_.promise().Take(); }

 private:
  Handle handle_;
};

namespace internal {

template <typename T>
Task<T> Promise<T>::get_return_object() {
  return Task<T>(std::coroutine_handle<Promise<T>>::from_promise(*this));
}
inline Task<void> Promise<void>::get_return_object() {
  return Task<void>(std::coroutine_handle<Promise<void>>::from_promise(*this));
}

}  // namespace internal

// Awaits a callback: `co_await Awaitable<T>(start)` calls start(done) and resumes with the value passed to
// `done`. `done` may be called immediately or later, at most once, on the lane of the waiting task. Calling
// it after that task has been destroyed is a no-op.
template <typename T>
class [[nodiscard]] Awaitable {
 public:
  using Done = std::function<void(T)>;
  explicit Awaitable(std::function<void(Done)> start) : start_(std::move(start)) {}
  Awaitable(Awaitable&&) = default;
  ~Awaitable() {
    if (state_) state_->waiting = nullptr;
  }

  bool await_ready() const noexcept { return false; }
  bool await_suspend(std::coroutine_handle<> caller) {
    state_ = std::make_shared<State>();
    state_->waiting = caller;
    std::shared_ptr<State> state = state_;
    state->starting = true;
    start_([state](T value) {
      if (!state->waiting) return;
      state->value.emplace(std::move(value));
      if (!state->starting) std::exchange(state->waiting, nullptr).resume();
    });
    state->starting = false;
    return !state->value.has_value();
  }
  T await_resume() { return std::move(*state_->value); }

 private:
  struct State {
    std::coroutine_handle<> waiting;
    std::optional<T> value;
    bool starting = false;
  };
  std::function<void(Done)> start_;
  std::shared_ptr<State> state_;
};

// `co_await Sleep(executor, delay)`.
class [[nodiscard]] Sleep {
 public:
  Sleep(Executor& executor, Duration delay, TimerKind kind = TimerKind::kWork)
      : executor_(executor), delay_(delay), kind_(kind) {}
  ~Sleep() {
    if (timer_ != 0) executor_.Cancel(timer_);
  }
  bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<> caller) {
    timer_ = executor_.PostTimer(kind_, delay_, [this, caller] {
      timer_ = 0;
      caller.resume();
    });
  }
  void await_resume() const noexcept {}

 private:
  Executor& executor_;
  Duration delay_;
  TimerKind kind_;
  TimerId timer_ = 0;
};

// Owns tasks that no other task awaits. Destroying the scope destroys its unfinished tasks. Single-threaded.
class TaskScope {
 public:
  TaskScope() = default;
  TaskScope(const TaskScope&) = delete;
  TaskScope& operator=(const TaskScope&) = delete;
  ~TaskScope() {
    // Destructors of a task's locals may still use the scope, so each task leaves the list before it is
    // destroyed.
    while (!roots_.empty()) {
      auto handle = roots_.front();
      roots_.pop_front();
      handle.destroy();
    }
  }

  // Runs the task up to its first wait.
  void Spawn(Task<void> task) {
    Root root = Run(this, std::move(task));
    roots_.push_front(root.handle);
    root.handle.promise().place = roots_.begin();
    root.handle.resume();
  }
  std::size_t size() const { return roots_.size(); }

 private:
  struct Root {
    struct promise_type {
      // Takes the parameters of Run(), which is how the promise gets its scope.
      promise_type(TaskScope* s, Task<void>&) : scope(s) {}
      TaskScope* scope;
      std::list<std::coroutine_handle<promise_type>>::iterator place;
      Root get_return_object() { return {std::coroutine_handle<promise_type>::from_promise(*this)}; }
      std::suspend_always initial_suspend() noexcept { return {}; }
      struct Finish {
        bool await_ready() noexcept { return false; }
        void await_suspend(std::coroutine_handle<promise_type> done) noexcept {
          done.promise().scope->roots_.erase(done.promise().place);
          done.destroy();
        }
        void await_resume() noexcept {}
      };
      Finish final_suspend() noexcept { return {}; }
      void return_void() {}
      void unhandled_exception() noexcept { std::terminate(); }
    };
    std::coroutine_handle<promise_type> handle;
  };
  static Root Run(TaskScope*, Task<void> task) { co_await std::move(task); }

  std::list<std::coroutine_handle<Root::promise_type>> roots_;
};

}  // namespace terrarium::api
