#include "testbed/http_caller/http_caller.h"

#include <chrono>
#include <map>
#include <mutex>
#include <utility>

#include "testbed/http_caller/internal/call_under_way.h"
#include "testbed/http_caller/internal/poll_loop.h"
#include "testbed/http_caller/internal/tls_session.h"

namespace terrarium::testbed {
namespace {

using internal::CallUnderWay;
using internal::PollLoop;
using internal::TlsRoots;

// Look-ups may end long after the caller has gone, and find its loop here or nothing.
struct Gate {
  std::mutex mutex;
  PollLoop* loop = nullptr;
};

class Caller : public api::HttpCaller {
 public:
  Caller(HttpCallerOptions options, std::unique_ptr<TlsRoots> roots)
      : options_(std::move(options)), roots_(std::move(roots)), gate_(std::make_shared<Gate>()) {}

  ~Caller() override {
    {
      std::lock_guard lock(gate_->mutex);
      gate_->loop = nullptr;
    }
    // Then the loop ends, after what has been posted: nothing is under way any more.
    if (loop_ != nullptr) loop_->Post([this] { EndAll(); });
  }

  void Call(api::HttpCall call, std::function<void(api::HttpAnswer)> done) override {
    std::call_once(started_, [this] { Start(); });
    auto located = options_.locate(call);
    auto began = PollLoop::Clock::now();
    auto timed = [began, done = std::move(done)](api::HttpAnswer answer) {
      answer.took = PollLoop::Clock::now() - began;
      done(std::move(answer));
    };
    loop_->Post([this, call = std::move(call), located = std::move(located), began, done = std::move(timed)]() mutable {
      if (auto* answer = std::get_if<api::HttpAnswer>(&located)) return done(std::move(*answer));
      if (ending_) return done(Ending());
      Begin(std::move(call), std::get<CallTarget>(located), began, std::move(done));
    });
  }

 private:
  // Most planes never call anybody, and need no thread for it.
  void Start() {
    loop_ = std::make_unique<PollLoop>();
    std::lock_guard lock(gate_->mutex);
    gate_->loop = loop_.get();
  }

  static api::HttpAnswer Ending() {
    api::HttpAnswer answer;
    answer.outcome = api::HttpAnswer::Outcome::kRefused;
    answer.error = "the plane is stopping";
    return answer;
  }

  void Begin(api::HttpCall call, const CallTarget& target, PollLoop::Clock::time_point began,
             CallUnderWay::Done done) {
    std::uint64_t id = ++last_call_;
    auto made = std::make_shared<CallUnderWay>(
        *loop_, std::move(call), began, [this] { return Roots(); },
        [this, id, done = std::move(done)](api::HttpAnswer answer) {
          // It is in the middle of its own work still.
          if (auto node = calls_.extract(id)) loop_->Post([ended = std::move(node.mapped())] {});
          done(std::move(answer));
        });
    calls_[id] = made;
    made->Start(target, options_.look_up, [gate = gate_](std::function<void()> work) {
      std::lock_guard lock(gate->mutex);
      if (gate->loop != nullptr) gate->loop->Post(std::move(work));
    });
  }

  void EndAll() {
    ending_ = true;
    auto calls = calls_;
    for (auto& [id, call] : calls) call->Finish(Ending());
  }

  api::Result<const TlsRoots*> Roots() {
    if (roots_ == nullptr) {
      auto made = TlsRoots::Make("");
      if (!made) return made.status();
      roots_ = std::move(*made);
    }
    return roots_.get();
  }

  const HttpCallerOptions options_;
  std::unique_ptr<TlsRoots> roots_;  // nullptr: the system's, not read yet
  std::shared_ptr<Gate> gate_;
  bool ending_ = false;
  std::map<std::uint64_t, std::shared_ptr<CallUnderWay>> calls_;
  std::uint64_t last_call_ = 0;
  std::once_flag started_;
  std::unique_ptr<PollLoop> loop_;  // last: it ends before what its work uses
};

}  // namespace

api::Result<std::unique_ptr<api::HttpCaller>> MakeHttpCaller(HttpCallerOptions options) {
  std::unique_ptr<TlsRoots> roots;
  if (!options.ca_file.empty()) {
    auto made = TlsRoots::Make(options.ca_file);
    if (!made) return made.status();
    roots = std::move(*made);
  }
  return std::unique_ptr<api::HttpCaller>(std::make_unique<Caller>(std::move(options), std::move(roots)));
}

}  // namespace terrarium::testbed
