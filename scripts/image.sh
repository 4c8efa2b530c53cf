# What every build of the image is given: labels and times that depend on the commit alone. For scripts, which source it
# in the root of the repository.
# shellcheck shell=bash

# The version of the workspace, as in Cargo.toml.
workspace_version() {
  sed -n '/^\[workspace.package\]/,/^$/s/^version = "\(.*\)"/\1/p' Cargo.toml
}

# Sets `version`, `epoch` (the time of the commit in seconds), and `arguments` for the build. Outside a checkout the
# revision is empty and the time that of SOURCE_DATE_EPOCH, or 0.
image_arguments() {
  local revision created
  version=$(workspace_version)
  revision=$(git rev-parse HEAD 2>/dev/null || true)
  epoch=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || echo 0)}
  created=$(date --utc --date "@$epoch" +%Y-%m-%dT%H:%M:%SZ)
  # shellcheck disable=SC2034
  arguments=(
    --build-arg "VERSION=$version"
    --build-arg "REVISION=$revision"
    --build-arg "CREATED=$created"
    --build-arg "SOURCE=${IMAGE_SOURCE:-}"
    --build-arg "SOURCE_DATE_EPOCH=$epoch"
  )
}
