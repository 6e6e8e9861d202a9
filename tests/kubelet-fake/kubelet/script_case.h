#pragma once

// One row of the tables of scripts: a pod, the interventions, and every status that must be reported, in the
// notation of life_player.h.

#include <cctype>
#include <functional>
#include <initializer_list>
#include <ostream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/kubelet-fake/kubelet/life_player.h"

namespace terrarium::kubelet_fake::testing {

using Play = std::function<void(LifePlayer&)>;

struct Case {
  std::string name;
  Json pod;
  Play play;
  std::vector<std::string> lines;
};
inline void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

inline Play LiveUntil(Duration end) {
  return [end](LifePlayer& pod) { pod.Until(end); };
}
inline Play DeleteAt(Duration at, std::int64_t grace, Duration end) {
  return [=](LifePlayer& pod) {
    pod.Until(at);
    pod.Delete(grace);
    pod.Until(end);
  };
}
inline Play CrashAt(Duration at, int code, Duration end) {
  return [=](LifePlayer& pod) {
    pod.Until(at);
    EXPECT_TRUE(pod.life().Crash({.container = "", .exit_code = code, .reason = ""}, pod.now()));
    pod.Until(end);
  };
}

inline const Json kNever = {{"restartPolicy", "Never"}};
inline const Json kOnFailure = {{"restartPolicy", "OnFailure"}};
inline const Json kNothing = Json::object();

inline Json Containers(std::initializer_list<Json> containers) { return {{"containers", Json(containers)}}; }
inline Json With(Json spec, const Json& more) {
  spec.update(more);
  return spec;
}
inline Json Sidecar(const std::string& name) { return MakeContainer(name, {{"restartPolicy", "Always"}}); }

class Script : public ::testing::TestWithParam<Case> {};

inline std::string TestName(const ::testing::TestParamInfo<Case>& info) {
  std::string out;
  for (const char c : info.param.name) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0)
      out += c;
    else if (!out.empty() && out.back() != '_')
      out += '_';
  }
  return out;
}

}  // namespace terrarium::kubelet_fake::testing
