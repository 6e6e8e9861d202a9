#include "apiserver/http/websocket.h"

#include <gtest/gtest.h>

#include "tests/apiserver/http/websocket_frames.h"

namespace terrarium::apiserver {
namespace {

using Headers = std::vector<std::pair<std::string, std::string>>;

RequestHead Head(const Headers& changes = {}) {
  RequestHead head;
  head.method = "GET";
  head.headers = {{"connection", "Upgrade"},
                  {"upgrade", "websocket"},
                  {"sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ=="},
                  {"sec-websocket-version", "13"},
                  {"origin", "http://localhost"}};
  for (const auto& [name, value] : changes) {
    std::erase_if(head.headers, [&](const auto& field) { return field.first == name; });
    if (!value.empty()) head.headers.emplace_back(name, value);
  }
  return head;
}

std::string Refused(const Headers& changes) {
  auto handshake = ReadWebsocketHandshake(Head(changes));
  if (handshake == nullptr) return "no websocket";
  if (!handshake->refusal) return "accepted";
  return std::to_string(handshake->refusal->code) + " " + handshake->refusal->body;
}

TEST(WebsocketHandshake, IsAccepted) {
  EXPECT_EQ(WebsocketAccept("dGhlIHNhbXBsZSBub25jZQ=="), "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");  // RFC 6455, 1.3
  auto handshake = ReadWebsocketHandshake(Head({{"sec-websocket-protocol", "base64.binary.k8s.io"}}));
  ASSERT_NE(handshake, nullptr);
  EXPECT_EQ(handshake->head,
            "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n"
            "Sec-WebSocket-Protocol: base64.binary.k8s.io\r\n\r\n");
  EXPECT_EQ(Refused({{"upgrade", "WebSocket"}, {"connection", "keep-alive, uPGrade"}}), "accepted");
  EXPECT_EQ(Refused({{"origin", "/a"}}), "accepted");
}

// The texts are those of kube-apiserver 1.36.4.
TEST(WebsocketHandshake, IsRefusedAsKubernetesDoes) {
  EXPECT_EQ(Refused({{"sec-websocket-key", ""}}), "400 mismatch challenge/response");
  EXPECT_EQ(Refused({{"sec-websocket-version", ""}}), "400 missing or bad WebSocket Version");
  EXPECT_EQ(Refused({{"sec-websocket-version", "8"}}), "400 missing or bad WebSocket Version");
  EXPECT_EQ(Refused({{"origin", ""}}), "403 ");
  EXPECT_EQ(Refused({{"origin", "null"}}), "403 ");
  EXPECT_EQ(Refused({{"origin", "1:"}}), "403 ");
  EXPECT_EQ(Refused({{"sec-websocket-protocol", "a, b"}}), "400 ");
  RequestHead second = Head({{"connection", "keep-alive"}});
  second.headers.emplace_back("connection", "upgrade");
  auto handshake = ReadWebsocketHandshake(second);
  ASSERT_TRUE(handshake != nullptr && handshake->refusal);
  EXPECT_EQ(handshake->refusal->body, "not websocket protocol");
}

TEST(WebsocketHandshake, OtherRequestsHaveNone) {
  EXPECT_EQ(Refused({{"connection", ""}}), "no websocket");
  EXPECT_EQ(Refused({{"connection", "keep-alive"}}), "no websocket");
  EXPECT_EQ(Refused({{"upgrade", ""}}), "no websocket");
  EXPECT_EQ(Refused({{"upgrade", "h2c"}}), "no websocket");
  EXPECT_EQ(Refused({{"upgrade", "websocket2"}}), "no websocket");
  RequestHead post = Head();
  post.method = "POST";
  EXPECT_EQ(ReadWebsocketHandshake(post), nullptr);
}

TEST(WebsocketFrames, HaveTheShortestLength) {
  auto start_of_frame = [](std::size_t size) {
    std::string out;
    AppendWebsocketFrame(WebsocketOpcode::kText, std::string(size, 'x'), out);
    EXPECT_TRUE(out.ends_with(std::string(size, 'x')));
    return out.substr(0, out.size() - size);
  };
  EXPECT_EQ(start_of_frame(0), std::string("\x81\0", 2));
  EXPECT_EQ(start_of_frame(125), "\x81\x7d");
  EXPECT_EQ(start_of_frame(126), std::string("\x81\x7e\0\x7e", 4));
  EXPECT_EQ(start_of_frame(65535), "\x81\x7e\xff\xff");
  EXPECT_EQ(start_of_frame(65536), std::string("\x81\x7f\0\0\0\0\0\1\0\0", 10));
}

// The replies to `input`, however it arrives.
std::string ReplyTo(const std::string& input) {
  WebsocketReader whole;
  whole.Read(input);
  const std::string out = whole.TakeReply();
  EXPECT_FALSE(whole.HasReply());
  for (std::size_t step : {1, 2, 3, 7}) {
    WebsocketReader reader;
    for (std::size_t at = 0; at < input.size(); at += step)
      reader.Read(std::string_view(input).substr(at, step));
    EXPECT_EQ(reader.TakeReply(), out) << step;
    EXPECT_EQ(reader.closed(), whole.closed()) << step;
  }
  return out;
}

TEST(WebsocketReader, RepliesToPingsAndIgnoresMessages) {
  EXPECT_EQ(ReplyTo(ClientFrame(0x81, "some text")), "");
  EXPECT_EQ(ReplyTo(ClientFrame(0x82, std::string(60'000, 'x')) + ClientFrame(0x89, "hello")),
            "\x8a\x05hello");
  EXPECT_EQ(ReplyTo(ClientFrame(0x89, "")), std::string("\x8a\0", 2));
  EXPECT_EQ(ReplyTo(ClientFrame(0x8a, "unasked")), "");
  // A message in three frames, with a ping in between.
  EXPECT_EQ(ReplyTo(ClientFrame(0x01, "a") + ClientFrame(0x89, "p") + ClientFrame(0x00, "") +
                    ClientFrame(0x80, "c") + ClientFrame(0x81, "d")),
            "\x8a\x01p");
}

TEST(WebsocketReader, KeepsOnlyTheLastPing) {
  EXPECT_EQ(ReplyTo(ClientFrame(0x89, "one") + ClientFrame(0x89, "two")), "\x8a\x03two");
  WebsocketReader reader;
  reader.Read(ClientFrame(0x89, "one") + ClientFrame(0x89, "cut").substr(0, 8));
  EXPECT_EQ(reader.TakeReply(), "\x8a\x03one");
  EXPECT_FALSE(reader.HasReply());
}

TEST(WebsocketReader, RepliesToACloseOnce) {
  EXPECT_EQ(ReplyTo(ClientFrame(0x88, "")), kCloseNormal);
  EXPECT_EQ(ReplyTo(ClientFrame(0x88,
                                "\x03\xe9"
                                "bye") +
                    ClientFrame(0x89, "late")),
            kCloseNormal);
  EXPECT_EQ(ReplyTo(ClientFrame(0x89, "p") + ClientFrame(0x88, "")), "\x8a\x01p" + std::string(kCloseNormal));
}

TEST(WebsocketReader, ClosesAfterAnInvalidFrame) {
  const std::string ping = ClientFrame(0x89, "late");
  EXPECT_EQ(ReplyTo("\x81\x01x" + ping), kCloseProtocolError);  // unmasked
  EXPECT_EQ(ReplyTo(ClientFrame(0x89, std::string(126, 'x')) + ping), kCloseProtocolError);
  EXPECT_EQ(ReplyTo(ClientFrame(0x09, "x") + ping), kCloseProtocolError);  // a control frame in parts
  EXPECT_EQ(ReplyTo(ClientFrame(0xc1, "x") + ping), kCloseProtocolError);  // a reserved bit
  EXPECT_EQ(ReplyTo(ClientFrame(0x83, "x") + ping), kCloseProtocolError);  // a reserved opcode
  EXPECT_EQ(ReplyTo(ClientFrame(0x8b, "x") + ping), kCloseProtocolError);
  EXPECT_EQ(ReplyTo(ClientFrame(0x80, "x") + ping), kCloseProtocolError);  // continues no message
  EXPECT_EQ(ReplyTo(ClientFrame(0x01, "x") + ClientFrame(0x81, "y") + ping), kCloseProtocolError);
}

TEST(WebsocketReader, ClosesBeforeAFrameThatIsTooLarge) {
  const std::string most("\x82\xff\0\0\0\0\x02\0\0\0mask", 14), more("\x82\xff\0\0\0\0\x02\0\0\1mask", 14),
      huge("\x82\xff\xff\xff\xff\xff\xff\xff\xff\xffmask", 14);
  EXPECT_EQ(ReplyTo(most), "");
  EXPECT_EQ(ReplyTo(more), kCloseNormal);
  EXPECT_EQ(ReplyTo(huge), kCloseNormal);
}

}  // namespace
}  // namespace terrarium::apiserver
