// YAML and protobuf.

#include <algorithm>
#include <string>
#include <utility>

#include "api/codec/protobuf.h"
#include "tests/hostile/internal/text.h"

namespace terrarium::hostile {
namespace {

constexpr std::string_view kHead = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\n";

Exchange Yaml(std::string body) {
  Exchange exchange{{}, Post(kConfigMaps, std::move(body))};
  exchange.request.content_type = "application/yaml";
  return exchange;
}

Shape YamlShape(std::string name, int code, std::function<std::string(std::size_t)> body) {
  auto make = [body = std::move(body)](std::size_t bytes) { return Yaml(std::string(kHead) + body(bytes)); };
  return {"yaml: " + std::move(name), std::move(make), code};
}

// Nine levels of ten aliases each.
std::string Laughs(std::size_t) {
  std::string text = "data:\n  a0: &a0 lol\n";
  for (int i = 1; i < 10; ++i) {
    const std::string alias = "*a" + std::to_string(i - 1);
    text += "  a" + std::to_string(i) + ": &a" + std::to_string(i) + " [" +
            Repeat(alias.size() * 10 + 9, alias) + "]\n";
  }
  return text;
}

void AddYaml(std::vector<Shape>& shapes) {
  shapes.push_back(YamlShape("keys of a map", 0, [](std::size_t bytes) {
    return "data:\n" + Repeat(
                           bytes, [](auto i) { return "  " + Shuffled(i) + ": a"; }, "\n");
  }));
  shapes.push_back(YamlShape("keys of a flow map", 0, [](std::size_t bytes) {
    return "data: {" + Repeat(bytes, [](auto i) { return Shuffled(i) + ": a"; }) + "}\n";
  }));
  shapes.push_back(YamlShape("unknown members", 400, [](std::size_t bytes) {
    return Repeat(
        bytes, [](auto i) { return Shuffled(i) + ": a"; }, "\n");
  }));
  shapes.push_back(YamlShape("keys twice", 400, [](std::size_t bytes) {
    return "data:\n" + Repeat(
                           bytes, [](auto i) { return "  " + Shuffled(i / 2) + ": a"; }, "\n");
  }));
  shapes.push_back(YamlShape("a flow list", 400,
                             [](std::size_t bytes) { return "data: [" + Repeat(bytes, "a") + "]\n"; }));
  shapes.push_back(YamlShape("a block list", 400,
                             [](std::size_t bytes) { return "data:\n" + Repeat(bytes, "- a", "\n"); }));
  shapes.push_back(
      YamlShape("nesting", 400, [](std::size_t bytes) { return "data: " + std::string(bytes, '['); }));
  shapes.push_back(
      YamlShape("nesting by indentation", 400, [](std::size_t bytes) { return Repeat(bytes, "- ", ""); }));
  shapes.push_back(YamlShape("a long text", 0, [](std::size_t bytes) {
    return "data:\n  k: " + Repeat(bytes, "word", " ") + "\n";
  }));
  shapes.push_back(YamlShape("a block text", 0, [](std::size_t bytes) {
    return "data:\n  k: |\n" + Repeat(bytes, "    line", "\n") + "\n";
  }));
  shapes.push_back(YamlShape("a quoted text", 0, [](std::size_t bytes) {
    return "data:\n  k: \"" + Repeat(bytes, "\\u00e9\\n", "") + "\"\n";
  }));
  shapes.push_back(
      YamlShape("a comment", 201, [](std::size_t bytes) { return "#" + std::string(bytes, 'x') + "\n"; }));
  shapes.push_back(YamlShape("line breaks", 201, [](std::size_t bytes) { return std::string(bytes, '\n'); }));
  shapes.push_back(YamlShape("anchors", 0, [](std::size_t bytes) {
    return "data:\n" +
           Repeat(
               bytes, [](auto i) { return "  " + Shuffled(i) + ": &" + Shuffled(i) + " a"; }, "\n");
  }));
  shapes.push_back(YamlShape("aliases of a long text", 0, [](std::size_t bytes) {
    return "data:\n  k: &a " + std::string(bytes / 2, 'x') + "\n" +
           Repeat(
               bytes / 2, [](auto i) { return "  " + Shuffled(i) + ": *a"; }, "\n");
  }));
  shapes.push_back(YamlShape("merged maps", 0, [](std::size_t bytes) {
    return "x: &a {" + Repeat(bytes / 100, [](auto i) { return Shuffled(i) + ": a"; }) + "}\ndata:\n" +
           Repeat(bytes, "  <<: *a", "\n") + "\n";
  }));
  shapes.push_back(YamlShape("aliases of aliases", 400, Laughs));
  shapes.push_back(YamlShape("an unknown alias at the end", 400, [](std::size_t bytes) {
    return "data:\n" +
           Repeat(
               bytes, [](auto i) { return "  " + Shuffled(i) + ": a"; }, "\n") +
           "\n  z: *nobody\n";
  }));
}

std::string Varint(std::size_t value) {
  std::string out;
  for (; value >= 0x80; value >>= 7) out += static_cast<char>(value | 0x80);
  return out + static_cast<char>(value);
}

std::string Bytes(int number, std::string_view bytes) {
  return Varint(static_cast<std::size_t>(number) << 3 | 2) + Varint(bytes.size()) + std::string(bytes);
}

// `more` follows the metadata in the message.
Shape ProtobufShape(std::string name, int code, std::function<std::string(std::size_t)> more) {
  auto make = [more = std::move(more)](std::size_t bytes) {
    std::string raw = Bytes(1, Bytes(1, "x")) + more(bytes);
    Exchange exchange{{}, Post(kConfigMaps, api::MakeProtobufEnvelope("v1", "ConfigMap", raw))};
    exchange.request.content_type = "application/vnd.kubernetes.protobuf";
    return exchange;
  };
  return {"protobuf: " + std::move(name), std::move(make), code};
}

std::string Entry(std::uint32_t number) { return Bytes(1, Shuffled(number)) + Bytes(2, ""); }

void AddProtobuf(std::vector<Shape>& shapes) {
  shapes.push_back(ProtobufShape("keys of a map", 0, [](std::size_t bytes) {
    return Repeat(
        bytes, [](auto i) { return Bytes(2, Entry(i)); }, "");
  }));
  shapes.push_back(ProtobufShape("one key again and again", 201, [](std::size_t bytes) {
    return Repeat(
        bytes, [](auto) { return Bytes(2, Entry(0)); }, "");
  }));
  shapes.push_back(ProtobufShape("metadata of one label each", 0, [](std::size_t bytes) {
    return Repeat(
        bytes, [](auto i) { return Bytes(1, Bytes(11, Entry(i))); }, "");
  }));
  shapes.push_back(ProtobufShape("finalizers", 422, [](std::size_t bytes) {
    return Bytes(1, Repeat(
                        bytes, [](auto) { return Bytes(14, "f"); }, ""));
  }));
  shapes.push_back(ProtobufShape("unknown fields", 201, [](std::size_t bytes) {
    return Repeat(bytes, Varint(100 << 3) + Varint(1), "");
  }));
  shapes.push_back(ProtobufShape("unknown groups in each other", 0, [](std::size_t bytes) {
    return Repeat(bytes / 2, Varint(100 << 3 | 3), "") + Repeat(bytes / 2, Varint(100 << 3 | 4), "");
  }));
  shapes.push_back(ProtobufShape("one field again and again", 201, [](std::size_t bytes) {
    return Repeat(bytes, Varint(4 << 3) + Varint(0), "");  // immutable
  }));
}

}  // namespace

void AddFormatShapes(std::vector<Shape>& shapes) {
  AddYaml(shapes);
  AddProtobuf(shapes);
}

}  // namespace terrarium::hostile
