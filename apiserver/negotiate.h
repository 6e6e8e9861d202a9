#pragma once

// Content negotiation: from an Accept header to the form of the response. Pure functions.

#include <optional>
#include <string>
#include <string_view>

#include "api/base/status.h"
#include "apiserver/request.h"

namespace terrarium::apiserver {

enum class MediaType { kJson, kYaml, kProtobuf };

// "application/json" and so on.
std::string_view MediaTypeName(MediaType type);

// The representation that a client requests (as=..., g=meta.k8s.io).
enum class Shape { kObject, kTable, kPartialObjectMetadata, kPartialObjectMetadataList };

struct Negotiated {
  MediaType media_type = MediaType::kJson;
  Shape shape = Shape::kObject;
  std::string_view meta_version = "v1";  // of meta.k8s.io, for shapes other than kObject: v1 or v1beta1
  bool pretty = false;                   // indent; applies to JSON only

  // The Content-Type of the response; `stream` for a watch.
  std::string ContentType(bool stream = false) const;
};

// What the endpoint returns. Not every media type and shape is valid for each endpoint.
enum class Endpoint {
  kObject,  // one object, or a Status
  kList,    // a list; its URL serves watches as well
  kWatch,
};

// Tries the clauses of the Accept header from the highest q to the lowest, exact types before wildcards. The
// first clause that the server can serve wins. An empty header means JSON.
//
// Fails with 406 and the message of Kubernetes. There is one message for a media type that the server does
// not serve (such as CBOR), and others for a served media type with parameters that the endpoint does not
// support.
//
// A client requests indentation with `;pretty=1` or ?pretty=true. Browsers, curl and wget get it by default.
api::Result<Negotiated> Negotiate(const Request& request, Endpoint endpoint);

// Aggregated discovery, which a client requests at /api and /apis with as=APIGroupDiscoveryList.
struct AggregatedDiscovery {
  MediaType media_type = MediaType::kJson;
  std::string_view version = "v2";  // or v2beta1

  // Contains the parameters by which clients recognize the document.
  std::string ContentType() const;
};

// nullopt: the client wants the plain documents, see Negotiate().
std::optional<AggregatedDiscovery> NegotiateAggregatedDiscovery(std::string_view accept);

}  // namespace terrarium::apiserver
