#pragma once

// Metrics of the two controllers of EndpointSlices: names, labels and buckets of
// k8s.io/endpointslice/metrics and pkg/controller/endpointslicemirroring/metrics, v1.36.

#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "api/base/clock.h"
#include "api/object_name.h"
#include "controllers/endpoints/internal/service_slices.h"
#include "controllers/runtime/metrics.h"

namespace terrarium::controllers::endpoints {

// What both controllers report.
class SliceMetrics {
 public:
  enum class Controller { kSlices, kMirroring };

  SliceMetrics(Metrics& metrics, Controller controller);
  ~SliceMetrics();

  void Written(std::string_view operation);  // "create", "update", "delete"
  void EndpointsChanged(const SlicePlan& plan);
  // The endpoints and slices of a Service, by ports.
  void SetUsage(const api::ObjectName& service, const PortUsages& usage);
  void RemoveUsage(const api::ObjectName& service);

  // Of endpointslice-controller alone.
  void Synced(std::string_view result);  // "success", "stale", "error"
  void SlicesChanged(bool auto_hints, const std::string& traffic_preference, std::size_t count);
  // An empty distribution: the Service has none.
  void SetTrafficDistribution(const api::ObjectName& service, const std::string& distribution);

  // Of endpointslice-mirroring-controller alone.
  void AddressesSkipped(int count);
  void SyncTook(api::Duration duration);

 private:
  struct Families;
  struct Totals {
    int endpoints = 0;
    int slices = 0;
    int desired_slices = 0;
  };
  void Change(const api::ObjectName& service, const Totals& totals);

  const Controller controller_;
  std::unique_ptr<Families> families_;
  std::map<api::ObjectName, Totals> services_;
  Totals sum_;
  std::map<api::ObjectName, std::string> distributions_;
};

}  // namespace terrarium::controllers::endpoints
