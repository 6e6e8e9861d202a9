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
// Deletes under way at a time.
constexpr std::size_t kBatch = 500;

bool IsPods(const ServedResource& resource) { return resource.group.empty() && resource.resource == "pods"; }

bool HasEnded(const api::Object& pod) {
  const std::string& phase = api::PodPhase(pod);
  return phase == "Succeeded" || phase == "Failed";
}

// A pod in its grace period needs no second delete.
bool IsStopping(const Json& pod) {
  return api::Find(pod, "metadata", "deletionTimestamp") != nullptr &&
         api::IntAt(pod, 0, "metadata", "deletionGracePeriodSeconds") > 0;
}

api::WriteRequest DeleteOf(const ServedResource& resource, const api::Object& object) {
  api::WriteRequest request;
  request.verb = api::WriteRequest::Verb::kDelete;
  request.resource = resource.resource;
  request.object = {object.header().ns, object.header().name};
  // Nothing is orphaned: the rest of the namespace goes as well.
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
  for (const ObjectPtr& object : objects) {
    // Most have none, and need not be parsed to know it.
    if (object->body().find(R"("finalizers":[)") == std::string::npos) continue;
    std::shared_ptr<const Json> document = object->Document();
    for (const Json& finalizer : api::ListAt(*document, "metadata", "finalizers"))
      ++counts[finalizer.get<std::string>()];
  }
  return counts;
}

}  // namespace

NamespaceDeleter::NamespaceDeleter(const api::Env& env, api::Client& client,
                                   const std::vector<ServedResource>& resources)
    : env_(env), client_(client) {
  std::copy_if(resources.begin(), resources.end(), std::back_inserter(resources_),
               [](const ServedResource& resource) { return resource.namespaced; });
  std::stable_partition(resources_.begin(), resources_.end(), IsPods);
}

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
  Result<bool> finalized = co_await Finalize(ns);
  if (!finalized) co_return finalized.status();
  co_return nothing;
}

Task<ContentReport> NamespaceDeleter::DeleteContent(std::string ns, api::Duration going_for) {
  ContentReport report;
  for (const ServedResource& resource : resources_) {
    ResourceReport part = co_await DeleteAll(&resource, ns, going_for);
    Add(report, resource, part);
    if (IsPods(resource) && part.remaining > 0) break;  // pods go before what they use
  }
  co_return report;
}

Task<ResourceReport> NamespaceDeleter::DeleteAll(const ServedResource* resource, std::string ns,
                                                 api::Duration going_for) {
  ResourceReport failed;
  Result<api::ObjectList> listed = client_.List(resource->resource, ns);
  if (!listed) {
    failed.error = listed.status().message;
    co_return failed;
  }
  std::int64_t longest_grace_seconds = 0;
  std::vector<api::WriteRequest> requests;
  for (const ObjectPtr& object : listed->items) {
    if (IsPods(*resource)) {
      std::shared_ptr<const Json> pod = object->Document();
      if (!HasEnded(*object))
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
  listed = client_.List(resource->resource, ns);
  if (!listed) {
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
  // The conditions only tell; the next pass tells again.
  env_.log.debug("namespace {}: conditions not written: {}", ns->header().name, written.status().message);
  co_return ns;
}

Task<Result<bool>> NamespaceDeleter::Finalize(ObjectPtr ns) {
  Json document = ns->Parse();
  std::set<std::string> others;
  bool done = true;
  for (const Json& finalizer : api::ListAt(document, "spec", "finalizers")) {
    if (finalizer == kFinalizer) done = false;
    else others.insert(finalizer.get<std::string>());
  }
  if (done) co_return true;
  document["spec"]["finalizers"] = others;
  api::Client::Written written = co_await client_.Update("namespaces", std::move(document), "finalize");
  if (!written && !written.status().Is(api::reason::kNotFound)) co_return written.status();
  co_return true;
}

}  // namespace terrarium::controllers::namespace_lifecycle
