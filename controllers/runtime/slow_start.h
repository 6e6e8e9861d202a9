#pragma once

// Sends writes that would likely all fail for the same reason in batches of 1, 2, 4, ..., each after the one
// before it has succeeded. Without quota a controller then sends a few requests, not a thousand.

#include <algorithm>
#include <cstddef>
#include <functional>
#include <iterator>
#include <utility>
#include <vector>

#include "api/base/status.h"
#include "api/base/task.h"
#include "api/client.h"
#include "controllers/runtime/send_all.h"

namespace terrarium::controllers {

// Returns the responses to the requests that were sent, in order: fewer than `count` when some of the last
// batch failed. `make` returns the i-th request. `client` outlives the task.
inline api::Task<std::vector<api::Client::Written>> SendSlowStart(
    api::Client& client, std::size_t count, std::function<api::WriteRequest(std::size_t)> make) {
  std::vector<api::Client::Written> answers;
  answers.reserve(count);
  for (std::size_t most = 1; answers.size() < count; most *= 2) {
    const std::size_t size = std::min(most, count - answers.size());
    std::vector<api::WriteRequest> batch;
    batch.reserve(size);
    for (std::size_t i = 0; i < size; ++i) batch.push_back(make(answers.size() + i));
    std::vector<api::Client::Written> answered = co_await SendAll(client, std::move(batch));
    bool all_done =
        std::all_of(answered.begin(), answered.end(), [](const auto& answer) { return answer.ok(); });
    std::move(answered.begin(), answered.end(), std::back_inserter(answers));
    if (!all_done) break;
  }
  co_return std::move(answers);
}

// A terminating namespace rejects every creation, now and later.
inline bool RejectsAllCreations(const api::Status& status) {
  if (!status.details) return false;
  return std::any_of(status.details->causes.begin(), status.details->causes.end(),
                     [](const api::StatusCause& cause) { return cause.reason == "NamespaceTerminating"; });
}

}  // namespace terrarium::controllers
