#pragma once

// ControllerRevisions: the states of a pod template that a StatefulSet or DaemonSet has had. Pure. A revision
// is an api::Object; its document has the members data and revision.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/json.h"
#include "api/object.h"

namespace terrarium::controllers::history {

using api::ObjectPtr;

// On revisions that are named after the hash of their data.
inline constexpr std::string_view kHashLabel = "controller.kubernetes.io/hash";
// On pods, and on the revisions of DaemonSets: which revision a pod has.
inline constexpr std::string_view kRevisionHashLabel = "controller-revision-hash";

// The member `revision`: 1 for the first, larger for newer ones.
std::int64_t NumberOf(const api::Object& revision);
std::string_view HashOf(const api::Object& revision);  // kRevisionHashLabel; empty when it has none

// By number, then creation time, then name: oldest first.
void Sort(std::vector<ObjectPtr>& revisions);
// One more than the largest number; 1 when there are no revisions.
std::int64_t NextNumber(const std::vector<ObjectPtr>& revisions);

// The member `data` of a revision of the owner's current template: a strategic merge patch of the owner that
// replaces spec.template. `kubectl rollout undo` sends it as it is.
api::Json TemplateData(const api::Json& owner);
// The template in that data, without the patch directive.
api::Json TemplateOf(const api::Object& revision);

bool HasData(const api::Object& revision, const api::Json& data);
// Those with that data, in the same order.
std::vector<ObjectPtr> FindEqual(const std::vector<ObjectPtr>& revisions, const api::Json& data);

// The hash of `data`, the same as in Kubernetes: FNV-1 over the bytes that Go's encoder would write.
std::string DataHash(const api::Json& data, std::optional<std::int64_t> collision_count);
// OWNER-HASH, the owner's name cut to 223 bytes.
std::string RevisionName(std::string_view owner, std::string_view hash);

// The document of a new revision that `owner` (of apps/v1) controls, without a name. It has the template's
// labels and the owner's annotations.
api::Json NewRevision(const api::Object& owner, const api::Json& owner_document, std::string_view owner_kind,
                      api::Json data, std::int64_t number);
// Names a new revision by the hash of its data. The first such hash is its label too; after a collision only
// the name changes, as in Kubernetes.
void NameByData(api::Json& revision, std::string_view owner, std::optional<std::int64_t> collision_count);

// The oldest `count` of `sorted` that are not in use; fewer when there are fewer. Used to keep
// revisionHistoryLimit.
std::vector<ObjectPtr> OldestUnused(const std::vector<ObjectPtr>& sorted, std::size_t count,
                                    const std::function<bool(const api::Object&)>& in_use);

}  // namespace terrarium::controllers::history
