#include <limits>
#include <memory>
#include <optional>
#include <utility>

#include "api/base/errors.h"
#include "api/base/executor.h"
#include "api/json_access.h"
#include "apiserver/internal/respond.h"
#include "apiserver/internal/verbs.h"
#include "apiserver/internal/wake_slot.h"
#include "apiserver/subresources/internal/log_reader.h"
#include "apiserver/subresources/internal/pod_container.h"

namespace terrarium::apiserver {
namespace {

using api::Result;

const Json* ContainerStatusOf(const Json& pod, std::string_view container) {
  for (const char* list : {"containerStatuses", "initContainerStatuses", "ephemeralContainerStatuses"})
    for (const Json& status : api::ListAt(pod, "status", list))
      if (api::StringAt(status, "name") == container) return &status;
  return nullptr;
}

enum class LogRun { kLatest, kBefore };

// Chooses the run of the container from its status, as a kubelet does. Returns the kubelet's error when that
// run does not exist.
Result<LogRun> ChooseRun(const Json& pod, const std::string& container, bool previous) {
  const std::string name(api::StringAt(pod, "metadata", "name"));
  const std::string whose = "container " + api::Quote(container) + " in pod " + api::Quote(name);
  const Json* status = ContainerStatusOf(pod, container);
  if (status == nullptr) return api::BadRequest(whose + " is not available");
  const Json* waiting = api::Find(*status, "state", "waiting");
  const bool runs_or_ended = api::Find(*status, "state", "running") != nullptr ||
                             api::Find(*status, "state", "terminated") != nullptr;
  const bool ended_before = api::Find(*status, "lastState", "terminated") != nullptr;
  if (previous && !ended_before) return api::BadRequest("previous terminated " + whose + " not found");
  if (runs_or_ended) return previous ? LogRun::kBefore : LogRun::kLatest;
  // A container that waits for its restart has not begun a new run.
  if (ended_before) return LogRun::kLatest;
  if (waiting == nullptr) return api::BadRequest(whose + " is waiting to start - no logs yet");
  std::string_view reason = api::StringAt(*waiting, "reason");
  if (reason == "ErrImagePull") reason = "image can't be pulled";
  if (reason == "ImagePullBackOff") reason = "trying and failing to pull image";
  return api::BadRequest(whose + " is waiting to start: " + std::string(reason));
}

// The error of an API server that cannot connect to the kubelet.
api::Status NoKubelet(const Call& call, const Json& pod, const std::string& container) {
  std::string address = std::string(api::StringAt(pod, "status", "hostIP"));
  if (address.empty()) address = api::StringAt(pod, "spec", "nodeName");
  address += ":10250";
  return api::GenericServerError("Get \"https://" + address + "/containerLogs/" + call.route.ns + "/" +
                                 call.route.name + "/" + container + "\": dial tcp " + address +
                                 ": connect: connection refused");
}

// Follows a log until its container ends. The control plane's clock determines when lines appear.
class LogStream : public ResponseStream {
 public:
  LogStream(CallPtr call, std::shared_ptr<api::ContainerLog> log, LogReader reader)
      : call_(std::move(call)),
        log_(std::move(log)),
        reader_(std::move(reader)),
        slot_(std::make_shared<WakeSlot>()) {}

  ~LogStream() override {
    Disarm();
    slot_->Set(nullptr);
  }

  State Read(std::size_t max_bytes, std::string& out) override {
    const api::Time now = call_->server.env.clock.Now();
    const LogReader::Progress progress = reader_.Read(now, out.size() + max_bytes, out);
    if (progress.over) return State::kEnd;
    Arm(progress.next, now);
    return State::kOpen;
  }

  void SetWake(std::function<void()> wake) override {
    slot_->Set(std::move(wake));
    at_end_ = log_->OnEnd([slot = slot_] { slot->Wake(); });
  }

 private:
  void Disarm() {
    if (timer_) call_->server.env.executor.Cancel(*timer_);
    timer_.reset();
  }
  // A background timer: a control plane with only log lines pending is idle.
  void Arm(std::optional<api::Time> next, api::Time now) {
    if (next == armed_for_) return;
    Disarm();
    armed_for_ = next;
    if (!next) return;
    timer_ = call_->server.env.executor.PostInBackground(*next - now, [slot = slot_] { slot->Wake(); });
  }

  CallPtr call_;
  std::shared_ptr<api::ContainerLog> log_;
  LogReader reader_;
  std::shared_ptr<WakeSlot> slot_;
  std::shared_ptr<void> at_end_;
  std::optional<api::TimerId> timer_;
  std::optional<api::Time> armed_for_;
};

}  // namespace

void ServePodLog(const CallPtr& call) {
  const std::string& name = call->route.name;
  auto options = ParsePodLogOptions(call->request, name);
  if (!options) return RespondError(call, options.status());
  api::ObjectPtr object = call->server.store.Get(call->Key());
  if (object == nullptr) return RespondError(call, api::NotFound(call->resource().Resource(), name));
  const Json pod = object->Parse();
  auto container = ChooseContainer(pod, options->container);
  if (!container) return RespondError(call, container.status());
  Response response;
  response.content_type = "text/plain";
  if (api::StringAt(pod, "spec", "nodeName").empty()) {
    response.code = 204;  // the pod is not scheduled, so it has no log
    return Answer(call, std::move(response));
  }
  if (auto there = CheckNode(*call, pod); !there) return RespondError(call, there.status());
  auto run = ChooseRun(pod, *container, options->previous);
  if (!run) return RespondError(call, run.status());
  std::shared_ptr<api::ContainerLog> log;
  if (call->server.options.pod_log)
    log = call->server.options.pod_log({call->route.ns, name}, *container, *run == LogRun::kBefore);
  if (log == nullptr) return RespondError(call, NoKubelet(*call, pod, *container));
  const api::Time now = call->server.env.clock.Now();
  LogReader reader(log, *options, now);
  if (options->follow)
    response.stream = std::make_unique<LogStream>(call, std::move(log), std::move(reader));
  else
    reader.Read(now, std::numeric_limits<std::size_t>::max(), response.body);
  Answer(call, std::move(response));
}

}  // namespace terrarium::apiserver
