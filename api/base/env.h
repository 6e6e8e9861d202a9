#pragma once

namespace spdlog {
class logger;
}

namespace terrarium::api {

class Clock;
class Executor;
class FeatureGates;
class Prng;

// What a component is given instead of the machine: the first constructor parameter of everything that needs
// time, threads, randomness, gates or a log. All referents outlive the component.
struct Env {
  Clock& clock;
  Executor& executor;
  Prng& prng;
  const FeatureGates& gates;
  spdlog::logger& log;
};

}  // namespace terrarium::api
