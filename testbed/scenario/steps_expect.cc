#include <algorithm>
#include <utility>

#include "api/codec/yaml.h"
#include "api/json_access.h"
#include "testbed/scenario/expectation.h"
#include "testbed/scenario/field_check.h"
#include "testbed/scenario/metrics_text.h"
#include "testbed/scenario/shapes.h"
#include "testbed/scenario/target.h"

namespace terrarium::testbed::scenario {
namespace {

using api::YamlPathBelow;

std::string NameOf(const api::ObjectPtr& object) { return object->name().String(); }

// The names of the first few objects.
std::string Names(const std::vector<api::ObjectPtr>& objects) {
  constexpr std::size_t kShownMax = 8;
  std::string out;
  for (std::size_t i = 0; i < objects.size() && i < kShownMax; ++i)
    out += (i == 0 ? "" : ", ") + NameOf(objects[i]);
  if (objects.size() > kShownMax) out += ", and " + std::to_string(objects.size() - kShownMax) + " more";
  return out;
}

// An expectation about objects or Events: how many are selected, and what they look like.
class CountedObjects : public Expectation {
 public:
  struct Terms {
    std::string what;             // "pods with app=web"
    std::optional<Bounds> count;  // the required number
    bool absent = false;
    Json match;             // what each must match; null: anything
    bool one = false;       // `what` names one object
    std::string note = {};  // why nothing happens to the objects; empty: something does
  };
  CountedObjects(storage::Store& store, std::string resource, Terms terms, Follower::Judge judge)
      : terms_(std::move(terms)), follower_(store, std::move(resource), std::move(judge)) {}

  bool Next() override { return follower_.Next(); }

  bool Holds() const override {
    if (terms_.absent) return follower_.objects() == 0;
    if (terms_.count && !terms_.count->Allows(static_cast<double>(follower_.selected()))) return false;
    if (!terms_.count && follower_.objects() == 0) return false;
    return terms_.match.is_null() || follower_.matching() == follower_.objects();
  }

  bool Occurs() const override {
    if (terms_.absent || terms_.count) return Holds();
    return terms_.match.is_null() ? follower_.objects() > 0 : follower_.matching() > 0;
  }

  Mismatch Explain(bool never) const override {
    Mismatch out = never ? ExplainPresence() : ExplainLack();
    if (!never && !terms_.note.empty()) out.text += "; " + terms_.note;
    out.revision = follower_.revision();
    return out;
  }

 private:
  Mismatch ExplainPresence() const {
    if (terms_.absent) return {terms_.what + ": not there, which must never be"};
    std::string text = terms_.what + ": " + std::to_string(follower_.selected());
    if (!terms_.match.is_null())
      text += ", " + std::to_string(follower_.matching()) + " of them as they must never be";
    else
      text += terms_.count ? ", and there must never be " + terms_.count->String()
                           : ", and there must never be any";
    return {text + " (" + Names(follower_.Selected()) + ")"};
  }

  Mismatch ExplainLack() const {
    const std::vector<api::ObjectPtr> selected = follower_.Selected();
    const std::string there = selected.empty() ? "" : " (" + Names(selected) + ")";
    if (terms_.absent) return {terms_.what + ": expected none, and it is there"};
    if (terms_.count && !terms_.count->Allows(static_cast<double>(follower_.selected())))
      return {terms_.what + ": expected " + terms_.count->String() + ", got " +
              std::to_string(follower_.selected()) + there};
    if (selected.empty()) return {terms_.what + ": not there"};
    const std::vector<api::ObjectPtr> wrong = follower_.Mismatching();
    Mismatch out;
    out.text = terms_.one ? terms_.what + " does not match"
                          : terms_.what + ": " + NameOf(wrong.front()) + " does not match";
    if (wrong.size() > 1) out.text += ", nor do " + std::to_string(wrong.size() - 1) + " more";
    out.differences = Differences(terms_.match, *wrong.front()->Document());
    return out;
  }

  Terms terms_;
  Follower follower_;
};

const Members& ObjectKeys() {
  static const Members members{
      {"match", AnyObject(), "a part of the object: what each of them must look like"},
      {"count", NumberRule(), "how many there are"},
      {"absent", AnyBoolean(), "true: there is no such object"},
  };
  return members;
}

void CheckObjects(const StepDraft& step, Mistakes& mistakes) {
  const Json& document = step.document;
  CheckTarget(document, "expect", step.path, "", mistakes);
  CheckTimeKeys(step, mistakes);
  auto target = ParseKindAndName(document["expect"].get_ref<const std::string&>());
  auto wrong = [&](const char* key, const std::string& text) {
    mistakes.push_back({YamlPathBelow(step.path, key) + "#", text});
  };
  if (document.contains("match"))
    CheckFields(*target->resource, document["match"], YamlPathBelow(step.path, "match"), FieldUse::kMatch,
                mistakes);
  if (document.contains("absent")) {
    if (document["absent"] != true)
      wrong("absent", "absent takes true: without it, the object must be there");
    if (target->name.empty()) wrong("absent", "absent goes with KIND/NAME; for several write count: 0");
    if (document.contains("match")) wrong("match", "an absent object has nothing to match");
  }
  if (document.contains("count") && !target->name.empty())
    wrong("count", "count goes with a kind without a name, like " + std::string(target->resource->plural));
  if (document.contains("never") && document.contains("match") && document.contains("count"))
    wrong("count", "never takes match or count: select the objects to count with where");
}

StepOutcome ExpectObjects(Run& run, const Json& step) {
  ObjectTarget target = ObjectTarget::Of(step, "expect");
  CountedObjects::Terms terms{target.String(), {}, step.contains("absent"), {}, !target.name().empty()};
  if (step.contains("count")) terms.count = BoundsOf(step["count"]);
  if (step.contains("match")) terms.match = step["match"];
  terms.note = run.bed().control_plane().components().WhyNothingActsOn(target.Storage());
  auto judge = [target, match = terms.match](const api::ObjectPtr& object) -> Follower::Judged {
    if (!target.Selects(object)) return {};
    return {1, match.is_null() || Matches(match, *object->Document())};
  };
  return Judge(run, step,
               std::make_unique<CountedObjects>(run.bed().control_plane().store(), target.Storage(),
                                                std::move(terms), judge));
}

const Members& EventKeys() {
  static const Members members{
      {"reason", LikeText(), "the events' reason; * stands for anything"},
      {"message", LikeText(), "the events' message; * stands for anything"},
      {"type", AnyText(), "Normal or Warning"},
      {"count", NumberRule(), "how often that was reported; at least once by default"},
  };
  return members;
}

// Selects the Events of a step.
struct EventTerms {
  std::string ns, kind, name, reason, message, type;  // empty: any

  // How often the Event was reported. 0: it is not selected.
  std::int64_t Count(const api::ObjectPtr& object) const {
    const auto document = object->Document();
    const Json& event = *document;
    const Json& about = api::ObjectAt(event, "involvedObject");
    auto like = [](const std::string& pattern, std::string_view text) {
      return pattern.empty() || Like(pattern, text);
    };
    if (api::StringAt(about, "kind") != kind || api::StringAt(about, "namespace") != ns) return 0;
    if (!like(name, api::StringAt(about, "name")) || !like(reason, api::StringAt(event, "reason"))) return 0;
    if (!like(message, api::StringAt(event, "message")) || !like(type, api::StringAt(event, "type")))
      return 0;
    return std::max<std::int64_t>(
        {api::IntAt(event, 1, "count"), api::IntAt(event, 1, "series", "count"), 1});
  }

  std::string String() const {
    std::string out = "events about " + kind + " " + (name.empty() ? "*" : name);
    for (const auto& [word, value] :
         {std::pair{" with reason ", reason}, {" and message ", message}, {" of type ", type}})
      if (!value.empty()) out += word + value;
    return out;
  }
};

void CheckEvents(const StepDraft& step, Mistakes& mistakes) {
  CheckTarget(step.document, "expectEvents", step.path, "", mistakes);
  CheckTimeKeys(step, mistakes);
}

StepOutcome ExpectEvents(Run& run, const Json& step) {
  auto target = ParseKindAndName(step["expectEvents"].get_ref<const std::string&>());
  EventTerms terms;
  terms.kind = target->resource->kind;
  terms.name = target->name;
  if (target->resource->namespaced)
    terms.ns = step.contains("namespace") ? step["namespace"].get<std::string>() : "default";
  terms.reason = api::StringAt(step, "reason");
  terms.message = api::StringAt(step, "message");
  terms.type = api::StringAt(step, "type");
  CountedObjects::Terms counted{terms.String(), {}, false, {}, false};
  if (step.contains("count")) counted.count = BoundsOf(step["count"]);
  auto judge = [terms](const api::ObjectPtr& event) -> Follower::Judged {
    return {terms.Count(event), true};
  };
  return Judge(run, step,
               std::make_unique<CountedObjects>(run.bed().control_plane().store(), "events",
                                                std::move(counted), judge));
}

const Members& MetricKeys() {
  static const Shape labels{.type = Shape::Type::kMap, .is = "labels", .of = &AnyText()};
  static const Members members{
      {"labels", labels, "labels of the series; where several have them, their sum counts"},
      {"value", NumberRule(), "what it is"},
      {"increase", NumberRule(), "by how much it has grown since the step that `since` names"},
      {"since", AnyText(), "the name of an earlier step"},
      {"absent", AnyBoolean(), "true: there is no such series"},
  };
  return members;
}

class MetricValue : public Expectation {
 public:
  MetricValue(Run& run, const Json& step)
      : run_(run),
        step_(step),
        name_(step["expectMetric"].get<std::string>()),
        labels_(step.contains("labels") ? step["labels"] : Json::object()) {
    Next();
  }

  // A change of a metric has no revision, so each check sees exactly one new state.
  bool Next() override {
    is_sampled_ = !is_sampled_;
    if (!is_sampled_) return false;
    text_ = run_.Metrics();
    value_ = SumOfSeries(text_, name_, labels_);
    return true;
  }
  bool ByRevision() const override { return false; }

  bool Holds() const override {
    if (step_.contains("absent")) return !value_;
    if (step_.contains("increase")) return BoundsOf(step_["increase"]).Allows(Increase());
    return value_ && (!step_.contains("value") || BoundsOf(step_["value"]).Allows(*value_));
  }

  Mismatch Explain(bool never) const override {
    std::string what = name_ + (labels_.empty() ? "" : labels_.dump());
    if (step_.contains("increase"))
      return {what + ": " + (never ? "must never grow by " : "expected to grow by ") +
              BoundsOf(step_["increase"]).String() + " since " + step_["since"].dump() + ", it grew by " +
              FormatMetric(Increase())};
    std::string got = value_ ? FormatMetric(*value_) : "no such series";
    if (!value_ && !step_.contains("absent"))
      if (std::string others = SeriesOf(text_, name_); !others.empty()) got += "; there are " + others;
    std::string wanted = step_.contains("absent")  ? "no such series"
                         : step_.contains("value") ? BoundsOf(step_["value"]).String()
                                                   : "a value";
    return {what + ": " + (never ? "must never be " : "expected ") + wanted + ", got " + got};
  }

 private:
  double Increase() const {
    const std::string& before = run_.MetricsAfter(step_["since"].get<std::string>());
    return value_.value_or(0) - SumOfSeries(before, name_, labels_).value_or(0);
  }

  Run& run_;
  const Json& step_;
  std::string name_;
  Json labels_;
  bool is_sampled_ = false;
  std::string text_;
  std::optional<double> value_;
};

void CheckMetric(const StepDraft& step, Mistakes& mistakes) {
  const Json& document = step.document;
  CheckTimeKeys(step, mistakes);
  auto wrong = [&](const char* key, const std::string& text) {
    mistakes.push_back({YamlPathBelow(step.path, key), text});
  };
  int terms = 0;
  for (const char* key : {"value", "increase", "absent"}) terms += document.contains(key) ? 1 : 0;
  if (terms > 1) wrong("expectMetric", "a metric has one of value, increase or absent");
  if (document.contains("increase") != document.contains("since"))
    wrong(document.contains("since") ? "since" : "increase", "increase and since go together");
  if (document.contains("since") && !step.earlier.contains(document["since"].get<std::string>()))
    wrong("since", "no step before this one has the name " + document["since"].dump());
  if (document.contains("absent") && document["absent"] != true) wrong("absent", "absent takes true");
  // A change of a metric has no revision, and reading all metrics after every piece of work is slow.
  for (const char* key : {"always", "never"})
    if (document.contains(key) && document[key] == "end") wrong(key, "a metric needs a duration");
}

StepOutcome ExpectMetric(Run& run, const Json& step) {
  return Judge(run, step, std::make_unique<MetricValue>(run, step));
}

}  // namespace

std::span<const StepDef> ExpectationSteps() {
  static const std::vector<StepDef> steps{
      {"expect",
       "check how many objects there are, and their fields",
       Target(),
       {&SelectionMembers(), &ObjectKeys(), &TimeKeys()},
       CheckObjects,
       ExpectObjects},
      {"expectEvents",
       "Events: about KIND/NAME (* in a name stands for anything) or all of a KIND",
       Target(),
       {&NamespaceMember(), &EventKeys(), &TimeKeys()},
       CheckEvents,
       ExpectEvents},
      {"expectMetric",
       "check the value of a series of /metrics, whenever the cluster is quiet",
       AnyText(),
       {&MetricKeys(), &TimeKeys()},
       CheckMetric,
       ExpectMetric},
  };
  return steps;
}

}  // namespace terrarium::testbed::scenario
