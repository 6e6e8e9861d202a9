#include "apiserver/internal/etcd_words.h"

#include "api/apply/managed_fields.h"
#include "api/base/errors.h"
#include "api/codec/protobuf.h"

namespace terrarium::apiserver {
namespace {

// What the client of etcd sends at most.
constexpr std::size_t kMessageBytesMax = 2 * 1024 * 1024;
// A protobuf form can be a little longer than the JSON text: below this much room there is nothing to
// measure.
constexpr std::size_t kRoom = 64 * 1024;
// The id that etcd gives to a request before it measures it: two bytes of tag, one of length, one of tag and
// ten of a number, or nine for half of all members of a cluster.
constexpr std::size_t kRequestHeaderBytes = 14;

std::size_t VarintBytes(std::size_t value) {
  std::size_t bytes = 1;
  for (; value >= 0x80; value >>= 7) ++bytes;
  return bytes;
}

// A message or a string in a field with a number below 16.
std::size_t FieldBytes(std::size_t content) { return 1 + VarintBytes(content) + content; }

// etcdserverpb.TxnRequest: if the key is at this revision, put the value, else read it.
std::size_t TransactionBytes(std::size_t key, std::size_t value, EtcdWrite write, std::int64_t revision) {
  const std::size_t target = 2, at_revision = 1 + VarintBytes(static_cast<std::size_t>(revision));
  const std::size_t compare = FieldBytes(target + FieldBytes(key) + at_revision);
  const std::size_t put = FieldBytes(FieldBytes(FieldBytes(key) + FieldBytes(value)));
  const std::size_t read = write == EtcdWrite::kUpdate ? FieldBytes(FieldBytes(FieldBytes(key))) : 0;
  return compare + put + read;
}

}  // namespace

std::string EtcdKey(const ResourceInfo& resource, std::string_view ns, std::string_view name) {
  std::string key = "/registry/";
  key.append(resource.etcd_prefix.empty() ? resource.plural : resource.etcd_prefix).append("/");
  if (!ns.empty()) key.append(ns).append("/");
  return key.append(name);
}

api::Result<void> CheckEtcdLimits(const ResourceInfo& resource, const api::Object& object, EtcdWrite write,
                                  std::size_t request_bytes_max) {
  const std::size_t owners = object.owners() == nullptr ? 0 : object.owners()->ApproximateBytes();
  if (object.body().size() + owners + kRoom <= request_bytes_max) return {};
  Json document = object.ParseWithOwners();
  document["kind"] = resource.kind;
  document["apiVersion"] = resource.GroupVersion();
  if (auto metadata = document.find("metadata"); metadata != document.end())
    metadata->erase("resourceVersion");
  const std::size_t value = api::EncodeProtobuf(resource.Schema(), document).size();
  const std::size_t key = EtcdKey(resource, object.header().ns, object.header().name).size();
  const std::size_t transaction =
      TransactionBytes(key, value, write, write == EtcdWrite::kUpdate ? object.header().revision : 0);
  if (transaction > kMessageBytesMax)
    return api::GenericServerError(
        "rpc error: code = ResourceExhausted desc = trying to send message larger than max (" +
        std::to_string(transaction) + " vs. " + std::to_string(kMessageBytesMax) + ")");
  if (kRequestHeaderBytes + FieldBytes(transaction) > request_bytes_max)
    return api::GenericServerError("etcdserver: request is too large");
  return {};
}

}  // namespace terrarium::apiserver
