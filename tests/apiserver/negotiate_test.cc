// Accept headers and the format of the response.

#include "apiserver/negotiate.h"

#include <string>
#include <string_view>

#include <gtest/gtest.h>

namespace terrarium::apiserver {
namespace {

Request Accepting(std::string_view accept) {
  Request request;
  request.accept = accept;
  return request;
}

// "json", "yaml Table v1", "406: message", ...
std::string Outcome(std::string_view accept, Endpoint endpoint = Endpoint::kList) {
  api::Result<Negotiated> result = Negotiate(Accepting(accept), endpoint);
  if (!result.ok()) {
    EXPECT_EQ(result.status().reason, "NotAcceptable");
    return std::to_string(result.status().code) + ": " + result.status().message;
  }
  std::string out;
  switch (result->media_type) {
    case MediaType::kJson: out = "json"; break;
    case MediaType::kYaml: out = "yaml"; break;
    case MediaType::kProtobuf: out = "protobuf"; break;
  }
  switch (result->shape) {
    case Shape::kObject: return out;
    case Shape::kTable: out += " Table"; break;
    case Shape::kPartialObjectMetadata: out += " Metadata"; break;
    case Shape::kPartialObjectMetadataList: out += " MetadataList"; break;
  }
  return out.append(" ").append(result->meta_version);
}

TEST(Negotiate, PlainTypesAndWildcards) {
  EXPECT_EQ(Outcome(""), "json");
  EXPECT_EQ(Outcome("application/json"), "json");
  EXPECT_EQ(Outcome("application/yaml"), "yaml");
  EXPECT_EQ(Outcome("application/vnd.kubernetes.protobuf"), "protobuf");
  EXPECT_EQ(Outcome("*/*"), "json");
  EXPECT_EQ(Outcome("*"), "json");
  EXPECT_EQ(Outcome("application/*"), "json");
  EXPECT_EQ(Outcome("application/json, */*"), "json");
  EXPECT_EQ(Outcome("text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"), "json");
}

TEST(Negotiate, HigherQualityWinsThenTheExactType) {
  EXPECT_EQ(Outcome("application/json;q=0.5, application/yaml"), "yaml");
  EXPECT_EQ(
      Outcome("application/json;q=0.5,application/yaml;q=0.7,application/vnd.kubernetes.protobuf;q=0.9"),
      "protobuf");
  EXPECT_EQ(Outcome("*/*, application/yaml"), "yaml");
  EXPECT_EQ(Outcome("application/vnd.kubernetes.protobuf,application/json"), "protobuf");
}

TEST(Negotiate, UnservedTypesAreSkipped) {
  EXPECT_EQ(Outcome("application/cbor, application/json;q=0.9"), "json");
  EXPECT_EQ(Outcome("image/png, application/yaml"), "yaml");
}

TEST(Negotiate, WhatKubectlAsksForIsATable) {
  EXPECT_EQ(
      Outcome(
          "application/json;as=Table;v=v1;g=meta.k8s.io,application/json;as=Table;v=v1beta1;g=meta.k8s.io,"
          "application/json"),
      "json Table v1");
  EXPECT_EQ(Outcome("application/json;as=Table;v=v1beta1;g=meta.k8s.io, application/json"),
            "json Table v1beta1");
  EXPECT_EQ(Outcome("application/yaml;as=Table;v=v1;g=meta.k8s.io"), "yaml Table v1");
}

TEST(Negotiate, TablesHaveNoProtobufForm) {
  EXPECT_EQ(Outcome("application/vnd.kubernetes.protobuf;as=Table;v=v1;g=meta.k8s.io,application/json"),
            "json");
}

TEST(Negotiate, MetadataAloneInTheMetadataClientsWords) {
  constexpr std::string_view kList =
      "application/vnd.kubernetes.protobuf;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,"
      "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json";
  constexpr std::string_view kOne =
      "application/vnd.kubernetes.protobuf;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,"
      "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json";
  EXPECT_EQ(Outcome(kList, Endpoint::kList), "protobuf MetadataList v1");
  EXPECT_EQ(Outcome(kOne, Endpoint::kObject), "protobuf Metadata v1");
  EXPECT_EQ(Outcome(kOne, Endpoint::kWatch), "protobuf Metadata v1");
}

TEST(Negotiate, ListAndObjectShapesDoNotStandForEachOther) {
  EXPECT_EQ(Outcome("application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1", Endpoint::kList),
            "406: you requested PartialObjectMetadata, but the requested object is a list");
  EXPECT_EQ(Outcome("application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1", Endpoint::kObject),
            "406: you requested PartialObjectMetadataList, but the requested object is not a list");
}

TEST(Negotiate, UnservedTypesAreRefusedWithTheServedOnes) {
  constexpr std::string_view kServed =
      "406: 406: Not Acceptable\n\nAvailable representations: application/json, application/yaml, "
      "application/vnd.kubernetes.protobuf";
  EXPECT_EQ(Outcome("image/png", Endpoint::kObject), kServed);
  EXPECT_EQ(Outcome("application/cbor", Endpoint::kObject), kServed);
  EXPECT_EQ(Outcome("image/png", Endpoint::kList), std::string(kServed) +
                                                       ", application/json;stream=watch, "
                                                       "application/vnd.kubernetes.protobuf;stream=watch");
  EXPECT_TRUE(Negotiate(Accepting("image/png"), Endpoint::kList).status().details.has_value());
}

TEST(Negotiate, UnknownConversionsAreRefusedUnlessAnotherClauseFits) {
  constexpr std::string_view kRefusal =
      "406: only the following media types are accepted: application/json, application/yaml, "
      "application/vnd.kubernetes.protobuf";
  EXPECT_EQ(Outcome("application/json;as=Chart;g=meta.k8s.io;v=v1"), kRefusal);
  EXPECT_EQ(Outcome("application/json;as=Table;g=meta.k8s.io;v=v2"), kRefusal);
  EXPECT_EQ(Outcome("application/json;as=Table;g=example.org;v=v1"), kRefusal);
  EXPECT_EQ(Outcome("application/json;as=Chart;g=meta.k8s.io;v=v1,application/yaml"), "yaml");
}

TEST(Negotiate, WatchesStreamInJsonAndProtobuf) {
  EXPECT_EQ(Outcome("application/json;stream=watch", Endpoint::kWatch), "json");
  EXPECT_EQ(Outcome("application/vnd.kubernetes.protobuf;stream=watch", Endpoint::kWatch), "protobuf");
  EXPECT_EQ(Outcome("application/yaml", Endpoint::kWatch),
            "406: only the following media types are accepted: application/json;stream=watch, "
            "application/vnd.kubernetes.protobuf;stream=watch");
  EXPECT_EQ(Negotiate(Accepting("application/json"), Endpoint::kWatch)->ContentType(true),
            "application/json");
  EXPECT_EQ(Negotiate(Accepting("application/vnd.kubernetes.protobuf"), Endpoint::kWatch)->ContentType(true),
            "application/vnd.kubernetes.protobuf;stream=watch");
  EXPECT_EQ(Negotiate(Accepting("application/yaml"), Endpoint::kList)->ContentType(), "application/yaml");
}

TEST(Negotiate, PrettyIsForCurlAndOnRequest) {
  auto pretty = [](Request request) { return Negotiate(request, Endpoint::kObject)->pretty; };
  Request request = Accepting("application/json");
  EXPECT_FALSE(pretty(request));
  EXPECT_TRUE(pretty(Accepting("application/json;pretty=1")));
  request.query = {{"pretty", "true"}};
  EXPECT_TRUE(pretty(request));
  request = Accepting("");
  request.user_agent = "curl/8.0";
  EXPECT_TRUE(pretty(request));
  request.query = {{"pretty", "false"}};
  EXPECT_FALSE(pretty(request));
  request.query.clear();
  request.user_agent = "kubectl/v1.36.0";
  EXPECT_FALSE(pretty(request));
}

TEST(NegotiateAggregatedDiscovery, NewestClientsGetItAndOldOnesDoNot) {
  constexpr std::string_view kNew =
      "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json";
  constexpr std::string_view kMiddle =
      "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json";
  constexpr std::string_view kNoPeer =
      "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList;profile=nopeer,application/json";
  EXPECT_EQ(NegotiateAggregatedDiscovery(kNew)->ContentType(),
            "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList");
  EXPECT_EQ(NegotiateAggregatedDiscovery(kMiddle)->version, "v2beta1");
  EXPECT_EQ(NegotiateAggregatedDiscovery(kNoPeer)->version, "v2");
  EXPECT_FALSE(NegotiateAggregatedDiscovery("application/json, */*").has_value());
  EXPECT_FALSE(NegotiateAggregatedDiscovery("").has_value());
  EXPECT_FALSE(
      NegotiateAggregatedDiscovery("application/json;g=apidiscovery.k8s.io;v=v3;as=APIGroupDiscoveryList")
          .has_value());
}

}  // namespace
}  // namespace terrarium::apiserver
