# OPA and the command-line tools of Gatekeeper, Conftest and Kyverno, which results are compared with: built from the Go
# module proxy into .cache/peers. For scripts, which source it.
# shellcheck shell=bash
#
#   OPA_VERSION, CONFTEST_VERSION, GATOR_VERSION, KYVERNO_VERSION   other versions

# Where they are: $1 is the root of the repository.
peers_directory() { echo "${PORTCULLIS_CACHE:-$1/.cache}/peers"; }

# Builds a tool, unless it is there in this version, and prints its path. It is built from a copy of the source, by the
# versions of its own go.sum and the replacements of its own go.mod, which `go install` does not allow.
build_peer() {
  local name=$1 peers=$2 module version package work answer source
  case "$name" in
  conftest) module=github.com/open-policy-agent/conftest version=${CONFTEST_VERSION:-v0.71.1} package=. ;;
  gator) module=github.com/open-policy-agent/gatekeeper/v3 version=${GATOR_VERSION:-v3.23.1} package=./cmd/gator ;;
  kyverno) module=github.com/kyverno/kyverno version=${KYVERNO_VERSION:-v1.19.1} package=./cmd/cli/kubectl-kyverno ;;
  opa) module=github.com/open-policy-agent/opa version=${OPA_VERSION:-v1.22.0} package=. ;;
  *) echo "there is no peer '$name'; there are opa, gator, conftest and kyverno" >&2 && return 2 ;;
  esac
  if [ ! -x "$peers/$name" ] || [ "$(cat "$peers/$name.version" 2>/dev/null)" != "$version" ]; then
    command -v go >/dev/null 2>&1 || { echo "Go is missing (https://go.dev/dl)" >&2 && return 1; }
    mkdir -p "$peers"
    work=$(mktemp -d)
    # Where no go.mod has a say.
    answer=$(cd "$work" && go mod download -json "$module@$version") || {
      sed -n 's/.*"Error": "\(.*\)".*/\1/p' <<<"$answer" >&2
      rm -rf "$work"
      return 1
    }
    source=$(sed -n 's/.*"Dir": "\(.*\)".*/\1/p' <<<"$answer")
    cp -R "$source" "$work/source"
    # Modules are read-only.
    chmod -R u+w "$work/source"
    (cd "$work/source" && CGO_ENABLED=0 go build -mod=mod -trimpath -ldflags='-s -w' -o "$work/$name" "$package") >&2 || {
      rm -rf "$work"
      return 1
    }
    mv "$work/$name" "$peers/$name"
    echo "$version" >"$peers/$name.version"
    rm -rf "$work"
  fi
  echo "$peers/$name"
}
