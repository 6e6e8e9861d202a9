#pragma once

// What /metrics says, under Kubernetes' own names. Thread-safe.

#include <memory>
#include <string>
#include <string_view>

#include "api/base/clock.h"
#include "apiserver/resource_table.h"

namespace terrarium::storage {
class Store;
}

namespace terrarium::apiserver {

struct RequestLabels {
  std::string_view verb;  // as metrics spell it: GET, LIST, WATCH, POST, PUT, PATCH, DELETE, DELETECOLLECTION
  const ResourceInfo* resource = nullptr;
  std::string_view subresource;
  int code = 0;
};

class Metrics {
 public:
  static std::unique_ptr<Metrics> Make();
  virtual ~Metrics() = default;

  virtual void CountRequest(const RequestLabels& labels, api::Duration took) = 0;
  virtual void AddOpenWatches(int change) = 0;
  // Prometheus text. Object counts and gate values are read now.
  virtual std::string Text(const storage::Store& store) const = 0;
};

}  // namespace terrarium::apiserver
