#include <cstdio>

#include <CLI/CLI.hpp>

#include "testbed/cli/serve.h"
#include "testbed/cli/test.h"
#include "testbed/cli/why.h"
#include "testbed/embedding/version.h"

int main(int argc, char** argv) {
  using namespace terrarium::testbed;  // NOLINT: main is not in a namespace
  CLI::App app("Terrarium: a Kubernetes workload control plane in one process.", "terrarium");
  app.set_version_flag("--version",
                       std::string("terrarium ") + kVersion + " (Kubernetes " + kKubernetesVersion + ")");
  app.require_subcommand(1);
  ServeFlags serve_flags;
  CLI::App* serve = app.add_subcommand("serve", "run a server until SIGTERM");
  AddServeFlags(*serve, serve_flags);
  TestFlags test_flags;
  CLI::App* test =
      app.add_subcommand("test", "run scenario files, each on a fresh cluster with a virtual clock");
  AddTestFlags(*test, test_flags);
  WhyFlags why_flags;
  CLI::App* why = app.add_subcommand("why", "print why an object was created, deleted or scaled");
  AddWhyFlags(*why, why_flags);
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp& e) {
    return app.exit(e);
  } catch (const CLI::CallForVersion& e) {
    return app.exit(e);
  } catch (const CLI::ParseError& e) {
    std::fprintf(stderr, "terrarium: %s\n", e.what());
    return 2;
  }
  if (why->parsed()) return RunWhy(why_flags);
  return test->parsed() ? RunTest(test_flags) : RunServe(serve_flags);
}
