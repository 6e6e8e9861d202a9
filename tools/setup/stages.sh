# shellcheck shell=bash
# The stages of ./test. Every stage runs, even after a failed one; the last lines report how each one ended and how
# long it took.

# All compiling comes first: it uses every core, and tests that wait for a server should not wait for a compiler.
builds() {
  (build_preset asan) && (build_preset tsan threaded_tests terrarium) && "$ROOT/fuzz/run" 0
}

# The fuzz targets use the processor time that the end-to-end suites leave while they wait for a server: with this
# priority they get next to nothing else.
start_fuzz_targets() {
  nice -n 19 "$ROOT/fuzz/run" 60 >"$ROOT/build/fuzz.log" 2>&1 &
  fuzz_pid=$!
}

# One build with the address and undefined-behaviour sanitizers runs everything, the end-to-end suites included.
tests() {
  # A document may be 10,000 levels deep, and the sanitizer makes the frames of a recursion several times larger.
  (cd "$ROOT" && ulimit -S -s 65536 && ctest --preset asan --parallel 3)
}

tests_with_thread_sanitizer() { (cd "$ROOT" && ctest --preset tsan -L threads); }

fuzz_targets() {
  wait "$fuzz_pid"
  local code=$?
  cat "$ROOT/build/fuzz.log"
  return "$code"
}

# In a release build, the only one in which half a second means half a second.
largest_bodies() {
  (build_preset release terrarium_hostile_bench) && "$ROOT/build/release/bench/terrarium_hostile_bench"
}

static_analysis() { "$ROOT/tools/clang-tidy"; }

# Usage: run_stages "NAME OF A FUNCTION WITH BLANKS"...
run_stages() {
  local stage begin passed=0 failed=0
  local -a lines=()
  for stage in "$@"; do
    report "stage: $stage"
    begin=$SECONDS
    if "${stage// /_}"; then
      passed=$((passed + 1))
      lines+=("$(printf 'passed %5ds  %s' $((SECONDS - begin)) "$stage")")
    else
      failed=$((failed + 1))
      lines+=("$(printf 'FAILED %5ds  %s' $((SECONDS - begin)) "$stage")")
    fi
  done
  printf '%s\n' "${lines[@]}"
  printf 'stages: %d passed, %d failed\n' "$passed" "$failed"
  [[ $failed -eq 0 ]]
}
