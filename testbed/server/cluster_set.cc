#include "testbed/server/cluster_set.h"

#include <algorithm>
#include <utility>

#include <spdlog/spdlog.h>

#include "api/base/clock.h"
#include "api/base/errors.h"
#include "api/json_access.h"
#include "apiserver/validation/formats.h"
#include "testbed/control_plane/call_targets.h"

namespace terrarium::testbed {
namespace {

using api::Json;
using api::Result;

constexpr std::string_view kPrefix = "/clusters/";
const api::GroupResource kResource = {"terrarium.dev", "clusters"};
// Every request has its response within a minute.
constexpr std::chrono::seconds kDeleteLimit(70);
constexpr std::chrono::seconds kStopLimit(2);

int NodesOf(const ClusterSettings& settings) { return settings.kubelet ? settings.nodes : 0; }

Result<void> CheckName(const std::string& name) {
  auto messages = apiserver::IsDns1123Label(name);
  if (messages.empty()) return {};
  return api::BadRequest("name: " + api::Quote(name) + ": " + std::string(messages[0]));
}

}  // namespace

Result<std::unique_ptr<ClusterSet>> ClusterSet::Make(ClusterSetOptions given) {
  std::unique_ptr<ClusterSet> set(new ClusterSet(std::move(given)));
  const ClusterSetOptions& options = set->options_;
  auto root = set->OptionsOf(options.settings, SettingNames::kFlags);
  if (!root) return root.status();
  auto made = Cluster::Make(options.pool, options.wall.Now(), options.log, *root, set.get());
  if (!made) return made.status();
  set->root_ = std::move(*made);
  set->nodes_[""] = NodesOf(options.settings);
  return set;
}

ClusterSet::~ClusterSet() {
  {
    std::unique_lock lock(mutex_);
    names_freed_.wait(lock, [this] { return in_between_.empty(); });
  }
  for (const auto& cluster : All()) {
    FreeName(cluster->name());
    cluster->End(kStopLimit);
  }
  if (root_ != nullptr) root_->End(kStopLimit);
}

Result<ClusterOptions> ClusterSet::OptionsOf(const ClusterSettings& settings, SettingNames names) const {
  auto out = ToOptions(settings, names);
  if (!out) return out;
  out->control_plane.handler = options_.handler;
  if (!settings.seed) out->control_plane.seed = options_.seed();
  // Services are each cluster's own, and so is where they are.
  auto targets = std::make_shared<CallTargets>(options_.callable_hosts);
  out->control_plane.call_targets = targets;
  if (!options_.http_caller) return out;
  auto caller = options_.http_caller([targets](const api::HttpCall& call) { return targets->Find(call); });
  if (!caller) return caller.status();
  out->http_caller = std::move(*caller);
  out->components.http_caller = out->http_caller.get();
  return out;
}

void ClusterSet::Serve(apiserver::Request request, apiserver::RequestScopePtr scope) {
  if (!request.path.starts_with(kPrefix)) return root_->Serve(std::move(request), std::move(scope));
  std::string_view rest = std::string_view(request.path).substr(kPrefix.size());
  std::string name(rest.substr(0, rest.find('/')));
  auto cluster = Find(name);
  if (cluster == nullptr) return scope->Respond(ControlApi::Refusal(api::NotFound(kResource, name)));
  request.path = rest.size() == name.size() ? "/" : std::string(rest.substr(name.size()));
  cluster->Serve(std::move(request), std::move(scope));
}

Result<std::string> ClusterSet::TakeName(const Json& body, int nodes) {
  const Json* given = api::Find(body, "name");
  if (given != nullptr && !given->is_string()) return api::BadRequest("name must be a string");
  std::string name = given == nullptr ? "" : given->get<std::string>();
  if (given != nullptr)
    if (auto fine = CheckName(name); !fine) return fine.status();
  std::unique_lock lock(mutex_);
  auto taken = [&] { return clusters_.contains(name) || in_between_.contains(name); };
  if (given == nullptr) {
    do name = "cluster-" + std::to_string(++made_up_);
    while (taken());
  }
  if (taken()) return api::AlreadyExists(kResource, name);
  if (clusters_.size() + in_between_.size() >= kClustersMax)
    return api::BadRequest("a server holds at most " + std::to_string(kClustersMax) +
                           " clusters: delete some first");
  int left = options_.nodes_max;
  for (const auto& [cluster, count] : nodes_) left -= count;
  if (nodes > left)
    return api::BadRequest("nodes: the clusters of a server have at most " +
                           std::to_string(options_.nodes_max) + " nodes together, of which " +
                           std::to_string(std::max(left, 0)) + " are left");
  in_between_.insert(name);
  nodes_[name] = nodes;
  return name;
}

void ClusterSet::FreeName(const std::string& name) {
  std::unique_lock lock(mutex_);
  clusters_.erase(name);
  in_between_.erase(name);
  nodes_.erase(name);
  names_freed_.notify_all();
}

void ClusterSet::Create(const Json& body, Reply reply) {
  auto settings = SettingsOf(body, options_.settings);
  if (!settings) return reply(settings.status());
  if (!settings->data.empty()) {
    auto file = options_.data_dir.Resolve(settings->data);
    if (!file) return reply(file.status());
    settings->data = std::move(*file);
  }
  auto options = OptionsOf(*settings, SettingNames::kMembers);
  if (!options) return reply(options.status());
  options->control_plane.data_symlinks = false;
  auto name = TakeName(body, NodesOf(*settings));
  if (!name) return reply(name.status());
  options->name = std::move(*name);
  // Opening a data file may take a while.
  options_.pool.RunOnOwnThread(
      [this, options = std::move(*options), reply = std::move(reply)] { Make(options, reply); });
}

void ClusterSet::Make(ClusterOptions options, const Reply& reply) {
  auto made = Cluster::Make(options_.pool, options_.wall.Now(), options_.log, options, nullptr);
  if (!made) {
    FreeName(options.name);
    return reply(api::BadRequest(made.status().message));
  }
  std::shared_ptr<Cluster> cluster = std::move(*made);
  // A pod that is made before the nodes are there would wait for the scheduler's next try.
  cluster->Control([this, cluster, reply](ClockControl& clock) {
    clock.Settle();
    Json details = Details(*cluster);
    {
      std::unique_lock lock(mutex_);
      in_between_.erase(cluster->name());
      clusters_.emplace(cluster->name(), cluster);
      names_freed_.notify_all();
    }
    reply(std::move(details));
  });
}

void ClusterSet::Delete(const std::string& name, Reply reply) {
  std::shared_ptr<Cluster> cluster;
  {
    std::unique_lock lock(mutex_);
    if (in_between_.contains(name))
      return reply(api::Conflict(kResource, name, "it is being made or deleted"));
    auto it = clusters_.find(name);
    if (it == clusters_.end()) return reply(api::NotFound(kResource, name));
    cluster = std::move(it->second);
    clusters_.erase(it);
    in_between_.insert(name);
  }
  options_.pool.RunOnOwnThread(
      [this, cluster = std::move(cluster), reply = std::move(reply)] { End(cluster, reply); });
}

void ClusterSet::End(std::shared_ptr<Cluster> cluster, const Reply& reply) {
  std::string name = cluster->name();
  bool ended = cluster->End(kDeleteLimit);
  if (!ended) {
    options_.log.error("cluster {}: deleted, but a request to it has no answer yet", name);
    std::unique_lock lock(mutex_);
    stuck_.push_back(std::move(cluster));
  }
  cluster = nullptr;
  FreeName(name);
  if (!ended)
    return reply(api::InternalError("a request to " + name + " has no answer yet, so it cannot be freed"));
  reply(Json{{"deleted", name}});
}

std::shared_ptr<Cluster> ClusterSet::Find(std::string_view name) {
  std::shared_lock lock(mutex_);
  auto it = clusters_.find(name);
  return it == clusters_.end() ? nullptr : it->second;
}

std::vector<std::shared_ptr<Cluster>> ClusterSet::All() {
  std::shared_lock lock(mutex_);
  std::vector<std::shared_ptr<Cluster>> out;
  for (const auto& [name, cluster] : clusters_) out.push_back(cluster);
  return out;
}

Json ClusterSet::Summary(Cluster& cluster) const {
  return {
      {"name", cluster.name()},
      {"url", UrlOf(cluster.name())},
      {"clock",
       {{"mode", cluster.runtime().mode().String()}, {"now", api::FormatMicroTime(cluster.runtime().Now())}}},
      {"revision", cluster.control_plane().store().CurrentRevision()}};
}

Json ClusterSet::Details(Cluster& cluster) const {
  Json out = Summary(cluster);
  out["seed"] = cluster.seed();
  out["kubeconfig"] = options_.kubeconfig(cluster.name(), UrlOf(cluster.name()));
  return out;
}

Result<Json> ClusterSet::Describe(const std::string& name) {
  auto cluster = Find(name);
  if (cluster == nullptr) return api::NotFound(kResource, name);
  return Details(*cluster);
}

Json ClusterSet::List() {
  Json list = Json::array();
  for (const auto& cluster : All()) list.push_back(Summary(*cluster));
  return {{"clusters", std::move(list)}};
}

void ClusterSet::CheckStores() {
  root_->CheckStore(options_.log);
  for (const auto& cluster : All()) cluster->CheckStore(options_.log);
}

void ClusterSet::EndMoves() {
  root_->EndMoves();
  for (const auto& cluster : All()) cluster->EndMoves();
}

void ClusterSet::Shutdown() {
  for (const auto& cluster : All()) cluster->Shutdown();
  root_->Shutdown();
}

}  // namespace terrarium::testbed
