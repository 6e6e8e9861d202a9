#pragma once

// The binder's metrics, under Kubernetes' names. Single-threaded.

#include <map>
#include <string>

#include "api/base/clock.h"
#include "api/object_name.h"
#include "controllers/persistent_volume/internal/binding_cache.h"
#include "controllers/runtime/metrics.h"

namespace prometheus {
class Counter;
class Gauge;
class Histogram;
template <typename T>
class Family;
}  // namespace prometheus

namespace terrarium::controllers::persistent_volume {

class VolumeMetrics {
 public:
  explicit VolumeMetrics(Metrics& metrics);

  // Counts of objects; nullptr: absent.
  void VolumeChanged(const VolumePtr& old, const VolumePtr& now);
  void ClaimChanged(const ClaimPtr& old, const ClaimPtr& now);

  // Operations: the provisioning of a claim's volume until the claim is bound, and the deletion of a volume.
  // Started counts once for each key until it is done; an operation without a start is not recorded.
  void ProvisioningStarted(const api::ObjectName& claim, std::string plugin, api::Time now);
  void DeletionStarted(const api::ObjectName& volume, std::string plugin, api::Time now);
  void ProvisioningFailed(const api::ObjectName& claim);
  void DeletionFailed(const api::ObjectName& volume);
  void ProvisioningDone(const api::ObjectName& claim, api::Time now);
  void DeletionDone(const api::ObjectName& volume, api::Time now);
  void ForgetProvisioning(const api::ObjectName& claim) { provisioning_.erase(claim); }

  void ClassAssigned(bool success);

 private:
  using Labels = std::map<std::string, std::string>;
  struct Count {
    prometheus::Gauge* gauge = nullptr;
    int objects = 0;
  };
  // A gauge for each combination of labels that has objects.
  struct Counts {
    prometheus::Family<prometheus::Gauge>* family = nullptr;
    std::map<Labels, Count> by_labels = {};
    void Add(const Labels& labels, int change);
  };
  struct Operation {
    std::string plugin;
    api::Time started{};
  };
  using Operations = std::map<api::ObjectName, Operation>;

  void Count(const api::Volume& volume, int change);
  void Count(const api::VolumeClaim& claim, int change);
  void Failed(const Operations& operations, const api::ObjectName& key, const char* name);
  void Done(Operations& operations, const api::ObjectName& key, const char* name, api::Time now);

  Counts total_volumes_;
  Counts bound_volumes_;
  Counts unbound_volumes_;
  Counts bound_claims_;
  Counts unbound_claims_;
  prometheus::Family<prometheus::Counter>& errors_;
  prometheus::Family<prometheus::Counter>& old_errors_;
  prometheus::Family<prometheus::Histogram>& seconds_;
  prometheus::Counter& assigned_;
  prometheus::Counter& not_assigned_;
  Operations provisioning_;
  Operations deletions_;
};

}  // namespace terrarium::controllers::persistent_volume
