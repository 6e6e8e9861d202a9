#include "storage/internal/sqlite_load.h"

#include <algorithm>
#include <deque>
#include <exception>
#include <utility>

#include "api/apply/managed_fields.h"
#include "api/base/errors.h"

namespace terrarium::storage {
namespace {

api::ObjectHeader BasicHeader(std::string_view, const api::Json& document) {
  return api::ReadHeader(document);
}

class Loader {
 public:
  Loader(const SqliteOptions& options, std::int64_t compacted)
      : derive_(options.derive_header ? options.derive_header : BasicHeader),
        compacted_(compacted),
        state_(std::make_unique<State>(options.history, std::max(compacted, kFreshRevision), compacted)),
        recent_(options.history) {}

  SqlError Use(const LogRow& row, bool intact) {
    if (!intact) return Damaged(row, "does not have the checksum with which it was written");
    ObjectPtr object;
    if (SqlError error = Decode(row, object)) return error;
    ObjectPtr current = state_->Find(row.resource, row.ns, row.name);
    if (row.revision <= compacted_) {
      if (current != nullptr || OpOf(row) == LogOp::kDelete)
        return Damaged(row, "should have been compacted");
      state_->Restore(row.resource, std::move(object));
      return std::nullopt;
    }
    if (row.revision != state_->revision() + 1) return Damaged(row, "does not follow the one before");
    std::int64_t replaced = current == nullptr ? 0 : current->revision();
    if (row.previous_revision != replaced || (replaced == 0) != (OpOf(row) == LogOp::kCreate))
      return Damaged(row, "does not fit the state before it");
    EventType type = EventType::kDeleted;
    if (OpOf(row) == LogOp::kCreate) type = EventType::kAdded;
    if (OpOf(row) == LogOp::kUpdate) type = EventType::kModified;
    std::deque<Change> changes;
    changes.push_back({std::string(row.resource), Event{type, std::move(object), std::move(current)}});
    state_->Apply(changes);
    recent_.Add(BytesKeptAlive(changes.front().event));
    return std::nullopt;
  }

  State& state() { return *state_; }
  LoadedFile Release() { return {std::move(state_), compacted_, std::move(recent_)}; }

 private:
  static LogOp OpOf(const LogRow& row) { return static_cast<LogOp>(row.op); }
  static SqlError Damaged(const LogRow& row, const char* why) {
    return "damaged: revision " + std::to_string(row.revision) + " (" + std::string(row.resource) + " " +
           std::string(row.ns) + "/" + std::string(row.name) + ") " + why;
  }

  SqlError Decode(const LogRow& row, ObjectPtr& object) const {
    std::string start = R"({"metadata":{"resourceVersion":")" + std::to_string(row.revision) + '"';
    if (OpOf(row) < LogOp::kCreate || OpOf(row) > LogOp::kDelete)
      return Damaged(row, "has an unknown operation");
    if (!row.body.starts_with(start)) return Damaged(row, "does not begin with its own revision");
    api::Json document = api::Json::parse(row.body, nullptr, false);
    if (document.is_discarded()) return Damaged(row, "is not JSON");
    api::ObjectHeader header;
    try {
      header = derive_(row.resource, document);
    } catch (const std::exception& e) {
      return Damaged(row, e.what());  // the document is not shaped as an object of this resource
    }
    header.ns = row.ns;
    header.name = row.name;
    header.revision = row.revision;
    api::ManagedFieldsPtr owners;
    if (SqlError error = DecodeOwners(row, owners)) return error;
    object = api::Object::FromBody(std::move(header), std::string(row.body), std::move(owners));
    return std::nullopt;
  }

  static SqlError DecodeOwners(const LogRow& row, api::ManagedFieldsPtr& owners) {
    if (row.owners.empty()) return std::nullopt;
    const api::Json list = api::Json::parse(row.owners, nullptr, false);
    if (list.is_discarded()) return Damaged(row, "has owners that are not JSON");
    std::string why;
    auto read = api::ReadManagedFields(list, &why);
    if (!read) return Damaged(row, ("has owners that cannot be read: " + why).c_str());
    if (!read->empty()) owners = std::make_shared<const api::ManagedFields>(std::move(*read));
    return std::nullopt;
  }

  const DeriveHeader derive_;
  const std::int64_t compacted_;
  std::unique_ptr<State> state_;
  RecentEvents recent_;
};

}  // namespace

api::Result<LoadedFile> LoadState(SqliteLog& log, const SqliteOptions& options) {
  std::int64_t compacted = 0, revision = 0;
  SqlError error = log.ReadMeta(compacted, revision);
  if (!error) {
    Loader loader(options, compacted);
    error = log.ForEach([&](const LogRow& row, bool intact) { return loader.Use(row, intact); });
    if (!error && loader.state().revision() < revision)
      error = "damaged: the log ends at revision " + std::to_string(loader.state().revision()) +
              ", but the store had reached " + std::to_string(revision);
    if (!error) return loader.Release();
  }
  return api::GenericServerError(options.path + ": " + *error);
}

}  // namespace terrarium::storage
