#pragma once

// The clusters of one server: the root cluster, which lives as long as the server, and the clusters at
// /clusters/NAME, which clients create and delete. They share threads, addresses and access control, and
// nothing else. Thread-safe.

#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <vector>

#include "api/base/clock.h"
#include "api/base/status.h"
#include "api/json.h"
#include "apiserver/handler.h"
#include "apiserver/request.h"
#include "testbed/control_plane/host_allow_list.h"
#include "testbed/control_plane/http_client/http_caller.h"
#include "testbed/runtime/real_driver.h"
#include "testbed/server/cluster.h"
#include "testbed/server/cluster_data_dir.h"
#include "testbed/server/cluster_manager.h"
#include "testbed/server/cluster_settings.h"

namespace terrarium::testbed {

// Not counting the root cluster.
inline constexpr std::size_t kClustersMax = 1000;

struct ClusterSetOptions {
  LivePool& pool;
  const api::Clock& wall;  // the start of a new cluster's clock
  spdlog::logger& log;
  ClusterSettings settings;  // of the root cluster; defaults of the others, but for `data`
  apiserver::HandlerOptions handler;
  std::function<std::uint64_t()> seed;  // for clusters without a given seed
  // The kubeconfig for a cluster's URL.
  std::function<std::string(const std::string& name, const std::string& url)> kubeconfig;
  // The hosts that a control plane may call, and the factory of the caller it uses. Without `http_caller` a
  // control plane calls no host.
  HostAllowList callable_hosts = HostAllowList::Default();
  std::function<api::Result<std::unique_ptr<api::HttpCaller>>(Locate locate)> http_caller = {};
  ClusterDataDir data_dir = {};  // for the data files of clusters that clients create
  int nodes_max = kServerNodesMax;
};

class ClusterSet : public ClusterManager {
 public:
  // An error message names the command-line flag.
  static api::Result<std::unique_ptr<ClusterSet>> Make(ClusterSetOptions options);
  // Ends all clusters, the root last. REQUIRES: no more requests arrive.
  ~ClusterSet() override;

  Cluster& root() { return *root_; }
  // REQUIRES: called before the first request.
  void SetUrl(std::string url) { url_ = std::move(url); }

  // Forwards the request to the cluster that the path names, without that part of the path.
  void Serve(apiserver::Request request, apiserver::RequestScopePtr scope);

  void Create(const api::Json& body, Reply reply) override;
  api::Result<api::Json> Describe(const std::string& name) override;
  api::Json List() override;
  void Delete(const std::string& name, Reply reply) override;

  // Logs problems with the clusters' data files, once for each cluster.
  void CheckStores();

  void EndMoves();
  // Ends all watches and makes every acknowledged write durable.
  void Shutdown();

 private:
  explicit ClusterSet(ClusterSetOptions options) : options_(std::move(options)) {}
  api::Result<ClusterOptions> OptionsOf(const ClusterSettings& settings, SettingNames names) const;
  // Reserves a name and the nodes of a cluster until FreeName().
  api::Result<std::string> TakeName(const api::Json& body, int nodes);
  void Make(ClusterOptions options, const Reply& reply);
  void End(std::shared_ptr<Cluster> cluster, const Reply& reply);
  std::shared_ptr<Cluster> Find(std::string_view name);
  std::vector<std::shared_ptr<Cluster>> All();
  void FreeName(const std::string& name);
  std::string UrlOf(const std::string& name) const { return url_ + "/clusters/" + name; }
  api::Json Summary(Cluster& cluster) const;
  api::Json Details(Cluster& cluster) const;

  ClusterSetOptions options_;
  std::string url_;
  std::unique_ptr<Cluster> root_;
  std::shared_mutex mutex_;
  std::condition_variable_any names_freed_;
  std::map<std::string, std::shared_ptr<Cluster>, std::less<>> clusters_;
  std::set<std::string> in_between_;             // names of clusters that are being created or deleted
  std::map<std::string, int> nodes_;             // of each cluster that has a name, the root cluster included
  std::vector<std::shared_ptr<Cluster>> stuck_;  // deleted, but still in use when the time limit passed
  std::uint64_t made_up_ = 0;
};

}  // namespace terrarium::testbed
