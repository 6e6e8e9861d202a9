#include "apiserver/strategy/event_conversion.h"

#include <string_view>
#include <utility>

namespace terrarium::apiserver {
namespace {

struct Names {
  std::string_view core;
  std::string_view events;
};

constexpr Names kNames[] = {
    {"involvedObject", "regarding"},
    {"message", "note"},
    {"source", "deprecatedSource"},
    {"firstTimestamp", "deprecatedFirstTimestamp"},
    {"lastTimestamp", "deprecatedLastTimestamp"},
    {"count", "deprecatedCount"},
    {"reportingComponent", "reportingController"},
};

void Rename(Json& object, std::string_view from, std::string_view to) {
  const auto it = object.find(from);
  if (it == object.end()) return;
  Json value = std::move(*it);
  object.erase(it);
  object[std::string(to)] = std::move(value);
}

}  // namespace

void EventToCore(Json& event) {
  for (const Names& names : kNames) Rename(event, names.events, names.core);
}

void EventToEventsV1(Json& event) {
  for (const Names& names : kNames) Rename(event, names.core, names.events);
}

}  // namespace terrarium::apiserver
