#include <algorithm>
#include <utility>

#include "api/base/base64.h"
#include "api/base/errors.h"
#include "api/codec/decode.h"
#include "api/json_access.h"
#include "apiserver/internal/listing.h"
#include "apiserver/internal/verbs.h"

namespace terrarium::apiserver {
namespace {

using api::Json;
using api::Result;
using api::Status;

constexpr const char* kContinueVersion = "meta.k8s.io/v1";
constexpr const char* kExpiredContinue =
    "The provided continue parameter is too old to display a consistent list result. You can start a new "
    "list without "
    "the continue parameter, or use the continue token in this response to retrieve the remainder of the "
    "results. "
    "Continuing with the provided token results in an inconsistent list - objects that were created, "
    "modified, or "
    "deleted between the time the first chunk was returned and now may show up in the list.";

Status InvalidContinue(const std::string& why) { return api::BadRequest("invalid continue token: " + why); }

// The members of a token and their Go types. Go's decoder accepts null like an absent member.
constexpr const char* kContinueMembers[][2] = {{"v", "string"}, {"rv", "int64"}, {"start", "string"}};

bool FitsGoType(const Json& value, std::string_view type) {
  if (value.is_null()) return true;
  if (type == "string") return value.is_string();
  // The parser stores a number above the int64 range as unsigned.
  return value.is_number_integer() && !(value.is_number_unsigned() && value.get<std::int64_t>() < 0);
}

// How the errors of Go's decoder name a JSON value: "array" or "number 1.5".
std::string NameForGo(const Json& value) {
  return value.is_number() ? "number " + value.dump()
                           : std::string(value.is_boolean() ? "bool" : value.type_name());
}

// Tokens are part of URLs, so they use the URL-safe alphabet (- and _) without padding.
std::string EncodeUrlSafe(std::string_view bytes) {
  std::string text = api::EncodeBase64(bytes);
  while (!text.empty() && text.back() == '=') text.pop_back();
  std::replace(text.begin(), text.end(), '+', '-');
  std::replace(text.begin(), text.end(), '/', '_');
  return text;
}

bool DecodeUrlSafe(std::string_view token, std::string* bytes) {
  std::string text(token);
  if (text.find_first_of("+/=") != std::string::npos) return false;
  std::replace(text.begin(), text.end(), '-', '+');
  std::replace(text.begin(), text.end(), '_', '/');
  text.append((4 - text.size() % 4) % 4, '=');
  return api::DecodeBase64(text, bytes);
}

std::string PositionOf(const api::Object& object) {
  const api::ObjectHeader& h = object.header();
  return h.ns.empty() ? h.name : h.ns + "/" + h.name;
}

// The revision to read at; 0 is the newest.
Result<std::int64_t> RevisionToRead(const Call& call, const ListOptions& options) {
  if (!options.resource_version || *options.resource_version == 0) return std::int64_t{0};
  std::int64_t asked = *options.resource_version;
  std::int64_t current = call.server.store.CurrentRevision();
  if (asked > current) return api::TooLargeResourceVersion(asked, current);
  bool exact =
      options.match == VersionMatch::kExact || (options.match == VersionMatch::kUnset && options.limit > 0);
  return exact ? asked : std::int64_t{0};
}

}  // namespace

bool Matches(const ListOptions& options, const api::Object& object) {
  return options.labels.Matches(object.header()) && options.fields.Matches(object.header());
}

std::string EncodeContinue(const ContinueToken& token) {
  Json document = {{"v", kContinueVersion}, {"rv", token.revision}, {"start", token.last + '\0'}};
  return EncodeUrlSafe(document.dump());
}

Result<ContinueToken> DecodeContinue(std::string_view text) {
  std::string decoded;
  if (!DecodeUrlSafe(text, &decoded))
    return InvalidContinue("continue key is not valid: illegal base64 data at input byte 0");
  const Json document = api::DecodeJson(decoded, {.strict = false}).object;
  if (!document.is_object()) return InvalidContinue("continue key is not valid: not a JSON object");
  for (const auto& [name, type] : kContinueMembers)
    if (auto member = document.find(name); member != document.end() && !FitsGoType(*member, type))
      return InvalidContinue("continue key is not valid: json: cannot unmarshal " + NameForGo(*member) +
                             " into Go struct field continueToken." + name + " of type " + type);

  if (api::StringAt(document, "v") != kContinueVersion)
    return InvalidContinue("continue key is not valid: server does not recognize this encoded version");
  ContinueToken token{api::IntAt(document, 0, "rv"), std::string(api::StringAt(document, "start"))};
  if (token.revision == 0)
    return InvalidContinue(
        "continue key is not valid: incorrect encoded start resourceVersion (version meta.k8s.io/v1)");
  if (token.last.empty())
    return InvalidContinue("continue key is not valid: encoded start key empty (version meta.k8s.io/v1)");
  if (!token.last.empty() && token.last.back() == '\0') token.last.pop_back();
  return token;
}

namespace {

// Moves matching objects to `page` until it holds `limit` of them (0: no limit). Returns false when objects
// are left, whether they match or not.
bool TakeMatching(const ListOptions& options, std::size_t limit, std::vector<api::ObjectPtr>& from,
                  std::vector<api::ObjectPtr>& page) {
  for (api::ObjectPtr& item : from) {
    if (limit > 0 && page.size() == limit) return false;
    if (Matches(options, *item)) page.push_back(std::move(item));
  }
  return true;
}

}  // namespace

Result<Page> ReadPage(const Call& call, const ListOptions& options) {
  storage::ListQuery query{std::string(call.resource().storage), std::nullopt, 0, ""};
  if (!call.route.ns.empty()) query.ns = call.route.ns;
  if (!options.continue_token.empty()) {
    auto token = DecodeContinue(options.continue_token);
    if (!token) return token.status();
    if (options.continues_elsewhere)
      return api::BadRequest("specifying resource version is not allowed when using continue");
    query.start_after = token->last;
    query.at_revision = token->revision < 0 ? 0 : token->revision;
  } else {
    auto revision = RevisionToRead(call, options);
    if (!revision) return revision.status();
    query.at_revision = *revision;
  }

  bool selective = !options.labels.selects_everything() || !options.fields.selects_everything();
  auto limit = static_cast<std::size_t>(options.limit > 0 && !options.any_version ? options.limit : 0);
  // The store does not evaluate selectors, so a selective list reads all the remaining items.
  if (!selective) query.limit = limit;
  auto listing = call.server.store.List(query);
  if (!listing) {
    if (options.continue_token.empty())
      return api::Expired("The resourceVersion for the provided list is too old.");
    Status expired = api::Expired(kExpiredContinue);
    expired.continue_token = EncodeContinue({-1, query.start_after});
    return expired;
  }

  Page page;
  page.meta.revision = listing->revision;
  bool more = false;
  if (selective) {
    more = !TakeMatching(options, limit, listing->items, page.items);
  } else {
    more = listing->remaining > 0;
    page.meta.remaining = static_cast<std::int64_t>(listing->remaining);
    page.items = std::move(listing->items);
  }
  if (more) page.meta.continue_token = EncodeContinue({listing->revision, PositionOf(*page.items.back())});
  return page;
}

void ServeList(const CallPtr& call) {
  auto options = ParseListOptions(call->request, call->resource(), false);
  if (!options) return RespondError(call, options.status());
  auto page = ReadPage(*call, *options);
  if (!page) return RespondError(call, page.status());
  RespondList(call, page->items, page->meta);
}

}  // namespace terrarium::apiserver
