#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "api/client.h"

namespace terrarium::api {

// A client that forwards every call to another one, unless a subclass overrides it.
class ForwardingClient : public Client {
 public:
  explicit ForwardingClient(std::unique_ptr<Client> next) : next_(std::move(next)) {}

  void Send(WriteRequest request, WriteDone done) override {
    next_->Send(std::move(request), std::move(done));
  }
  Result<ObjectPtr> Get(std::string_view resource, const ObjectName& name) override {
    return next_->Get(resource, name);
  }
  Result<ObjectList> List(std::string_view resource, const std::optional<std::string>& ns) override {
    return next_->List(resource, ns);
  }
  Result<std::unique_ptr<ClientWatch>> Watch(std::string_view resource, std::int64_t from_revision) override {
    return next_->Watch(resource, from_revision);
  }

 protected:
  Client& next() { return *next_; }

 private:
  std::unique_ptr<Client> next_;
};

}  // namespace terrarium::api
