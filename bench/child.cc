#include "bench/child.h"

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <thread>

#include <fcntl.h>
#include <nlohmann/json.hpp>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

namespace terrarium::bench {
namespace {

std::string ReadFile(const std::string& path) {
  std::ifstream in(path);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

}  // namespace

Child::Child(const std::vector<std::string>& command, const std::string& ready_file) {
  unlink(ready_file.c_str());
  std::vector<char*> argv;
  for (const std::string& word : command) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  auto start = std::chrono::steady_clock::now();
  if (posix_spawn(&pid_, argv[0], &actions, nullptr, argv.data(), environ) != 0) {
    std::perror("bench: spawn");
    std::exit(1);
  }
  posix_spawn_file_actions_destroy(&actions);
  std::string text;
  while ((text = ReadFile(ready_file)).empty()) {
    if (waitpid(pid_, nullptr, WNOHANG) == pid_) {
      std::fprintf(stderr, "bench: %s ended before it was ready\n", command[0].c_str());
      std::exit(1);
    }
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
  ready_seconds_ = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  std::string url = nlohmann::json::parse(text)["url"];
  port_ = static_cast<std::uint16_t>(std::atoi(url.substr(url.rfind(':') + 1).c_str()));
}

Child::~Child() {
  kill(pid_, SIGTERM);
  waitpid(pid_, nullptr, 0);
}

long Child::ResidentKb() const {
  std::ifstream in("/proc/" + std::to_string(pid_) + "/status");
  std::string line;
  while (std::getline(in, line))
    if (line.starts_with("VmRSS:")) return std::atol(line.c_str() + 6);
  return 0;
}

}  // namespace terrarium::bench
