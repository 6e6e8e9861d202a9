#pragma once

// The clusters of one server: the one at its root, which lives as long as the server, and those at /clusters/NAME that
// come and go. They share threads, addresses and who may talk to them, and nothing else. Thread-safe.

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
#include "testbed/cluster.h"
#include "testbed/cluster_settings.h"
#include "testbed/host_allow_list.h"
#include "testbed/http_caller/http_caller.h"
#include "testbed/real_driver.h"

namespace terrarium::testbed {

struct ClusterSetOptions {
  LivePool& pool;
  const api::Clock& wall;  // where a new cluster's time begins
  spdlog::logger& log;
  ClusterSettings settings;  // of the root, and of others where they do not say
  apiserver::HandlerOptions handler;
  std::function<std::uint64_t()> seed;  // for clusters that are given none
  // The kubeconfig for a cluster's URL.
  std::function<std::string(const std::string& name, const std::string& url)> kubeconfig;
  // Which of its users' hosts a plane may call, and with what. Without the latter it cannot call anybody.
  HostAllowList callable_hosts = HostAllowList::Default();
  std::function<api::Result<std::unique_ptr<api::HttpCaller>>(Locate locate)> http_caller = {};
};

class ClusterSet {
 public:
  using Reply = std::function<void(api::Result<api::Json>)>;

  // Fails in the words of the command line.
  static api::Result<std::unique_ptr<ClusterSet>> Make(ClusterSetOptions options);
  // Ends all clusters, the root last. REQUIRES: no request comes any more.
  ~ClusterSet();

  Cluster& root() { return *root_; }
  // Set before the first request.
  void SetUrl(std::string url) { url_ = std::move(url); }

  // To the cluster that the path names, without that part of the path.
  void Serve(apiserver::Request request, apiserver::Responder respond);

  // {"name": ..., settings}. Answers when the cluster can be used, its nodes included, with what Describe gives. 400 for
  // bad settings, 409 for a name that is taken. Without a name one is made up.
  void Create(const api::Json& body, Reply reply);
  api::Result<api::Json> Describe(const std::string& name);
  api::Json List();
  // Answers when nothing is left of it. 404; 409 while it is being made or deleted.
  void Delete(const std::string& name, Reply reply);

  void EndMoves();
  // Ends all watches and makes every acknowledged write durable.
  void Shutdown();

 private:
  explicit ClusterSet(ClusterSetOptions options) : options_(std::move(options)) {}
  api::Result<ClusterOptions> OptionsOf(const ClusterSettings& settings, SettingNames names) const;
  api::Result<std::string> TakeName(const api::Json& body);
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
  std::set<std::string> in_between_;  // names of those that are being made or deleted
  std::vector<std::shared_ptr<Cluster>> stuck_;  // deleted, but somebody was still in there
  std::uint64_t made_up_ = 0;
};

}  // namespace terrarium::testbed
