#include "testbed/control_plane/http_client/http_caller.h"

#include <chrono>
#include <fstream>
#include <iterator>
#include <map>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "api/base/check.h"
#include "api/base/errors.h"
#include "testbed/control_plane/http_client/internal/transfer.h"

namespace terrarium::testbed {
namespace {

using internal::Transfer;
using Clock = std::chrono::steady_clock;
using Done = std::function<void(api::HttpAnswer)>;

api::HttpAnswer Failed(api::HttpAnswer::Outcome outcome, std::string error) {
  api::HttpAnswer answer;
  answer.outcome = outcome;
  answer.error = std::move(error);
  return answer;
}

api::HttpAnswer Ending() {
  return Failed(api::HttpAnswer::Outcome::kRefused, "the control plane is stopping");
}

class Caller : public api::HttpCaller {
 public:
  explicit Caller(HttpCallerOptions options) : options_(std::move(options)) {}

  ~Caller() override {
    if (!thread_.joinable()) return;
    {
      std::lock_guard lock(mutex_);
      ending_ = true;
    }
    curl_multi_wakeup(multi_);
    thread_.join();
    curl_multi_cleanup(multi_);
  }

  void Call(api::HttpCall call, Done done) override {
    // Most control planes never call a service, and need neither the thread nor libcurl.
    std::call_once(started_, [this] { Start(); });
    auto timed = [began = Clock::now(), done = std::move(done)](api::HttpAnswer answer) {
      answer.took = Clock::now() - began;
      done(std::move(answer));
    };
    auto located = options_.locate(call);
    {
      std::lock_guard lock(mutex_);
      queued_.push_back({std::move(call), std::move(located), std::move(timed)});
    }
    curl_multi_wakeup(multi_);
  }

 private:
  struct Queued {
    api::HttpCall call;
    std::variant<CallTarget, api::HttpAnswer> located;
    Done done;
  };
  struct UnderWay {
    std::unique_ptr<Transfer> transfer;
    Done done;
  };

  void Start() {
    internal::InitialiseCurl();
    multi_ = curl_multi_init();
    CHECK(multi_ != nullptr);
    thread_ = std::thread([this] { Run(); });
  }

  // The rest runs on the client's thread.

  void Run() {
    constexpr int kPollMsMax = 3'600'000;  // calls and the end of the client wake it up
    while (BeginQueued()) {
      int running = 0;
      CHECK(curl_multi_perform(multi_, &running) == CURLM_OK);
      FinishDone();
      CHECK(curl_multi_poll(multi_, nullptr, 0, kPollMsMax, nullptr) == CURLM_OK);
    }
  }

  // False: the client ends, and every call has been answered.
  bool BeginQueued() {
    bool ending = false;
    for (;;) {
      std::vector<Queued> queued;
      {
        std::lock_guard lock(mutex_);
        ending = ending_;
        queued.swap(queued_);
      }
      for (Queued& each : queued) Begin(std::move(each), ending);
      if (ending) EndAll();
      // The answers given here may have brought more calls.
      if (queued.empty()) return !ending;
    }
  }

  void Begin(Queued queued, bool ending) {
    if (auto* answer = std::get_if<api::HttpAnswer>(&queued.located)) return queued.done(std::move(*answer));
    if (ending) return queued.done(Ending());
    auto made = Transfer::Make(std::move(queued.call), std::get<CallTarget>(queued.located), options_);
    if (!made)
      return queued.done(Failed(api::HttpAnswer::Outcome::kMalformed, std::move(made.status().message)));
    CURL* easy = (*made)->easy();
    CHECK(curl_multi_add_handle(multi_, easy) == CURLM_OK);
    calls_[easy] = {std::move(*made), std::move(queued.done)};
  }

  void FinishDone() {
    int left = 0;
    while (CURLMsg* message = curl_multi_info_read(multi_, &left)) {
      if (message->msg != CURLMSG_DONE) continue;
      CURLcode code = message->data.result;  // removing the handle frees the message
      UnderWay call = Take(message->easy_handle);
      call.done(call.transfer->Finish(code));
    }
  }

  void EndAll() {
    while (!calls_.empty()) Take(calls_.begin()->first).done(Ending());
  }

  UnderWay Take(CURL* easy) {
    CHECK(curl_multi_remove_handle(multi_, easy) == CURLM_OK);
    return std::move(calls_.extract(easy).mapped());
  }

  const HttpCallerOptions options_;
  std::once_flag started_;
  CURLM* multi_ = nullptr;
  std::map<CURL*, UnderWay> calls_;

  std::mutex mutex_;
  std::vector<Queued> queued_;  // under mutex_
  bool ending_ = false;         // under mutex_

  std::thread thread_;
};

// libcurl parses the authorities when it connects; this only finds a file that has none.
bool HasCertificate(const std::string& pem) {
  std::size_t begin = pem.find("-----BEGIN CERTIFICATE-----");
  return begin != std::string::npos && pem.find("-----END CERTIFICATE-----", begin) != std::string::npos;
}

}  // namespace

api::Result<std::unique_ptr<api::HttpCaller>> MakeHttpCaller(HttpCallerOptions options) {
  CHECK(options.locate);
  CHECK(options.ca_file.empty() || options.ca_pem.empty());
  CHECK(options.client_certificate_pem.empty() == options.client_key_pem.empty());
  if (!options.ca_file.empty()) {
    std::ifstream in(options.ca_file, std::ios::binary);
    if (!in) return api::BadRequest("cannot read " + options.ca_file);
    options.ca_pem.assign(std::istreambuf_iterator<char>(in), {});
    if (!HasCertificate(options.ca_pem))
      return api::BadRequest("no certificate authorities in " + options.ca_file);
  }
  if (!options.ca_pem.empty() && !HasCertificate(options.ca_pem))
    return api::BadRequest("the given authorities have no certificate");
  return std::unique_ptr<api::HttpCaller>(std::make_unique<Caller>(std::move(options)));
}

}  // namespace terrarium::testbed
