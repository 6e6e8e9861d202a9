#pragma once

// Metrics of one component's controllers, under Kubernetes' names. Thread-safe.

#include <memory>
#include <string>
#include <string_view>

#include "api/base/clock.h"

namespace prometheus {
class Registry;
}

namespace terrarium::controllers {

class Metrics {
 public:
  Metrics();
  ~Metrics();

  // For families of a controller's own.
  prometheus::Registry& registry();

  // The work queues' families, label `name`.
  void QueueAdded(std::string_view queue);
  void QueueDepth(std::string_view queue, std::size_t depth);
  void QueueRetried(std::string_view queue);
  void QueueWaited(std::string_view queue, api::Duration waited);  // workqueue_queue_duration_seconds
  void QueueWorked(std::string_view queue, api::Duration worked);  // workqueue_work_duration_seconds
  // workqueue_unfinished_work_seconds and workqueue_longest_running_processor_seconds.
  void QueueUnfinished(std::string_view queue, api::Duration sum, api::Duration longest);

  // Prometheus text of all of it.
  std::string Text() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace terrarium::controllers
