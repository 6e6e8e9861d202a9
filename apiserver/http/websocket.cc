#include "apiserver/http/websocket.h"

#include <algorithm>
#include <array>
#include <utility>

#include <openssl/sha.h>

#include "api/base/base64.h"

namespace terrarium::apiserver {
namespace {

constexpr std::string_view kGuid = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";  // RFC 6455, 1.3
constexpr std::uint64_t kControlBytesMax = 125;
// As in golang.org/x/net/websocket. The bytes are not kept.
constexpr std::uint64_t kDataBytesMax = 32 << 20;
// The bits of a frame's start, its first two bytes.
constexpr unsigned kFin = 0x80, kReserved = 0x70, kOpcode = 0x0f, kMasked = 0x80, kLength = 0x7f;
constexpr std::size_t kStartBytes = 2, kMaskBytes = 4;

bool IsLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

bool EqualsIgnoringCase(char a, char b) { return a == b || (IsLetter(a) && IsLetter(b) && (a ^ b) == 0x20); }

// As Kubernetes and its library do, which search the value for this part.
bool ContainsUpgrade(std::string_view value) {
  constexpr std::string_view kPart = "upgrade";
  return !std::ranges::search(value, kPart, EqualsIgnoringCase).empty();
}

bool IsWebsocketRequest(const RequestHead& head) {
  if (head.method != "GET") return false;
  if (!std::ranges::equal(head.Header("upgrade"), std::string_view("websocket"), EqualsIgnoringCase))
    return false;
  return std::ranges::any_of(head.headers, [](const auto& field) {
    return field.first == "connection" && ContainsUpgrade(field.second);
  });
}

// What Go's url.ParseRequestURI accepts, but for its checks of hosts and escapes: a path or an absolute URL.
bool IsUrl(std::string_view text) {
  if (text.starts_with('/')) return true;
  std::string_view scheme = text.substr(0, text.find(':'));
  if (scheme.size() == text.size() || scheme.empty() || !IsLetter(scheme.front())) return false;
  return std::ranges::all_of(scheme, [](char c) {
    return IsLetter(c) || (c >= '0' && c <= '9') || c == '+' || c == '-' || c == '.';
  });
}

Response Refusal(int code, std::string_view message) {
  Response response;
  response.code = code;
  response.content_type = "text/plain; charset=utf-8";
  response.body = message;
  return response;
}

// In the order and with the texts of golang.org/x/net/websocket.
std::optional<Response> RefusalOf(const RequestHead& head) {
  if (!ContainsUpgrade(head.Header("connection"))) return Refusal(400, "not websocket protocol");
  if (head.Header("sec-websocket-key").empty()) return Refusal(400, "mismatch challenge/response");
  if (head.Header("sec-websocket-version") != "13") {
    Response response = Refusal(400, "missing or bad WebSocket Version");
    response.headers.emplace_back("Sec-WebSocket-Version", "13");
    return response;
  }
  // Only pages send it by themselves, but Kubernetes wants it of every client.
  if (!IsUrl(head.Header("origin"))) return Refusal(403, "");
  // Kubernetes chooses none of several protocols.
  if (head.Header("sec-websocket-protocol").find(',') != std::string::npos) return Refusal(400, "");
  return std::nullopt;
}

unsigned Byte(char c) { return static_cast<unsigned char>(c); }

void AppendBigEndian(std::uint64_t value, std::size_t bytes, std::string& out) {
  while (bytes-- > 0) out += static_cast<char>((value >> (8 * bytes)) & 0xff);
}

// How many bytes the payload's length has behind the first two.
std::size_t LengthBytes(unsigned length) {
  if (length < 126) return 0;
  return length == 126 ? 2 : 8;
}

bool IsControl(WebsocketOpcode opcode) { return opcode >= WebsocketOpcode::kClose; }

bool IsOpcode(unsigned value) { return value <= 2 || (value >= 8 && value <= 10); }

}  // namespace

std::string WebsocketAccept(std::string_view key) {
  std::string text(key);
  text += kGuid;
  std::array<unsigned char, SHA_DIGEST_LENGTH> digest{};
  SHA1(reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest.data());
  return api::EncodeBase64({reinterpret_cast<const char*>(digest.data()), digest.size()});
}

std::unique_ptr<WebsocketHandshake> ReadWebsocketHandshake(const RequestHead& head) {
  if (!IsWebsocketRequest(head)) return nullptr;
  auto out = std::make_unique<WebsocketHandshake>();
  out->refusal = RefusalOf(head);
  if (out->refusal) return out;
  out->head = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n";
  out->head += "Sec-WebSocket-Accept: " + WebsocketAccept(head.Header("sec-websocket-key")) + "\r\n";
  const std::string& protocol = head.Header("sec-websocket-protocol");
  if (!protocol.empty()) out->head += "Sec-WebSocket-Protocol: " + protocol + "\r\n";
  out->head += "\r\n";
  return out;
}

void AppendWebsocketFrame(WebsocketOpcode opcode, std::string_view payload, std::string& out) {
  out += static_cast<char>(kFin | static_cast<unsigned>(opcode));
  if (payload.size() < 126) {
    out += static_cast<char>(payload.size());
  } else {
    const bool is_short = payload.size() <= 0xffff;
    out += static_cast<char>(is_short ? 126 : 127);
    AppendBigEndian(payload.size(), is_short ? 2 : 8, out);
  }
  out += payload;
}

void AppendWebsocketClose(WebsocketCloseCode code, std::string& out) {
  std::string payload;
  AppendBigEndian(static_cast<std::uint64_t>(code), 2, payload);
  AppendWebsocketFrame(WebsocketOpcode::kClose, payload, out);
}

void WebsocketReader::Read(std::string_view input) {
  while (!input.empty() && !closed())
    input.remove_prefix(in_payload_ ? ReadPayload(input) : ReadHeader(input));
}

std::size_t WebsocketReader::ReadHeader(std::string_view input) {
  const bool has_start = header_.size() >= kStartBytes;
  std::size_t size = kStartBytes;
  if (has_start) size += LengthBytes(Byte(header_[1]) & kLength) + kMaskBytes;
  std::size_t taken = std::min(input.size(), size - header_.size());
  header_ += input.substr(0, taken);
  if (header_.size() < size) return taken;
  if (has_start)
    BeginPayload();
  else if (!CheckStart())
    close_ = WebsocketCloseCode::kProtocolError;
  return taken;
}

bool WebsocketReader::CheckStart() {
  const unsigned first = Byte(header_[0]), second = Byte(header_[1]);
  if ((first & kReserved) != 0 || !IsOpcode(first & kOpcode) || (second & kMasked) == 0) return false;
  opcode_ = static_cast<WebsocketOpcode>(first & kOpcode);
  if (IsControl(opcode_)) return (first & kFin) != 0 && (second & kLength) <= kControlBytesMax;
  if (in_message_ != (opcode_ == WebsocketOpcode::kContinuation)) return false;
  in_message_ = (first & kFin) == 0;
  return true;
}

void WebsocketReader::BeginPayload() {
  std::uint64_t length = Byte(header_[1]) & kLength;
  if (const std::size_t bytes = LengthBytes(Byte(header_[1]) & kLength); bytes > 0) {
    length = 0;
    for (std::size_t i = 0; i < bytes; ++i) length = (length << 8) | Byte(header_[kStartBytes + i]);
  }
  left_ = length;
  in_payload_ = length > 0;
  if (length > kDataBytesMax)
    close_ = WebsocketCloseCode::kNormal;
  else if (!in_payload_)
    EndFrame();
}

std::size_t WebsocketReader::ReadPayload(std::string_view input) {
  std::size_t taken = static_cast<std::size_t>(std::min<std::uint64_t>(input.size(), left_));
  if (opcode_ == WebsocketOpcode::kPing) {
    std::string_view mask = std::string_view(header_).substr(header_.size() - kMaskBytes);
    for (std::size_t i = 0; i < taken; ++i)
      partial_ping_ += static_cast<char>(input[i] ^ mask[partial_ping_.size() % kMaskBytes]);
  }
  left_ -= taken;
  if (left_ == 0) EndFrame();
  return taken;
}

void WebsocketReader::EndFrame() {
  header_.clear();
  in_payload_ = false;
  if (opcode_ == WebsocketOpcode::kPing) ping_ = std::exchange(partial_ping_, {});
  // Kubernetes sends this code whatever the client's is.
  if (opcode_ == WebsocketOpcode::kClose) close_ = WebsocketCloseCode::kNormal;
}

std::string WebsocketReader::TakeReply() {
  std::string out;
  if (ping_) AppendWebsocketFrame(WebsocketOpcode::kPong, *ping_, out);
  ping_.reset();
  if (close_ && !std::exchange(close_taken_, true)) AppendWebsocketClose(*close_, out);
  return out;
}

}  // namespace terrarium::apiserver
