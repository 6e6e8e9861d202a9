#pragma once

// A cluster whose nodes fail, for the tests of the controllers that handle node failures.

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "api/json.h"
#include "testbed/embedding/testbed.h"

namespace terrarium::controllers {

// A pod that is already bound, so that the test knows its node. Without a node it waits for a scheduler.
api::Json PodOn(const std::string& name, const std::string& node);

// The document, or null if there is none.
api::Json NodeOf(testbed::Testbed& bed, std::string_view name);
api::Json PodOf(testbed::Testbed& bed, std::string_view name);  // in default

// The status of a condition; empty if absent.
std::string ConditionStatus(const api::Json& object, std::string_view type);
// "key:effect" of a node's taints.
std::set<std::string> TaintsOf(testbed::Testbed& bed, std::string_view node);
// "Reason: message" of all events about objects of that name.
std::set<std::string> EventsAbout(testbed::Testbed& bed, std::string_view name);

void FailNode(testbed::Testbed& bed, std::string_view name);
void RecoverNode(testbed::Testbed& bed, std::string_view name);

// The history of a pod from the construction of this object: its phases in order, and whether it is deleted.
class PodHistory {
 public:
  PodHistory(testbed::Testbed& bed, std::string name);
  std::vector<std::string> Phases();
  bool Gone();
  // The last document.
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
