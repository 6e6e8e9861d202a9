#include <charconv>
#include <utility>

#include "api/base/errors.h"
#include "api/json_access.h"
#include "apiserver/internal/respond.h"
#include "apiserver/internal/verbs.h"

namespace terrarium::apiserver {
namespace {

using api::Result;

// The container whose log is asked for. A pod with several needs one named.
Result<std::string> ChooseContainer(const Json& pod, const std::string& name, const std::string* asked) {
  std::vector<std::string> names;
  for (const Json& c : api::ListAt(pod, "spec", "containers")) names.emplace_back(api::StringAt(c, "name"));
  std::size_t regular = names.size();
  for (const Json& c : api::ListAt(pod, "spec", "initContainers")) names.emplace_back(api::StringAt(c, "name"));
  if (asked == nullptr || asked->empty()) {
    if (regular == 1) return names.front();
    std::string list;
    for (std::size_t i = 0; i < regular; ++i) list += (i == 0 ? "" : " ") + names[i];
    return api::BadRequest("a container name must be specified for pod " + name + ", choose one of: [" + list + "]");
  }
  for (const std::string& candidate : names)
    if (candidate == *asked) return candidate;
  return api::BadRequest("container " + *asked + " is not valid for pod " + name);
}

Result<std::optional<std::size_t>> CountParameter(const Call& call, std::string_view name, std::size_t min) {
  const std::string* text = call.request.Query(name);
  if (text == nullptr || text->empty()) return std::optional<std::size_t>{};
  long long value = 0;
  auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), value);
  if (error != std::errc() || end != text->data() + text->size())
    return api::BadRequest("strconv.ParseInt: parsing " + api::Quote(*text) + ": invalid syntax");
  if (value < static_cast<long long>(min))
    return api::Invalid({"", "PodLogOptions"}, call.route.name,
                        {api::InvalidError(api::Path(name), value,
                                           min == 0 ? "must be greater than or equal to 0" : "must be greater than 0")});
  return std::optional<std::size_t>(static_cast<std::size_t>(value));
}

std::string LastLines(std::string text, std::size_t lines) {
  if (lines == 0) return "";
  std::size_t pos = text.size();
  if (pos > 0 && text[pos - 1] == '\n') --pos;
  for (; pos > 0; --pos)
    if (text[pos - 1] == '\n' && --lines == 0) break;
  return text.substr(pos);
}

}  // namespace

void ServePodLog(const CallPtr& call) {
  const std::string& name = call->route.name;
  api::ObjectPtr object = call->server.store.Get(call->Key());
  if (object == nullptr) return RespondError(call, api::NotFound(call->resource().Resource(), name));
  Json pod = object->Parse();
  auto container = ChooseContainer(pod, name, call->request.Query("container"));
  if (!container) return RespondError(call, container.status());
  auto tail = CountParameter(*call, "tailLines", 0);
  if (!tail) return RespondError(call, tail.status());
  auto limit = CountParameter(*call, "limitBytes", 1);
  if (!limit) return RespondError(call, limit.status());
  if (api::StringAt(pod, "spec", "nodeName").empty())
    return RespondError(call, api::BadRequest("pod " + name + " does not have a host assigned"));
  std::optional<std::string> text;
  if (call->server.options.pod_log) text = call->server.options.pod_log(call->route.ns, name, *container);
  if (!text)
    return RespondError(call, api::BadRequest("container " + api::Quote(*container) + " in pod " + api::Quote(name) +
                                              " is waiting to start: ContainerCreating"));
  if (*tail) text = LastLines(std::move(*text), **tail);
  if (*limit) text->resize(std::min(text->size(), **limit));
  Response response;
  response.content_type = "text/plain";
  response.body = std::move(*text);
  Answer(call, std::move(response));
}

}  // namespace terrarium::apiserver
