#pragma once

// Carries out a plan: creates, updates and deletes slices, one after the other, as Kubernetes does, and
// stops at the first failure.

#include <optional>
#include <string>
#include <string_view>

#include "api/base/clock.h"
#include "api/base/status.h"
#include "api/base/task.h"
#include "controllers/controller.h"
#include "controllers/endpoints/internal/slice.h"
#include "controllers/endpoints/internal/slice_metrics.h"
#include "controllers/endpoints/internal/slice_tracker.h"

namespace terrarium::controllers::endpoints {

class SliceWriter {
 public:
  struct Request {
    SlicePlan plan;
    SliceOwner owner;
    bool may_create = true;  // false: the owner is being deleted
    // Whether slices report the time of the change, and that time.
    bool reports_trigger = false;
    std::optional<api::Time> trigger = {};
  };

  // The arguments outlive the writer. `controller` is a name of the controller table.
  SliceWriter(const ControllerContext& context, const Informer& slices, SliceTracker& tracker,
              SliceMetrics& metrics, std::string controller);

  // Succeeds without a write when the namespace is being deleted.
  api::Task<api::Result<void>> Write(Request request);
  // Deletes one slice.
  api::Task<api::Result<void>> Delete(SlicePtr slice, SliceOwner owner, std::string rule);

 private:
  enum class Outcome { kWritten, kNamespaceEnds };

  api::Task<api::Result<Outcome>> Create(const SliceDraft* draft, const Request* request);
  api::Task<api::Result<void>> Update(const SliceDraft* draft, const Request* request);
  void Explain(std::string_view action, const api::ObjectName& slice, const SliceOwner& owner,
               std::string rule, api::Json saw);

  ControllerContext context_;
  const Informer& slices_;
  SliceTracker& tracker_;
  SliceMetrics& metrics_;
  const std::string controller_;
};

}  // namespace terrarium::controllers::endpoints
