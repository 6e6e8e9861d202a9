# shellcheck shell=bash
# Configures and builds a CMake preset.

# Whether a source is newer than the groups that a unity build compiles. A source that begins to use a name of another
# one moves to another group.
has_newer_source() {
  [[ -n $(find "$ROOT" \( -path "$ROOT/build" -o -path "$ROOT/.git" \) -prune -o -name '*.cc' -newer "$1" -print -quit) ]]
}

# ninja runs CMake again by itself after a change to a CMakeLists.txt, but not after a change to the presets or to the
# sources of a unity build.
needs_configure() {
  local dir="$ROOT/build/$1"
  [[ ! -e $dir/build.ninja || $ROOT/CMakePresets.json -nt $dir/build.ninja ]] && return
  grep -q '^TERRARIUM_UNITY:BOOL=ON' "$dir/CMakeCache.txt" || return 1
  [[ ! -e $dir/unity/groups.txt ]] || has_newer_source "$dir/unity/groups.txt"
}

# Prints how many files ninja would compile. Usage: count_files DIR [NINJA TARGET...]
count_files() { ninja -C "$1" -n "${@:2}" 2>/dev/null | grep -c '^\[.*Building CXX object'; }

has_work() { [[ $(ninja -C "$1" -n "${@:2}" 2>&1 | tail -n 1) != "ninja: no work to do." ]]; }

# What one core needs for a file of a preset, in seconds and roughly: a file of a unity build is up to 20 sources.
seconds_per_file() {
  case $1 in
    release | asan | tsan | fuzz) printf 10 ;;
    *) printf 3 ;;
  esac
}

# Brings the targets of a preset up to date and prints nothing when they are.
# Usage: build_preset PRESET [NINJA TARGET...]
build_preset() {
  local preset=$1 dir="$ROOT/build/$1"
  shift
  (
    take_lock "$dir.lock" "building preset $preset"
    if needs_configure "$preset"; then
      report "configuring preset $preset"
      if ! (cd "$ROOT" && cmake --preset "$preset" >"$dir.configure.log"); then
        # CMake can leave an incomplete one, which would pass for configured the next time.
        rm -f "$dir/build.ninja"
        fail "configuring preset $preset (log: $dir.configure.log)"
      fi
    fi
    has_work "$dir" "$@" || exit 0
    report "building terrarium (preset $preset): $(build_size "$(count_files "$dir" "$@")" "$(seconds_per_file "$preset")")"
    if [[ -t 2 ]]; then
      ninja -C "$dir" "$@" >&2
    else
      NINJA_STATUS='[%f/%t] ' ninja -C "$dir" "$@" 2>&1 | show_progress terrarium
    fi || fail "building preset $preset (the compiler output is above)"
  ) || exit 1
}
