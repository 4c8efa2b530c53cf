# The image of Portcullis: the program, the shared libraries it needs, the certificates of public CAs, and nothing else:
# no shell, no package manager. It runs as user 65532, and writes to /var/lib/portcullis only.
#
# `make image` builds it with podman, docker or buildah, with labels and an SBOM. Everything that the last stage copies is
# in /image of the stage `build`; scripts/test-image puts a folder in the place of that stage, and pulls nothing.

ARG RUST=docker.io/library/rust:1.95.0-bookworm
ARG NODE=docker.io/library/node:22-bookworm-slim

# The scripts of the web pages.
FROM ${NODE} AS web
WORKDIR /src
COPY scripts scripts
COPY crates/portcullis-web/scripts crates/portcullis-web/scripts
COPY crates/portcullis/templates/common/portcullis.d.ts crates/portcullis/templates/common/
COPY e2e/api/requirements.txt e2e/api/
RUN mkdir -p crates/portcullis-web/assets && scripts/build-web && mkdir -p crates/portcullis-web/assets/built

FROM ${RUST} AS build
WORKDIR /src
# The toolchain of the base image, which has the version of rust-toolchain.toml, without formatter and linter.
ENV RUSTUP_TOOLCHAIN=1.95.0
COPY . .
COPY --from=web /src/crates/portcullis-web/assets/built crates/portcullis-web/assets/built
ARG REVISION
ARG CREATED
ARG SOURCE_DATE_EPOCH
RUN --mount=type=cache,target=/usr/local/cargo/registry --mount=type=cache,target=/src/target \
    if [ -n "$REVISION" ]; then export PORTCULLIS_COMMIT="$REVISION" PORTCULLIS_COMMIT_DATE="$CREATED"; fi && \
    cargo build --release --locked --bin portcullis && \
    deploy/image/root target/release/portcullis /image

FROM scratch
ARG VERSION
ARG REVISION
ARG CREATED
ARG SOURCE
LABEL org.opencontainers.image.title="Portcullis" \
      org.opencontainers.image.description="Admission and authorization controller for Kubernetes and CI jobs" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}" \
      org.opencontainers.image.created="${CREATED}" \
      org.opencontainers.image.source="${SOURCE}"
COPY --from=build /image /
COPY --from=build --chown=65532:65532 /image-data /var/lib
ENV HOME=/var/lib/portcullis PORTCULLIS_DATA_DIR=/var/lib/portcullis
VOLUME /var/lib/portcullis
EXPOSE 8443 9090
USER 65532:65532
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=6s --start-period=30s \
    CMD ["/usr/bin/portcullis", "health", "--config", "/etc/portcullis/portcullis.yaml"]
ENTRYPOINT ["/usr/bin/portcullis"]
CMD ["serve", "--config", "/etc/portcullis/portcullis.yaml"]
