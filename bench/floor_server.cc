// The floor: a bare Drogon handler that returns the bytes of a file, and a stream to which every POST to
// /push sends a given number of bytes. The difference to it is the cost of Terrarium.

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <mutex>
#include <sstream>
#include <string>
#include <vector>

#include <drogon/HttpAppFramework.h>
#include <trantor/utils/Logger.h>

namespace {

std::string ReadFile(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

struct Streams {
  std::mutex mutex;
  std::vector<drogon::ResponseStreamPtr> all;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) {
    std::fprintf(stderr, "usage: floor_server PORT READY_FILE SMALL_FILE LARGE_FILE\n");
    return 2;
  }
  std::string small = ReadFile(argv[3]), large = ReadFile(argv[4]);
  Streams streams;
  auto body = [](const std::string& text) {
    auto response = drogon::HttpResponse::newHttpResponse();
    response->setContentTypeString("application/json");
    response->setBody(text);
    return response;
  };
  trantor::Logger::setLogLevel(trantor::Logger::kFatal);
  drogon::app()
      .setThreadNum(2)
      .enableGzip(false)
      .setMaxConnectionNum(20000)
      .setIdleConnectionTimeout(0)
      .addListener("127.0.0.1", static_cast<std::uint16_t>(std::atoi(argv[1])))
      .registerPreRoutingAdvice([&](const drogon::HttpRequestPtr& req, drogon::AdviceCallback&& send,
                                    drogon::AdviceChainCallback&&) {
        if (req->path() == "/large") return send(body(large));
        if (req->path() == "/stream")
          return send(drogon::HttpResponse::newAsyncStreamResponse(
              [&](drogon::ResponseStreamPtr stream) {
                std::lock_guard lock(streams.mutex);
                streams.all.push_back(std::move(stream));
              },
              true));
        if (req->path() == "/push") {
          std::lock_guard lock(streams.mutex);
          for (auto& stream : streams.all) stream->send(small);
        }
        send(body(small));
      })
      .registerBeginningAdvice([&] {
        drogon::app().getLoop()->runAfter(
            0.05, [&] { std::ofstream(argv[2]) << R"({"url": "http://127.0.0.1:)" << argv[1] << "\"}\n"; });
      })
      .run();
}
