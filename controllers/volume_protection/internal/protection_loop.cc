#include "controllers/volume_protection/internal/protection_loop.h"

#include <utility>

#include "api/json_access.h"

namespace terrarium::controllers::volume_protection {

using api::Json;

ProtectionLoop::ProtectionLoop(const ControllerContext& context, Protection protection)
    : context_(context),
      protection_(std::move(protection)),
      objects_(context.informers.For(protection_.resource)),
      loop_(context.env, context.metrics,
            LoopOptions{.name = protection_.queue, .workers = 5, .retry = {}, .retries_max = 0},
            [this](ObjectName name) { return Sync(std::move(name)); }) {}

void ProtectionLoop::Watch() {
  auto seen = [weak = weak_from_this()](const ObjectPtr& object) {
    auto self = weak.lock();
    if (self != nullptr && self->NextStep(*object) != Step::kNone) self->loop_.queue().Add(object->name());
  };
  objects_.AddHandler({.added = seen,
                       .updated = [seen](const ObjectPtr&, const ObjectPtr& object) { seen(object); },
                       .deleted = nullptr});
}

ProtectionLoop::Step ProtectionLoop::NextStep(const api::Object& object) const {
  const bool has = api::HasFinalizer(object, protection_.finalizer);
  if (object.header().deleting) return has ? Step::kRemove : Step::kNone;
  // The apiserver adds the finalizer to new objects; this is for those that have lost it.
  return has ? Step::kNone : Step::kAdd;
}

void ProtectionLoop::EnqueueIfWaiting(const ObjectName& name) {
  const ObjectPtr object = objects_.Get(name);
  if (object != nullptr && object->header().deleting) loop_.queue().Add(name);
}

api::Task<ReconcileResult> ProtectionLoop::Sync(ObjectName name) {
  const ObjectPtr object = objects_.Get(name);
  const Step step = object == nullptr ? Step::kNone : NextStep(*object);
  if (step == Step::kNone) co_return Reconciled::Done();
  Json document = object->Parse();
  Json& finalizers = document["metadata"]["finalizers"];
  if (step == Step::kAdd) {
    if (!finalizers.is_array()) finalizers = Json::array();
    finalizers.push_back(protection_.finalizer);
  } else {
    const api::Result<Usage> usage = protection_.usage(*object);
    if (!usage) co_return usage.status();
    if (*usage == Usage::kUsed) co_return Reconciled::Done();
    Json left = Json::array();
    for (const Json& finalizer : finalizers)
      if (finalizer != protection_.finalizer) left.push_back(finalizer);
    finalizers = std::move(left);
  }
  api::Awaitable<api::Client::Written> updating =
      context_.client.Update(protection_.resource, std::move(document));
  const api::Client::Written written = co_await std::move(updating);
  if (!written && !written.status().Is(api::reason::kNotFound)) co_return written.status();
  co_return Reconciled::Done();
}

}  // namespace terrarium::controllers::volume_protection
