#pragma once

// Sends many writes in parallel, and awaits them together.

#include <memory>
#include <utility>
#include <vector>

#include "api/base/task.h"
#include "api/client.h"

namespace terrarium::controllers {

// Returns the responses in the order of the requests.
inline api::Awaitable<std::vector<api::Client::Written>> SendAll(api::Client& client,
                                                                 std::vector<api::WriteRequest> requests) {
  using Answers = std::vector<api::Client::Written>;
  struct Batch {
    std::vector<api::WriteRequest> requests;
    Answers answers;
    std::size_t left = 0;
  };
  auto batch = std::make_shared<Batch>();
  batch->requests = std::move(requests);
  return api::Awaitable<Answers>([&client, batch](api::Awaitable<Answers>::Done done) {
    batch->left = batch->requests.size();
    if (batch->left == 0) return done({});
    batch->answers.assign(batch->left, api::Client::Written(api::ObjectPtr()));
    for (std::size_t i = 0; i < batch->requests.size(); ++i) {
      client.Send(std::move(batch->requests[i]), [batch, done, i](api::Client::Written written) {
        batch->answers[i] = std::move(written);
        if (--batch->left == 0) done(std::move(batch->answers));
      });
    }
  });
}

}  // namespace terrarium::controllers
