#include "kubelet-fake/scheduler/internal/volumes.h"

#include <algorithm>

#include "api/json_access.h"
#include "api/storage_v1/storage_class.h"
#include "kubelet-fake/scheduler/internal/node_info.h"
#include "kubelet-fake/scheduler/internal/requirements.h"

namespace terrarium::kubelet_fake::scheduling {
namespace {

using api::Json;
using api::ObjectName;
using api::StringAt;

// The labels of volumes that name where they are, each with its older or newer form.
constexpr std::pair<const char*, const char*> kZoneLabels[] = {
    {"topology.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/zone"},
    {"topology.kubernetes.io/region", "failure-domain.beta.kubernetes.io/region"},
    {"failure-domain.beta.kubernetes.io/zone", "topology.kubernetes.io/zone"},
    {"failure-domain.beta.kubernetes.io/region", "topology.kubernetes.io/region"},
};

// "a__b": a volume may be in several zones.
std::set<std::string> SplitZones(std::string_view text) {
  std::set<std::string> out;
  for (std::size_t end = 0; end != std::string_view::npos;) {
    end = text.find("__");
    out.emplace(text.substr(0, end));
    if (end != std::string_view::npos) text.remove_prefix(end + 2);
  }
  return out;
}

const std::string* ZoneOf(const api::ObjectHeader& node, const std::string& label) {
  if (const std::string* value = api::FindLabel(node, label)) return value;
  for (const auto& [key, other] : kZoneLabels) {
    if (label == key) return api::FindLabel(node, other);
  }
  return nullptr;
}

// mirrors plugins/volumezone/volume_zone.go, 1.36.
bool FitsZones(const VolumeNeeds& needs, const api::ObjectHeader& node) {
  const bool any = std::any_of(std::begin(kZoneLabels), std::end(kZoneLabels), [&](const auto& label) {
    return api::FindLabel(node, label.first) != nullptr;
  });
  return !any || std::all_of(needs.zones.begin(), needs.zones.end(), [&](const auto& zone) {
    const std::string* value = ZoneOf(node, zone.first);
    return value != nullptr && zone.second.contains(*value);
  });
}

std::string Quoted(const std::string& text) { return '"' + text + '"'; }

// mirrors podHasPVCs() of plugins/volumebinding/volume_binding.go, 1.36.
std::string WhyUnusable(const api::PodClaim& wanted, const api::VolumeClaim* claim,
                        const api::ObjectHeader& pod) {
  const std::string name = "persistentvolumeclaim " + Quoted(wanted.claim);
  if (claim == nullptr)
    return wanted.ephemeral ? "waiting for ephemeral volume controller to create the " + name
                            : name + " not found";
  if (claim->header().phase.text() == "Lost")
    return name + " bound to non-existent persistentvolume " + Quoted(claim->volume_name);
  if (claim->header().deleting) return name + " is being deleted";
  const api::OwnerReference* owner = claim->object->controller();
  if (wanted.ephemeral && (owner == nullptr || owner->uid != pod.uid)) {
    return "PVC " + claim->object->name().String() + " was not created for pod " + pod.String() +
           " (pod is not owner)";
  }
  return "";
}

bool Refuse(Diagnosis& why, FilterName filter, Reason reason, bool hopeless) {
  why.Count(reason);
  why.NodeRefused(filter, hopeless);
  return false;
}

}  // namespace

void Volumes::SetClaim(const api::ObjectPtr& claim) {
  api::VolumeClaim read = api::ReadVolumeClaim(claim);
  if (const auto assumed = assumed_nodes_.find(claim->name()); assumed != assumed_nodes_.end())
    read.selected_node = assumed->second;
  claims_.insert_or_assign(claim->name(), std::move(read));
  ++generation_;
}

void Volumes::RemoveClaim(const ObjectName& name) {
  claims_.erase(name);
  ++generation_;
}

void Volumes::SetVolume(const api::ObjectPtr& volume) {
  const std::string& name = volume->header().name;
  RemoveVolume(name);
  api::Volume read = api::ReadVolume(volume);
  if (const auto assumed = assumed_claims_.find(name); assumed != assumed_claims_.end() && !read.claim)
    read.claim = api::ClaimReference{assumed->second, ""};
  volumes_by_class_[read.class_name].insert(name);
  volumes_.insert_or_assign(name, std::move(read));
  ++generation_;
}

void Volumes::RemoveVolume(const std::string& name) {
  const auto volume = volumes_.find(name);
  if (volume == volumes_.end()) return;
  const auto of_class = volumes_by_class_.find(volume->second.class_name);
  of_class->second.erase(name);
  if (of_class->second.empty()) volumes_by_class_.erase(of_class);
  volumes_.erase(volume);
  ++generation_;
}

void Volumes::SetClass(const api::ObjectPtr& storage_class) {
  const auto document = storage_class->Document();
  const std::string_view provisioner = StringAt(*document, "provisioner");
  StorageClass read{.waits_for_consumer = api::WaitsForFirstConsumer(*document),
                    .provisions = !provisioner.empty() && provisioner != api::kNoProvisioner,
                    .topologies = {}};
  for (const Json& term : api::ListAt(*document, "allowedTopologies")) {
    auto& labels = read.topologies.emplace_back();
    for (const Json& label : api::ListAt(term, "matchLabelExpressions")) {
      auto& values = labels.emplace_back(std::string(StringAt(label, "key")), std::set<std::string>()).second;
      for (const Json& value : api::ListAt(label, "values")) values.insert(value.get<std::string>());
    }
  }
  classes_.insert_or_assign(storage_class->header().name, std::move(read));
  ++generation_;
}

void Volumes::RemoveClass(const std::string& name) {
  classes_.erase(name);
  ++generation_;
}

const api::VolumeClaim* Volumes::FindClaim(const ObjectName& name) const {
  const auto it = claims_.find(name);
  return it == claims_.end() ? nullptr : &it->second;
}

const api::Volume* Volumes::FindVolume(const std::string& name) const {
  const auto it = volumes_.find(name);
  return it == volumes_.end() ? nullptr : &it->second;
}

// mirrors GetPodVolumeClaims() of plugins/volumebinding/binder.go, 1.36.
VolumeNeeds Volumes::NeedsOf(const Requirements& wants) const {
  VolumeNeeds out;
  out.generation = generation_;
  out.volumes = this;
  const auto claim_of = [&](const api::PodClaim& wanted) { return FindClaim({wants.pod.ns, wanted.claim}); };
  for (const api::PodClaim& wanted : wants.claims) {
    out.refusal = WhyUnusable(wanted, claim_of(wanted), wants.pod);
    if (!out.refusal.empty()) return out;
  }
  for (const api::PodClaim& wanted : wants.claims) {
    const api::VolumeClaim& claim = *claim_of(wanted);
    if ((claim.modes & api::kReadWriteOncePod) != 0) out.exclusive.push_back(claim.object->name());
    if (claim.IsBound()) {
      const api::Volume* volume = FindVolume(claim.volume_name);
      out.volume_missing |= volume == nullptr;
      if (volume == nullptr) continue;
      out.bound.push_back(volume);
      for (const auto& [label, other] : kZoneLabels) {
        if (const std::string* value = api::FindLabel(volume->header(), label))
          out.zones.emplace_back(label, SplitZones(*value));
      }
      continue;
    }
    const auto storage_class = classes_.find(claim.class_name);
    const bool waits = storage_class != classes_.end() && storage_class->second.waits_for_consumer;
    if (!waits || !claim.volume_name.empty()) {
      out.refusal = "pod has unbound immediate PersistentVolumeClaims";
      return out;
    }
    out.unbound.push_back(&claim);
  }
  std::stable_sort(out.unbound.begin(), out.unbound.end(),
                   [](const auto* a, const auto* b) { return a->request < b->request; });
  return out;
}

// mirrors FindPodVolumes() of plugins/volumebinding/binder.go, 1.36.
// DIVERGES: CSIStorageCapacities are not considered.
std::optional<VolumePlan> Volumes::PlanOn(const VolumeNeeds& needs, const api::ObjectHeader& node) const {
  VolumePlan plan;
  std::vector<const api::VolumeClaim*> without_volume;
  std::set<std::string> taken;
  for (const api::VolumeClaim* claim : needs.unbound) {
    if (claim->selected_node) {
      if (*claim->selected_node != node.name) return std::nullopt;
      without_volume.push_back(claim);
      continue;
    }
    std::vector<const api::Volume*> candidates;
    if (const auto of_class = volumes_by_class_.find(claim->class_name);
        of_class != volumes_by_class_.end()) {
      for (const std::string& name : of_class->second) candidates.push_back(&volumes_.at(name));
    }
    if (const api::Volume* volume = api::FindVolumeOnNode(*claim, candidates, node, taken)) {
      taken.insert(volume->name());
      plan.bindings.push_back({volume->name(), claim->object->name()});
    } else {
      without_volume.push_back(claim);
    }
  }
  for (const api::VolumeClaim* claim : without_volume) {
    if (!Provisions(*claim, node)) return std::nullopt;
    plan.provisions.push_back(claim->object->name());
  }
  return plan;
}

bool Volumes::Provisions(const api::VolumeClaim& claim, const api::ObjectHeader& node) const {
  const auto found = classes_.find(claim.class_name);
  if (found == classes_.end() || !found->second.provisions) return false;
  const auto& terms = found->second.topologies;
  return terms.empty() || std::any_of(terms.begin(), terms.end(), [&](const auto& labels) {
           return std::all_of(labels.begin(), labels.end(), [&](const auto& label) {
             const std::string* value = api::FindLabel(node, label.first);
             return value != nullptr && label.second.contains(*value);
           });
         });
}

void Volumes::Assume(const VolumePlan& plan, const std::string& node) {
  for (const VolumePlan::Pair& pair : plan.bindings) {
    assumed_claims_.insert_or_assign(pair.volume, pair.claim);
    SetVolume(api::ObjectPtr(volumes_.at(pair.volume).object));
  }
  for (const ObjectName& claim : plan.provisions) {
    assumed_nodes_.insert_or_assign(claim, node);
    SetClaim(api::ObjectPtr(claims_.at(claim).object));
  }
}

void Volumes::Forget(const VolumePlan& plan) {
  for (const VolumePlan::Pair& pair : plan.bindings) {
    assumed_claims_.erase(pair.volume);
    if (const api::Volume* volume = FindVolume(pair.volume)) SetVolume(api::ObjectPtr(volume->object));
  }
  for (const ObjectName& name : plan.provisions) {
    assumed_nodes_.erase(name);
    if (const api::VolumeClaim* claim = FindClaim(name)) SetClaim(api::ObjectPtr(claim->object));
  }
}

int Volumes::UsersOf(const ObjectName& claim) const {
  const auto it = users_.find(claim);
  return it == users_.end() ? 0 : it->second;
}

void Volumes::CountUser(const Requirements& wants, int change) {
  for (const api::PodClaim& claim : wants.claims) {
    const auto it = users_.try_emplace({wants.pod.ns, claim.claim}).first;
    it->second += change;
    if (it->second == 0) users_.erase(it);
  }
}

bool FitsVolumes(const VolumeNeeds& needs, const NodeInfo& node, Diagnosis& why) {
  if (!needs.refusal.empty()) {
    why.NodeRefused(FilterName::kVolumeBinding, true);
    return false;
  }
  if (std::any_of(needs.exclusive.begin(), needs.exclusive.end(),
                  [&](const ObjectName& claim) { return needs.volumes->UsersOf(claim) > 0; })) {
    return Refuse(why, FilterName::kVolumeRestrictions, Reason::kExclusiveClaim, false);
  }
  const api::ObjectHeader& header = node.facts.header();
  const bool reachable = std::all_of(needs.bound.begin(), needs.bound.end(), [&](const api::Volume* volume) {
    return api::MatchesNode(*volume, header);
  });
  const bool planned = needs.unbound.empty() || needs.volumes->PlanOn(needs, header);
  if (!reachable) why.Count(Reason::kVolumeNodeAffinity);
  if (!planned) why.Count(Reason::kNoVolumeToBind);
  if (needs.volume_missing) why.Count(Reason::kVolumeMissing);
  if (!reachable || !planned || needs.volume_missing) {
    why.NodeRefused(FilterName::kVolumeBinding, true);
    return false;
  }
  return FitsZones(needs, header) || Refuse(why, FilterName::kVolumeZone, Reason::kVolumeZone, true);
}

}  // namespace terrarium::kubelet_fake::scheduling
