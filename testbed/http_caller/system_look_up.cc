#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>

#include "testbed/http_caller/http_caller.h"
#include "testbed/http_caller/internal/socket_address.h"

namespace terrarium::testbed {
namespace {

// Who waits for which name. The system's look-up blocks for as long as its servers are silent, so each name has a
// thread of its own meanwhile, which nobody waits for: a call that has timed out does not take part in the answer.
struct Waiting {
  std::mutex mutex;
  std::map<std::string, std::vector<std::function<void(NameLookUp)>>> by_name;
};

void LookUpAndTell(Waiting& waiting, const std::string& name) {
  NameLookUp found = internal::LookUpNow(name);
  std::vector<std::function<void(NameLookUp)>> told;
  {
    std::lock_guard lock(waiting.mutex);
    told = std::move(waiting.by_name[name]);
    waiting.by_name.erase(name);
  }
  for (auto& done : told) done(found);
}

}  // namespace

LookUp SystemLookUp() {
  return [waiting = std::make_shared<Waiting>()](const std::string& name, std::function<void(NameLookUp)> done) {
    {
      std::lock_guard lock(waiting->mutex);
      auto& list = waiting->by_name[name];
      list.push_back(std::move(done));
      if (list.size() > 1) return;  // somebody has asked already
    }
    std::thread([waiting, name] { LookUpAndTell(*waiting, name); }).detach();
  };
}

}  // namespace terrarium::testbed
