#pragma once

// The metrics of the apiserver, under Kubernetes' own names. Thread-safe.

#include <memory>
#include <string>
#include <string_view>

#include "api/base/clock.h"
#include "apiserver/resource_table.h"

namespace terrarium::storage {
class Store;
}

namespace terrarium::apiserver {

// The labels of apiserver_request_total, with Kubernetes' values.
struct RequestLabels {
  std::string_view verb;  // GET, LIST, WATCH, POST, PUT, PATCH, DELETE (of a collection too), CONNECT
  ResourcePtr resource = nullptr;
  std::string_view subresource = {};  // of a request for no resource, its path
  std::string_view scope = {};        // resource, namespace, cluster, or none
  std::string_view dry_run = {};      // All, invalid, or none
  std::string_view component = "apiserver";
  int code = 0;
};

class Metrics {
 public:
  static std::unique_ptr<Metrics> Make();
  virtual ~Metrics() = default;

  virtual void CountRequest(const RequestLabels& labels, api::Duration took) = 0;
  // Counts a watch or followed log that begins (1) or ends (-1).
  virtual void AddLongRunning(const RequestLabels& labels, int change) = 0;
  // Prometheus text. Object counts and gate values are read now.
  virtual std::string Text(const storage::Store& store, const ResourceTable& table) const = 0;
};

}  // namespace terrarium::apiserver
