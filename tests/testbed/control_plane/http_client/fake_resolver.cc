#include "tests/testbed/control_plane/http_client/fake_resolver.h"

#include <condition_variable>
#include <map>
#include <mutex>
#include <optional>
#include <set>

#include <dlfcn.h>
#include <netdb.h>

#include "api/base/check.h"

namespace terrarium::testbed {
namespace {

using GetAddrInfo = int (*)(const char*, const char*, const addrinfo*, addrinfo**);

struct State {
  std::mutex mutex;
  std::condition_variable changed;
  bool active = false;
  bool released = false;
  int hanging = 0;
  std::map<std::string, std::vector<std::string>> known;
  std::set<std::string> hung;
  std::vector<std::string> asked;
};

// Never destroyed: a libcurl thread may still use it when the program ends.
State& TheState() {
  static State* state = new State;
  return *state;
}

int AskSystem(const char* name, const char* service, const addrinfo* hints, addrinfo** found) {
  static const auto next = reinterpret_cast<GetAddrInfo>(dlsym(RTLD_NEXT, "getaddrinfo"));
  return next(name, service, hints, found);
}

// freeaddrinfo frees node by node, so results of several lookups can be joined.
int Join(const std::vector<std::string>& addresses, const char* service, const addrinfo* hints,
         addrinfo** found) {
  addrinfo** end = found;
  *found = nullptr;
  addrinfo numeric{};
  numeric.ai_socktype = hints != nullptr ? hints->ai_socktype : SOCK_STREAM;
  numeric.ai_flags = AI_NUMERICHOST;
  for (const std::string& address : addresses) {
    CHECK(AskSystem(address.c_str(), service, &numeric, end) == 0);
    while (*end != nullptr) end = &(*end)->ai_next;
  }
  return *found != nullptr ? 0 : EAI_NONAME;
}

std::optional<std::vector<std::string>> Find(const char* name) {
  State& state = TheState();
  std::unique_lock lock(state.mutex);
  if (!state.active || name == nullptr) return std::nullopt;
  state.asked.emplace_back(name);
  if (state.hung.contains(name)) {
    ++state.hanging;
    state.changed.wait(lock, [&state] { return state.released; });
    --state.hanging;
    state.changed.notify_all();
    return std::vector<std::string>{"127.0.0.1"};
  }
  auto it = state.known.find(name);
  if (it == state.known.end()) return std::nullopt;
  return it->second;
}

}  // namespace

FakeResolver::FakeResolver() {
  State& state = TheState();
  std::lock_guard lock(state.mutex);
  CHECK(!state.active);
  state.active = true;
  state.released = false;
  state.known.clear();
  state.hung.clear();
  state.asked.clear();
}

FakeResolver::~FakeResolver() {
  Release();
  State& state = TheState();
  std::unique_lock lock(state.mutex);
  state.changed.wait(lock, [&state] { return state.hanging == 0; });
  state.active = false;
}

void FakeResolver::Know(const std::string& name, std::vector<std::string> addresses) {
  std::lock_guard lock(TheState().mutex);
  TheState().known[name] = std::move(addresses);
}

void FakeResolver::Hang(const std::string& name) {
  std::lock_guard lock(TheState().mutex);
  TheState().hung.insert(name);
}

void FakeResolver::Release() {
  std::lock_guard lock(TheState().mutex);
  TheState().released = true;
  TheState().changed.notify_all();
}

std::vector<std::string> FakeResolver::asked() const {
  std::lock_guard lock(TheState().mutex);
  return TheState().asked;
}

}  // namespace terrarium::testbed

extern "C" __attribute__((visibility("default"))) int getaddrinfo(const char* name, const char* service,
                                                                  const addrinfo* hints, addrinfo** found) {
  auto known = terrarium::testbed::Find(name);
  return known ? terrarium::testbed::Join(*known, service, hints, found)
               : terrarium::testbed::AskSystem(name, service, hints, found);
}
