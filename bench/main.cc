// Prints the throughput of the server, each number beside the floor measured in the same run.

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>
#include <unistd.h>

#include "bench/child.h"
#include "bench/load.h"
#include "bench/sqlite_floor.h"
#include "bench/watchers.h"

namespace terrarium::bench {
namespace {

constexpr int kConnections = 16;
constexpr int kDurableConnections = 128;
constexpr int kPods = 10'000;
constexpr int kWatchers = 1'000;
constexpr int kWatchEvents = 50;
constexpr const char* kPodsPath = "/api/v1/namespaces/default/pods";

struct Options {
  std::string terrarium;
  std::string floor;
  std::string folder;
  double seconds = 2;
};

// About 1.5 KB once defaulted and stored.
std::string PodBody(const std::string& name) {
  nlohmann::json env = nlohmann::json::array();
  for (int i = 0; i < 8; ++i)
    env.push_back(
        {{"name", "SETTING_" + std::to_string(i)}, {"value", std::string(24, static_cast<char>('a' + i))}});
  nlohmann::json container = {{"name", "main"}, {"image", "registry.example/team/app:1.2.3"}, {"env", env}};
  container["ports"] = {{{"containerPort", 8080}}};
  container["resources"]["requests"] = {{"cpu", "100m"}, {"memory", "128Mi"}};
  nlohmann::json pod = {{"apiVersion", "v1"}, {"kind", "Pod"}};
  pod["metadata"] = {{"name", name}, {"labels", {{"app", "bench"}, {"pod-template-hash", "5d59d67564"}}}};
  pod["spec"] = {{"nodeName", "node-1"}, {"containers", nlohmann::json::array({container})}};
  return pod.dump();
}

void Line(const char* what, double value, const char* unit, double floor, const char* floor_name) {
  std::printf("%-34s %12.0f %-10s", what, value, unit);
  if (floor > 0) std::printf(" %12.0f  %5.2f of %s", floor, value / floor, floor_name);
  std::printf("\n");
  std::fflush(stdout);
}

void TimeLine(const char* what, double milliseconds, double floor, const char* floor_name) {
  std::printf("%-34s %12.1f %-10s", what, milliseconds, "ms");
  if (floor > 0) std::printf(" %12.1f  %5.2f times %s", floor, milliseconds / floor, floor_name);
  std::printf("\n");
  std::fflush(stdout);
}

class Bench {
 public:
  explicit Bench(Options options) : options_(std::move(options)) {}

  void Run() {
    std::printf("%-34s %12s %-10s %12s\n", "", "terrarium", "", "floor");
    StartUp();
    Memory();
    Durable("full", "FULL");
    Durable("normal", "NORMAL");
  }

 private:
  std::string File(const std::string& name) const { return options_.folder + "/" + name; }

  std::vector<std::string> Serve(const std::vector<std::string>& more) const {
    std::vector<std::string> command = {
        options_.terrarium, "serve", "--port", "0", "--ready-file", File("ready.json"), "--kubeconfig",
        File("kubeconfig"), "--max-mutating-requests-inflight", "1000",
        // The apiserver alone; terrarium_pods_bench measures the rest.
        "--controllers=-*", "--kubelet=false", "--scheduler=false", "--nodes=0"};
    command.insert(command.end(), more.begin(), more.end());
    return command;
  }

  void StartUp() {
    double best = 1e9;
    long resident = 0;
    for (int i = 0; i < 5; ++i) {
      Child server(Serve({}), File("ready.json"));
      best = std::min(best, server.ready_seconds());
      resident = server.ResidentKb();
    }
    TimeLine("start until ready", best * 1e3, 0, "");
    Line("resident memory, idle", static_cast<double>(resident) / 1024, "MB", 0, "");
  }

  LoadResult Create(std::uint16_t port, int connections, double seconds, std::uint64_t count) {
    Load load;
    load.port = port;
    load.connections = connections;
    load.seconds_max = seconds;
    load.answers_max = count;
    load.request = [this](std::uint64_t) {
      return BodyRequest("POST", kPodsPath, "application/json",
                         PodBody("pod-" + std::to_string(next_name_++)));
    };
    return Checked(RunLoad(load));
  }

  static LoadResult Checked(LoadResult result) {
    if (result.errors > 0) {
      std::fprintf(stderr, "bench: %llu requests were refused\n",
                   static_cast<unsigned long long>(result.errors));
      std::exit(1);
    }
    return result;
  }

  LoadResult Get(std::uint16_t port, const std::string& path) const {
    Load load;
    load.port = port;
    load.connections = kConnections;
    load.seconds_max = options_.seconds;
    std::string request = GetRequest(path);
    load.request = [request](std::uint64_t) { return request; };
    return Checked(RunLoad(load));
  }

  double BestList(std::uint16_t port, const std::string& path) const {
    double best = 1e9;
    for (int i = 0; i < 5; ++i) best = std::min(best, FetchOnce(port, GetRequest(path)).seconds);
    return best * 1e3;
  }

  void Memory() {
    Child server(Serve({}), File("ready.json"));
    long before = server.ResidentKb();
    next_name_ = 0;
    LoadResult creates = Create(server.port(), kConnections, 600, kPods);
    double per_pod = static_cast<double>(server.ResidentKb() - before) / kPods;
    OneAnswer pod = FetchOnce(server.port(), GetRequest(std::string(kPodsPath) + "/pod-7"));
    OneAnswer list = FetchOnce(server.port(), GetRequest(kPodsPath));
    std::ofstream(File("small.json"), std::ios::binary) << pod.body;
    std::ofstream(File("large.json"), std::ios::binary) << list.body;
    body_ = pod.body;
    std::string floor_port = std::to_string(server.port() + 1 < 65535 ? server.port() + 1 : 20'000);
    Child floor({options_.floor, floor_port, File("floor.json"), File("small.json"), File("large.json")},
                File("floor.json"));

    double floor_gets = Get(floor.port(), "/small").per_second();
    Line("gets, one pod", Get(server.port(), std::string(kPodsPath) + "/pod-7").per_second(), "/s",
         floor_gets, "a bare handler");
    Line("creates, in memory", creates.per_second(), "/s", floor_gets, "a bare handler");
    Line("updates, in memory", Update(server.port()).per_second(), "/s", floor_gets, "a bare handler");
    std::string what =
        "list of " + std::to_string(kPods) + " pods, " + std::to_string(list.bytes / 1000000) + " MB";
    TimeLine(what.c_str(), BestList(server.port(), kPodsPath), BestList(floor.port(), "/large"),
             "a bare handler");
    Line("memory per pod", per_pod * 1024, "bytes", static_cast<double>(pod.bytes), "its text");
    Fanout(server.port(), floor.port());
  }

  LoadResult Update(std::uint16_t port) {
    Load load;
    load.port = port;
    load.connections = kConnections;
    load.seconds_max = options_.seconds;
    load.request = [](std::uint64_t n) {
      std::string path = std::string(kPodsPath) + "/pod-" + std::to_string(n % kPods);
      std::string patch = R"({"metadata":{"annotations":{"n":")" + std::to_string(n) + R"("}}})";
      return BodyRequest("PATCH", path, "application/merge-patch+json", patch);
    };
    return Checked(RunLoad(load));
  }

  // Events per second that reach their watchers, against streams that carry the same bytes.
  void Fanout(std::uint16_t port, std::uint16_t floor_port) {
    auto push = [&](std::uint64_t) { return GetRequest("/push"); };
    double floor = MeasureFanout({floor_port, kWatchers, kWatchEvents, "/stream", push});
    auto create = [this](std::uint64_t) {
      return BodyRequest("POST", kPodsPath, "application/json",
                         PodBody("pod-" + std::to_string(next_name_++)));
    };
    std::string path = std::string(kPodsPath) + "?watch=true&resourceVersion=" + CurrentRevision(port);
    double events = MeasureFanout({port, kWatchers, kWatchEvents, path, create});
    Line("watch events to 1,000 watchers", events, "/s", floor, "bare streams");
  }

  static std::string CurrentRevision(std::uint16_t port) {
    OneAnswer answer = FetchOnce(port, GetRequest(std::string(kPodsPath) + "?limit=1"));
    return nlohmann::json::parse(answer.body)["metadata"]["resourceVersion"];
  }

  void Durable(const std::string& durability, const std::string& synchronous) {
    double floor = SqliteInsertsPerSecond(File("floor.db"), body_, synchronous, options_.seconds);
    std::filesystem::remove(File("bench.db"));
    Child server(Serve({"--data", File("bench.db"), "--durability", durability}), File("ready.json"));
    next_name_ = 0;
    LoadResult creates = Create(server.port(), kDurableConnections, options_.seconds, UINT64_MAX);
    Line(("creates, durability " + durability).c_str(), creates.per_second(), "/s", floor,
         "bare SQLite inserts");
  }

  Options options_;
  std::uint64_t next_name_ = 0;
  std::string body_;
};

}  // namespace
}  // namespace terrarium::bench

int main(int argc, char** argv) {
  using namespace terrarium::bench;  // NOLINT: main is not in a namespace
  if (argc < 3) {
    std::fprintf(stderr, "usage: %s TERRARIUM FLOOR_SERVER [SECONDS]\n", argv[0]);
    return 2;
  }
  char folder[] = "/tmp/terrarium-bench-XXXXXX";
  if (mkdtemp(folder) == nullptr) {
    std::perror("bench: mkdtemp");
    return 1;
  }
  Bench({argv[1], argv[2], folder, argc > 3 ? std::atof(argv[3]) : 2}).Run();
  std::filesystem::remove_all(folder);
}
