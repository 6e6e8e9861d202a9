#include "controllers/serviceaccount/service_account_controller.h"

#include <utility>

#include "api/base/task.h"
#include "controllers/runtime/controller_loop.h"

namespace terrarium::controllers {
namespace {

constexpr const char* kName = "serviceaccount-controller";
constexpr const char* kResource = "serviceaccounts";
constexpr const char* kAccount = "default";

class ServiceAccountController : public std::enable_shared_from_this<ServiceAccountController> {
 public:
  explicit ServiceAccountController(const ControllerContext& context)
      : context_(context),
        namespaces_(context.informers.For("namespaces")),
        accounts_(context.informers.For(kResource)),
        loop_(context.env, context.metrics, LoopOptions{.name = "serviceaccount", .workers = 5},
              [this](ObjectName ns) { return Sync(std::move(ns)); }) {}

  void Watch() {
    auto seen = [weak = weak_from_this()](const ObjectPtr& ns) {
      if (auto self = weak.lock()) self->EnqueueIfMissing(ns->header().name);
    };
    namespaces_.AddHandler({.added = seen,
                            .updated = [seen](const ObjectPtr&, const ObjectPtr& ns) { seen(ns); },
                            .deleted = nullptr});
    accounts_.AddHandler({.added = nullptr,
                          .updated = nullptr,
                          .deleted = [weak = weak_from_this()](const ObjectPtr& account) {
                            if (auto self = weak.lock()) self->EnqueueIfMissing(account->header().ns);
                          }});
  }

  void Start() { loop_.Start(); }

 private:
  void EnqueueIfMissing(const std::string& ns) {
    if (accounts_.Get({ns, kAccount}) == nullptr) loop_.queue().Add({"", ns});
  }

  api::Task<ReconcileResult> Sync(ObjectName key) {
    const ObjectPtr ns = namespaces_.Get(key);
    if (ns == nullptr || ns->header().deleting) co_return Reconciled::Done();
    const ObjectName account{key.name, kAccount};
    if (accounts_.Get(account) != nullptr) co_return Reconciled::Done();
    api::Json document = {{"metadata", {{"name", kAccount}}}};
    auto created = co_await context_.client.Create(kResource, key.name, std::move(document));
    if (created) {
      context_.why.Record({.time = context_.env.clock.Now(),
                           .revision = accounts_.Revision(),
                           .controller = kName,
                           .action = "create",
                           .resource = kResource,
                           .object = account,
                           .owner_resource = "namespaces",
                           .owner = key,
                           .rule = "every namespace has a ServiceAccount default",
                           .saw = nullptr});
      co_return Reconciled::Done();
    }
    const api::Status& status = created.status();
    if (status.Is(api::reason::kAlreadyExists) || status.HasCause("NamespaceTerminating"))
      co_return Reconciled::Done();
    co_return status;
  }

  ControllerContext context_;
  Informer& namespaces_;
  Informer& accounts_;
  ControllerLoop loop_;
};

}  // namespace

std::unique_ptr<Controller> MakeServiceAccountController(const ControllerContext& context) {
  return std::make_unique<SharedController<ServiceAccountController>>(context);
}

}  // namespace terrarium::controllers
