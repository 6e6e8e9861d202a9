#pragma once

// A cluster whose nodes fail, for the tests of the controllers that deal with it.

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "api/json.h"
#include "testbed/embedding/testbed.h"

namespace terrarium::controllers {

// A pod that is already bound, so that a test knows where it is; without a node it waits for a scheduler.
api::Json PodOn(const std::string& name, const std::string& node);

// The document, or null when there is none.
api::Json NodeOf(testbed::Testbed& bed, std::string_view name);
api::Json PodOf(testbed::Testbed& bed, std::string_view name);  // in default

// The status of a condition; empty without it.
std::string ConditionStatus(const api::Json& object, std::string_view type);
// "key:effect" of a node's taints.
std::set<std::string> TaintsOf(testbed::Testbed& bed, std::string_view node);
// "Reason: message" of all events about objects of that name.
std::set<std::string> EventsAbout(testbed::Testbed& bed, std::string_view name);

void FailNode(testbed::Testbed& bed, std::string_view name);
void RecoverNode(testbed::Testbed& bed, std::string_view name);

// What became of a pod since this was made: its phases in order, and whether it has gone.
class PodHistory {
 public:
  PodHistory(testbed::Testbed& bed, std::string name);
  std::vector<std::string> Phases();
  bool Gone();
  // The last document there was.
  api::Json Last();

 private:
  void Read();

  std::string name_;
  std::unique_ptr<storage::Watch> watch_;
  std::vector<std::string> phases_;
  bool gone_ = false;
  api::ObjectPtr last_;
};

}  // namespace terrarium::controllers
