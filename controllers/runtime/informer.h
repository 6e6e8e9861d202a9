#pragma once

// A component's view of one resource: lists, then watches, resumes where a watch ended, and lists again after
// a 410. It always holds a consistent but possibly old state of the resource: controllers must be correct
// with stale reads, and tests can cause them (Pause).
//
// Single-threaded: lives on its component's lane, and calls its handlers there.

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/base/env.h"
#include "api/client.h"
#include "api/object.h"
#include "api/object_name.h"

namespace terrarium::controllers {

using api::ObjectName;
using api::ObjectPtr;

// The changes that this view observed. Changes between two lists arrive as one update; an object that was
// replaced by another of its name arrives as deleted, then added.
struct EventHandler {
  std::function<void(const ObjectPtr& object)> added;
  std::function<void(const ObjectPtr& old, const ObjectPtr& object)> updated;
  std::function<void(const ObjectPtr& object)> deleted;  // the last state known
};

// The values under which an object is found, e.g. the name of its node.
using IndexFunction = std::function<std::vector<std::string>(const api::Object& object)>;

class Informer {
 public:
  // `client` outlives the informer.
  Informer(const api::Env& env, api::Client& client, std::string resource);
  ~Informer();

  const std::string& resource() const { return resource_; }

  // A handler that is added after Start() gets an `added` for every existing object.
  void AddHandler(EventHandler handler);
  // A no-op if the index exists. An index that is added after Start() covers the existing objects.
  void AddIndex(const std::string& name, IndexFunction values);

  // Lists now and watches from there. Objects of the first list are `added` in the order of their names.
  void Start();
  bool HasSynced() const;
  // Called once, when the first list has been given to the handlers; immediately if that has happened
  // already.
  void OnSynced(std::function<void()> synced);

  ObjectPtr Get(const ObjectName& name) const;  // nullptr when absent
  std::vector<ObjectPtr> List(
      const std::optional<std::string>& ns = std::nullopt) const;  // by namespace, then name
  std::vector<ObjectPtr> ByIndex(const std::string& index,
                                 const std::string& value) const;  // in the same order
  std::size_t size() const;
  // The newest revision this view has seen.
  std::int64_t Revision() const;

  // While paused, the view does not change: reads become stale.
  void Pause();
  void Resume();
  // Forgets the watch, as if the connection had been cut.
  void Disconnect();
  // The resource is no longer served: ends the watch and reports all objects as deleted.
  void Close();

 private:
  class Impl;
  std::shared_ptr<Impl> impl_;  // shared with posted work, which may run after the informer is destroyed
  std::string resource_;
};

// The informers of one component, one for each resource, shared by its controllers.
class InformerSet {
 public:
  InformerSet(const api::Env& env, api::Client& client) : env_(env), client_(client) {}

  // Started immediately if the set has been started.
  Informer& For(std::string_view resource);
  void Start();
  bool HasSynced() const;
  // Called when all current informers have synced.
  void OnSynced(std::function<void()> synced);
  // Closes and destroys the informer of a resource that is no longer served, if there is one. REQUIRES: not
  // called by one of its handlers.
  void Remove(std::string_view resource);
  // All informers, by resource.
  const std::map<std::string, std::unique_ptr<Informer>, std::less<>>& all() const { return informers_; }

 private:
  api::Env env_;
  api::Client& client_;
  std::map<std::string, std::unique_ptr<Informer>, std::less<>> informers_;
  bool started_ = false;
};

}  // namespace terrarium::controllers
