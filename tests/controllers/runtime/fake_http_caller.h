#pragma once

// An api::HttpCaller for tests: answers calls immediately, or keeps them until the test answers.

#include <cstddef>
#include <deque>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "api/http_caller.h"
#include "api/json.h"

namespace terrarium::controllers_testing {

inline api::HttpAnswer AnswerWith(std::string body, int status = 200,
                                  std::string content_type = "application/json") {
  api::HttpAnswer answer;
  answer.status = status;
  answer.content_type = std::move(content_type);
  answer.body = std::move(body);
  answer.took = std::chrono::milliseconds(20);
  return answer;
}
inline api::HttpAnswer Picks(const std::vector<std::string>& chosen,
                             const std::vector<std::string>& tied = {}) {
  return AnswerWith(api::Json{{"chosen_pods", chosen}, {"tied_pods", tied}}.dump());
}
inline api::HttpAnswer Fails(api::HttpAnswer::Outcome outcome, std::string error = "") {
  api::HttpAnswer answer;
  answer.outcome = outcome;
  answer.error = std::move(error);
  return answer;
}

class FakeHttpCaller : public api::HttpCaller {
 public:
  ~FakeHttpCaller() override {
    while (held() > 0) Answer(Fails(api::HttpAnswer::Outcome::kRefused));
  }

  // The answer to every call, given before it returns; empty: calls are kept.
  std::function<api::HttpAnswer(const api::HttpCall&)> answer;
  std::vector<api::HttpCall> calls;

  void Call(api::HttpCall call, std::function<void(api::HttpAnswer)> done) override {
    calls.push_back(std::move(call));
    if (answer)
      done(answer(calls.back()));
    else
      held_.push_back(std::move(done));
  }

  std::size_t held() const { return held_.size(); }
  // Answers the oldest kept call.
  void Answer(api::HttpAnswer with) {
    auto done = std::move(held_.front());
    held_.pop_front();
    done(std::move(with));
  }

 private:
  std::deque<std::function<void(api::HttpAnswer)>> held_;
};

}  // namespace terrarium::controllers_testing
