// How much of a watch one read of its stream returns.

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "tests/apiserver/bare_server.h"

namespace terrarium::apiserver {
namespace {

using State = ResponseStream::State;

constexpr const char* kConfigMaps = "/api/v1/namespaces/default/configmaps";
constexpr std::size_t kPieceBytes = 64 * 1024;
constexpr std::size_t kEventBytes = 100'000;

void CreateConfigMaps(BareServer& server, int count) {
  const std::string text(kEventBytes, 'x');
  for (int i = 0; i < count; ++i) {
    const api::Json map = {{"metadata", {{"name", "m" + std::to_string(i)}}}, {"data", {{"k", text}}}};
    ASSERT_EQ(server.Send("POST", kConfigMaps, map).code, 201);
  }
}

std::unique_ptr<ResponseStream> Watch(BareServer& server, const std::string& resource_version) {
  Request request;
  request.method = "GET";
  request.path = kConfigMaps;
  request.query = {{"watch", "true"}, {"resourceVersion", resource_version}};
  std::unique_ptr<ResponseStream> stream;
  server.handler->Serve(std::move(request), [&](Response response) { stream = std::move(response.stream); });
  EXPECT_NE(stream, nullptr);
  return stream;
}

// Reads until a read returns nothing, and checks the size of each. Returns how many events came.
int ReadInPieces(ResponseStream& stream) {
  int events = 0;
  for (;;) {
    std::string piece;
    EXPECT_EQ(stream.Read(kPieceBytes, piece), State::kOpen);
    if (piece.empty()) return events;
    EXPECT_LE(piece.size(), kPieceBytes + 2 * kEventBytes);
    events += static_cast<int>(std::count(piece.begin(), piece.end(), '\n'));
  }
}

TEST(WatchStream, AReplayIsReadInPiecesOfTheRequestedSize) {
  BareServer server;
  const std::string before = std::to_string(server.store->CurrentRevision());
  CreateConfigMaps(server, 100);
  EXPECT_EQ(ReadInPieces(*Watch(server, before)), 100);
}

TEST(WatchStream, PendingEventsAreReadInPiecesOfTheRequestedSize) {
  BareServer server;
  auto stream = Watch(server, std::to_string(server.store->CurrentRevision()));
  CreateConfigMaps(server, 100);
  EXPECT_EQ(ReadInPieces(*stream), 100);
}

TEST(WatchStream, EndsWhenItsClientFallsTooManyEventsBehind) {
  HandlerOptions options;
  options.watch_buffer_events = 10;
  BareServer server(options);
  auto stream = Watch(server, std::to_string(server.store->CurrentRevision()));
  CreateConfigMaps(server, 11);
  std::string piece;
  EXPECT_EQ(stream->Read(kPieceBytes, piece), State::kEnd);
  EXPECT_EQ(piece, "");
}

TEST(WatchStream, EndsWhenItsClientFallsTooManyBytesBehind) {
  HandlerOptions options;
  options.watch_buffer_bytes = 5 * kEventBytes;
  BareServer server(options);
  auto stream = Watch(server, std::to_string(server.store->CurrentRevision()));
  CreateConfigMaps(server, 6);
  for (int i = 0; i < 6; ++i) server.Send("DELETE", kConfigMaps + ("/m" + std::to_string(i)));
  std::string piece;
  EXPECT_EQ(stream->Read(kPieceBytes, piece), State::kEnd);
  EXPECT_EQ(piece, "");
}

}  // namespace
}  // namespace terrarium::apiserver
