// Hostile bodies: the CPU time that one request of 3 MiB takes, shape by shape, beside what the JSON library
// alone takes to parse as many bytes.
//
//   terrarium_hostile_bench            the slowest shapes
//   terrarium_hostile_bench all        every shape, with the HTTP status of its response
//
// Exits with 1 when a shape takes more than half a second.

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "tests/hostile/hostile_server.h"

namespace terrarium::bench {
namespace {

constexpr std::size_t kShown = 5;
constexpr double kLimitMs = 500;

struct Row {
  std::string name;
  hostile::Served served;
};

double FloorMs(const std::string& body) {
  const auto start = std::chrono::steady_clock::now();
  const auto parsed = nlohmann::json::parse(body, nullptr, /*allow_exceptions=*/false);
  const auto end = std::chrono::steady_clock::now();
  return parsed.is_null() ? 0 : std::chrono::duration<double, std::milli>(end - start).count();
}

// Returns whether every shape is answered within the limit.
bool Run(bool all) {
  constexpr std::size_t kBytes = hostile::kBodyBytesMax - 4096;
  std::vector<Row> rows;
  double floor_ms = 0;
  for (const hostile::Shape& shape : hostile::AllShapes()) {
    const hostile::Exchange exchange = shape.make(kBytes);
    if (shape.name == "keys of a map") floor_ms = FloorMs(exchange.request.body);
    rows.push_back({shape.name, hostile::Play(exchange)});
    if (all)
      std::printf("%-60s %4d %8.0f ms\n", shape.name.c_str(), rows.back().served.code,
                  rows.back().served.cpu_ms);
    if (all) std::fflush(stdout);
    if (!rows.back().served.error.empty()) std::printf("  %s\n", rows.back().served.error.c_str());
  }
  std::sort(rows.begin(), rows.end(),
            [](const Row& a, const Row& b) { return a.served.cpu_ms > b.served.cpu_ms; });
  std::printf("%-60s %10s\n", "slowest of a body of 3 MiB", "ms");
  for (std::size_t i = 0; i < std::min(kShown, rows.size()); ++i)
    std::printf("%-60s %10.0f\n", rows[i].name.c_str(), rows[i].served.cpu_ms);
  std::printf("%-60s %10.0f\n", "parsing as many bytes (keys of a map), nlohmann_json alone", floor_ms);
  return rows.front().served.cpu_ms <= kLimitMs;
}

}  // namespace
}  // namespace terrarium::bench

int main(int argc, char** argv) {
  return terrarium::bench::Run(argc > 1 && std::string_view(argv[1]) == "all") ? 0 : 1;
}
