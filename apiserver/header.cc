#include "apiserver/header.h"

#include <charconv>

#include "api/base/check.h"
#include "api/json_access.h"

namespace terrarium::apiserver {

api::ObjectHeader DeriveHeader(const ResourceInfo& resource, const Json& document) {
  const Json& metadata = api::ObjectAt(document, "metadata");
  api::ObjectHeader header;
  header.ns = api::StringAt(metadata, "namespace");
  header.name = api::StringAt(metadata, "name");
  header.uid = api::StringAt(metadata, "uid");
  std::string_view version = api::StringAt(metadata, "resourceVersion");
  std::from_chars(version.data(), version.data() + version.size(), header.revision);
  header.deleting = api::Find(metadata, "deletionTimestamp") != nullptr;
  const Json& labels = api::ObjectAt(metadata, "labels");
  header.labels.reserve(labels.size());
  for (const auto& [key, value] : labels.items()) header.labels.emplace_back(key, value.get<std::string>());
  // Two groups may store the same objects (events); the header is the same whichever of them writes.
  auto fields = ResourceTable::Get().FindStorage(resource.storage)->strategy->SelectableFields();
  header.fields.reserve(fields.size());
  for (const SelectableField& field : fields) header.fields.push_back(field.value(document));
  return header;
}

api::ObjectHeader DeriveHeaderOfStored(std::string_view storage, const Json& document) {
  const ResourceInfo* resource = ResourceTable::Get().FindStorage(storage);
  CHECK(resource != nullptr);
  return DeriveHeader(*resource, document);
}

}  // namespace terrarium::apiserver
