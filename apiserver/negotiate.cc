#include "apiserver/negotiate.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>
#include <vector>

#include "api/base/errors.h"

namespace terrarium::apiserver {
namespace {

constexpr std::array kServed = {MediaType::kJson, MediaType::kYaml, MediaType::kProtobuf};
constexpr std::string_view kServedText =
    "application/json, application/yaml, application/vnd.kubernetes.protobuf";
constexpr std::string_view kStreamedText =
    "application/json;stream=watch, application/vnd.kubernetes.protobuf;stream=watch";

// One clause of an Accept header: application/json;as=Table;v=v1;g=meta.k8s.io;q=0.5
struct Clause {
  std::string_view type;  // "application/json", "application/*", "*/*"
  std::string_view as;
  std::string_view group;
  std::string_view version;
  std::string_view stream;
  bool pretty = false;
  float quality = 1;

  bool Converts() const { return !as.empty() || !group.empty() || !version.empty(); }
  // 0 for an exact type, more for wider ones.
  int Width() const { return type == "*/*" ? 2 : type.ends_with("/*") ? 1 : 0; }
};

std::string_view Trim(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

// Cuts what comes before `separator` off the front of `text`.
std::string_view TakeUntil(std::string_view& text, char separator) {
  std::size_t at = text.find(separator);
  std::string_view head = text.substr(0, at);
  text = at == std::string_view::npos ? std::string_view() : text.substr(at + 1);
  return head;
}

void ReadParameter(std::string_view text, Clause& clause) {
  std::string_view name = Trim(TakeUntil(text, '='));
  std::string_view value = Trim(text);
  if (name == "as")
    clause.as = value;
  else if (name == "g")
    clause.group = value;
  else if (name == "v")
    clause.version = value;
  else if (name == "stream")
    clause.stream = value;
  else if (name == "pretty")
    clause.pretty = value == "1";
  else if (name == "q")
    std::from_chars(value.data(), value.data() + value.size(), clause.quality);
}

// Best first. Unknown parameters are ignored, as Kubernetes does.
std::vector<Clause> ParseAccept(std::string_view header) {
  std::vector<Clause> out;
  while (!header.empty()) {
    std::string_view part = TakeUntil(header, ',');
    Clause clause;
    clause.type = Trim(TakeUntil(part, ';'));
    if (clause.type == "*") clause.type = "*/*";
    if (clause.type.find('/') == std::string_view::npos) continue;
    while (!part.empty()) ReadParameter(TakeUntil(part, ';'), clause);
    out.push_back(clause);
  }
  std::stable_sort(out.begin(), out.end(), [](const Clause& a, const Clause& b) {
    return a.quality != b.quality ? a.quality > b.quality : a.Width() < b.Width();
  });
  return out;
}

bool Covers(const Clause& clause, MediaType type) {
  return clause.type == "*/*" || clause.type == "application/*" || clause.type == MediaTypeName(type);
}

bool Streams(MediaType type) { return type != MediaType::kYaml; }

// What the clause makes of an answer of this type, or nullopt when the two do not fit.
std::optional<Negotiated> Fit(const Clause& clause, MediaType type) {
  if (!Covers(clause, type)) return std::nullopt;
  if (!clause.stream.empty() && (clause.stream != "watch" || !Streams(type))) return std::nullopt;
  Negotiated out{.media_type = type, .pretty = clause.pretty};
  if (!clause.Converts()) return out;
  if (clause.group != "meta.k8s.io") return std::nullopt;
  if (clause.version == "v1")
    out.meta_version = "v1";
  else if (clause.version == "v1beta1")
    out.meta_version = "v1beta1";
  else
    return std::nullopt;
  if (clause.as == "PartialObjectMetadata")
    out.shape = Shape::kPartialObjectMetadata;
  else if (clause.as == "PartialObjectMetadataList")
    out.shape = Shape::kPartialObjectMetadataList;
  else if (clause.as == "Table" && type != MediaType::kProtobuf)
    out.shape = Shape::kTable;
  else
    return std::nullopt;
  return out;
}

api::Status NotAcceptable(std::string message) {
  return api::MakeStatus(406, api::reason::kNotAcceptable, std::move(message));
}

// No clause names a media type of this endpoint: refused before anything looks at parameters.
api::Status NoSuchRepresentation(Endpoint endpoint) {
  std::string message = "406: Not Acceptable\n\nAvailable representations: ";
  message += kServedText;
  if (endpoint != Endpoint::kObject) message.append(", ").append(kStreamedText);
  api::Status status = NotAcceptable(std::move(message));
  status.details.emplace();
  return status;
}

api::Status NoFittingClause(std::string_view accepted) {
  return NotAcceptable("only the following media types are accepted: " + std::string(accepted));
}

std::optional<bool> ParseBool(std::string_view text) {
  for (std::string_view yes : {"1", "t", "T", "true", "TRUE", "True"})
    if (text == yes) return true;
  for (std::string_view no : {"0", "f", "F", "false", "FALSE", "False"})
    if (text == no) return false;
  return std::nullopt;
}

bool WantsPretty(const Request& request) {
  if (const std::string* pretty = request.Query("pretty"); pretty != nullptr && !pretty->empty())
    return ParseBool(*pretty).value_or(false);
  std::string_view agent = request.user_agent;
  return agent.starts_with("curl") || agent.starts_with("Wget") || agent.starts_with("Mozilla/5.0");
}

// The shapes of lists and of single objects do not stand for each other.
std::optional<api::Status> ShapeMismatch(Shape shape, Endpoint endpoint) {
  if (shape == Shape::kPartialObjectMetadata && endpoint == Endpoint::kList)
    return NotAcceptable("you requested PartialObjectMetadata, but the requested object is a list");
  if (shape == Shape::kPartialObjectMetadataList && endpoint == Endpoint::kObject)
    return NotAcceptable("you requested PartialObjectMetadataList, but the requested object is not a list");
  return std::nullopt;
}

}  // namespace

std::string_view MediaTypeName(MediaType type) {
  switch (type) {
    case MediaType::kJson: return "application/json";
    case MediaType::kYaml: return "application/yaml";
    case MediaType::kProtobuf: return "application/vnd.kubernetes.protobuf";
  }
  return "";
}

std::string Negotiated::ContentType(bool stream) const {
  std::string name(MediaTypeName(media_type));
  // JSON watches are plain application/json: that is what the first clients understood.
  if (stream && media_type != MediaType::kJson) name += ";stream=watch";
  return name;
}

api::Result<Negotiated> Negotiate(const Request& request, Endpoint endpoint) {
  const bool pretty = WantsPretty(request);
  if (request.accept.empty()) return Negotiated{.pretty = pretty};
  const std::vector<Clause> clauses = ParseAccept(request.accept);
  bool known_type = false;
  for (const Clause& clause : clauses) {
    for (MediaType type : kServed) {
      known_type = known_type || Covers(clause, type);
      std::optional<Negotiated> fit = Fit(clause, type);
      if (!fit) continue;
      if (endpoint == Endpoint::kWatch && !Streams(type)) return NoFittingClause(kStreamedText);
      if (auto mismatch = ShapeMismatch(fit->shape, endpoint)) return *mismatch;
      // A watch sends one object at a time, so the metadata of a list does not apply.
      if (endpoint == Endpoint::kWatch && fit->shape == Shape::kPartialObjectMetadataList)
        fit->shape = Shape::kObject;
      fit->pretty = fit->pretty || pretty;
      return *fit;
    }
  }
  if (!known_type) return NoSuchRepresentation(endpoint);
  return NoFittingClause(kServedText);
}

std::string AggregatedDiscovery::ContentType() const {
  return std::string(MediaTypeName(media_type))
      .append(";g=apidiscovery.k8s.io;v=")
      .append(version)
      .append(";as=APIGroupDiscoveryList");
}

std::optional<AggregatedDiscovery> NegotiateAggregatedDiscovery(std::string_view accept) {
  for (const Clause& clause : ParseAccept(accept)) {
    if (clause.group != "apidiscovery.k8s.io" || clause.as != "APIGroupDiscoveryList") continue;
    std::string_view version = clause.version == "v2" ? "v2" : clause.version == "v2beta1" ? "v2beta1" : "";
    if (version.empty()) continue;
    for (MediaType type : kServed)
      if (Covers(clause, type)) return AggregatedDiscovery{.media_type = type, .version = version};
  }
  return std::nullopt;
}

}  // namespace terrarium::apiserver
