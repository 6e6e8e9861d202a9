#include "apiserver/internal/patch.h"

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/base/errors.h"
#include "api/codec/normalize.h"
#include "api/json_access.h"
#include "api/patch/json_patch.h"
#include "apiserver/internal/body.h"
#include "apiserver/internal/field_owners.h"
#include "apiserver/internal/options.h"
#include "apiserver/internal/respond.h"
#include "apiserver/internal/update.h"
#include "apiserver/internal/verbs.h"
#include "apiserver/internal/write_path.h"

namespace terrarium::apiserver {

using api::Json;
using api::Result;

namespace {

// Members that no JSON patch operation has, by the rules of unknown fields.
Result<void> JudgePatchFields(Call& call, const PatchBody& patch, FieldValidation validation) {
  if (patch.type != PatchType::kJson || validation == FieldValidation::kIgnore) return {};
  std::vector<std::string> unknown = api::JsonPatchUnknownFields(patch.body);
  if (unknown.empty()) return {};
  if (validation == FieldValidation::kStrict) {
    std::string list;
    for (const std::string& field : unknown) list += (list.empty() ? "" : ", ") + field;
    return api::BadRequest("strict decoding error: " + list);
  }
  for (std::string& field : unknown) call.warnings.push_back(std::move(field));
  return {};
}

// The document as the patch makes it, decoded like a body and with its defaults.
Result<Json> Patched(Call& call, const PatchBody& patch, const api::ObjectPtr& current,
                     FieldValidation validation) {
  const ResourceInfo& resource = call.resource();
  // Most patches leave the owners alone; as text they are longer than the rest of a small object.
  Json shown = patch.ConcernsOwners() ? PresentedDocument(resource, *current)
                                      : PresentedWithoutOwners(resource, *current);
  auto patched = ApplyPatch(patch, resource.Schema(), std::move(shown));
  if (!patched) return patched.status();
  auto object = DecodePatched(call, std::move(*patched), BodyKindOf(resource), validation);
  if (object) ApplyAllDefaults(resource, *object);
  return object;
}

// The kubelet's status patches identify the pod by its uid alone.
bool NamesOnlyUid(const Json& metadata, const Json& old) {
  const std::string_view uid = api::StringAt(metadata, "uid");
  return metadata.size() == 1 && !uid.empty() && uid == api::StringAt(old, "metadata", "uid");
}

// The usual patch of a status: it changes nothing else, and what it makes is well-formed. Nullopt when that
// is not so.
std::optional<Json> PatchedStatusAlone(const PatchBody& patch, const api::Message& schema, const Json& old) {
  const Json* status_patch = api::Find(patch.body, "status");
  const Json* status = api::Find(old, "status");
  if (status_patch == nullptr || !status_patch->is_object() || status == nullptr) return std::nullopt;
  for (auto it = patch.body.begin(); it != patch.body.end(); ++it)
    if (it.key() != "status" && !(it.key() == "metadata" && NamesOnlyUid(*it, old))) return std::nullopt;
  const api::Message& status_schema = *schema.Find("status")->message;
  auto patched = ApplyPatch({patch.type, *status_patch}, status_schema, *status);
  if (!patched || !patched->is_object() || api::Normalize(status_schema, *patched, nullptr))
    return std::nullopt;
  Json object = Json::object();
  for (auto it = old.begin(); it != old.end(); ++it)
    if (it.key() != "status") object[it.key()] = *it;
  object["status"] = std::move(*patched);
  return object;
}

// The same for a component in this process that patches a status, as the kubelet does several times in a
// pod's life: the rest of the document is in its stored form already, and only the status is patched, decoded
// and copied.
Result<Json> PatchedStatus(Call& call, const PatchBody& patch, const Json& old) {
  const ResourceInfo& resource = call.resource();
  if (auto object = PatchedStatusAlone(patch, resource.Schema(), old)) return std::move(*object);
  Json part = {{"metadata", api::ObjectAt(old, "metadata")}, {"status", api::ObjectAt(old, "status")}};
  auto patched = ApplyPatch(patch, resource.Schema(), std::move(part));
  if (!patched) return patched.status();
  auto object = DecodePatched(call, std::move(*patched), BodyKindOf(resource), FieldValidation::kIgnore);
  if (!object) return object.status();
  for (auto it = old.begin(); it != old.end(); ++it)
    if (it.key() != "metadata" && it.key() != "status") (*object)[it.key()] = *it;
  return object;
}

}  // namespace

void ServePatch(const CallPtr& call) {
  auto type = PatchTypeOf(*call);
  if (!type) return RespondError(call, type.status());
  if (*type == PatchType::kApply) return ServeApply(call);
  auto options = ParsePatchOptions(call->request, /*apply=*/false);
  if (!options) return RespondError(call, options.status());
  auto patch = ParsePatch(*call, *type);
  if (!patch) return RespondError(call, patch.status());
  if (auto fine = JudgePatchFields(*call, *patch, options->field_validation); !fine)
    return RespondError(call, fine.status());
  // Of a component in this process that patches a status.
  bool status_only = call->written && call->route.subresource != nullptr && patch->type != PatchType::kJson;
  ChangeTarget target = OwnTarget(*call, options->dry_run);
  if (status_only) target.read = call->strategy().ReadForStatusUpdate();
  ChangeObject(
      call, std::move(target),
      [call, status_only, patch = std::move(*patch), options = *options](const api::ObjectPtr& current,
                                                                         const Json& old) -> Result<Change> {
        auto object = status_only ? PatchedStatus(*call, patch, old)
                                  : Patched(*call, patch, current, options.field_validation);
        if (!object) return object.status();
        if (auto fine = CheckNames(*call, *object); !fine) return fine.status();
        if (auto fine = CheckVersion(*call, *object, *current); !fine) return fine.status();
        return Replace(*call, std::move(*object), old,
                       OwnersOfUpdate(*call, options.field_manager, *current, old));
      },
      [call](Result<Changed> changed) {
        if (!changed) return RespondError(call, changed.status());
        RespondObject(call, 200, changed->object);
      });
}

}  // namespace terrarium::apiserver
