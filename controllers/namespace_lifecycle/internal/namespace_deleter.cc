#include "controllers/namespace_lifecycle/internal/namespace_deleter.h"

#include <algorithm>
#include <set>
#include <utility>

#include <spdlog/spdlog.h>

#include "api/core_v1/pod.h"
#include "api/json_access.h"
#include "controllers/runtime/send_all.h"

namespace terrarium::controllers::namespace_lifecycle {
namespace {

using api::Json;
using api::ObjectPtr;
using api::Result;
using api::Task;

constexpr const char* kFinalizer = "kubernetes";
// The most deletes in flight.
constexpr std::size_t kBatch = 500;

bool IsPods(const ServedResource& resource) { return resource.group.empty() && resource.resource == "pods"; }

// The resource is no longer served.
bool IsGone(const api::Status& status) { return status.Is(api::reason::kNotFound); }

// A pod in its grace period needs no second delete.
bool IsStopping(const Json& pod) {
  return api::Find(pod, "metadata", "deletionTimestamp") != nullptr &&
         api::IntAt(pod, 0, "metadata", "deletionGracePeriodSeconds") > 0;
}

api::WriteRequest DeleteOf(const ServedResource& resource, const api::Object& object) {
  api::WriteRequest request;
  request.verb = api::WriteRequest::Verb::kDelete;
  request.resource = resource.Name();
  request.object = object.name();
  // Never orphans: the rest of the namespace is deleted too.
  request.body = api::DeleteRequest{.propagation_policy = "Background"}.ToJson();
  return request;
}

std::string FirstError(const std::vector<api::Client::Written>& answers) {
  for (const api::Client::Written& answer : answers)
    if (!answer && !answer.status().Is(api::reason::kNotFound)) return answer.status().message;
  return "";
}

std::map<std::string, int> FinalizersOf(const std::vector<ObjectPtr>& objects) {
  std::map<std::string, int> counts;
  for (const ObjectPtr& object : objects)
    for (const std::string& finalizer : api::FinalizersOf(*object)) ++counts[finalizer];
  return counts;
}

// The namespaced resources that are served now. Pods come first, since they must be gone before the objects
// they use.
std::vector<ServedResource> ResourcesToDelete(const ServedResources& resources) {
  std::vector<ServedResource> out;
  std::copy_if(resources.all().begin(), resources.all().end(), std::back_inserter(out),
               [](const ServedResource& resource) { return resource.namespaced; });
  std::stable_partition(out.begin(), out.end(), IsPods);
  return out;
}

}  // namespace

Task<Result<std::optional<ContentReport>>> NamespaceDeleter::Pass(std::string name) {
  std::optional<ContentReport> nothing;
  Result<ObjectPtr> live = client_.Get("namespaces", {"", name});
  if (!live) {
    if (live.status().Is(api::reason::kNotFound)) co_return nothing;
    co_return live.status();
  }
  ObjectPtr ns = *live;
  std::shared_ptr<const Json> document = ns->Document();
  if (!ns->header().deleting || api::ListAt(*document, "spec", "finalizers").empty()) co_return nothing;
  api::Time now = env_.clock.Now();
  api::Time since = api::ParseTime(api::StringAt(*document, "metadata", "deletionTimestamp")).value_or(now);
  ContentReport report = co_await DeleteContent(name, now - since);
  ns = co_await WriteConditions(ns, report);
  if (!report.errors.empty() || report.estimate_seconds > 0) co_return std::optional(std::move(report));
  Result<void> finalized = co_await Finalize(ns);
  if (!finalized) co_return finalized.status();
  co_return nothing;
}

Task<ContentReport> NamespaceDeleter::DeleteContent(std::string ns, api::Duration going_for) {
  ContentReport report;
  // A copy, since the list may change during a co_await.
  const std::vector<ServedResource> resources = ResourcesToDelete(resources_);
  for (const ServedResource& resource : resources) {
    ResourceReport part = co_await DeleteAll(&resource, ns, going_for);
    Add(report, resource, part);
    if (IsPods(resource) && part.remaining > 0) break;  // pods go before the objects they use
  }
  co_return report;
}

Task<ResourceReport> NamespaceDeleter::DeleteAll(const ServedResource* resource, std::string ns,
                                                 api::Duration going_for) {
  ResourceReport failed;
  Result<api::ObjectList> listed = client_.List(resource->Name(), ns);
  if (!listed) {
    if (IsGone(listed.status())) co_return ResourceReport{};
    failed.error = listed.status().message;
    co_return failed;
  }
  std::int64_t longest_grace_seconds = 0;
  std::vector<api::WriteRequest> requests;
  for (const ObjectPtr& object : listed->items) {
    if (IsPods(*resource)) {
      std::shared_ptr<const Json> pod = object->Document();
      if (!api::IsPodTerminal(*object))
        longest_grace_seconds =
            std::max(longest_grace_seconds, api::IntAt(*pod, 0, "spec", "terminationGracePeriodSeconds"));
      if (IsStopping(*pod)) continue;
    }
    requests.push_back(DeleteOf(*resource, *object));
  }
  std::int64_t estimate = EstimateForPods(longest_grace_seconds, going_for);
  for (std::size_t from = 0; from < requests.size(); from += kBatch) {
    std::size_t to = std::min(from + kBatch, requests.size());
    std::vector<api::WriteRequest> batch(std::make_move_iterator(requests.begin() + from),
                                         std::make_move_iterator(requests.begin() + to));
    std::vector<api::Client::Written> answers = co_await SendAll(client_, std::move(batch));
    failed.error = FirstError(answers);
    failed.estimate_seconds = estimate;
    if (!failed.error.empty()) co_return failed;
  }
  listed = client_.List(resource->Name(), ns);
  if (!listed) {
    if (IsGone(listed.status())) co_return ResourceReport{};
    failed.error = listed.status().message;
    co_return failed;
  }
  co_return JudgeRemaining(*resource, ns, estimate, static_cast<int>(listed->items.size()),
                           FinalizersOf(listed->items));
}

Task<ObjectPtr> NamespaceDeleter::WriteConditions(ObjectPtr ns, ContentReport report) {
  Json document = ns->Parse();
  bool changed = SetConditions(document, report, env_.clock.Now());
  if (api::StringAt(document, "status", "phase") != "Terminating") {
    document["status"]["phase"] = "Terminating";
    changed = true;
  }
  if (!changed) co_return ns;
  api::Client::Written written = co_await client_.UpdateStatus("namespaces", std::move(document));
  if (written) co_return *written;
  // The conditions are informational, and the next pass writes them again.
  env_.log.debug("namespace {}: conditions not written: {}", ns->header().name, written.status().message);
  co_return ns;
}

Task<Result<void>> NamespaceDeleter::Finalize(ObjectPtr ns) {
  Json document = ns->Parse();
  std::set<std::string> others;
  bool done = true;
  for (const Json& finalizer : api::ListAt(document, "spec", "finalizers")) {
    if (finalizer == kFinalizer)
      done = false;
    else
      others.insert(finalizer.get<std::string>());
  }
  if (done) co_return Result<void>();
  document["spec"]["finalizers"] = others;
  api::Client::Written written = co_await client_.Update("namespaces", std::move(document), "finalize");
  if (!written && !written.status().Is(api::reason::kNotFound)) co_return written.status();
  co_return Result<void>();
}

}  // namespace terrarium::controllers::namespace_lifecycle
