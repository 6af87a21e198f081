#!/bin/sh
# Third step, in the repository's root: learner and site, and the program with the packages that it runs with, in /app.
set -eu

if [ -f /build/build-ca.crt ]; then
  export NODE_EXTRA_CA_CERTS=/build/build-ca.crt SSL_CERT_FILE=/build/build-ca.crt
  export npm_config_cafile=/build/build-ca.crt
fi

export CI=true npm_config_registry="$NPM_REGISTRY" npm_config_store_dir=/build/store
pnpm install --frozen-lockfile --ignore-scripts
if [ -n "${TORCH:-}" ]; then LIBTORCH=$(echo /opt/torch/lib/python3*/site-packages/torch); export LIBTORCH; fi
AGENTGYM_LEARNER_ARCHITECTURE=$LEARNER_ARCHITECTURE sh runtime/learner/build.sh
node web/build.ts
node --disable-warning=ExperimentalWarning infra/cli-package/build.ts

# The program without its tests, and only the packages that it runs with.
mkdir -p /app
tar --create --exclude node_modules --exclude 'test' --exclude '*.test.ts' --exclude '*.test.tsx' --exclude runtime/learner --exclude web/public \
  LICENSE package.json pnpm-lock.yaml pnpm-workspace.yaml \
  sdk/agent sdk/cli sdk/client sdk/compute sdk/contract sdk/pictures sdk/playing sdk/scenario runtime registry web | tar --extract --directory /app
# pnpm wants every package of the lockfile to be there.
for manifest in testkit/package.json plugins/*/package.json; do
  mkdir -p "/app/${manifest%/*}"
  cp "$manifest" "/app/$manifest"
done
cd /app
pnpm install --frozen-lockfile --ignore-scripts --prod --offline --filter 'agentgym...'
pnpm sbom --sbom-format cyclonedx --sbom-spec-version 1.6 --sbom-type application --prod --filter 'agentgym...' --out /build/npm.cdx.json
rm -rf plugins testkit
