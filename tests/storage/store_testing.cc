#include "tests/storage/store_testing.h"

#include <future>
#include <memory>
#include <system_error>
#include <utility>

#include <stdlib.h>

#include "api/base/check.h"

namespace terrarium::storage::testing {
namespace {

std::string ShowOne(const ObjectPtr& object, std::int64_t base) {
  const api::ObjectHeader& header = object->header();
  std::string place = header.ns.empty() ? header.name : header.ns + "/" + header.name;
  return place + "=" + std::to_string(ValueOf(object)) + "@" + std::to_string(object->revision() - base);
}

}  // namespace

ObjectPtr MakeObject(const std::string& ns, const std::string& name, int value) {
  api::Json metadata = {{"name", name}, {"labels", {{"app", name}}}, {"uid", "uid-" + name}};
  if (!ns.empty()) metadata["namespace"] = ns;
  api::ObjectHeader header;
  header.ns = ns;
  header.name = name;
  header.uid = "uid-" + name;
  header.labels = {{"app", name}};
  return api::Object::Make(std::move(header), {{"metadata", metadata}, {"data", {{"value", value}}}});
}

int ValueOf(const ObjectPtr& object) { return object->Parse().at("data").at("value").get<int>(); }

Write CreateWrite(const std::string& ns, const std::string& name, int value, const std::string& resource) {
  return {.op = Write::Op::kCreate, .key = {resource, ns, name}, .object = MakeObject(ns, name, value)};
}

Write UpdateWrite(const ObjectPtr& current, int value, const std::string& resource) {
  const auto& header = current->header();
  return {.op = Write::Op::kUpdate,
          .key = {resource, header.ns, header.name},
          .expected_revision = current->revision(),
          .object = MakeObject(header.ns, header.name, value)};
}

Write DeleteWrite(const ObjectPtr& current, const std::string& resource) {
  const auto& header = current->header();
  return {.op = Write::Op::kDelete,
          .key = {resource, header.ns, header.name},
          .expected_revision = current->revision(),
          .object = nullptr};
}

WriteOutcome Do(Store& store, Write write) {
  auto outcome = std::make_shared<std::promise<WriteOutcome>>();
  store.Submit(std::move(write), [outcome](WriteOutcome o) { outcome->set_value(std::move(o)); });
  return outcome->get_future().get();
}

ObjectPtr Must(Store& store, Write write) {
  WriteOutcome outcome = Do(store, std::move(write));
  CHECK(outcome.code == WriteOutcome::Code::kOk);
  return outcome.object;
}

std::vector<Event> TakeAll(Watch& watch, Watch::State* state) {
  std::vector<Event> events;
  for (;;) {
    std::size_t before = events.size();
    Watch::State answer = watch.Take(100, events);
    if (state != nullptr) *state = answer;
    if (events.size() - before < 100) return events;
  }
}

std::string Show(const std::vector<ObjectPtr>& objects, std::int64_t base) {
  std::string out;
  for (const ObjectPtr& object : objects) out.append(out.empty() ? "" : " ").append(ShowOne(object, base));
  return out;
}

std::string Show(const std::vector<Event>& events, std::int64_t base) {
  std::string out;
  for (const Event& event : events) {
    const char* sign = event.type == EventType::kAdded ? "+" : event.type == EventType::kModified ? "~" : "-";
    out.append(out.empty() ? "" : " ").append(sign).append(ShowOne(event.object, base));
  }
  return out;
}

TempDir::TempDir() {
  std::string pattern = (std::filesystem::temp_directory_path() / "terrarium-test-XXXXXX").string();
  CHECK(mkdtemp(pattern.data()) != nullptr);
  path_ = pattern;
}

TempDir::~TempDir() {
  std::error_code ignored;  // a leftover temporary folder does no harm
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace terrarium::storage::testing
