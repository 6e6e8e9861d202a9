#include "controllers/serviceaccount/root_ca_publisher.h"

#include <string>
#include <utility>

#include <prometheus/counter.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>

#include "api/base/task.h"
#include "controllers/runtime/controller_loop.h"
#include "controllers/serviceaccount/internal/root_ca_map.h"

namespace terrarium::controllers {
namespace {

using serviceaccount::kRootCaMap;
using serviceaccount::RootCaMapOf;

constexpr const char* kName = "root-ca-certificate-publisher-controller";
constexpr const char* kResource = "configmaps";

class RootCaPublisher : public std::enable_shared_from_this<RootCaPublisher> {
 public:
  explicit RootCaPublisher(const ControllerContext& context)
      : context_(context),
        namespaces_(context.informers.For("namespaces")),
        maps_(context.informers.For(kResource)),
        syncs_(prometheus::BuildCounter()
                   .Name("root_ca_cert_publisher_sync_total")
                   .Help("Number of namespace syncs happened in root ca cert publisher.")
                   .Register(context.metrics.registry())),
        durations_(prometheus::BuildHistogram()
                       .Name("root_ca_cert_publisher_sync_duration_seconds")
                       .Help("Number of namespace syncs happened in root ca cert publisher.")
                       .Register(context.metrics.registry())),
        loop_(context.env, context.metrics, LoopOptions{.name = "root_ca_cert_publisher", .workers = 1},
              [this](ObjectName ns) { return Sync(std::move(ns)); }) {
    for (double bound = 0.001; bounds_.size() < 15; bound *= 2) bounds_.push_back(bound);
  }

  void Watch() {
    std::weak_ptr<RootCaPublisher> weak = weak_from_this();
    auto seen = [weak](const ObjectPtr& ns) {
      auto self = weak.lock();
      if (self != nullptr && !ns->header().deleting) self->loop_.queue().Add({"", ns->header().name});
    };
    namespaces_.AddHandler({.added = seen,
                            .updated = [seen](const ObjectPtr&, const ObjectPtr& ns) { seen(ns); },
                            .deleted = nullptr});
    auto changed = [weak](const ObjectPtr& map) {
      auto self = weak.lock();
      if (self != nullptr && map->header().name == kRootCaMap)
        self->loop_.queue().Add({"", map->header().ns});
    };
    maps_.AddHandler({.added = nullptr,
                      .updated = [changed](const ObjectPtr&, const ObjectPtr& map) { changed(map); },
                      .deleted = changed});
  }

  void Start() { loop_.Start(); }

 private:
  api::Task<ReconcileResult> Sync(ObjectName key) {
    const api::Time began = context_.env.clock.Now();
    ReconcileResult result = co_await Publish(key.name);
    const std::string code = result ? "200" : std::to_string(result.status().code);
    syncs_.Add({{"code", code}}).Increment();
    durations_.Add({{"code", code}}, bounds_)
        .Observe(std::chrono::duration<double>(context_.env.clock.Now() - began).count());
    co_return result;
  }

  api::Task<ReconcileResult> Publish(std::string ns) {
    const ObjectName name{ns, kRootCaMap};
    const ObjectPtr existing = maps_.Get(name);
    auto wanted = RootCaMapOf(existing == nullptr ? api::Json() : existing->Parse(), context_.root_ca);
    if (!wanted) co_return Reconciled::Done();
    if (existing != nullptr) {
      auto updated = co_await context_.client.Update(kResource, std::move(*wanted));
      if (!updated) co_return updated.status();
      Explain("update", name, "kube-root-ca.crt differs from the certificates of the apiserver");
      co_return Reconciled::Done();
    }
    auto created = co_await context_.client.Create(kResource, ns, std::move(*wanted));
    if (created) {
      Explain("create", name, "every namespace has the certificates of the apiserver");
      co_return Reconciled::Done();
    }
    // The namespace is gone or goes: it needs no certificates.
    if (created.status().Is(api::reason::kNotFound) || created.status().HasCause("NamespaceTerminating"))
      co_return Reconciled::Done();
    co_return created.status();
  }

  void Explain(const char* action, const ObjectName& map, const char* rule) {
    context_.why.Record({.time = context_.env.clock.Now(),
                         .revision = maps_.Revision(),
                         .controller = kName,
                         .action = action,
                         .resource = kResource,
                         .object = map,
                         .owner_resource = "namespaces",
                         .owner = {"", map.ns},
                         .rule = rule,
                         .saw = nullptr});
  }

  ControllerContext context_;
  Informer& namespaces_;
  Informer& maps_;
  prometheus::Family<prometheus::Counter>& syncs_;
  prometheus::Family<prometheus::Histogram>& durations_;
  prometheus::Histogram::BucketBoundaries bounds_;
  ControllerLoop loop_;
};

}  // namespace

std::unique_ptr<Controller> MakeRootCaPublisher(const ControllerContext& context) {
  return std::make_unique<SharedController<RootCaPublisher>>(context);
}

}  // namespace terrarium::controllers
