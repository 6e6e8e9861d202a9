#pragma once

// Families of metrics. One table per kind, with the order, names, texts and labels of kube-state-metrics
// 2.18.

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

#include "api/json.h"
#include "api/object.h"

namespace terrarium::testbed::state_metrics {

struct Label {
  std::string_view key;
  std::string_view value;
};

// Collects the samples of one object in one family. Every sample has the labels `namespace` and the kind's
// own.
class Samples {
 public:
  Samples(std::string_view family, std::string_view kind_label, const api::ObjectHeader& object,
          std::string& out)
      : family_(family), kind_label_(kind_label), object_(object), out_(out) {}

  void Add(std::int64_t value, std::initializer_list<Label> labels = {});

 private:
  std::string_view family_;
  std::string_view kind_label_;
  const api::ObjectHeader& object_;
  std::string& out_;
};

struct Family {
  std::string_view name;
  std::string_view help;  // with "[STABLE] " as in kube-state-metrics
  void (*read)(const Family& family, const api::Json& object, Samples& samples);
  std::string_view section =
      {};  // of the field that Number, NumberIfSet and TimeIfSet read: "spec", "status", ...
  std::string_view field = {};
};

// The field, 0 when absent.
void Number(const Family& family, const api::Json& object, Samples& samples);
// No sample when absent.
void NumberIfSet(const Family& family, const api::Json& object, Samples& samples);
void TimeIfSet(const Family& family, const api::Json& object, Samples& samples);  // seconds since 1970
// One sample for each owner, or one with empty labels.
void Owners(const Family& family, const api::Json& object, Samples& samples);

// Calls `add` for each of the three possible statuses of a condition, with 1 for the actual one.
template <typename Add>
void EachStatus(std::string_view status, Add add) {
  add("true", status == "True" ? 1 : 0);
  add("false", status == "False" ? 1 : 0);
  add("unknown", status == "Unknown" ? 1 : 0);
}

struct KindFamilies {
  std::string_view resource;  // the store's name of the kind
  std::string_view label;     // the label with the object's name
  std::span<const Family> families;
};

std::span<const Family> DaemonSetFamilies();
std::span<const Family> DeploymentFamilies();
std::span<const Family> JobFamilies();
std::span<const Family> ReplicaSetFamilies();
std::span<const Family> ReplicationControllerFamilies();
std::span<const Family> StatefulSetFamilies();

std::span<const KindFamilies> WorkloadKinds();

}  // namespace terrarium::testbed::state_metrics
