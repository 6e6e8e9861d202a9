#include "controllers/job/job_controller.h"

#include "controllers/job/internal/jobs.h"

namespace terrarium::controllers {
namespace {

class JobController final : public Controller {
 public:
  explicit JobController(const ControllerContext& context) : jobs_(std::make_shared<job::Jobs>(context)) {
    jobs_->Watch();
  }
  void Start() override { jobs_->Start(); }

 private:
  std::shared_ptr<job::Jobs> jobs_;
};

}  // namespace

std::unique_ptr<Controller> MakeJobController(const ControllerContext& context) {
  return std::make_unique<JobController>(context);
}

}  // namespace terrarium::controllers
