#include "controllers/endpoints/internal/slice.h"

#include <iterator>
#include <utility>

#include "api/json_access.h"

namespace terrarium::controllers::endpoints {
namespace {

using api::Json;

// The longest name of an object. A longer prefix loses its dash, as in Kubernetes.
constexpr std::size_t kNameMax = 253;

template <typename T>
void MoveInto(std::vector<T>& to, std::vector<T>& from) {
  to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
}

Json EndpointsJson(const std::vector<Endpoint>& endpoints) {
  Json list = Json::array();
  for (const Endpoint& endpoint : endpoints) list.push_back(ToJson(endpoint));
  return list;
}

}  // namespace

bool Slice::IsOwnedBy(std::string_view owner_uid, std::string_view kind) const {
  for (const api::OwnerReference& owner : owners)
    if (owner.uid == owner_uid && owner.kind == kind && owner.api_version == "v1") return true;
  return false;
}

SlicePtr ReadSlice(const api::ObjectPtr& object) {
  auto slice = std::make_shared<Slice>();
  const std::shared_ptr<const Json> document = object->Document();
  slice->object = object;
  slice->name = object->header().name;
  slice->uid = object->header().uid;
  slice->generation = api::IntAt(*document, 0, "metadata", "generation");
  slice->deleting = object->header().deleting;
  slice->address_type = api::StringAt(*document, "addressType");
  slice->ports = ReadPorts(api::ListAt(*document, "ports"));
  SortForSlice(slice->ports);
  for (const Json& endpoint : api::ListAt(*document, "endpoints"))
    slice->endpoints.push_back(ReadEndpoint(endpoint));
  slice->owners = api::OwnerReferencesOf(*document);
  slice->labels.insert(object->header().labels.begin(), object->header().labels.end());
  return slice;
}

SliceDraft DraftOf(const SlicePtr& stored) {
  return {.stored = stored,
          .address_type = stored->address_type,
          .ports = stored->ports,
          .endpoints = stored->endpoints,
          .labels = stored->labels};
}

void SlicePlan::Append(SlicePlan more) {
  MoveInto(create, more.create);
  MoveInto(update, more.update);
  MoveInto(remove, more.remove);
  added += more.added;
  updated += more.updated;
  removed += more.removed;
}

Json NewDocument(const SliceDraft& draft, const SliceOwner& owner) {
  Json metadata = {{"labels", draft.labels}, {"ownerReferences", Json::array({owner.reference})}};
  if (!owner.annotations.empty()) metadata["annotations"] = owner.annotations;
  const std::string& name = owner.name.name;
  metadata["generateName"] = name.size() < kNameMax ? name + "-" : name;
  if (draft.stored != nullptr) {
    const api::ObjectHeader& header = draft.stored->object->header();
    metadata["name"] = header.name;
    metadata["namespace"] = header.ns;
    metadata["resourceVersion"] = std::to_string(header.revision);
  }
  return {{"metadata", std::move(metadata)},
          {"addressType", draft.address_type},
          {"ports", ToJson(draft.ports)},
          {"endpoints", EndpointsJson(draft.endpoints)}};
}

Json ChangedDocument(const SliceDraft& draft) {
  Json document = draft.stored->object->Parse();
  document["metadata"]["labels"] = draft.labels;
  document["endpoints"] = EndpointsJson(draft.endpoints);
  return document;
}

}  // namespace terrarium::controllers::endpoints
