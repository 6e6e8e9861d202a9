#pragma once

// Shorthands for tests of stores: one-line writes, and lists and events as text.

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "storage/store.h"

namespace terrarium::storage::testing {

inline constexpr const char* kPods = "pods";

// An object whose document holds a number.
ObjectPtr MakeObject(const std::string& ns, const std::string& name, int value = 0);
int ValueOf(const ObjectPtr& object);

Write CreateWrite(const std::string& ns, const std::string& name, int value = 0,
                  const std::string& resource = kPods);
Write UpdateWrite(const ObjectPtr& current, int value, const std::string& resource = kPods);
Write DeleteWrite(const ObjectPtr& current, const std::string& resource = kPods);

// Submits and waits for the outcome.
WriteOutcome Do(Store& store, Write write);
// The same for writes that must succeed; the object written.
ObjectPtr Must(Store& store, Write write);

// All pending events. `state`, if given, is set to the last result of Take().
std::vector<Event> TakeAll(Watch& watch, Watch::State* state = nullptr);

// "ns/name=value@revision", separated by blanks. Revisions are relative to `base`.
std::string Show(const std::vector<ObjectPtr>& objects, std::int64_t base = 0);
// The same after + (added), ~ (modified) or - (deleted).
std::string Show(const std::vector<Event>& events, std::int64_t base = 0);

// A folder that is deleted with the object.
class TempDir {
 public:
  TempDir();
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;
  ~TempDir();
  std::string File(const std::string& name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

}  // namespace terrarium::storage::testing
