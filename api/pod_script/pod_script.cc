#include "api/pod_script/pod_script.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <functional>

#include "api/base/duration.h"
#include "api/json_access.h"

namespace terrarium::api {
namespace {

constexpr int kExitCodeMax = 255;

// Where a value stands, for errors.
struct Place {
  const Path& path;
  std::string_view text;
  FieldErrors& errors;

  void Invalid(std::string_view detail) const { errors.push_back(InvalidError(path, text, detail)); }
};

std::optional<Duration> ReadDuration(std::string_view text, const Place& place) {
  const ParsedDuration parsed = ParseDuration(text);
  if (!parsed) {
    place.Invalid(parsed.error);
    return std::nullopt;
  }
  if (parsed.value < Duration::zero()) {
    place.Invalid("must be greater than or equal to 0");
    return std::nullopt;
  }
  return parsed.value;
}

void Read(const Place& place, std::optional<Duration>& out) { out = ReadDuration(place.text, place); }

void Read(const Place& place, std::optional<int>& out) {
  int code = 0;
  const char* end = place.text.data() + place.text.size();
  const auto [stop, error] = std::from_chars(place.text.data(), end, code);
  if (error == std::errc::invalid_argument || stop != end) return place.Invalid("must be an integer");
  if (error != std::errc() || code < 0 || code > kExitCodeMax) {
    return place.Invalid("must be between 0 and 255, inclusive");
  }
  out = code;
}

void Read(const Place& place, std::optional<bool>& out) {
  if (place.text == "true" || place.text == "false") {
    out = place.text == "true";
  } else {
    place.errors.push_back(NotSupportedError(place.path, place.text, {"false", "true"}));
  }
}

void Read(const Place& place, std::optional<std::string>& out) { out = std::string(place.text); }

// "10s:false,25s:true": from when on the probe fails or passes, each later than the one before.
void Read(const Place& place, std::optional<std::vector<ProbeFlip>>& out) {
  std::vector<ProbeFlip> flips;
  std::string_view rest = place.text;
  for (bool more = true; more;) {
    const std::size_t comma = rest.find(',');
    const std::string_view item = rest.substr(0, comma);
    more = comma != std::string_view::npos;
    if (more) rest.remove_prefix(comma + 1);
    const std::size_t colon = item.find(':');
    const std::string_view passes = colon == std::string_view::npos ? "" : item.substr(colon + 1);
    if (passes != "true" && passes != "false") {
      return place.Invalid("must be a list like 10s:false,25s:true");
    }
    const std::optional<Duration> after = ReadDuration(item.substr(0, colon), place);
    if (!after) return;
    if (!flips.empty() && *after <= flips.back().after)
      return place.Invalid("must be in ascending order of time");
    flips.push_back({*after, passes == "true"});
  }
  out = std::move(flips);
}

// "40s:false", the form of a readiness script: a container whose liveness probe failed is replaced, so
// nothing follows.
void ReadLiveness(const Place& place, std::optional<Duration>& out) {
  constexpr std::string_view kFails = ":false";
  if (!place.text.ends_with(kFails))
    return place.Invalid("must be the time at which the probe fails, like 40s:false");
  out = ReadDuration(place.text.substr(0, place.text.size() - kFails.size()), place);
}

void ReadPeriod(const Place& place, std::optional<Duration>& out) {
  const std::optional<Duration> period = ReadDuration(place.text, place);
  if (period == Duration::zero()) return place.Invalid("must be greater than 0");
  out = period;
}

void Read(const Place& place, std::optional<UsageCourse>& out) {
  std::string error;
  out = UsageCourse::Parse(place.text, &error);
  if (!out) place.Invalid(error);
}

void ReadRunFor(const Place& place, std::optional<Duration>& out) {
  out = place.text == "forever" ? kForever : ReadDuration(place.text, place);
}

struct Key {
  std::string_view name;
  void (*read)(const Place& place, ContainerScript& script);
};

// Sorted by name.
constexpr std::array<Key, 16> kKeys = {{
    {"cpu", [](const Place& p, ContainerScript& s) { Read(p, s.cpu); }},
    {"exit-code", [](const Place& p, ContainerScript& s) { Read(p, s.exit_code); }},
    {"exit-reason", [](const Place& p, ContainerScript& s) { Read(p, s.exit_reason); }},
    {"hang", [](const Place& p, ContainerScript& s) { Read(p, s.hang); }},
    {"ignore-sigterm", [](const Place& p, ContainerScript& s) { Read(p, s.ignore_sigterm); }},
    {"liveness", [](const Place& p, ContainerScript& s) { ReadLiveness(p, s.liveness); }},
    {"log", [](const Place& p, ContainerScript& s) { Read(p, s.log); }},
    {"log-every", [](const Place& p, ContainerScript& s) { ReadPeriod(p, s.log_every); }},
    {"memory", [](const Place& p, ContainerScript& s) { Read(p, s.memory); }},
    {"never-ready", [](const Place& p, ContainerScript& s) { Read(p, s.never_ready); }},
    {"readiness", [](const Place& p, ContainerScript& s) { Read(p, s.readiness); }},
    {"ready-delay", [](const Place& p, ContainerScript& s) { Read(p, s.ready_delay); }},
    {"run-for", [](const Place& p, ContainerScript& s) { ReadRunFor(p, s.run_for); }},
    {"start-delay", [](const Place& p, ContainerScript& s) { Read(p, s.start_delay); }},
    {"stop-after", [](const Place& p, ContainerScript& s) { Read(p, s.stop_after); }},
    {"stop-exit-code", [](const Place& p, ContainerScript& s) { Read(p, s.stop_exit_code); }},
}};
constexpr std::string_view kHold = "hold";

// Runs `visit` with a pointer to each member of a ContainerScript.
template <typename Visit>
void EachField(const Visit& visit) {
  using S = ContainerScript;
  const auto all = [&](auto... fields) { (visit(fields), ...); };
  all(&S::start_delay, &S::ready_delay, &S::run_for, &S::exit_code, &S::exit_reason, &S::stop_after,
      &S::stop_exit_code, &S::ignore_sigterm, &S::hang, &S::never_ready, &S::readiness, &S::liveness, &S::log,
      &S::log_every, &S::cpu, &S::memory);
}

FieldError UnknownKey(const Path& path, std::string_view name) {
  std::vector<std::string_view> known;
  for (const Key& key : kKeys) known.push_back(key.name);
  known.insert(std::lower_bound(known.begin(), known.end(), kHold), kHold);
  return NotSupportedError(path, name, known);
}

bool HasContainer(const Json& pod_spec, std::string_view name) {
  for (const char* list : {"containers", "initContainers"}) {
    for (const Json& container : ListAt(pod_spec, list)) {
      if (StringAt(container, "name") == name) return true;
    }
  }
  return false;
}

// One key, without prefix. `pod_spec` may be null: any container will do.
void ReadKey(std::string_view key, std::string_view text, const Json* pod_spec, const Path& path,
             PodScript& script, FieldErrors& errors) {
  const Place place{path, text, errors};
  if (key == kHold) {
    script.hold = ParseHoldPoints(text);
    if (!script.hold) {
      errors.push_back(NotSupportedError(path, text, {"none", "ready", "ready,terminating", "terminating"}));
    }
    return;
  }
  const std::size_t dot = key.find('.');
  const std::string_view name = key.substr(0, dot);
  const auto known = std::find_if(kKeys.begin(), kKeys.end(), [&](const Key& k) { return k.name == name; });
  if (known == kKeys.end()) {
    errors.push_back(UnknownKey(path, key));
    return;
  }
  if (dot == std::string_view::npos) return known->read(place, script.all);
  const std::string_view container = key.substr(dot + 1);
  if (container.empty() || (pod_spec != nullptr && !HasContainer(*pod_spec, container))) {
    errors.push_back(InvalidError(path, container, "container not found"));
    return;
  }
  known->read(place, script.containers[std::string(container)]);
}

}  // namespace

void Overlay(PodScript& base, const PodScript& over) {
  EachField([&](auto field) {
    if (over.all.*field) {
      base.all.*field = over.all.*field;
      for (auto& [name, container] : base.containers) (container.*field).reset();
    }
    for (const auto& [name, container] : over.containers) {
      if (container.*field) base.containers[name].*field = container.*field;
    }
  });
  if (over.hold) base.hold = over.hold;
}

bool HasPodScript(const Json& annotations) {
  if (!annotations.is_object()) return false;
  const auto& members = annotations.get_ref<const Json::object_t&>();
  const auto first = members.lower_bound(kScriptPrefix);
  return first != members.end() && first->first.text().starts_with(kScriptPrefix);
}

FieldErrors ParsePodScript(const Json& annotations, const Json& pod_spec, const Path& path,
                           PodScript* script) {
  FieldErrors errors;
  for (const auto& [key, value] : annotations.items()) {
    if (!key.starts_with(kScriptPrefix)) continue;
    const std::string_view text =
        value.is_string() ? std::string_view(value.get_ref<const std::string&>()) : "";
    ReadKey(std::string_view(key).substr(kScriptPrefix.size()), text, &pod_spec, path.Key(key), *script,
            errors);
  }
  return errors;
}

FieldErrors ParseScriptKeys(const Json& keys, const Path& path, PodScript* script) {
  if (!keys.is_object()) return {InvalidError(path, keys, "must be an object")};
  FieldErrors errors;
  for (const auto& [key, value] : keys.items()) {
    const std::string text = value.is_string() ? value.get<std::string>() : value.dump();
    ReadKey(key, text, nullptr, path.Key(key), *script, errors);
  }
  return errors;
}

std::optional<HoldPoints> ParseHoldPoints(std::string_view text) {
  if (text == "none") return HoldPoints{};
  if (text == "ready") return HoldPoints{.ready = true};
  if (text == "terminating") return HoldPoints{.terminating = true};
  if (text == "ready,terminating" || text == "terminating,ready") return HoldPoints{true, true};
  return std::nullopt;
}

}  // namespace terrarium::api
