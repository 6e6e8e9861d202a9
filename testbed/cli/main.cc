#include <cstdio>

#include <CLI/CLI.hpp>

#include "testbed/cli/serve.h"
#include "testbed/version.h"

int main(int argc, char** argv) {
  using namespace terrarium::testbed;
  CLI::App app("Terrarium: a Kubernetes workload control plane in one process.", "terrarium");
  app.set_version_flag("--version", std::string("terrarium ") + kVersion + " (Kubernetes " + kKubernetesVersion + ")");
  app.require_subcommand(1);
  ServeFlags serve_flags;
  CLI::App* serve = app.add_subcommand("serve", "run a server until SIGTERM");
  AddServeFlags(*serve, serve_flags);
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
  return RunServe(serve_flags);
}
