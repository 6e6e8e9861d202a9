// Binds the claims of a pod that wait for its node, before the pod itself is bound.

#include <chrono>
#include <utility>

#include "api/write_request.h"
#include "kubelet-fake/scheduler/internal/retry_hints.h"
#include "kubelet-fake/scheduler/internal/scheduler_impl.h"

namespace terrarium::kubelet_fake {

using namespace scheduling;  // NOLINT: the parts that the scheduler is made of
using api::Json;
using api::ObjectName;
using api::ObjectPtr;

namespace {

// The default of bindTimeoutSeconds.
constexpr api::Duration kBindTimeout = std::chrono::minutes(10);

std::string Quoted(const std::string& text) { return '"' + text + '"'; }

}  // namespace

void Scheduler::Impl::BindVolumes(PodRecord& pod, VolumePlan plan) {
  const std::string& node = pod.node->name;
  cluster_.volumes().Assume(plan, node);
  VolumeBinding& binding = volume_bindings_[*pod.name];
  binding.node = node;
  binding.number = ++last_volume_binding_;
  for (const VolumePlan::Pair& pair : plan.bindings) waiting_for_claim_[pair.claim].insert(*pod.name);
  for (const ObjectName& claim : plan.provisions) waiting_for_claim_[claim].insert(*pod.name);
  binding.plan = std::move(plan);
  binding.timer = env_.executor.PostInBackground(
      kBindTimeout, [weak = weak_from_this(), name = *pod.name, number = binding.number] {
        auto self = weak.lock();
        if (self == nullptr || self->FindVolumeBinding(name, number) == nullptr) return;
        self->volume_bindings_[name].timer = 0;
        self->VolumesFailed(name, "binding volumes: context deadline exceeded");
      });
  // External components see where the pod will be, since it may take a while.
  writer_.SetNomination(*pod.object, node);
  tasks_.Spawn(WriteVolumes(*pod.name, binding.number));
}

Scheduler::Impl::VolumeBinding* Scheduler::Impl::FindVolumeBinding(const ObjectName& pod,
                                                                   std::uint64_t number) {
  const auto it = volume_bindings_.find(pod);
  return it == volume_bindings_.end() || it->second.number != number ? nullptr : &it->second;
}

// As in kube-scheduler, nothing is taken back when a later write fails.
api::Task<void> Scheduler::Impl::WriteVolumes(ObjectName pod, std::uint64_t number) {
  const VolumePlan plan = volume_bindings_[pod].plan;
  const std::string node = volume_bindings_[pod].node;
  for (std::size_t i = 0; i < plan.bindings.size() + plan.provisions.size(); ++i) {
    const bool is_binding = i < plan.bindings.size();
    const ObjectName& name = is_binding ? plan.bindings[i].claim : plan.provisions[i - plan.bindings.size()];
    const api::VolumeClaim* claim = cluster_.volumes().FindClaim(name);
    const api::Volume* volume = is_binding ? cluster_.volumes().FindVolume(plan.bindings[i].volume) : nullptr;
    if (claim == nullptr || (is_binding && volume == nullptr)) {
      VolumesFailed(pod, "binding volumes: persistentvolumeclaim " + Quoted(name.name) + " not found");
      co_return;
    }
    Json document = is_binding ? volume->object->Parse() : claim->object->Parse();
    if (is_binding) {
      if (api::BindVolumeToClaim(document, *claim) == api::Binding::kUnchanged) continue;
    } else {
      document["metadata"]["annotations"][std::string(api::kSelectedNode)] = node;
    }
    auto written = co_await client_.Update(is_binding ? "persistentvolumes" : "persistentvolumeclaims",
                                           std::move(document));
    VolumeBinding* binding = FindVolumeBinding(pod, number);
    if (binding == nullptr) co_return;
    if (!written) {
      VolumesFailed(pod, written.status().message);
      co_return;
    }
    binding->written[is_binding ? ObjectName{"", plan.bindings[i].volume} : name] = (*written)->revision();
  }
  if (VolumeBinding* binding = FindVolumeBinding(pod, number)) {
    binding->all_written = true;
    CheckVolumes(pod);
  }
}

// mirrors checkBindings() of plugins/volumebinding/binder.go, 1.36, on the objects that the apiserver has.
std::optional<std::string> Scheduler::Impl::WhyVolumesFailed(const VolumeBinding& binding,
                                                             bool& bound) const {
  const Volumes& volumes = cluster_.volumes();
  const NodeInfo* node = cluster_.FindNode(binding.node);
  if (node == nullptr) return "failed to get node " + Quoted(binding.node) + ": node not found";
  const auto is_newer = [&](const ObjectName& name, const ObjectPtr& object) {
    const auto written = binding.written.find(name);
    return written == binding.written.end() || object->revision() >= written->second;
  };
  const auto matches = [&](const api::Volume& volume) {
    return api::MatchesNode(volume, node->facts.header());
  };
  const auto mismatch = [&](const std::string& volume) {
    return "pv " + Quoted(volume) + " node affinity doesn't match node " + Quoted(binding.node) +
           ": no matching NodeSelectorTerms";
  };
  bound = true;
  for (const VolumePlan::Pair& pair : binding.plan.bindings) {
    const api::Volume* volume = volumes.FindVolume(pair.volume);
    const api::VolumeClaim* claim = volumes.FindClaim(pair.claim);
    if (volume == nullptr || claim == nullptr) return "failed to check binding: not found";
    if (!is_newer({"", pair.volume}, volume->object)) return bound = false, std::nullopt;
    if (!matches(*volume)) return mismatch(pair.volume);
    const api::Volume stored = api::ReadVolume(volume->object);
    if (!stored.claim || stored.claim->uid.empty()) return "ClaimRef got reset for pv " + Quoted(pair.volume);
    bound = bound && claim->IsBound();
  }
  for (const ObjectName& name : binding.plan.provisions) {
    const api::VolumeClaim* claim = volumes.FindClaim(name);
    if (claim == nullptr) return "failed to check provisioning pvc: not found";
    if (!is_newer(name, claim->object)) return bound = false, std::nullopt;
    // The provisioner removes the annotation when it fails.
    if (api::ReadVolumeClaim(claim->object).selected_node != binding.node)
      return "provisioning failed for PVC " + Quoted(name.name);
    const api::Volume* volume = volumes.FindVolume(claim->volume_name);
    if (volume != nullptr && !matches(*volume)) return mismatch(volume->name());
    bound = bound && claim->IsBound() && volume != nullptr;
  }
  return std::nullopt;
}

void Scheduler::Impl::CheckVolumes(const ObjectName& pod) {
  const auto it = volume_bindings_.find(pod);
  if (it == volume_bindings_.end() || !it->second.all_written) return;
  bool bound = false;
  if (const auto failure = WhyVolumesFailed(it->second, bound))
    return VolumesFailed(pod, "binding volumes: " + *failure);
  if (!bound) return;
  EndVolumeBinding(pod);
  const auto record = pods_.find(pod);
  if (record != pods_.end() && record->second.node != nullptr && record->second.object != nullptr)
    BindWhenReported(record->second);
}

void Scheduler::Impl::VolumesFailed(const ObjectName& pod, const std::string& message) {
  EndVolumeBinding(pod);
  const auto record = pods_.find(pod);
  if (record == pods_.end() || record->second.node == nullptr || record->second.object == nullptr) return;
  BindFailed(record->second, "running PreBind plugin \"VolumeBinding\": " + message, false);
}

void Scheduler::Impl::EndVolumeBinding(const ObjectName& pod) {
  auto ended = volume_bindings_.extract(pod);
  if (ended.empty()) return;
  const VolumeBinding& binding = ended.mapped();
  if (binding.timer != 0) env_.executor.Cancel(binding.timer);
  const auto forget = [&](const ObjectName& claim) {
    const auto waiting = waiting_for_claim_.find(claim);
    if (waiting == waiting_for_claim_.end()) return;
    waiting->second.erase(pod);
    if (waiting->second.empty()) waiting_for_claim_.erase(waiting);
  };
  for (const VolumePlan::Pair& pair : binding.plan.bindings) forget(pair.claim);
  for (const ObjectName& claim : binding.plan.provisions) forget(claim);
  cluster_.volumes().Forget(binding.plan);
}

void Scheduler::Impl::WatchVolumes(controllers::InformerSet& informers) {
  const std::weak_ptr<Impl> weak = weak_from_this();
  const auto watch = [&](const char* resource, auto seen, auto gone) {
    const auto changed = [weak, seen](const ObjectPtr& object) {
      if (auto self = weak.lock()) seen(*self, object);
    };
    informers.For(resource).AddHandler(
        {.added = changed,
         .updated = [changed](const ObjectPtr&, const ObjectPtr& object) { changed(object); },
         .deleted =
             [weak, gone](const ObjectPtr& object) {
               if (auto self = weak.lock()) gone(*self, object);
             }});
  };
  watch(
      "persistentvolumeclaims",
      [](Impl& self, const ObjectPtr& claim) {
        self.cluster_.volumes().SetClaim(claim);
        self.ClaimChanged(claim->name());
      },
      [](Impl& self, const ObjectPtr& claim) {
        self.cluster_.volumes().RemoveClaim(claim->name());
        self.ClaimChanged(claim->name());
      });
  watch(
      "persistentvolumes",
      [](Impl& self, const ObjectPtr& volume) {
        self.cluster_.volumes().SetVolume(volume);
        self.VolumeChanged(volume->header().name);
      },
      [](Impl& self, const ObjectPtr& volume) {
        self.cluster_.volumes().RemoveVolume(volume->header().name);
        self.VolumeChanged("");
      });
  watch(
      "storageclasses",
      [](Impl& self, const ObjectPtr& storage_class) {
        self.cluster_.volumes().SetClass(storage_class);
        self.RetryClasses([](const PodClass& waiting) { return VolumeMayHelp(waiting); });
      },
      [](Impl& self, const ObjectPtr& storage_class) {
        self.cluster_.volumes().RemoveClass(storage_class->header().name);
      });
}

void Scheduler::Impl::CheckVolumesOf(const ObjectName& claim) {
  const auto waiting = waiting_for_claim_.find(claim);
  if (waiting == waiting_for_claim_.end()) return;
  const std::set<ObjectName> pods = waiting->second;
  for (const ObjectName& pod : pods) CheckVolumes(pod);
}

void Scheduler::Impl::ClaimChanged(const ObjectName& claim) {
  CheckVolumesOf(claim);
  RetryClasses([&](const PodClass& waiting) { return ClaimMayHelp(waiting, claim); });
}

void Scheduler::Impl::VolumeChanged(const std::string& volume) {
  const api::Volume* known = cluster_.volumes().FindVolume(volume);
  if (known != nullptr && known->claim) CheckVolumesOf(known->claim->name);
  RetryClasses([](const PodClass& waiting) { return VolumeMayHelp(waiting); });
}

}  // namespace terrarium::kubelet_fake
