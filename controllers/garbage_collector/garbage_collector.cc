#include "controllers/garbage_collector/garbage_collector.h"

#include <utility>

#include "controllers/garbage_collector/internal/collector.h"

namespace terrarium::controllers {
namespace {

class GarbageCollector final : public Controller {
 public:
  GarbageCollector(const ControllerContext& context, std::vector<ServedResource> resources)
      : collector_(std::make_shared<garbage_collector::Collector>(context, std::move(resources))) {
    collector_->Watch();
  }
  void Start() override { collector_->Start(); }

 private:
  std::shared_ptr<garbage_collector::Collector> collector_;
};

}  // namespace

std::unique_ptr<Controller> MakeGarbageCollector(const ControllerContext& context,
                                                 std::vector<ServedResource> resources) {
  return std::make_unique<GarbageCollector>(context, std::move(resources));
}

}  // namespace terrarium::controllers
