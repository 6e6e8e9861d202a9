#include "apiserver/internal/write_path.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <utility>
#include <vector>

#include "api/base/errors.h"
#include "api/base/prng.h"
#include "api/codec/normalize.h"
#include "api/json_access.h"
#include "api/schema/defaulting.h"
#include "apiserver/defaulting.h"
#include "apiserver/header.h"
#include "apiserver/internal/admission.h"
#include "apiserver/internal/etcd_words.h"
#include "apiserver/internal/guard.h"
#include "apiserver/internal/reset_fields.h"
#include "apiserver/validation/metadata.h"

namespace terrarium::apiserver {
namespace {

using api::Path;
using api::Result;

// The longest base that still leaves room for the suffix within a 63-character name.
constexpr std::size_t kGeneratedBaseMax = 58;

// Takes the managedFields that a client sent out of the metadata; null if there are none.
Json TakeSentOwners(Json& metadata) {
  auto it = metadata.find("managedFields");
  if (it == metadata.end()) return nullptr;
  Json sent = std::move(*it);
  metadata.erase(it);
  return sent;
}

// Removes the metadata that only the server writes: a client's values are ignored on create.
void WipeSystemMetadata(Json& metadata) {
  for (const char* field : {"deletionTimestamp", "deletionGracePeriodSeconds", "selfLink", "resourceVersion"})
    metadata.erase(field);
}

// Sets the metadata that only the server writes. Generates the name if only generateName is set.
void FillNewMetadata(Call& call, Json& metadata) {
  if (call.resource().namespaced) metadata["namespace"] = call.route.ns;
  metadata["uid"] = call.server.env.prng.Uuid();
  metadata["creationTimestamp"] = api::FormatTime(call.server.env.clock.Now());
  std::string base(api::StringAt(metadata, "generateName"));
  if (api::StringAt(metadata, "name").empty() && !base.empty())
    metadata["name"] = base.substr(0, kGeneratedBaseMax) + call.server.env.prng.NameSuffix();
}

// Gives `field` the value that it has in `old`, or none.
void KeepField(Json& metadata, const Json& old, const char* field) {
  if (const Json* value = api::Find(old, field))
    metadata[field] = *value;
  else
    metadata.erase(field);
}

// Carries over the metadata that an update cannot change. Some fields always keep the old value; uid and
// deletionGracePeriodSeconds keep it if the update omits them.
void CarryMetadata(Json& metadata, const Json& old) {
  metadata.erase("selfLink");
  auto carry = [&](const char* field) { KeepField(metadata, old, field); };
  carry("creationTimestamp");
  carry("generation");
  carry("resourceVersion");
  if (api::Find(old, "deletionTimestamp") != nullptr) carry("deletionTimestamp");
  for (const char* field : {"uid", "deletionGracePeriodSeconds"})
    if (api::Find(metadata, field) == nullptr) carry(field);
}

// Errors name the kind as it is stored: an events.k8s.io Event is just an Event.
api::GroupKind StoredKind(const ResourceInfo& resource) { return resource.Stored().Kind(); }

// The schema of documents as they are stored: of the other version or group, for a built-in resource that
// shares the objects of another one.
const api::Message& StoredSchema(const ResourceInfo& resource) {
  return resource.schema == nullptr ? resource.Stored().Schema() : resource.Schema();
}

// The status as Go encodes it before it is first written: {} for most kinds, zero values for some.
Json EmptyStatus(const ResourceInfo& resource) {
  Json status = Json::object();
  const api::Field* field = StoredSchema(resource).Find("status");
  if (field == nullptr || field->message == nullptr) return status;
  auto error = api::Normalize(*field->message, status, nullptr);
  CHECK(!error.has_value());
  return status;
}

// A status update changes the status and the metadata that the kind allows, and nothing else. Equal fields
// are left in place, because copying a spec costs much more than comparing it.
void KeepAllButStatus(Json& object, const Json& old) {
  auto may_differ = [](const std::string& field) { return field == "metadata" || field == "status"; };
  for (auto it = object.begin(); it != object.end();)
    it = may_differ(it.key()) || old.contains(it.key()) ? std::next(it) : object.erase(it);
  for (auto it = old.begin(); it != old.end(); ++it) {
    if (may_differ(it.key())) continue;
    Json& field = object[it.key()];
    if (field != *it) field = *it;
  }
}

// Of the kinds whose status updates change no metadata.
void KeepMetadata(Json& metadata, const Json& old) {
  for (const char* field : {"labels", "annotations", "finalizers", "ownerReferences"})
    KeepField(metadata, old, field);
}

bool IsStatusCall(const Call& call) {
  return call.route.subresource != nullptr && call.route.subresource->WritesStatus();
}

StrategyContext ContextOf(const Call& call) {
  StrategyContext context = call.server.Context();
  context.user = &call.request.user;
  if (call.route.subresource != nullptr) context.subresource = call.route.subresource->name;
  return context;
}

// Keeps the notes about the part of the object that the call can write.
std::vector<GateNote> OwnNotes(const Call& call, std::vector<GateNote> notes, bool status_call) {
  if (!call.strategy().HasStatus()) return notes;
  std::erase_if(notes,
                [&](const GateNote& note) { return note.field.starts_with("status.") != status_call; });
  return notes;
}

void AddNotes(Call& call, std::vector<GateNote> notes) {
  std::move(notes.begin(), notes.end(), std::back_inserter(call.gate_notes));
}

// Adds a note if status.terminating appeared or vanished. The schema tables have no gate for this field,
// since it is the controller that omits it while the gate is off.
void NoteTerminatingOfJob(const Json& object, const Json& old, std::vector<GateNote>& notes) {
  const bool has = api::Find(object, "status", "terminating") != nullptr;
  if (has == (api::Find(old, "status", "terminating") != nullptr)) return;
  notes.push_back({has ? GatedField::kAppeared : GatedField::kVanished, "status.terminating",
                   std::string(api::gate::kJobPodReplacementPolicy)});
}

}  // namespace

StrategyContext Server::Context() const { return {env.gates, env.clock.Now()}; }

void ApplyAllDefaults(const ResourceInfo& resource, Json& object) {
  api::ApplyDefaults(StoredSchema(resource), object);
  resource.strategy->Default(object);
}

Result<void> AdmitToNamespace(const Call& call, std::string_view name) {
  if (!call.resource().namespaced) return {};
  api::ObjectPtr ns = call.server.store.Get({"namespaces", "", call.route.ns});
  if (ns == nullptr) return api::NotFound({"", "namespaces"}, call.route.ns);
  if (!ns->header().deleting) return {};
  api::Status status = api::Forbidden(
      call.resource().Resource(), name,
      "unable to create new content in namespace " + call.route.ns + " because it is being terminated");
  status.details->causes.push_back(
      {"NamespaceTerminating", "namespace " + call.route.ns + " is being terminated", "metadata.namespace"});
  return status;
}

Result<Prepared> PrepareNew(Call& call, Json object, const OwnersRule& owners_of) {
  const ResourceInfo& resource = call.resource();
  const Strategy& strategy = call.strategy();
  StrategyContext context = ContextOf(call);
  const Json sent_owners = TakeSentOwners(object["metadata"]);
  WipeSystemMetadata(object["metadata"]);
  if (strategy.HasStatus()) object["status"] = EmptyStatus(resource);
  AddNotes(call, DropGatedFields(StoredSchema(resource), object, nullptr, context.gates));
  api::ManagedFieldsPtr owners = owners_of(object, sent_owners);
  if (auto admitted = AdmitNew(call, object); !admitted) return admitted.status();
  Json& metadata = object["metadata"];
  FillNewMetadata(call, metadata);
  if (strategy.HasGeneration()) metadata["generation"] = 1;
  strategy.PrepareForCreate(context, object);
  FieldErrors errors = strategy.Validate(context, object);
  if (errors.empty())
    errors = ValidateCommonMetadata(object["metadata"], resource.namespaced, Path("metadata"));
  if (!errors.empty())
    return api::Invalid(StoredKind(resource), api::StringAt(object["metadata"], "name"), errors);
  if (auto fine = CheckAdmission(call, object, nullptr); !fine) return fine.status();
  for (std::string& warning : strategy.Warnings(context, object, nullptr))
    call.warnings.push_back(std::move(warning));
  return Prepared{std::move(object), std::move(owners)};
}

Result<Prepared> PrepareReplacement(Call& call, Json object, const Json& old, const OwnersRule& owners_of) {
  const ResourceInfo& resource = call.resource();
  const Strategy& strategy = call.strategy();
  StrategyContext context = ContextOf(call);
  bool status_call = IsStatusCall(call);
  const Json sent_owners = TakeSentOwners(object["metadata"]);
  CarryMetadata(object["metadata"], api::ObjectAt(old, "metadata"));
  AddNotes(call,
           OwnNotes(call, DropGatedFields(StoredSchema(resource), object, &old, context.gates), status_call));
  api::ManagedFieldsPtr owners = owners_of(object, sent_owners);
  if (status_call && resource.storage == "jobs") NoteTerminatingOfJob(object, old, call.gate_notes);
  if (status_call) {
    KeepAllButStatus(object, old);
    if (StatusKeepsMetadata(resource)) KeepMetadata(object["metadata"], api::ObjectAt(old, "metadata"));
    strategy.PrepareForStatusUpdate(context, object, old);
  } else {
    if (strategy.HasStatus()) {
      if (const Json* status = api::Find(old, "status"))
        object["status"] = *status;
      else
        object.erase("status");
    }
    strategy.PrepareForUpdate(context, object, old);
    if (strategy.HasGeneration() && strategy.BumpsGeneration(object, old))
      object["metadata"]["generation"] = api::IntAt(old, 0, "metadata", "generation") + 1;
  }
  // Kubernetes validates changed metadata here for all kinds and again in the rules of each kind. So it
  // reports an error twice.
  FieldErrors errors = ValidateCommonMetadataUpdate(object["metadata"], old["metadata"], Path("metadata"));
  api::Append(errors, status_call ? strategy.ValidateStatusUpdate(context, object, old)
                                  : strategy.ValidateUpdate(context, object, old));
  if (!errors.empty())
    return api::Invalid(StoredKind(resource), api::StringAt(object["metadata"], "name"), errors);
  if (status_call) return Prepared{std::move(object), std::move(owners)};
  if (auto fine = CheckAdmission(call, object, &old); !fine) return fine.status();
  for (std::string& warning : strategy.Warnings(context, object, &old))
    call.warnings.push_back(std::move(warning));
  return Prepared{std::move(object), std::move(owners)};
}

void RecordGateNotes(const Call& call, const api::Object& object) {
  GateLog* log = call.server.options.gate_log;
  if (log == nullptr || call.gate_notes.empty()) return;
  constexpr std::string_view kComponents = "system:kube-";
  std::string_view writer = call.request.user.name;
  if (writer.starts_with(kComponents)) writer.remove_prefix(kComponents.size());
  const api::ObjectHeader& header = object.header();
  log->Note({call.server.env.clock.Now(), object.revision(), call.resource().storage, object.name(),
             header.uid, writer},
            call.gate_notes);
}

api::ObjectPtr MakeObject(const ResourceInfo& resource, Prepared prepared) {
  api::ObjectHeader header = DeriveHeader(resource, prepared.document);
  // Events and leases are written often and rarely read, so the parsed document is not kept.
  bool keep_document = resource.storage != "events" && resource.storage != "leases";
  return api::Object::Make(std::move(header), std::move(prepared.document), keep_document,
                           std::move(prepared.owners));
}

bool IsReadyToGo(const ResourceInfo& resource, const Json& document) {
  const Json& metadata = api::ObjectAt(document, "metadata");
  if (api::Find(metadata, "deletionTimestamp") == nullptr) return false;
  if (!api::ListAt(metadata, "finalizers").empty()) return false;
  if (resource.storage == "namespaces") return api::ListAt(document, "spec", "finalizers").empty();
  return api::IntAt(metadata, 0, "deletionGracePeriodSeconds") == 0;
}

namespace {

// The stored form of a document that contains only the part of the object that `read` names. The rest comes
// from `current`.
api::ObjectPtr MakeFromPart(const ResourceInfo& resource, Prepared prepared, const api::Object& current,
                            std::span<const api::Keep> read) {
  std::vector<std::string_view> carried;
  for (const api::Keep& kept : read)
    if (!kept.below.empty()) carried.push_back(kept.name);
  const auto is_carried = [&carried](std::string_view member) {
    return std::find(carried.begin(), carried.end(), member) != carried.end();
  };
  api::ObjectHeader header = DeriveHeader(resource, prepared.document);
  const api::ObjectHeader& before = current.header();
  auto fields = resource.strategy->SelectableFields();
  for (std::size_t i = 0; i < fields.size(); ++i)
    if (is_carried(fields[i].label.substr(0, fields[i].label.find('.')))) header.fields[i] = before.fields[i];
  if (is_carried("spec")) header.node_name = before.node_name;
  if (is_carried("status")) {
    header.phase = before.phase;
    header.disruption_target = before.disruption_target;
  }
  return api::Object::MakeCarrying(std::move(header), std::move(prepared.document), current, carried,
                                   std::move(prepared.owners));
}

// The state of one ChangeObject() call, shared by all its attempts.
struct ChangeLoop : std::enable_shared_from_this<ChangeLoop> {
  ChangeLoop(CallPtr c, ChangeTarget t) : call(std::move(c)), target(std::move(t)) {}
  CallPtr call;
  ChangeTarget target;
  std::size_t warnings_before = 0;
  Changer changer;
  ChangeDone done;

  void Try(api::ObjectPtr current);
  void Submit(const api::ObjectPtr& current, Change change);
  void Finish(storage::WriteOutcome outcome, bool deleting);
};

void ChangeLoop::Try(api::ObjectPtr current) {
  if (current == nullptr) return done(api::NotFound(target.resource.Resource(), target.key.name));
  std::shared_ptr<const Json> document =
      target.read.empty() ? current->Document()
                          : std::make_shared<const Json>(api::ReadSome(current->body(), target.read));
  call->gate_notes.clear();
  auto change = changer(current, *document);
  if (!change) return done(change.status());
  if (change->action == Change::Action::kNothing) return done(Changed{current, false});
  Submit(current, std::move(*change));
}

void ChangeLoop::Submit(const api::ObjectPtr& current, Change change) {
  bool deleting = change.action == Change::Action::kDelete;
  api::ObjectPtr object = current;
  if (!change.document.is_null()) {
    Prepared next{std::move(change.document), change.owners ? std::move(*change.owners) : current->owners()};
    object = target.read.empty() ? MakeObject(target.resource, std::move(next))
                                 : MakeFromPart(target.resource, std::move(next), *current, target.read);
  }
  if (!deleting && object->body() == current->body() && AreSameOwners(object->owners(), current->owners())) {
    if (!target.dry_run) RecordGateNotes(*call, *current);
    return done(Changed{current, false});
  }
  if (target.dry_run) return done(Changed{object, deleting});
  if (!deleting) {
    auto fitting =
        FitIntoEtcd(*call, target.resource, std::move(object), EtcdWrite::kUpdate, target.owners_required);
    if (!fitting) return done(fitting.status());
    object = std::move(*fitting);
  }
  storage::Write write{deleting ? storage::Write::Op::kDelete : storage::Write::Op::kUpdate, target.key,
                       current->revision(), std::move(object)};
  call->server.store.Submit(std::move(write),
                            [self = shared_from_this(), deleting](storage::WriteOutcome outcome) {
                              Guard(self->call, [&] { self->Finish(std::move(outcome), deleting); });
                            });
}

void ChangeLoop::Finish(storage::WriteOutcome outcome, bool deleting) {
  using Code = storage::WriteOutcome::Code;
  switch (outcome.code) {
    case Code::kOk: RecordGateNotes(*call, *outcome.object); return done(Changed{outcome.object, deleting});
    case Code::kConflict:
      call->warnings.resize(warnings_before);  // the next attempt adds its own
      return Try(outcome.object);
    case Code::kNotFound: return Try(nullptr);
    case Code::kExists:
    case Code::kFailed: return done(api::InternalError(outcome.error));
  }
}

}  // namespace

void ChangeObject(const CallPtr& call, ChangeTarget target, Changer changer, ChangeDone done) {
  auto loop = std::make_shared<ChangeLoop>(call, std::move(target));
  loop->warnings_before = call->warnings.size();
  loop->changer = std::move(changer);
  loop->done = std::move(done);
  loop->Try(call->server.store.Get(loop->target.key));
}

ChangeTarget OwnTarget(const Call& call, bool dry_run) { return {call.resource(), call.Key(), dry_run}; }

Result<api::ObjectPtr> FitIntoEtcd(const Call& call, const ResourceInfo& resource, api::ObjectPtr object,
                                   EtcdWrite write, bool owners_required) {
  const std::size_t limit = call.server.options.object_bytes_max;
  const auto fits = CheckEtcdLimits(resource, *object, write, limit);
  if (fits) return object;
  if (owners_required || object->owners() == nullptr) return fits.status();
  api::ObjectPtr without_owners = object->WithOwners(nullptr);
  if (auto smaller = CheckEtcdLimits(resource, *without_owners, write, limit); !smaller)
    return smaller.status();
  return without_owners;
}

}  // namespace terrarium::apiserver
