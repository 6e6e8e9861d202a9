# shellcheck shell=bash
# Shared by ./run and ./test: brings a machine to the point where the project builds. Sourced, with ROOT set to the
# checkout. A machine that has everything is left after some milliseconds, without network.

SETUP_DIR="$ROOT/tools/setup"
# shellcheck source=common.sh
. "$SETUP_DIR/common.sh"
# shellcheck source=packages.sh
. "$SETUP_DIR/packages.sh"
# shellcheck source=drogon.sh
. "$SETUP_DIR/drogon.sh"
# shellcheck source=build.sh
. "$SETUP_DIR/build.sh"

set_up() {
  ensure_packages
  ensure_drogon
}
