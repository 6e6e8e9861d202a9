# shellcheck shell=bash
# Progress lines, failures and logs, shared by the set-up scripts.
#
# Everything a person reads goes to stderr: the stdout of ./run belongs to terrarium.

TERRARIUM_CACHE="${XDG_CACHE_HOME:-${HOME:?HOME is not set}/.cache}/terrarium"

report() { printf 'terrarium: %s\n' "$*" >&2; }

fail() {
  report "FAILED: $*"
  exit 1
}

# Runs a command with its output in a log; a failure is one line that names the step and the log.
# Usage: logged LOG "what is being done" COMMAND...
logged() {
  local log=$1 what=$2
  shift 2
  printf '\n== %s\n== %s\n' "$what" "$*" >>"$log"
  "$@" >>"$log" 2>&1 </dev/null || fail "$what (log: $log)"
}

# Prints the size of a build: "42 files, about 4 min on 2 cores; later builds take seconds".
# Usage: build_size FILES SECONDS_PER_FILE
build_size() {
  local cores seconds
  cores=$(nproc)
  seconds=$(($1 * $2 / cores))
  if [[ $seconds -lt 45 ]]; then
    printf '%d to compile' "$1"
  else
    printf '%d files, about %d min on %d cores; later builds take seconds' "$1" $(((seconds + 30) / 60)) "$cores"
  fi
}

# Reads ninja's output, with NINJA_STATUS='[%f/%t] '. Its lines about single files become one line for each tenth of the
# build, or one that changes in place on a terminal. Other lines pass. Usage: ... | show_progress WHAT
show_progress() {
  local line tenth=0 end_line=
  while IFS= read -r line || [[ -n $line ]]; do
    if [[ ! $line =~ ^\[([0-9]+)/([0-9]+)\]\  ]]; then
      [[ $line == "ninja: Entering"* ]] || printf '%s\n' "$line" >&2
    elif [[ -t 2 ]]; then
      printf '\rterrarium: building %s: %d of %d' "$1" "${BASH_REMATCH[1]}" "${BASH_REMATCH[2]}" >&2
      end_line=$'\n'
    elif [[ $((BASH_REMATCH[1] * 10 / BASH_REMATCH[2])) -gt $tenth ]]; then
      tenth=$((BASH_REMATCH[1] * 10 / BASH_REMATCH[2]))
      report "building $1: ${BASH_REMATCH[1]} of ${BASH_REMATCH[2]}"
    fi
  done
  printf '%s' "$end_line" >&2
}

# Builds and installs a configured ninja folder with its output in a log, and shows progress.
# Usage: logged_build LOG WHAT DIR JOBS
logged_build() {
  printf '\n== building %s\n' "$2" >>"$1"
  NINJA_STATUS='[%f/%t] ' ninja -C "$3" -j "$4" install 2>&1 </dev/null | tee -a "$1" | grep --line-buffered '^\[' |
    show_progress "$2"
  [[ ${PIPESTATUS[0]} -eq 0 ]] || fail "building $2 (log: $1)"
}

as_root() {
  if [[ $EUID -eq 0 ]]; then
    "$@"
  elif command -v sudo >/dev/null; then
    sudo "$@"
  else
    report "neither root nor sudo"
    return 1
  fi
}

# Prints the path of a new, empty log for one set-up step.
new_log() {
  local log="$TERRARIUM_CACHE/log/$1.log"
  { mkdir -p "${log%/*}" && : >"$log" && printf '%s' "$log"; } || fail "cannot write $log"
}

# Waits for the lock FILE and keeps it on descriptor 9 until the calling (sub)shell ends. Call it in a subshell, so
# that a program exec'd later does not inherit the lock.
take_lock() {
  { mkdir -p "${1%/*}" && exec 9>"$1"; } || fail "cannot write $1"
  flock --nonblock 9 && return
  report "waiting for another run to finish $2"
  flock 9
}
