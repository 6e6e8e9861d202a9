# shellcheck shell=bash
# Provides Drogon: an installed one that is new enough, else one built from Debian's source packages into the cache.
#
#   <cache>/terrarium/drogon/<versions>-<system>-r<recipe>/   one finished build: include/, lib/ and .complete
#   <cache>/terrarium/drogon/current                          the one that cmake/TerrariumDependencies.cmake uses

# Older ones have no asynchronous streamed response, which is what a watch is. cmake/TerrariumDependencies.cmake asks
# for the same version.
DROGON_VERSION_MIN=1.9.2
# The only suite whose Drogon is new enough.
DROGON_SUITE=sid
# Counts the changes of the build options below; a new number makes every machine build again.
DROGON_RECIPE=1
DROGON_BASE="$TERRARIUM_CACHE/drogon"

TRANTOR_OPTIONS=(-DTRANTOR_USE_TLS=openssl -DBUILD_TESTING=OFF)
DROGON_OPTIONS=(-DUSE_SUBMODULE=OFF -DBUILD_ORM=OFF -DBUILD_CTL=OFF -DBUILD_EXAMPLES=OFF -DBUILD_BROTLI=OFF
  -DBUILD_YAML_CONFIG=OFF -DBUILD_TESTING=OFF)
COMMON_OPTIONS=(-G Ninja -DCMAKE_BUILD_TYPE=Release "-DCMAKE_CXX_FLAGS_RELEASE=-O2 -DNDEBUG" -DBUILD_SHARED_LIBS=OFF
  -DBUILD_DOC=OFF -DCMAKE_CXX_STANDARD=20)

# The part of a build's name that identifies the system it was made for: libraries linked against another release's
# OpenSSL or jsoncpp are of no use after an upgrade.
drogon_system_key() {
  local ID=linux VERSION_ID=
  # shellcheck disable=SC1091
  [[ -r /etc/os-release ]] && . /etc/os-release
  printf '%s%s-%s-r%s' "$ID" "$VERSION_ID" "$HOSTTYPE" "$DROGON_RECIPE"
}

version_at_least() { [[ $(printf '%s\n%s\n' "$2" "$1" | sort -V | head -n 1) == "$2" ]]; }

installed_drogon_is_new_enough() {
  local prefix file version
  local -a prefixes
  IFS=: read -ra prefixes <<<"${CMAKE_PREFIX_PATH-}:/usr/local:/usr"
  for prefix in "${prefixes[@]}"; do
    [[ -n $prefix ]] || continue
    for file in "$prefix"/lib/cmake/Drogon/DrogonConfigVersion.cmake \
      "$prefix"/lib/*/cmake/Drogon/DrogonConfigVersion.cmake; do
      [[ -r $file ]] || continue
      version=$(sed -n 's/^set(PACKAGE_VERSION "\([0-9.]*\)".*/\1/p' "$file")
      [[ -n $version ]] && version_at_least "$version" "$DROGON_VERSION_MIN" && return
    done
  done
  return 1
}

cached_drogon_is_current() {
  local target
  [[ -e $DROGON_BASE/current/.complete ]] || return 1
  target=$(readlink "$DROGON_BASE/current")
  [[ $target == *-"$(drogon_system_key)" ]]
}

# The Debian mirror that this machine's own apt uses, so that the project names no host.
debian_mirror() {
  apt-get indextargets --format '$(REPO_URI) $(ORIGIN) $(LABEL)' 2>/dev/null |
    awk '$2 == "Debian" && $3 == "Debian" && $1 !~ /^(cdrom|copy|file):/ { print $1; exit }'
}

# Writes a private apt configuration under $1: its own source list, lists and cache. From the machine's configuration
# it takes only how to reach the network; hooks stay out, they would act on the machine's own cache.
write_private_apt() {
  local dir=$1 mirror=$2 keyring
  for keyring in /usr/share/keyrings/debian-archive-keyring.{gpg,pgp} ''; do
    [[ -r $keyring ]] && break
  done
  [[ -n $keyring ]] || fail "no Debian archive keyring to check signatures with: install debian-archive-keyring"
  mkdir -p "$dir"/{lists,cache,parts}
  cat >"$dir/debian.sources" <<SOURCES
Types: deb-src
URIs: $mirror
Suites: $DROGON_SUITE
Components: main
Signed-By: $keyring
SOURCES
  {
    apt-config dump | grep '^Acquire::'
    # The cache is the user's own folder, which apt's unprivileged helper may not enter.
    cat <<CONF
APT::Sandbox::User "root";
Dir::Etc::Main "/dev/null";
Dir::Etc::Parts "$dir/parts";
Dir::Etc::SourceList "$dir/debian.sources";
Dir::Etc::SourceParts "$dir/parts";
Dir::State::Lists "$dir/lists";
Dir::Cache "$dir/cache";
CONF
  } >"$dir/apt.conf"
}

# Downloads and unpacks both source packages under $1; apt checks the signatures.
fetch_drogon_sources() {
  local work=$1 log=$2 mirror
  mirror=$(debian_mirror)
  if [[ -z $mirror ]]; then
    # apt learns who publishes an archive from its release file, which a fresh machine has not read yet.
    logged "$log" "apt-get update" as_root apt-get -o Acquire::Retries=3 -q update
    mirror=$(debian_mirror)
  fi
  [[ -n $mirror ]] || fail "no Debian archive among this machine's apt sources; install Drogon >= $DROGON_VERSION_MIN"
  write_private_apt "$work/apt" "$mirror"
  mkdir -p "$work/source"
  export APT_CONFIG="$work/apt/apt.conf"
  logged "$log" "reading the source index of Debian $DROGON_SUITE" \
    apt-get -o Acquire::Retries=3 -o APT::Update::Error-Mode=any -q update
  cd "$work/source" || fail "cannot enter $work/source"
  logged "$log" "downloading the source packages drogon and trantor" \
    apt-get -o Acquire::Retries=3 -q source trantor drogon
  unset APT_CONFIG
}

# Prints the version of the source package $2 unpacked under $1.
source_version() {
  dpkg-parsechangelog -l "$(echo "$1"/source/"$2"-*/debian/changelog)" -S Version
}

build_drogon() {
  local work="$DROGON_BASE/work" log jobs drogon trantor name prefix
  log=$(new_log drogon) || exit 1
  jobs=${CMAKE_BUILD_PARALLEL_LEVEL:-$(nproc)}
  rm -rf "$work" && mkdir -p "$work" || fail "cannot write $work"
  report "fetching Drogon's Debian source packages (suite $DROGON_SUITE)"
  (umask 077 && fetch_drogon_sources "$work" "$log") || exit 1
  drogon=$(source_version "$work" drogon) && trantor=$(source_version "$work" trantor) ||
    fail "unpacking the source packages (log: $log)"
  version_at_least "$drogon" "$DROGON_VERSION_MIN" ||
    fail "Debian $DROGON_SUITE has Drogon $drogon, at least $DROGON_VERSION_MIN is needed"
  name="$drogon-trantor-$trantor-$(drogon_system_key)"
  name=${name//[+~:]/-}
  prefix="$DROGON_BASE/$name"
  if [[ ! -e $prefix/.complete ]]; then
    rm -rf "$prefix"
    logged "$log" "configuring trantor" cmake -S "$work"/source/trantor-* -B "$work/build-trantor" \
      "${COMMON_OPTIONS[@]}" "${TRANTOR_OPTIONS[@]}" -DCMAKE_INSTALL_PREFIX="$prefix"
    report "building trantor $trantor: $(build_size "$(count_files "$work/build-trantor" install)" 3)"
    logged_build "$log" trantor "$work/build-trantor" "$jobs"
    logged "$log" "configuring Drogon" cmake -S "$work"/source/drogon-* -B "$work/build-drogon" \
      "${COMMON_OPTIONS[@]}" "${DROGON_OPTIONS[@]}" -DCMAKE_INSTALL_PREFIX="$prefix" -DCMAKE_PREFIX_PATH="$prefix"
    report "building Drogon $drogon, once per machine: $(build_size "$(count_files "$work/build-drogon" install)" 3)"
    logged_build "$log" Drogon "$work/build-drogon" "$jobs"
    : >"$prefix/.complete"
  fi
  # Renamed into place, so that a reader finds either the old build or the new one.
  ln -sfn "$name" "$DROGON_BASE/current.new" && mv -T "$DROGON_BASE/current.new" "$DROGON_BASE/current" ||
    fail "cannot write $DROGON_BASE/current"
  rm -rf "$work"
  report "Drogon $drogon is ready in $prefix"
}

ensure_drogon() {
  cached_drogon_is_current && return
  installed_drogon_is_new_enough && return
  (
    take_lock "$TERRARIUM_CACHE/setup.lock" "the set-up"
    cached_drogon_is_current || build_drogon
  ) || exit 1
}
