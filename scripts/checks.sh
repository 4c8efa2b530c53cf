# Checks of a suite that is a script: each says what holds, all are made, and failures are counted. For scripts, which
# source it.
# shellcheck shell=bash

failed=0
checks=0

# The suite can't run here: one line says why.
skip() {
  echo "SKIPPED: $*" >&2
  exit 0
}

# check WHAT COMMAND...: WHAT holds if the command succeeds; its output is shown if not.
check() {
  local what=$1 output
  shift
  checks=$((checks + 1))
  output=$("$@" 2>&1) || {
    failed=$((failed + 1))
    echo "FAILED: $what"
    printf '%s\n' "$output" | sed 's/^/  /'
  }
}

# Commands for `check`: two texts are equal; a command fails.
equal() { [ "$1" = "$2" ] || { printf 'expected: %s\nfound:    %s\n' "$2" "$1" && return 1; }; }
fails() { ! "$@"; }

# Says how the checks of suite $1 went, and ends the script.
end_checks() {
  if [ "$failed" -gt 0 ]; then
    echo "$1: $failed of $checks checks failed"
    exit 1
  fi
  echo "$1: $checks checks passed"
  exit 0
}
