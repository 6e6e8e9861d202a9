#include "kubelet-fake/kubelet/internal/status_patch.h"

#include <algorithm>
#include <utility>

#include "api/base/duration.h"
#include "api/core_v1/pod.h"
#include "api/json_access.h"

namespace terrarium::kubelet_fake {
namespace {

using At = Container::At;
using Kind = Container::Kind;
using api::Find;
using api::IntAt;
using api::ListAt;
using api::StringAt;

// A hash of the parts with as many hexadecimal digits as a SHA-256.
std::string Digest(std::initializer_list<std::string_view> parts) {
  std::uint64_t hash = 0xcbf29ce484222325ULL;  // FNV-1a
  for (std::string_view part : parts) {
    for (unsigned char c : part) hash = (hash ^ c) * 0x100000001b3ULL;
    hash = (hash ^ 0xff) * 0x100000001b3ULL;
  }
  std::string out;
  while (out.size() < 64) {
    hash += 0x9e3779b97f4a7c15ULL;  // splitmix64, to fill all digits
    std::uint64_t z = hash;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    z ^= z >> 31;
    for (int shift = 0; shift < 64; shift += 4) out += "0123456789abcdef"[(z >> shift) & 15];
  }
  return out;
}

// "nginx:1.25" -> "nginx@sha256:...".
std::string ImageId(const std::string& image) {
  std::string repository = image.substr(0, image.find('@'));
  const std::size_t colon = repository.rfind(':');
  if (colon != std::string::npos && repository.find('/', colon) == std::string::npos)
    repository.resize(colon);
  return repository + "@sha256:" + Digest({image});
}

// Caches the last text, since most times in a status are equal.
class TimeWriter {
 public:
  const std::string& Text(Time time) {
    if (time != last_ || text_.empty()) text_ = api::FormatTime(time);
    last_ = time;
    return text_;
  }
  Json TextOrNull(const std::optional<Time>& time) { return time ? Json(Text(*time)) : Json(); }

 private:
  Time last_{};
  std::string text_;
};

// Documents are built member by member: a braced list would first make a list of every pair.
Json TerminatedState(const Exit& exit, TimeWriter& times) {
  Json out = Json::object();
  out["exitCode"] = exit.code;
  out["reason"] = exit.reason;
  out["startedAt"] = times.TextOrNull(exit.started);
  out["finishedAt"] = times.TextOrNull(exit.finished);
  if (!exit.message.empty()) out["message"] = exit.message;
  if (!exit.container_id.empty()) out["containerID"] = exit.container_id;
  Json state = Json::object();
  state["terminated"] = std::move(out);
  return state;
}

Json WaitingState(const PodState& pod, const Container& container, bool has_init) {
  Json out = Json::object();
  if (container.crash_loop) {
    out["reason"] = "CrashLoopBackOff";
    out["message"] = "back-off " + api::FormatDuration(container.back_off) +
                     " restarting failed container=" + container.name + " pod=" + pod.name.name + "_" +
                     pod.name.ns + "(" + pod.uid + ")";
  } else {
    out["reason"] = has_init ? "PodInitializing" : "ContainerCreating";
  }
  Json state = Json::object();
  state["waiting"] = std::move(out);
  return state;
}

Json StateOf(const PodState& pod, const Container& container, bool has_init, TimeWriter& times) {
  if (container.at == At::kWaiting) return WaitingState(pod, container, has_init);
  if (container.at == At::kTerminated) return TerminatedState(*container.exit, times);
  Json state = Json::object();
  state["running"]["startedAt"] = times.Text(container.started_at);
  return state;
}

Json ContainerStatus(const PodState& pod, const Container& container, bool has_init, TimeWriter& times) {
  // A container that never started, or that ended with ContainerStatusUnknown, has no id.
  const bool created =
      container.EverStarted() && (container.at != At::kTerminated || container.exit->finished);
  const std::unique_ptr<Exit>& last =
      container.at == At::kTerminated ? container.exit_before : container.exit;
  Json out = Json::object();
  out["name"] = container.name;
  out["image"] = container.image;
  out["imageID"] = created ? ImageId(container.image) : "";
  out["ready"] = container.ready;
  out["started"] = container.started;
  out["restartCount"] = container.restarts;
  out["state"] = StateOf(pod, container, has_init, times);
  out["lastState"] = last ? TerminatedState(*last, times) : Json::object();
  if (container.mounts) out["volumeMounts"] = *container.mounts;
  if (!created) return out;
  // A container that waits for its restart keeps the id of its last run.
  out["containerID"] =
      container.at == At::kRunning ? ContainerId(pod, container) : container.exit->container_id;
  out["resources"] = container.resources ? *container.resources : Json::object();
  if (container.resources && Find(*container.resources, "requests") != nullptr) {
    out["allocatedResources"] = (*container.resources)["requests"];
  }
  return out;
}

bool HasInitContainers(const PodState& pod) {
  return !pod.containers.empty() && pod.containers.front().kind != Kind::kRegular;
}

// Init containers are in the spec's order, regular containers sorted by name.
Json ContainerStatuses(const PodState& pod, bool init, TimeWriter& times) {
  std::vector<const Container*> chosen;
  for (const Container& c : pod.containers) {
    if ((c.kind != Kind::kRegular) == init) chosen.push_back(&c);
  }
  if (!init) {
    std::sort(chosen.begin(), chosen.end(),
              [](const Container* a, const Container* b) { return a->name < b->name; });
  }
  Json out = Json::array();
  for (const Container* c : chosen) out.push_back(ContainerStatus(pod, *c, HasInitContainers(pod), times));
  return out;
}

Json ConditionEntry(const PodState& pod, ConditionType type, TimeWriter& times) {
  const Condition& condition = pod.At(type);
  Json out = Json::object();
  out["type"] = Name(type);
  out["status"] = condition.holds ? "True" : "False";
  out["lastTransitionTime"] = times.Text(condition.since);
  if (pod.generation > 0) out["observedGeneration"] = pod.generation;
  if (!condition.reason.empty()) out["reason"] = condition.reason;
  if (!condition.message.empty()) out["message"] = condition.message;
  return out;
}

Json Addresses(const std::string& ip) {
  Json out = Json::array();
  out.emplace_back(Json::object())["ip"] = ip;
  return out;
}

void AddBeginning(const PodState& pod, TimeWriter& times, Json& status) {
  status["startTime"] = times.Text(*pod.start_time);
  if (pod.host_ip.empty()) return;
  status["hostIP"] = pod.host_ip;
  status["hostIPs"] = Addresses(pod.host_ip);
}

void AddAddress(const PodState& pod, Json& status) {
  if (pod.pod_ip.empty()) return;
  status["podIP"] = pod.pod_ip;
  status["podIPs"] = Addresses(pod.pod_ip);
}

void AddPhase(const PodState& pod, Json& status) {
  status["phase"] = api::PhaseName(pod.phase);
  if (!pod.reason.empty()) status["reason"] = pod.reason;
  if (!pod.message.empty()) status["message"] = pod.message;
}

void MarkReported(PodState& pod) {
  pod.changes = {false, false, false, false, false, false};
  for (Condition& condition : pod.conditions) {
    condition.reported = true;
    condition.reported_reason = !condition.reason.empty();
    condition.reported_message = !condition.message.empty();
  }
}

Json Patch(const PodState& pod, Json status) {
  if (status.empty()) return Json();
  Json out = Json::object();
  out["metadata"]["uid"] = pod.uid;
  out["status"] = std::move(status);
  return out;
}

// The whole status that the kubelet reports, changed or not.
Json WholeStatus(const PodState& pod, TimeWriter& times) {
  Json out = Json::object();
  AddPhase(pod, out);
  AddBeginning(pod, times, out);
  if (pod.sandbox || pod.over) AddAddress(pod, out);
  if (pod.generation > 0) out["observedGeneration"] = pod.generation;
  out["containerStatuses"] = ContainerStatuses(pod, false, times);
  if (HasInitContainers(pod)) out["initContainerStatuses"] = ContainerStatuses(pod, true, times);
  return out;
}

// `ours` with a null for each field that only `theirs` has; nullopt when they are equal.
std::optional<Json> ConditionDifference(Json ours, const Json* theirs) {
  if (theirs == nullptr) return ours;
  bool same = true;
  for (const char* field : {"status", "lastTransitionTime", "observedGeneration", "reason", "message"}) {
    const Json* mine = Find(ours, field);
    const Json* other = Find(*theirs, field);
    if (mine != nullptr && other != nullptr && *mine == *other) continue;
    if (mine == nullptr && other == nullptr) continue;
    same = false;
    if (mine == nullptr) ours[field] = nullptr;
  }
  return same ? std::nullopt : std::optional<Json>(std::move(ours));
}

// These lists are merged by address: the patch must name every address to delete.
void ForgetOtherAddresses(const char* list, const Json& theirs, Json& status) {
  if (!status.contains(list)) return;
  for (const Json& other : ListAt(theirs, list)) {
    if (StringAt(other, "ip") == StringAt(status[list][0], "ip")) continue;
    status[list].push_back({{"ip", StringAt(other, "ip")}, {"$patch", "delete"}});
  }
}

// Other clients may set DisruptionTarget for reasons of their own.
bool IsOurs(const PodState& pod, ConditionType type) {
  return type != ConditionType::kDisruption || (pod.over && pod.ending && pod.ending->disruption);
}

bool SameContainer(const Container& container, const Json& entry) {
  constexpr const char* kStates[] = {"waiting", "running", "terminated"};
  return Find(entry, "state", kStates[static_cast<int>(container.at)]) != nullptr &&
         api::BoolAt(entry, "ready") == container.ready &&
         IntAt(entry, 0, "restartCount") == container.restarts;
}

}  // namespace

std::string ContainerId(const PodState& pod, const Container& container) {
  return "containerd://" + Digest({pod.uid, container.name, std::to_string(container.restarts)});
}

Json TakeChanges(PodState& pod) {
  TimeWriter times;
  Json status = Json::object();
  if (pod.changes.phase) AddPhase(pod, status);
  if (pod.changes.beginning) AddBeginning(pod, times, status);
  if (pod.changes.address) AddAddress(pod, status);
  if (pod.changes.generation && pod.generation > 0) status["observedGeneration"] = pod.generation;
  if (pod.changes.containers) status["containerStatuses"] = ContainerStatuses(pod, false, times);
  if (pod.changes.init_containers && HasInitContainers(pod)) {
    status["initContainerStatuses"] = ContainerStatuses(pod, true, times);
  }
  Json conditions = Json::array();
  for (std::size_t i = 0; i < kConditionTypes; ++i) {
    const Condition& condition = pod.conditions[i];
    if (!condition.present || condition.reported) continue;
    Json entry = ConditionEntry(pod, static_cast<ConditionType>(i), times);
    if (condition.reported_reason && condition.reason.empty()) entry["reason"] = nullptr;
    if (condition.reported_message && condition.message.empty()) entry["message"] = nullptr;
    conditions.push_back(std::move(entry));
  }
  if (!conditions.empty()) status["conditions"] = std::move(conditions);
  MarkReported(pod);
  return Patch(pod, std::move(status));
}

Json TakeDifference(PodState& pod, const Json& document) {
  const Json& theirs = api::ObjectAt(document, "status");
  TimeWriter times;
  Json status = WholeStatus(pod, times);
  for (auto it = status.begin(); it != status.end();) {
    const Json* other = Find(theirs, it.key());
    if (other != nullptr && *other == *it)
      it = status.erase(it);
    else
      ++it;
  }
  for (const char* list : {"podIPs", "hostIPs"}) ForgetOtherAddresses(list, theirs, status);
  if (pod.reason.empty() && Find(theirs, "reason") != nullptr) status["reason"] = nullptr;
  if (pod.message.empty() && Find(theirs, "message") != nullptr) status["message"] = nullptr;
  Json conditions = Json::array();
  for (std::size_t i = 0; i < kConditionTypes; ++i) {
    const auto type = static_cast<ConditionType>(i);
    if (!pod.conditions[i].present || !IsOurs(pod, type)) continue;
    std::optional<Json> entry =
        ConditionDifference(ConditionEntry(pod, type, times), api::FindCondition(document, Name(type)));
    if (entry) conditions.push_back(std::move(*entry));
  }
  if (!conditions.empty()) status["conditions"] = std::move(conditions);
  MarkReported(pod);
  return Patch(pod, std::move(status));
}

bool Agrees(const PodState& pod, const Json& document) {
  const Json& status = api::ObjectAt(document, "status");
  if (StringAt(status, "phase") != api::PhaseName(pod.phase)) return false;
  for (std::size_t i = 0; i < kConditionTypes; ++i) {
    const auto type = static_cast<ConditionType>(i);
    const Condition& condition = pod.conditions[i];
    if (!condition.present || !IsOurs(pod, type)) continue;
    const Json* entry = api::FindCondition(document, Name(type));
    if (entry == nullptr || (StringAt(*entry, "status") == "True") != condition.holds) return false;
    if (StringAt(*entry, "reason") != condition.reason) return false;
  }
  std::size_t found = 0;
  for (const char* list : {"containerStatuses", "initContainerStatuses"}) {
    for (const Json& entry : ListAt(status, list)) {
      const auto ours = std::find_if(pod.containers.begin(), pod.containers.end(),
                                     [&](const Container& c) { return c.name == StringAt(entry, "name"); });
      if (ours == pod.containers.end() || !SameContainer(*ours, entry)) return false;
      ++found;
    }
  }
  return found == pod.containers.size();
}

}  // namespace terrarium::kubelet_fake
