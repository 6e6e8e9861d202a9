#include "tests/hostile/internal/text.h"

#include <cstdio>
#include <utility>

namespace terrarium::hostile {

std::string Repeat(std::size_t bytes, const Item& item, std::string_view separator) {
  std::string out;
  out.reserve(bytes + 256);
  for (std::uint32_t i = 0; out.size() < bytes; ++i) {
    if (i > 0) out += separator;
    out += item(i);
  }
  return out;
}

std::string Repeat(std::size_t bytes, std::string_view text, std::string_view separator) {
  return Repeat(
      bytes, [text](std::uint32_t) { return std::string(text); }, separator);
}

std::string Shuffled(std::uint32_t number) {
  char text[16];
  std::snprintf(text, sizeof text, "k%08x", number * 2654435761u);  // an odd factor: no two are the same
  return text;
}

std::string Member(std::uint32_t number, std::string_view value) {
  return "\"" + Shuffled(number) + "\":" + std::string(value);
}

apiserver::Request Post(std::string_view path, std::string body, std::string_view field_validation) {
  apiserver::Request request;
  request.method = "POST";
  request.path = path;
  request.query = {{"fieldValidation", std::string(field_validation)}};
  request.content_type = "application/json";
  request.body = std::move(body);
  return request;
}

apiserver::Request Put(std::string_view path, std::string body) {
  apiserver::Request request = Post(path, std::move(body));
  request.method = "PUT";
  return request;
}

apiserver::Request Patch(std::string_view path, std::string_view type, std::string body) {
  apiserver::Request request = Post(path, std::move(body));
  request.method = "PATCH";
  request.content_type = "application/" + std::string(type) + "+json";
  return request;
}

std::string ConfigMap(std::string_view metadata_more, std::string_view more) {
  return R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x")" + std::string(metadata_more) +
         "}" + std::string(more) + "}";
}

std::string Pod(std::string_view spec_more, std::string_view container_more) {
  return R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"x"},"spec":{"containers":[{"name":"a","image":"i")" +
         std::string(container_more) + "}]" + std::string(spec_more) + "}}";
}

std::string Deployment(std::string_view metadata_more, std::string_view spec_more,
                       std::string_view pod_spec) {
  return R"({"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"x")" +
         std::string(metadata_more) +
         R"(},"spec":{"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{)" +
         std::string(pod_spec) + "}}" + std::string(spec_more) + "}}";
}

Shape Posted(std::string name, int code, std::string_view path,
             std::function<std::string(std::size_t bytes)> body) {
  auto make = [path = std::string(path), body = std::move(body)](std::size_t bytes) {
    return Exchange{{}, Post(path, body(bytes))};
  };
  return {std::move(name), std::move(make), code};
}

std::vector<Shape> AllShapes() {
  std::vector<Shape> shapes;
  AddApplyShapes(shapes);
  AddObjectShapes(shapes);
  AddPodShapes(shapes);
  AddFormatShapes(shapes);
  AddPatchShapes(shapes);
  AddKindShapes(shapes);
  return shapes;
}

}  // namespace terrarium::hostile
