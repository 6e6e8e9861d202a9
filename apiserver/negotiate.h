#pragma once

// Content negotiation: from an Accept header to the form of the answer. Pure functions.

#include <optional>
#include <string>
#include <string_view>

#include "api/base/status.h"
#include "apiserver/request.h"

namespace terrarium::apiserver {

enum class MediaType { kJson, kYaml, kProtobuf };

// "application/json" and so on.
std::string_view MediaTypeName(MediaType type);

// What a client wants to see instead of the object itself (as=..., g=meta.k8s.io).
enum class Shape { kObject, kTable, kPartialObjectMetadata, kPartialObjectMetadataList };

struct Negotiated {
  MediaType media_type = MediaType::kJson;
  Shape shape = Shape::kObject;
  std::string_view meta_version = "v1";  // of meta.k8s.io, for shapes other than kObject: v1 or v1beta1
  bool pretty = false;                   // indent; means something for JSON only

  // The Content-Type of the answer; `stream` for a watch.
  std::string ContentType(bool stream = false) const;
};

// What kind of answer the endpoint gives, since not every form fits all of them.
enum class Endpoint {
  kObject,  // one object, or a Status
  kList,    // a list; its URL serves watches as well
  kWatch,
};

// The clauses of the Accept header are tried from the highest q to the lowest, exact types before wildcards, and the
// first that we can serve wins. An empty header means JSON. Fails with 406 and Kubernetes' words, which differ: a media
// type that nobody serves (CBOR is one), or a served one with parameters that the endpoint does not know.
// Indentation is asked for with `;pretty=1`, ?pretty=true, or by being a browser, curl or wget.
api::Result<Negotiated> Negotiate(const Request& request, Endpoint endpoint);

// Aggregated discovery, asked for at /api and /apis with as=APIGroupDiscoveryList.
struct AggregatedDiscovery {
  MediaType media_type = MediaType::kJson;
  std::string_view version = "v2";  // or v2beta1

  // Says which document it is: clients look for these parameters.
  std::string ContentType() const;
};

// nullopt: the client wants the plain documents, see Negotiate().
std::optional<AggregatedDiscovery> NegotiateAggregatedDiscovery(std::string_view accept);

}  // namespace terrarium::apiserver
