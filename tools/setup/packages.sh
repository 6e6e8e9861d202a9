# shellcheck shell=bash
# Installs the Debian packages of packages.txt that are missing.

# Fills the array `missing`. Reads only dpkg's own database, so that a warm start costs some milliseconds and needs
# no network.
find_missing_packages() {
  local line name
  local -a wanted=()
  local -A installed=()
  while read -r line; do
    # shellcheck disable=SC2206  # a line holds several names on purpose
    wanted+=(${line%%#*})
  done <"$SETUP_DIR/packages.txt"
  while read -r line name; do
    [[ $line == ii* ]] && installed[$name]=1
  done < <(dpkg-query -W -f '${db:Status-Abbrev} ${Package}\n' "${wanted[@]}" 2>/dev/null)
  missing=()
  for name in "${wanted[@]}"; do
    [[ -n ${installed[$name]-} ]] || missing+=("$name")
  done
}

ensure_packages() {
  local -a missing
  if ! command -v dpkg-query >/dev/null; then
    report "no dpkg here: taking the packages of tools/setup/packages.txt as installed"
    return
  fi
  find_missing_packages
  [[ ${#missing[@]} -eq 0 ]] && return
  (
    take_lock "$TERRARIUM_CACHE/setup.lock" "the set-up"
    find_missing_packages
    [[ ${#missing[@]} -eq 0 ]] && exit
    report "installing Debian packages: ${missing[*]}"
    log=$(new_log packages) || exit 1
    # A mirror can be out of step with itself for a moment and answers the next call.
    logged "$log" "apt-get update" as_root apt-get -o Acquire::Retries=3 -q update
    logged "$log" "apt-get install ${missing[*]}" \
      as_root env DEBIAN_FRONTEND=noninteractive apt-get -o Acquire::Retries=3 -o DPkg::Lock::Timeout=300 -q -y \
      install --no-install-recommends "${missing[@]}"
  ) || exit 1
}
