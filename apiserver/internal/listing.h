#pragma once

// Reading lists: selectors, pages and revisions.

#include <string>
#include <vector>

#include "api/base/status.h"
#include "apiserver/internal/call.h"
#include "apiserver/internal/options.h"
#include "apiserver/internal/respond.h"

namespace terrarium::apiserver {

struct Page {
  std::vector<api::ObjectPtr> items;
  ListMeta meta;
};

bool Matches(const ListOptions& options, const api::Object& object);

api::Result<Page> ReadPage(const Call& call, const ListOptions& options);

// The start of the next page of a list and the revision of the first page.
struct ContinueToken {
  std::int64_t revision = 0;  // -1: the newest, for a client that accepts an inconsistent continuation
  std::string last;           // "ns/name" or "name" of the last item returned
};
std::string EncodeContinue(const ContinueToken& token);
api::Result<ContinueToken> DecodeContinue(std::string_view text);

}  // namespace terrarium::apiserver
