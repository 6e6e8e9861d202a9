#include "testbed/control_plane/state_metrics/internal/family.h"

#include <array>
#include <charconv>

#include "api/base/clock.h"
#include "api/json_access.h"

namespace terrarium::testbed::state_metrics {
namespace {

void AppendLabel(std::string_view key, std::string_view value, std::string& out) {
  out.append(key).append("=\"");
  for (char c : value) {
    if (c == '\n') {
      out += "\\n";
      continue;
    }
    if (c == '\\' || c == '"') out += '\\';
    out += c;
  }
  out += '"';
}

// As Go prints a float64 that is a whole number with 'g': 21, 999999, 1e+06, 1.7672256e+09.
void AppendValue(std::int64_t value, std::string& out) {
  char text[32];
  const bool plain = value > -1'000'000 && value < 1'000'000;
  auto end = plain ? std::to_chars(text, text + sizeof text, value)
                   : std::to_chars(text, text + sizeof text, static_cast<double>(value),
                                   std::chars_format::scientific);
  out.append(text, end.ptr);
}

}  // namespace

void Samples::Add(std::int64_t value, std::initializer_list<Label> labels) {
  out_.append(family_).append("{");
  AppendLabel("namespace", object_.ns, out_);
  out_ += ',';
  AppendLabel(kind_label_, object_.name, out_);
  for (const Label& label : labels) {
    out_ += ',';
    AppendLabel(label.key, label.value, out_);
  }
  out_ += "} ";
  AppendValue(value, out_);
  out_ += '\n';
}

void Number(const Family& family, const api::Json& object, Samples& samples) {
  samples.Add(api::IntAt(object, 0, family.section, family.field));
}

void NumberIfSet(const Family& family, const api::Json& object, Samples& samples) {
  if (api::Find(object, family.section, family.field) != nullptr) Number(family, object, samples);
}

void TimeIfSet(const Family& family, const api::Json& object, Samples& samples) {
  auto time = api::ParseTime(api::StringAt(object, family.section, family.field));
  if (time) samples.Add(std::chrono::floor<std::chrono::seconds>(time->time_since_epoch()).count());
}

void Owners(const Family&, const api::Json& object, Samples& samples) {
  const api::Json& owners = api::ListAt(object, "metadata", "ownerReferences");
  if (owners.empty()) samples.Add(1, {{"owner_kind", ""}, {"owner_name", ""}, {"owner_is_controller", ""}});
  for (const api::Json& owner : owners) {
    samples.Add(1, {{"owner_kind", api::StringAt(owner, "kind")},
                    {"owner_name", api::StringAt(owner, "name")},
                    {"owner_is_controller", api::BoolAt(owner, "controller") ? "true" : "false"}});
  }
}

std::span<const KindFamilies> WorkloadKinds() {
  static const std::array kKinds = {
      KindFamilies{"daemonsets", "daemonset", DaemonSetFamilies()},
      KindFamilies{"deployments", "deployment", DeploymentFamilies()},
      KindFamilies{"jobs", "job_name", JobFamilies()},
      KindFamilies{"replicasets", "replicaset", ReplicaSetFamilies()},
      KindFamilies{"replicationcontrollers", "replicationcontroller", ReplicationControllerFamilies()},
      KindFamilies{"statefulsets", "statefulset", StatefulSetFamilies()},
  };
  return kKinds;
}

}  // namespace terrarium::testbed::state_metrics
