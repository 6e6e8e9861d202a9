#include "apiserver/internal/field_owners.h"

#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include <spdlog/spdlog.h>

#include "apiserver/internal/encode.h"
#include "apiserver/internal/options.h"
#include "apiserver/internal/printable.h"
#include "apiserver/internal/reset_fields.h"

namespace terrarium::apiserver {
namespace {

std::string ManagerOfUserAgent(std::string_view user_agent) {
  std::string_view rest = user_agent.substr(0, user_agent.find('/'));
  std::string name;
  while (!rest.empty()) {
    const Character character = FirstCharacter(rest);
    const bool valid = character.code != 0xFFFD || character.bytes > 1;
    const std::string_view text = valid ? rest.substr(0, character.bytes) : "\xEF\xBF\xBD";
    rest.remove_prefix(character.bytes);
    if (!IsPrintable(character.code)) continue;
    if (name.size() + text.size() > kFieldManagerBytesMax) break;
    name += text;
  }
  return name;
}

// The document in the version of the call. `room` holds it if that is not the stored one.
const Json& InVersionOf(const Call& call, const Json& document, Json& room) {
  if (IsStoredForm(call.resource())) return document;
  room = document;
  ToPresentedForm(call.resource(), room);
  return room;
}

// The owners that a client sent along. Nullopt: none, or unreadable ones.
std::optional<api::ManagedFields> OwnersIn(const Json& sent) {
  if (!sent.is_array()) return std::nullopt;
  std::string error;
  std::optional<api::ManagedFields> read = api::ReadManagedFields(sent, &error);
  if (!read || read->empty()) return std::nullopt;
  return read;
}

api::ManagedFieldsPtr AfterUpdate(const Call& call, const api::FieldManager& manager, const Json& before,
                                  const Json& after, api::ManagedFields owners) {
  std::string error;
  auto next = api::OwnersAfterUpdate(OwnedTypeOf(call), before, after, std::move(owners), manager,
                                     call.server.env.clock.Now(), &error);
  if (next) return ShareOwners(std::move(*next));
  call.server.env.log.warn("cannot keep the owners of fields of {} {}: {}", call.resource().plural,
                           call.route.name, error);
  return nullptr;
}

}  // namespace

api::FieldManager ManagerOf(const Call& call, const std::string& field_manager, bool applied) {
  api::FieldManager manager;
  std::string name = field_manager.empty() ? ManagerOfUserAgent(call.request.user_agent) : field_manager;
  manager.name = api::MemberName(name.empty() ? "unknown" : name);
  manager.api_version = api::MemberName(call.resource().GroupVersion());
  if (call.route.subresource != nullptr) manager.subresource = api::MemberName(call.route.subresource->name);
  manager.applied = applied;
  return manager;
}

api::OwnedType OwnedTypeOf(const Call& call) {
  const ResourceInfo& resource = call.resource();
  return {.type = api::ValueType::Of(resource.Schema()),
          .reset = ResetFieldsOf(resource, call.route.subresource),
          .serves = [&call](std::string_view api_version) {
            const std::size_t slash = api_version.find('/');
            const bool core = slash == std::string_view::npos;
            const ResourceInfo* other = call.route.table->FindKind(
                core ? std::string_view() : api_version.substr(0, slash),
                core ? api_version : api_version.substr(slash + 1), call.resource().kind);
            return other != nullptr && other->storage == call.resource().storage;
          }};
}

api::ManagedFieldsPtr ShareOwners(api::ManagedFields owners) {
  return owners.empty() ? nullptr : std::make_shared<const api::ManagedFields>(std::move(owners));
}

OwnersRule OwnersOfNew(const Call& call, std::string field_manager) {
  return [&call, field_manager = std::move(field_manager)](const Json& document, const Json& sent) {
    Json room;
    return AfterUpdate(call, ManagerOf(call, field_manager, /*applied=*/false),
                       api::EmptyDocument(call.resource().Schema()), InVersionOf(call, document, room),
                       OwnersIn(sent).value_or(api::ManagedFields()));
  };
}

OwnersRule OwnersOfUpdate(const Call& call, const std::string& field_manager, const api::Object& current,
                          const Json& old) {
  return [&](const Json& document, const Json& sent) -> api::ManagedFieldsPtr {
    std::optional<api::ManagedFields> owners;
    if (call.route.subresource == nullptr) {
      if (api::IsReset(sent)) return nullptr;
      owners = OwnersIn(sent);
    }
    if (!owners) {
      // As in Kubernetes, updates begin no owners: only creations and applied configurations do.
      if (current.owners() == nullptr) return nullptr;
      owners = *current.owners();
    }
    Json old_room, room;
    api::ManagedFieldsPtr next =
        AfterUpdate(call, ManagerOf(call, field_manager, /*applied=*/false), InVersionOf(call, old, old_room),
                    InVersionOf(call, document, room), std::move(*owners));
    const bool unchanged = next != nullptr && current.owners() != nullptr && *next == *current.owners();
    return unchanged ? current.owners() : next;
  };
}

OwnersRule OwnersAre(api::ManagedFieldsPtr owners) {
  return [owners = std::move(owners)](const Json&, const Json&) { return owners; };
}

bool AreSameOwners(const api::ManagedFieldsPtr& a, const api::ManagedFieldsPtr& b) {
  if (a == nullptr || b == nullptr) return a == b;
  return a == b || a->IsSameButForTimes(*b);
}

}  // namespace terrarium::apiserver
