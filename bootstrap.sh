#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs what NovaPhy needs, builds it and runs it: demo, test, build, bench. --help says more.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

# what is needed: the one list of system packages and of oldest versions; Python packages stand in pyproject.toml
debian_packages=(cmake ninja-build ccache g++ libboost-dev nlohmann-json3-dev libtbb-dev libspdlog-dev libfmt-dev
                 libcli11-dev libeigen3-dev libmd-dev doctest-dev python3-dev python3-venv)
oldest_cmake=3.25 oldest_gcc=12 oldest_clang=14 oldest_boost=1.74 oldest_python=3.10
python_extras=plot,identify,mesh,test

release=build/release
logs=build/logs
venv=.venv
python=$venv/bin/python

usage() {
  cat <<'END'
usage: ./bootstrap.sh COMMAND

  demo                 build, train the thrown ball without a window, print the falling loss, write the picture
  test [--all]         build, then the C++ tests, the C++ tests under the address and undefined-behaviour
                       sanitizers, and the Python tests; --all adds the slow tests, a debug build and the
                       thread sanitizer
  build                only install what is missing and build into build/release and .venv
  bench [--with-peers] timings with their targets; --with-peers also times Newton, in an environment of its own
  check                say whether the tools of this machine are new enough; installs nothing

Every command first installs what is missing: Debian or Ubuntu packages (as root, or through sudo where it asks for
no password; otherwise it prints the one line to run), and Python packages into .venv. A second run does nothing twice.

environment: CXX (compiler), PYTHON (interpreter for .venv), CMAKE_ARGS (more arguments for CMake),
             NOVAPHY_NO_APT=1 (the tools come from elsewhere, such as environment.yml)
END
}

say() { printf 'bootstrap: %s\n' "$*"; }
die() { printf 'bootstrap: %s\n' "$*" >&2; exit 1; }

# step WHAT LOG COMMAND...: runs it quietly, with a sign of life each 30 seconds; on failure prints the end of its log
step() {
  local what=$1 log=$2 start=$SECONDS beats=0 pid status=0
  shift 2
  mkdir -p "$(dirname "$log")"
  say "$what ..."
  setsid "$@" >"$log" 2>&1 </dev/null &
  pid=$!
  trap 'kill -- -'"$pid"' 2>/dev/null; exit 130' INT TERM  # with all that it started
  while kill -0 "$pid" 2>/dev/null; do
    sleep 0.2
    (( (SECONDS - start) / 30 > beats )) || continue
    beats=$(( (SECONDS - start) / 30 ))
    say "  $((SECONDS - start)) s $(grep -oE '\[[0-9]+/[0-9]+\]' "$log" | tail -n 1)"
  done
  wait "$pid" || status=$?
  trap - INT TERM
  [ "$status" = 0 ] && { say "  done in $((SECONDS - start)) s"; return; }
  grep -vE '^ *\[[0-9]+/[0-9]+\] (Building|Linking|Scanning)' "$log" | tail -n 60 >&2
  die "$what failed with exit code $status; the whole log is $log"
}

install_debian_packages() {
  [ -z "${NOVAPHY_NO_APT:-}" ] && command -v dpkg-query >/dev/null || return 0
  local package missing=() as_root=()
  for package in "${debian_packages[@]}"; do
    [ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true)" = installed ] || missing+=("$package")
  done
  [ ${#missing[@]} -gt 0 ] || return 0
  if [ "$(id -u)" != 0 ]; then
    sudo -n true 2>/dev/null || die "missing packages; install them as root, then run this again:
  apt-get install ${missing[*]}"
    as_root=(sudo -n)
  fi
  as_root+=(env DEBIAN_FRONTEND=noninteractive apt-get)
  step "reading the list of Debian packages" "$logs/apt-update.log" "${as_root[@]}" update
  step "installing ${missing[*]}" "$logs/apt.log" "${as_root[@]}" install -y --no-install-recommends "${missing[@]}"
}

# require_version NAME FOUND OLDEST: one sentence with both versions where FOUND is older, or empty
require_version() {
  [ -n "$2" ] || die "$1 was not found; NovaPhy needs $1 $3 or newer."
  [ "$(printf '%s\n' "$2" "$3" | sort -V | head -n 1)" = "$3" ] ||
    die "$1 $2 is too old; NovaPhy needs $1 $3 or newer."
}

# what the preprocessor makes of one line, after an include
preprocessed() { printf '%s\n%s\n' "$1" "$2" | "$compiler" -E -P -x c++ - 2>/dev/null | tail -n 1 || true; }

check_versions() {
  local compiler=${CXX:-c++} gcc clang
  require_version CMake "$(cmake --version 2>/dev/null | sed -n '1s/[^0-9]*//p')" $oldest_cmake
  command -v "$compiler" >/dev/null ||
    die "the C++ compiler '$compiler' was not found; NovaPhy needs g++ $oldest_gcc or clang $oldest_clang or newer."
  read -r clang gcc <<<"$(preprocessed '' '__clang_major__ __GNUC__')"
  if [[ $clang =~ ^[0-9]+$ ]]; then require_version clang "$clang" $oldest_clang
  else require_version g++ "$gcc" $oldest_gcc; fi
  require_version Boost "$(preprocessed '#include <boost/version.hpp>' BOOST_LIB_VERSION | sed -n 's/^"\(.*\)"$/\1/p' |
    tr _ .)" $oldest_boost
  find_python
}

# the first Python that is new enough and can make an environment with headers; the system's before any shim
find_python() {
  local candidate version newest='' candidates=(/usr/bin/python3 python3.1{4,3,2,1,0} python3)
  [ -n "${PYTHON:-}" ] && candidates=("$PYTHON")
  for candidate in "${candidates[@]}"; do
    version=$("$candidate" -c 'import platform; print(platform.python_version())' 2>/dev/null) || continue
    newest=$(printf '%s\n' "$newest" "$version" | sort -V | tail -n 1)
    "$candidate" - <<'END' 2>/dev/null && { base_python=$candidate; return; }
import ensurepip, os, sys, sysconfig, venv
sys.exit(sys.version_info < (3, 10) or not os.path.exists(os.path.join(sysconfig.get_path("include"), "Python.h")))
END
  done
  require_version Python "$newest" $oldest_python
  die "Python $newest lacks its headers or its module venv; install python3-dev and python3-venv (wanted: Python $oldest_python or newer with both)."
}

# python_requirements EXTRAS: the build's and the extras' requirements, one a line, as pyproject.toml lists them
python_requirements() {
  "$python" - "$1" <<'END'
import sys
try:
    import tomllib
except ImportError:  # Python 3.10
    from pip._vendor import tomli as tomllib
with open("pyproject.toml", "rb") as file:
    project = tomllib.load(file)
extras = project["project"]["optional-dependencies"]
print("\n".join(project["build-system"]["requires"] + project["project"]["dependencies"]
                + [line for extra in sys.argv[1].split(",") for line in extras[extra]]))
END
}

make_environment() {
  local mark=$venv/.novaphy-requirements wanted
  # an environment holds absolute paths: one that was moved with its folder, or lost its interpreter, is made anew
  if ! "$python" -c '' 2>/dev/null || [ "$(cat "$venv/.novaphy-home" 2>/dev/null)" != "$PWD" ]; then
    step "making the Python environment $venv with $base_python" "$logs/venv.log" "$base_python" -m venv --clear "$venv"
    printf '%s\n' "$PWD" >"$venv/.novaphy-home"
  fi
  wanted=$(python_requirements "$python_extras")
  [ "$(cat "$mark" 2>/dev/null)" = "$wanted" ] && return
  local requirements=()
  mapfile -t requirements <<<"$wanted"
  step "installing Python packages into $venv" "$logs/pip.log" "$python" -m pip install "${requirements[@]}"
  printf '%s\n' "$wanted" >"$mark"
}

# what the installed package was made from, besides what ninja watches: names of Python files, settings, environment
installation() {
  { cat pyproject.toml; find python/novaphy -type f ! -name "*.pyc" | LC_ALL=C sort
    grep -E '^(NOVAPHY_|CMAKE_BUILD_TYPE|CMAKE_CXX_FLAGS|Python_EXECUTABLE)' $release/CMakeCache.txt
    printf '%s\n' "$PWD" "${CI:-}" "${CXX:-}" "${CMAKE_ARGS:-}"; "$python" -VV; } | sha256sum
}

build() {
  local mark=$venv/.novaphy-installed werror=OFF
  install_debian_packages
  check_versions
  make_environment
  export CCACHE_BASEDIR=$PWD
  if [ -f $release/build.ninja ] && [ "$(cat "$mark" 2>/dev/null)" = "$(installation)" ]; then
    step "building what changed in $release" "$logs/build.log" cmake --build $release
    grep -qE '\] (Building|Linking|Re-running)' "$logs/build.log" || return 0
  fi
  rm -f "$mark"
  [ "${CI:-}" = true ] && werror=ON
  step "building $release and installing it into $venv (a first build takes minutes)" "$logs/build.log" \
    env "SKBUILD_CMAKE_DEFINE=NOVAPHY_BUILD_TESTS=ON;NOVAPHY_WARNINGS_AS_ERRORS=$werror" \
    "$python" -m pip install -v --no-deps --no-build-isolation --no-index -e .
  installation >"$mark"
}

# cxx_tests PRESET: configures, builds and runs the C++ tests of a preset in a build folder of its own
cxx_tests() {
  step "configuring build/$1" "$logs/$1.log" cmake --preset "$1"
  step "building build/$1" "$logs/$1.log" cmake --build "build/$1"
  say "C++ tests of build/$1"
  ctest --preset "$1" --no-tests=error -j "$(nproc)" || failed+=("the C++ tests of build/$1")
}

# the bridges to torch and JAX, in an environment of their own. torch is the system's where it has one: that of PyPI brings
# GPU libraries of several gigabytes along
bridge_tests() {
  local env=build/bridges-env wanted debian_packages=(python3-torch) requirements=()
  if apt-cache show python3-torch >/dev/null 2>&1; then install_debian_packages; fi
  wanted=$(python_requirements bridges)
  if [ "$(cat "$env/.novaphy-requirements" 2>/dev/null)" != "$wanted" ]; then
    mapfile -t requirements <<<"$wanted"
    step "making the Python environment $env" "$logs/bridges.log" "$base_python" -m venv --clear --system-site-packages $env
    step "installing Python packages into $env" "$logs/bridges.log" $env/bin/python -m pip install "${requirements[@]}"
    printf '%s\n' "$wanted" >"$env/.novaphy-requirements"
  fi
  say "Python tests of the bridges to torch and JAX"
  PYTHONPATH=$release/python $env/bin/python -m pytest -q tests/bridges || failed+=("the bridges to torch and JAX")
}

# the browser that looks at pages of novaphy.viewer.ViewerHTML, where Debian has it; its test is skipped without one
browser() {
  local debian_packages=(chromium)
  if apt-cache show chromium >/dev/null 2>&1; then install_debian_packages; fi
}

run_tests() {
  local preset presets=(asan) slow=() failed=()
  case "${1:-}" in '') ;; --all) presets=(asan dev tsan) slow=(--all) ;; *) die "test knows --all, not '$1'" ;; esac
  build
  for preset in "${presets[@]}"; do cxx_tests "$preset"; done
  say "C++ tests of $release"
  NOVAPHY_TEST_ALL=${#slow[@]} ctest --test-dir $release --no-tests=error --output-on-failure -j "$(nproc)" || failed+=("the C++ tests of $release")
  [ ${#slow[@]} = 0 ] || browser
  say "Python tests"
  "$python" -m pytest -q "${slow[@]}" || failed+=("the Python tests")
  [ ${#slow[@]} = 0 ] || bridge_tests
  [ ${#failed[@]} = 0 ] || { for preset in "${failed[@]}"; do say "FAILED: $preset" >&2; done; exit 1; }
}

run_demo() {
  build
  "$python" python/demos/diff/demo_diffsim_ball.py --headless 250 --plot diffsim_ball.png
}

run_bench() {
  build
  "$python" tests/bench/bench.py "$@"
}

case "${1:-}" in
  demo) run_demo ;;
  test) run_tests "${@:2}" ;;
  build) build ;;
  bench) run_bench "${@:2}" ;;
  check) check_versions; say "the tools of this machine are new enough; Python is $base_python" ;;
  -h | --help | help) usage ;;
  *) usage >&2; exit 2 ;;
esac
