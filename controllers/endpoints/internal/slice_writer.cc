#include "controllers/endpoints/internal/slice_writer.h"

#include <memory>
#include <utility>

#include "api/json_access.h"
#include "controllers/endpoints/internal/slice_changes.h"

namespace terrarium::controllers::endpoints {
namespace {

using api::Json;
using api::Task;
using Writing = api::Awaitable<api::Client::Written>;

constexpr const char* kSlices = "endpointslices";

api::Status WithPrefix(const std::string& prefix, api::Status status) {
  status.message = prefix + ": " + status.message;
  return status;
}

std::string OwnerText(const SliceOwner& owner) { return owner.kind + " " + owner.name.String(); }

void SetTrigger(Json& document, const SliceWriter::Request& request) {
  if (!request.reports_trigger) return;
  Json& metadata = document["metadata"];
  if (request.trigger) {
    metadata["annotations"][kTriggerTime] = api::FormatTime(*request.trigger);
  } else if (api::Find(metadata, "annotations") != nullptr) {
    metadata["annotations"].erase(kTriggerTime);
    if (metadata["annotations"].empty()) metadata.erase("annotations");
  }
}

std::int64_t GenerationOf(const api::Object& slice) {
  return api::IntAt(*slice.Document(), 0, "metadata", "generation");
}

}  // namespace

SliceWriter::SliceWriter(const ControllerContext& context, const Informer& slices, SliceTracker& tracker,
                         SliceMetrics& metrics, std::string controller)
    : context_(context),
      slices_(slices),
      tracker_(tracker),
      metrics_(metrics),
      controller_(std::move(controller)) {}

Task<api::Result<void>> SliceWriter::Write(Request request) {
  if (request.may_create) {
    for (const SliceDraft& draft : request.plan.create) {
      Task<api::Result<Outcome>> creating = Create(&draft, &request);
      api::Result<Outcome> created = co_await std::move(creating);
      if (!created) co_return created.status();
      if (*created == Outcome::kNamespaceEnds) co_return api::Result<void>();
    }
  }
  for (const SliceDraft& draft : request.plan.update) {
    Task<api::Result<void>> updating = Update(&draft, &request);
    api::Result<void> updated = co_await std::move(updating);
    if (!updated) co_return updated.status();
  }
  for (const SlicePtr& slice : request.plan.remove) {
    Task<api::Result<void>> deleting = Delete(slice, request.owner, "none of its endpoints is left in it");
    api::Result<void> deleted = co_await std::move(deleting);
    if (!deleted)
      co_return WithPrefix(
          "failed to delete " + slice->name + " EndpointSlice for " + OwnerText(request.owner),
          deleted.status());
  }
  co_return api::Result<void>();
}

Task<api::Result<SliceWriter::Outcome>> SliceWriter::Create(const SliceDraft* draft, const Request* request) {
  const SliceOwner& owner = request->owner;
  Json document = NewDocument(*draft, owner);
  SetTrigger(document, *request);
  Writing writing = context_.client.Create(kSlices, owner.name.ns, std::move(document));
  api::Client::Written written = co_await std::move(writing);
  if (!written) {
    // As long as the namespace is being deleted, every create fails.
    if (written.status().HasCause("NamespaceTerminating")) co_return Outcome::kNamespaceEnds;
    co_return WithPrefix("failed to create EndpointSlice for " + OwnerText(owner), written.status());
  }
  const api::Object& slice = **written;
  tracker_.Written(owner.name, slice.header().uid, GenerationOf(slice));
  metrics_.Written("create");
  SliceChange change = DescribeChange(*draft);
  Explain("create", slice.name(), owner, std::move(change.rule), std::move(change.saw));
  co_return Outcome::kWritten;
}

Task<api::Result<void>> SliceWriter::Update(const SliceDraft* draft, const Request* request) {
  const SliceOwner& owner = request->owner;
  Json document = draft->remade ? NewDocument(*draft, owner) : ChangedDocument(*draft);
  if (!draft->remade && document == *draft->stored->object->Document()) co_return api::Result<void>();
  SetTrigger(document, *request);
  Writing writing = context_.client.Update(kSlices, std::move(document));
  api::Client::Written written = co_await std::move(writing);
  if (!written)
    co_return WithPrefix("failed to update " + draft->stored->name + " EndpointSlice for " + OwnerText(owner),
                         written.status());
  const api::Object& slice = **written;
  tracker_.Written(owner.name, slice.header().uid, GenerationOf(slice));
  metrics_.Written("update");
  SliceChange change = DescribeChange(*draft);
  Explain("update", slice.name(), owner, std::move(change.rule), std::move(change.saw));
  co_return api::Result<void>();
}

Task<api::Result<void>> SliceWriter::Delete(SlicePtr slice, SliceOwner owner, std::string rule) {
  Writing writing = context_.client.Delete(kSlices, slice->object->name());
  api::Client::Written written = co_await std::move(writing);
  if (!written) co_return written.status();
  tracker_.ExpectDeletion(owner.name, slice->uid);
  metrics_.Written("delete");
  Explain("delete", slice->object->name(), owner, std::move(rule),
          Json{{"endpoints", slice->endpoints.size()}});
  co_return api::Result<void>();
}

void SliceWriter::Explain(std::string_view action, const api::ObjectName& slice, const SliceOwner& owner,
                          std::string rule, Json saw) {
  context_.why.Record({.time = context_.env.clock.Now(),
                       .revision = slices_.Revision(),
                       .controller = controller_,
                       .action = std::string(action),
                       .resource = kSlices,
                       .object = slice,
                       .owner_resource = owner.resource,
                       .owner = owner.name,
                       .rule = std::move(rule),
                       .saw = std::make_shared<const Json>(std::move(saw))});
}

}  // namespace terrarium::controllers::endpoints
