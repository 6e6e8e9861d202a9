#include "testbed/cli/test.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>
#include <utility>

#include <CLI/CLI.hpp>

#include "testbed/cli/private_file.h"
#include "testbed/cli/test_progress.h"
#include "testbed/scenario/junit.h"
#include "testbed/scenario/match.h"
#include "testbed/scenario/reader.h"
#include "testbed/scenario/run.h"
#include "testbed/scenario/schema.h"
#include "testbed/scenario/step.h"

namespace terrarium::testbed {
namespace {

namespace fs = std::filesystem;
using scenario::FileMistake;
using scenario::JUnitCase;
using scenario::RunReport;
using scenario::Scenario;
using std::chrono::steady_clock;

constexpr int kFailedCode = 1;
constexpr int kUsageCode = 2;
constexpr int kInterruptedCode = 130;  // what shells report for a program that Ctrl-C ended

int Fail(const std::string& message) {
  std::fprintf(stderr, "terrarium test: %s\n", message.c_str());
  return kUsageCode;
}

std::atomic<bool> interrupted = false;

// The first Ctrl-C ends the run gracefully, the second one kills the process.
void OnInterrupt(int signal) {
  interrupted = true;
  std::signal(signal, SIG_DFL);
}

bool IsScenarioFile(const fs::path& path) {
  return path.extension() == ".yaml" || path.extension() == ".yml";
}

// Appends the scenario files of a path to `files`, sorted. Returns an error message, or an empty string.
std::string FilesOf(const std::string& path, std::vector<std::string>& files) {
  std::error_code error;
  if (!fs::exists(path, error)) return path + ": no such file or folder";
  if (!fs::is_directory(path, error)) {
    files.push_back(path);
    return "";
  }
  std::vector<std::string> found;
  for (fs::recursive_directory_iterator it(path, error), end; !error && it != end; it.increment(error))
    if (it->is_regular_file() && IsScenarioFile(it->path())) found.push_back(it->path().string());
  if (error) return path + ": " + error.message();
  if (found.empty()) return path + ": the folder has no .yaml files";
  std::sort(found.begin(), found.end());
  files.insert(files.end(), found.begin(), found.end());
  return "";
}

// One run of a scenario from one seed.
struct Job {
  const Scenario* scenario;
  std::uint64_t seed;
  std::string name;
};

bool Wanted(const std::string& filter, const std::string& name) {
  if (filter.find('*') != std::string::npos) return scenario::Like(filter, name);
  return name.find(filter) != std::string::npos;
}

std::vector<Job> JobsOf(const std::vector<Scenario>& scenarios, const TestFlags& flags) {
  std::vector<Job> jobs;
  for (const Scenario& each : scenarios) {
    std::vector<std::uint64_t> seeds = each.seeds;
    if (flags.seed) seeds = {*flags.seed};
    for (std::uint64_t seed : seeds) {
      std::string name = each.name;
      if (seeds.size() > 1) name += " (seed " + std::to_string(seed) + ")";
      if (Wanted(flags.filter, name)) jobs.push_back({&each, seed, std::move(name)});
    }
  }
  return jobs;
}

struct Outcome {
  RunReport report;
  std::chrono::microseconds took{};
};

Outcome RunJob(const Job& job) {
  const steady_clock::time_point began = steady_clock::now();
  Outcome out;
  out.report = scenario::Run(*job.scenario, job.seed, interrupted).Execute();
  out.took = std::chrono::duration_cast<std::chrono::microseconds>(steady_clock::now() - began);
  return out;
}

// Quotes the text as one shell word.
std::string ShellWord(const std::string& text) {
  std::string out = "'";
  for (char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

// The command line that runs only this job.
std::string Again(const Job& job) {
  return "  again: terrarium test " + job.scenario->file + " --filter " + ShellWord(job.scenario->name) +
         " --seed " + std::to_string(job.seed) + "\n";
}

JUnitCase CaseOf(const Job& job, const Outcome& outcome) {
  JUnitCase out{job.scenario->file, job.name, outcome.took};
  if (outcome.report.result == RunReport::Result::kInterrupted) out.result = JUnitCase::Result::kSkipped;
  if (!outcome.report.failure) return out;
  out.result = JUnitCase::Result::kFailed;
  out.message = outcome.report.failure->mismatch.text;
  out.details = scenario::Describe(*job.scenario, *outcome.report.failure) + Again(job);
  return out;
}

// Each thread takes the next job. Each job has its own control plane.
std::vector<Outcome> RunAll(const std::vector<Job>& jobs, int threads, TestProgress& progress) {
  std::vector<Outcome> outcomes(jobs.size());
  std::atomic<std::size_t> next = 0;
  auto work = [&] {
    for (std::size_t i = next++; i < jobs.size(); i = next++) {
      if (interrupted)
        outcomes[i].report.result = RunReport::Result::kInterrupted;
      else {
        progress.Began(i);
        outcomes[i] = RunJob(jobs[i]);
      }
      const RunReport& report = outcomes[i].report;
      std::string details;
      if (report.failure) details = scenario::Describe(*jobs[i].scenario, *report.failure) + Again(jobs[i]);
      progress.Ended(i, {report.result, outcomes[i].took, report.virtual_time, std::move(details)});
    }
  };
  std::vector<std::thread> workers;
  for (int i = 1; i < threads; ++i) workers.emplace_back(work);
  work();
  for (std::thread& worker : workers) worker.join();
  return outcomes;
}

std::string Footer() {
  std::string out =
      "A scenario is a YAML document: a name, options and a list of steps, each with one verb.\n\n"
      "  scenario: a rollout replaces all pods\n"
      "  steps:\n"
      "    - apply: {apiVersion: apps/v1, kind: Deployment, ...}\n"
      "    - runUntilIdle: 10m\n"
      "    - expect: deployment/web\n"
      "      match: {status: {readyReplicas: 3}}\n\n"
      "Verbs:\n";
  for (const scenario::StepDef* step : scenario::AllSteps()) {
    char line[256];
    std::snprintf(line, sizeof line, "  %-18s %s\n", std::string(step->verb).c_str(),
                  std::string(step->about).c_str());
    out += line;
  }
  return out +
         "\nExit codes: 0 all passed, 1 some failed, 2 bad usage or a bad file (nothing was run), 130 "
         "interrupted.\n"
         "docs/scenarios.md has the whole format.";
}

}  // namespace

void AddTestFlags(CLI::App& app, TestFlags& flags) {
  app.add_option("PATH", flags.paths, "scenario files, or folders of them (*.yaml, *.yml)");
  app.add_option("--junit", flags.junit, "write the results as JUnit XML to this file");
  app.add_option("--parallel", flags.parallel, "scenarios to run in parallel (default: the number of cores)")
      ->check(CLI::Range(1, 1024));
  app.add_option("--filter", flags.filter,
                 "only scenarios whose name contains the text, or matches it if it has a *");
  app.add_option("--seed", flags.seed, "run every scenario from this seed instead of its own")
      ->check(CLI::NonNegativeNumber);
  app.add_flag("--list", flags.list, "list the scenarios without running them");
  app.add_flag("--schema", flags.schema, "print the JSON Schema of scenario files, for editors");
  app.footer([] { return Footer(); });
}

int RunTest(const TestFlags& flags) {
  if (flags.schema) {
    std::printf("%s\n", scenario::ScenarioSchema().dump(2).c_str());
    return 0;
  }
  if (flags.paths.empty()) return Fail("name scenario files or folders of them");
  std::vector<std::string> files;
  for (const std::string& path : flags.paths)
    if (std::string wrong = FilesOf(path, files); !wrong.empty()) return Fail(wrong);

  scenario::ReadScenarios read;
  for (const std::string& file : files) {
    std::ifstream in(file, std::ios::binary);
    if (!in) return Fail(file + ": cannot be read");
    std::string text{std::istreambuf_iterator<char>(in), {}};
    scenario::ReadScenarios more = scenario::ReadScenarioText(file, text);
    std::move(more.scenarios.begin(), more.scenarios.end(), std::back_inserter(read.scenarios));
    std::move(more.mistakes.begin(), more.mistakes.end(), std::back_inserter(read.mistakes));
  }
  for (const FileMistake& mistake : read.mistakes) std::fprintf(stderr, "%s\n", mistake.String().c_str());
  if (!read.mistakes.empty()) return kUsageCode;

  const std::vector<Job> jobs = JobsOf(read.scenarios, flags);
  if (jobs.empty()) return Fail("no scenario is called like " + flags.filter);
  if (flags.list) {
    for (const Job& job : jobs) std::printf("%s: %s\n", job.scenario->file.c_str(), job.name.c_str());
    return 0;
  }
  std::vector<std::string> titles;
  for (const Job& job : jobs) titles.push_back(job.scenario->file + ": " + job.name);
  std::signal(SIGINT, OnInterrupt);
  int threads = flags.parallel > 0 ? flags.parallel : static_cast<int>(std::thread::hardware_concurrency());
  threads = std::clamp(threads, 1, static_cast<int>(jobs.size()));
  TestProgress progress(std::move(titles));
  const std::vector<Outcome> outcomes = RunAll(jobs, threads, progress);

  int exit_code = 0;
  if (!flags.junit.empty()) {
    std::vector<JUnitCase> cases;
    for (std::size_t i = 0; i < jobs.size(); ++i) cases.push_back(CaseOf(jobs[i], outcomes[i]));
    if (auto written = WritePrivateFile(flags.junit, scenario::JUnitXml(cases)); !written)
      exit_code = Fail("--junit: " + written.status().message);
  }
  progress.Finish();
  if (interrupted) return kInterruptedCode;
  if (exit_code != 0) return exit_code;
  return progress.failed() > 0 ? kFailedCode : 0;
}

}  // namespace terrarium::testbed
