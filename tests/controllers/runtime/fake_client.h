#pragma once

// An apiserver for a test of one component: objects in memory, without validation, defaulting and admission.
// Writes take effect immediately and are answered on the lane. Lists, watches and writes can be made to fail.

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/client.h"
#include "tests/controllers/runtime/fake_runtime.h"

namespace terrarium::controllers_testing {

// A made-up object. Its header has no selectable fields.
api::ObjectPtr MakeObject(const api::Json& document, std::int64_t revision = 0);

class FakeClient : public api::Client {
 public:
  explicit FakeClient(FakeRuntime& runtime);
  ~FakeClient() override;

  // A write by another client. An existing object of that name keeps its uid, unless the document has one.
  api::ObjectPtr Put(const std::string& resource, api::Json document);
  void Remove(const std::string& resource, const api::ObjectName& name);
  api::ObjectPtr Find(const std::string& resource, const api::ObjectName& name) const;  // nullptr if absent
  std::int64_t revision() const { return revision_; }

  // Compacts the whole history: a watch from before now is answered with 410.
  void Compact() { compacted_ = revision_; }
  void EndWatches();

  // Failures of the next requests, one for each.
  std::deque<api::Status> list_failures;
  std::deque<api::Status> watch_failures;
  std::deque<std::optional<api::Status>> write_failures;  // nullopt: success

  // After HoldWrites(), writes wait for ReleaseWrites().
  void HoldWrites() { holding_ = true; }
  void ReleaseWrites();

  // The requests so far.
  std::vector<api::WriteRequest> writes;
  std::vector<std::int64_t> watches;  // their revisions
  int lists = 0;
  int gets = 0;

  void Send(api::WriteRequest request, WriteDone done) override;
  api::Result<api::ObjectPtr> Get(std::string_view resource, const api::ObjectName& name) override;
  api::Result<api::ObjectList> List(std::string_view resource, const std::optional<std::string>& ns) override;
  api::Result<std::unique_ptr<api::ClientWatch>> Watch(std::string_view resource,
                                                       std::int64_t from_revision) override;

 private:
  class FakeWatch;
  using Objects = std::map<api::ObjectName, api::ObjectPtr>;

  void Perform(const api::WriteRequest& request, const WriteDone& done);
  Written Create(const api::WriteRequest& request);
  Written Update(const api::WriteRequest& request);
  Written Patch(const api::WriteRequest& request);
  Written Delete(const api::WriteRequest& request);
  void Publish(const std::string& resource, api::WatchEvent event);

  FakeRuntime& runtime_;
  std::int64_t revision_ = 100;
  std::int64_t compacted_ = 0;
  std::map<std::string, Objects, std::less<>> resources_;
  std::map<std::string, std::vector<api::WatchEvent>, std::less<>> history_;
  std::vector<FakeWatch*> open_;
  bool holding_ = false;
  std::deque<std::pair<api::WriteRequest, WriteDone>> held_;
};

}  // namespace terrarium::controllers_testing
