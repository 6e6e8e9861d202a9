#include "tests/matrix/victim_cell.h"

#include <chrono>
#include <functional>
#include <ostream>
#include <set>
#include <span>

#include "api/http_caller.h"
#include "testbed/embedding/testbed.h"
#include "tests/matrix/cell_play.h"
#include "tests/matrix/sentences.h"

namespace terrarium::matrix {
namespace {

using api::Json;
using api::ObjectPtr;
using namespace std::chrono_literals;

constexpr const char* kCost = "controller.kubernetes.io/pod-deletion-cost";

const char* NameOf(Hint hint) {
  switch (hint) {
    case Hint::kNone: return "NoHint";
    case Hint::kSameCost: return "SameCost";
    case Hint::kOldAreCheap: return "OldAreCheap";
    case Hint::kNotANumber: return "NotANumber";
    case Hint::kPicker: break;
  }
  return "Picker";
}

// The user's picker: chooses the old pods.
class PickerOfOldPods : public api::HttpCaller {
 public:
  void Call(api::HttpCall call, std::function<void(api::HttpAnswer)> done) override {
    ++calls;
    const Json request = Json::parse(call.body);
    Json chosen = Json::array();
    for (const Json& pod : request.at("candidate_pods"))
      if (old.contains(pod.get<std::string>())) chosen.push_back(pod);
    api::HttpAnswer answer;
    answer.status = 200;
    answer.content_type = "application/json";
    answer.body = Json{{"chosen_pods", chosen}, {"tied_pods", Json::array()}}.dump();
    done(std::move(answer));
  }

  std::set<std::string> old;
  int calls = 0;
};

class VictimPlay : public CellPlay {
 public:
  explicit VictimPlay(const VictimCell& cell)
      : CellPlay(cell.Name(), cell.history),
        cell_(cell),
        bed_({.controllers = "deployment-controller,node-lifecycle-controller,replicaset-controller",
              .nodes = 1,
              .on_violation = Violations(),
              .http_caller = &picker_}) {}

 private:
  const char* Resource() const { return cell_.deployment ? "deployments" : "replicasets"; }

  void Switch() override {
    bed_.Must(bed_.SetGates("apiserver", {{cell_.gate, phase().apiserver}}));
    bed_.Must(bed_.SetGates("controller-manager", {{cell_.gate, phase().controller_manager}}));
    bed_.clock().Advance(1s);
  }

  void Apply() override {
    Json spec = Json::object();
    if (cell_.hint == Hint::kPicker)
      spec["downscalePodPicker"] = {
          {"http", {{"host", "picker.example"}, {"port", 8080}, {"path", "/pick"}}}};
    if (number() == 0) {
      const Json labels = {{"app", "web"}};
      spec["replicas"] = 2;
      spec["selector"] = {{"matchLabels", labels}};
      spec["template"] = {{"metadata", {{"labels", labels}}},
                          {"spec", {{"containers", Json::array({Json{{"name", "c"}, {"image", "i"}}})}}}};
      bed_.Must(bed_.Create(Resource(), "default", {{"metadata", {{"name", "web"}}}, {"spec", spec}}));
    } else if (!spec.empty()) {
      bed_.Must(bed_.Patch(Resource(), {"default", "web"}, {{"spec", spec}}));
    }
    picker_is_stored_ = cell_.hint == Hint::kPicker && (picker_is_stored_ || phase().apiserver);
    bed_.clock().Advance(1s);
  }

  void Scale(int replicas) {
    bed_.Must(bed_.Patch(Resource(), {"default", "web"}, {{"spec", {{"replicas", replicas}}}}));
  }

  std::set<std::string> Pods() {
    std::set<std::string> names;
    for (const ObjectPtr& pod : bed_.List("pods", "default"))
      if (!pod->header().deleting) names.insert(pod->header().name);
    return names;
  }

  // "" leaves a pod unchanged.
  std::string CostOf(const std::string& pod) const {
    const bool is_old = old_.contains(pod);
    switch (cell_.hint) {
      case Hint::kNone:
      case Hint::kPicker: return "";
      case Hint::kSameCost: return "10";
      case Hint::kOldAreCheap: return is_old ? "-10" : "10";
      case Hint::kNotANumber: break;
    }
    return is_old ? "cheap" : "";
  }

  void SetCosts() {
    taken_ = true;
    for (const std::string& pod : Pods()) {
      const std::string cost = CostOf(pod);
      if (cost.empty()) continue;
      auto patched = bed_.Patch("pods", {"default", pod}, {{"metadata", {{"annotations", {{kCost, cost}}}}}});
      taken_ = taken_ && patched.ok();
    }
  }

  void Begin() override {
    bed_.clock().Advance(2min);
    old_ = Pods();
    picker_.old = old_;
    picker_.calls = 0;
    Scale(4);
    bed_.clock().Advance(3s);
    SetCosts();
    bed_.clock().Advance(1s);
    Scale(2);
    bed_.clock().Advance(1s);
  }
  void End() override {}

  void Check(Moment& moment) override {
    // A malformed cost is refused, unless it is already stored; then it counts as 0. Only different costs
    // change the order, and only with the controller-manager's gate on.
    const bool unreadable = cell_.hint == Hint::kNotANumber;
    const bool refused = unreadable && phase().apiserver && !unreadable_is_stored_;
    unreadable_is_stored_ = unreadable && !refused;
    moment.Expect("the costs are taken", !refused, taken_, sentence::kCostRefused);
    // A picker takes effect if it is stored, which the apiserver's gate decides.
    const bool picked = picker_is_stored_ && phase().controller_manager;
    const bool has_picker =
        bed_.Get(Resource(), "default", "web")->Parse()["spec"].contains("downscalePodPicker");
    moment.Expect("spec.downscalePodPicker", picker_is_stored_, has_picker, sentence::kPickerOff);
    moment.Expect("the picker is asked", picked, picker_.calls > 0,
                  picked ? sentence::kPickerChooses : sentence::kPickerOff);
    const bool differ = cell_.hint == Hint::kOldAreCheap;
    const bool old_go = picked || (differ && phase().controller_manager);
    int old_left = 0;
    for (const std::string& pod : Pods()) old_left += static_cast<int>(old_.contains(pod));
    const Sentence& because = picked   ? sentence::kPickerChooses
                              : old_go ? sentence::kCheapestFirst
                              : differ ? sentence::kCostDowngrade
                                       : sentence::kSameCost;
    moment.Expect("old pods that are left", old_go ? 0 : 2, old_left, because);
    moment.Expect("pods", 2, static_cast<int>(Pods().size()), because);
  }

  const VictimCell& cell_;
  std::set<std::string> old_;
  bool taken_ = true;
  bool unreadable_is_stored_ = false;
  bool picker_is_stored_ = false;
  PickerOfOldPods picker_;
  testbed::Testbed bed_;
};

}  // namespace

std::string VictimCell::Name() const {
  return history.Name() + "_" + NameOf(hint) + (deployment ? "_Deployment" : "_ReplicaSet");
}

std::ostream& operator<<(std::ostream& out, const VictimCell& cell) { return out << cell.Name(); }

namespace {

// No action takes time: there is no switch in flight.
std::vector<VictimCell> CellsOf(const char* gate, std::span<const Hint> hints) {
  std::vector<VictimCell> cells;
  for (const History& history : AllHistories()) {
    if (history.timing == Timing::kInFlight) continue;
    for (Hint hint : hints)
      for (bool deployment : {false, true}) cells.push_back({gate, history, hint, deployment});
  }
  return cells;
}

}  // namespace

std::vector<VictimCell> AllCostCells() { return CellsOf("PodDeletionCost", kCostHints); }
std::vector<VictimCell> AllPickerCells() { return CellsOf("DownscalePodPicker", kPickerHints); }

CellReport Play(const VictimCell& cell) { return VictimPlay(cell).Play(); }

}  // namespace terrarium::matrix
