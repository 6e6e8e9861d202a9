# shellcheck shell=bash
# Progress lines, failures and logs, shared by the set-up scripts.
#
# Everything a person reads goes to stderr: the stdout of ./run belongs to terrarium.

TERRARIUM_CACHE="${XDG_CACHE_HOME:-${HOME:?HOME is not set}/.cache}/terrarium"

say() { printf 'terrarium: %s\n' "$*" >&2; }

fail() {
  say "FAILED: $*"
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

as_root() {
  if [[ $EUID -eq 0 ]]; then
    "$@"
  elif command -v sudo >/dev/null; then
    sudo "$@"
  else
    say "neither root nor sudo"
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
  say "waiting for another run to finish $2"
  flock 9
}
