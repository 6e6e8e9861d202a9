// Ports and environment of a container.

#include "apiserver/validation/internal/pod_rules.h"

namespace terrarium::apiserver::pod_rules {
namespace {

void CheckFileKeyRef(const Json& ref, const Path& path, FieldErrors& errors) {
  const std::string_view key = StringAt(ref, "key");
  if (RequireText(ref, "key", path, errors)) AddInvalid(IsEnvVarName(key), key, path.Child("key"), errors);
  if (RequireText(ref, "volumeName", path, errors)) {
    CheckDnsLabel(StringAt(ref, "volumeName"), path.Child("volumeName"), errors);
  }
  if (RequireText(ref, "path", path, errors))
    CheckNoBacksteps(StringAt(ref, "path"), path.Child("path"), errors);
}

void CheckValueFrom(const Json& variable, const Json& from, const Path& path, FieldErrors& errors) {
  static const std::vector<std::string_view> kFields = {
      "metadata.name", "metadata.namespace", "metadata.uid", "spec.nodeName", "spec.serviceAccountName",
      "status.hostIP", "status.hostIPs",     "status.podIP", "status.podIPs"};
  int sources = 0;
  if (const Json* ref = Find(from, "fieldRef")) {
    ++sources;
    CheckObjectFieldRef(*ref, kFields, path.Child("fieldRef"), errors);
  }
  if (const Json* ref = Find(from, "resourceFieldRef")) {
    ++sources;
    CheckResourceFieldRef(*ref, false, path.Child("resourceFieldRef"), errors);
  }
  for (const char* field : {"configMapKeyRef", "secretKeyRef"}) {
    const Json* ref = Find(from, field);
    if (ref == nullptr) continue;
    ++sources;
    CheckKeySelector(*ref, path.Child(field), errors);
  }
  if (const Json* ref = Find(from, "fileKeyRef")) {
    ++sources;
    CheckFileKeyRef(*ref, path.Child("fileKeyRef"), errors);
  }
  if (sources == 0) {
    errors.push_back(
        api::InvalidError(path, "",
                          "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, "
                          "`secretKeyRef` or `fileKeyRef`"));
  } else if (!StringAt(variable, "value").empty()) {
    errors.push_back(api::InvalidError(path, "", "may not be specified when `value` is not empty"));
  } else if (sources > 1) {
    errors.push_back(api::InvalidError(path, "", "may not have more than one field specified at a time"));
  }
}

void CheckEnvSource(const Json& ref, const Path& path, FieldErrors& errors) {
  const std::string_view name = StringAt(ref, "name");
  // The name is checked as the beginning of one: a last dash passes.
  if (RequireText(ref, "name", path, errors)) {
    AddInvalid(NameIsDnsSubdomain(name, true), name, path.Child("name"), errors);
  }
}

}  // namespace

void CheckKeySelector(const Json& selector, const Path& path, FieldErrors& errors) {
  CheckSubdomain(StringAt(selector, "name"), path.Child("name"), errors);
  const std::string_view key = StringAt(selector, "key");
  if (RequireText(selector, "key", path, errors))
    AddInvalid(IsConfigMapKey(key), key, path.Child("key"), errors);
}

void CheckPorts(const Json& ports, const Path& path, FieldErrors& errors) {
  std::set<std::string, std::less<>> names;
  for (std::size_t i = 0; i < ports.size(); ++i) {
    const Json& port = ports[i];
    const Path here = path.Index(i);
    const std::string_view name = StringAt(port, "name");
    if (!name.empty()) {
      const Messages messages = IsValidPortName(name);
      AddInvalid(messages, name, here.Child("name"), errors);
      if (messages.empty() && !names.emplace(name).second) {
        errors.push_back(api::DuplicateError(here.Child("name"), name));
      }
    }
    const std::int64_t container_port = IntAt(port, 0, "containerPort");
    if (container_port == 0) {
      errors.push_back(api::RequiredError(here.Child("containerPort")));
    } else {
      for (const std::string& message : IsValidPortNum(container_port)) {
        errors.push_back(api::InvalidError(here.Child("containerPort"), container_port, message));
      }
    }
    const std::int64_t host_port = IntAt(port, 0, "hostPort");
    if (host_port != 0) {
      for (const std::string& message : IsValidPortNum(host_port)) {
        errors.push_back(api::InvalidError(here.Child("hostPort"), host_port, message));
      }
    }
    const std::string_view protocol = StringAt(port, "protocol");
    if (protocol.empty()) {
      errors.push_back(api::RequiredError(here.Child("protocol")));
    } else if (protocol != "TCP" && protocol != "UDP" && protocol != "SCTP") {
      errors.push_back(api::NotSupportedError(here.Child("protocol"), protocol, {"SCTP", "TCP", "UDP"}));
    }
  }
}

void CheckEnv(const Json& env, const Path& path, FieldErrors& errors) {
  for (std::size_t i = 0; i < env.size(); ++i) {
    const Path here = path.Index(i);
    const std::string_view name = StringAt(env[i], "name");
    if (RequireText(env[i], "name", here, errors))
      AddInvalid(IsEnvVarName(name), name, here.Child("name"), errors);
    if (const Json* from = Find(env[i], "valueFrom"))
      CheckValueFrom(env[i], *from, here.Child("valueFrom"), errors);
  }
}

void CheckEnvFrom(const Json& env_from, const Path& path, FieldErrors& errors) {
  for (std::size_t i = 0; i < env_from.size(); ++i) {
    const Path here = path.Index(i);
    const std::string_view prefix = StringAt(env_from[i], "prefix");
    if (!prefix.empty()) AddInvalid(IsEnvVarName(prefix), prefix, here.Child("prefix"), errors);
    int sources = 0;
    for (const char* field : {"configMapRef", "secretRef"}) {
      const Json* ref = Find(env_from[i], field);
      if (ref == nullptr) continue;
      ++sources;
      CheckEnvSource(*ref, here.Child(field), errors);
    }
    if (sources == 0) {
      errors.push_back(api::InvalidError(path, "", "must specify one of: `configMapRef` or `secretRef`"));
    } else if (sources > 1) {
      errors.push_back(api::InvalidError(path, "", "may not have more than one field specified at a time"));
    }
  }
}

void CheckFileKeyRefVolumes(const Json& spec, const Path& path, FieldErrors& errors) {
  std::map<std::string_view, const Json*> volumes;
  for (const Json& volume : ListAt(spec, "volumes"))
    volumes.insert_or_assign(StringAt(volume, "name"), &volume);
  VisitContainers(spec, path, [&](const Json& container, const Path& container_path) {
    const Json& env = ListAt(container, "env");
    for (std::size_t i = 0; i < env.size(); ++i) {
      const Json* ref = Find(env[i], "valueFrom", "fileKeyRef");
      if (ref == nullptr) continue;
      const std::string_view name = StringAt(*ref, "volumeName");
      const Path here =
          container_path.Child("env").Index(i).Child("valueFrom", "fileKeyRef").Child("volumeName");
      const auto volume = volumes.find(name);
      if (volume == volumes.end()) {
        errors.push_back(api::NotFoundFieldError(here, name));
      } else if (Find(*volume->second, "emptyDir") == nullptr) {
        errors.push_back(api::InvalidError(here, name, "referenced volume must be of type emptyDir"));
      }
    }
  });
}

}  // namespace terrarium::apiserver::pod_rules
