#include "apiserver/header.h"

namespace terrarium::apiserver {

api::ObjectHeader DeriveHeader(const ResourceInfo& resource, const Json& document) {
  api::ObjectHeader header = api::ReadHeader(document);
  // Two groups may store the same objects (events), or two versions; the header is the same for all of them.
  auto fields = resource.Stored().strategy->SelectableFields();
  header.fields.reserve(fields.size());
  for (const SelectableField& field : fields) header.fields.push_back(field.value(document));
  return header;
}

api::ObjectHeader DeriveHeaderOfStored(std::string_view storage, const Json& document) {
  const ResourceInfo* resource = ResourceTable::BuiltIn()->FindStorage(storage);
  return resource == nullptr ? api::ReadHeader(document) : DeriveHeader(*resource, document);
}

}  // namespace terrarium::apiserver
