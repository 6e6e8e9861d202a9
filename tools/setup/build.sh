# shellcheck shell=bash
# Configures and builds a CMake preset.

# ninja runs CMake again by itself after a change to a CMakeLists.txt, but not after one to the presets.
needs_configure() {
  local dir="$ROOT/build/$1"
  [[ ! -e $dir/build.ninja || $ROOT/CMakePresets.json -nt $dir/build.ninja ]]
}

has_work() { [[ $(ninja -C "$1" -n "${@:2}" 2>&1 | tail -n 1) != "ninja: no work to do." ]]; }

# Brings the targets of a preset up to date and says nothing when they are.
# Usage: build_preset PRESET [NINJA TARGET...]
build_preset() {
  local preset=$1 dir="$ROOT/build/$1"
  shift
  (
    take_lock "$dir.lock" "building preset $preset"
    if needs_configure "$preset"; then
      say "configuring preset $preset"
      if ! (cd "$ROOT" && cmake --preset "$preset" >"$dir.configure.log"); then
        # CMake can leave an incomplete one, which would pass for configured the next time.
        rm -f "$dir/build.ninja"
        fail "configuring preset $preset (log: $dir.configure.log)"
      fi
    fi
    has_work "$dir" "$@" || exit 0
    say "building preset $preset"
    ninja -C "$dir" "$@" >&2 || fail "building preset $preset (the compiler's words are above)"
  ) || exit 1
}
