#include "apiserver/validation/internal/pod_rules.h"
#include "apiserver/validation/internal/pod_warnings.h"

namespace terrarium::apiserver {

using namespace pod_rules;  // NOLINT: the helpers of this folder

namespace {

struct Port {
  const Json* port;
  Path path;

  std::string_view HostIp() const { return StringAt(*port, "hostIP"); }
  std::int64_t HostPort() const { return IntAt(*port, 0, "hostPort"); }
};

std::string GoStruct(const Json& port) {
  std::string out = "{Name:";
  out.append(StringAt(port, "name"))
      .append(" HostPort:")
      .append(std::to_string(IntAt(port, 0, "hostPort")))
      .append(" ContainerPort:")
      .append(std::to_string(IntAt(port, 0, "containerPort")))
      .append(" Protocol:")
      .append(StringAt(port, "protocol"))
      .append(" HostIP:")
      .append(StringAt(port, "hostIP"));
  return out + "}";
}

void WarnPair(const Port& port, const Port& other, Warnings& out) {
  std::string_view what;
  if (port.HostIp() == other.HostIp() && port.HostPort() == other.HostPort()) {
    what = "duplicate port definition with ";
  } else if (port.HostPort() == 0 || other.HostPort() == 0) {
    what = "overlapping port definition with ";
  } else if (port.HostPort() == other.HostPort() && port.HostIp().empty() != other.HostIp().empty()) {
    what = "dangerously ambiguous port definition with ";
  } else {
    return;
  }
  AddWarning(out, port.path, {what, other.path.String()});
}

std::vector<Port> AllPorts(const Json& spec, const Path& spec_path) {
  std::vector<Port> out;
  VisitContainers(spec, spec_path, [&](const Json& container, const Path& path) {
    const Json& ports = ListAt(container, "ports");
    for (std::size_t i = 0; i < ports.size(); ++i) out.push_back({&ports[i], path.Child("ports").Index(i)});
  });
  return out;
}

}  // namespace

void WarnPorts(const Json& spec, const Path& spec_path, Warnings& out) {
  const std::vector<Port> ports = AllPorts(spec, spec_path);
  std::map<std::pair<std::int64_t, std::string_view>, std::vector<const Port*>> seen;
  for (const Port& port : ports) {
    if (!port.HostIp().empty() && port.HostPort() == 0) {
      AddWarning(out, port.path, {"hostIP set without hostPort: ", GoStruct(*port.port)});
    }
    auto& same = seen[{IntAt(*port.port, 0, "containerPort"), StringAt(*port.port, "protocol")}];
    for (const Port* other : same) {
      if (out.full()) return;  // more pairs add nothing, and there can be very many
      WarnPair(port, *other, out);
    }
    same.push_back(&port);
  }
  std::map<std::string_view, const Port*> names;
  for (const Port& port : ports) {
    const std::string_view name = StringAt(*port.port, "name");
    if (name.empty()) continue;
    const auto [it, is_new] = names.emplace(name, &port);
    if (is_new) continue;
    const std::string& first = it->second->path.String();
    AddWarning(out, port.path,
               {"duplicate port name ", api::Quote(name), " with ", first,
                ", services and probes that select ports by name will use ", first});
  }
}

}  // namespace terrarium::apiserver
