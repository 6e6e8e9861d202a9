#include <algorithm>
#include <utility>

#include "api/base/base64.h"
#include "api/base/errors.h"
#include "apiserver/internal/listing.h"
#include "apiserver/internal/verbs.h"

namespace terrarium::apiserver {
namespace {

using api::Json;
using api::Result;
using api::Status;

constexpr const char* kContinueVersion = "meta.k8s.io/v1";
constexpr const char* kExpiredContinue =
    "The provided continue parameter is too old to display a consistent list result. You can start a new list without "
    "the continue parameter, or use the continue token in this response to retrieve the remainder of the results. "
    "Continuing with the provided token results in an inconsistent list - objects that were created, modified, or "
    "deleted between the time the first chunk was returned and now may show up in the list.";

Status InvalidContinue(const std::string& why) { return api::BadRequest("invalid continue token: " + why); }

// Tokens travel in URLs: the alphabet without + and /, and no padding.
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

// Which revision to read at; 0 is the newest.
Result<std::int64_t> RevisionToRead(const Call& call, const ListOptions& options) {
  if (!options.resource_version || *options.resource_version == 0) return std::int64_t{0};
  std::int64_t asked = *options.resource_version;
  std::int64_t current = call.server.store.CurrentRevision();
  if (asked > current) return api::TooLargeResourceVersion(asked, current);
  bool exact = options.match == VersionMatch::kExact || (options.match == VersionMatch::kUnset && options.limit > 0);
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
  if (!DecodeUrlSafe(text, &decoded)) return InvalidContinue("continue key is not valid: illegal base64 data at input byte 0");
  Json document = Json::parse(decoded, nullptr, false);
  if (!document.is_object()) return InvalidContinue("continue key is not valid: not a JSON object");
  if (document.value("v", "") != kContinueVersion)
    return InvalidContinue("continue key is not valid: server does not recognize this encoded version");
  auto start = document.find("start");
  auto revision = document.find("rv");
  if (start == document.end() || !start->is_string() || revision == document.end() || !revision->is_number_integer())
    return InvalidContinue("continue key is not valid: encoded start key is empty");
  ContinueToken token{revision->get<std::int64_t>(), start->get<std::string>()};
  if (token.revision == 0) return InvalidContinue("continue key is not valid: incorrect encoded start resourceVersion");
  if (!token.last.empty() && token.last.back() == '\0') token.last.pop_back();
  return token;
}

namespace {

// Moves what matches, up to `limit` (0: no limit); false when it had to stop before the end.
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
    query.start_after = token->last;
    query.at_revision = token->revision < 0 ? 0 : token->revision;
  } else {
    auto revision = RevisionToRead(call, options);
    if (!revision) return revision.status();
    query.at_revision = *revision;
  }

  bool selective = !options.labels.selects_everything() || !options.fields.selects_everything();
  auto limit = static_cast<std::size_t>(options.limit > 0 ? options.limit : 0);
  // With a selector nobody knows how many items make a page, so all the rest is looked at.
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
