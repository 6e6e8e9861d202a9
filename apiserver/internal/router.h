#pragma once

// Maps method and path to a resource and a verb.

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/request.h"
#include "apiserver/resource_table.h"

namespace terrarium::apiserver {

enum class Verb { kCreate, kGet, kList, kWatch, kUpdate, kPatch, kDelete, kDeleteCollection };

std::string_view VerbName(Verb verb);

struct Route {
  enum class Target {
    kResource,          // `resource` and the rest are set
    kUnknownResource,   // a served group and version, but no such resource or subresource: 404 as a Status
    kMethodNotAllowed,  // 405 as a Status
    kPath,  // not below /api/VERSION or /apis/GROUP/VERSION, or an unknown group: for the path handlers
  };
  Target target = Target::kPath;
  std::shared_ptr<const ResourceTable> table = nullptr;  // owns the entries below
  const ResourceInfo* resource = nullptr;
  const SubresourceInfo* subresource = nullptr;
  Verb verb = Verb::kGet;
  std::string ns;  // empty: cluster scope or all namespaces
  std::string name;
};

Route FindRoute(const Request& request, std::shared_ptr<const ResourceTable> table);

std::vector<std::string_view> SplitPath(std::string_view path);

}  // namespace terrarium::apiserver
