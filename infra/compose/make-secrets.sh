#!/bin/sh
# Makes ./secrets for compose.yaml: random values for what is missing, and nothing that is there is replaced. Some files
# are yours to fill: mail-url (smtps://user:password@host); once the server runs, worker-token; and, where GPUs are rented,
# renting-token and runpod-api-key.
set -eu

cd "$(dirname -- "$0")"
umask 077
mkdir -p secrets
cd secrets
# write NAME VALUE
write() { [ -e "$1" ] || printf %s "$2" > "$1"; }
write postgres-password "$(openssl rand -hex 24)"
write database-url "postgresql://agentgym:$(cat postgres-password)@postgres:5432/agentgym"
write storage-access-key "$(openssl rand -hex 10)"
write storage-secret-key "$(openssl rand -hex 24)"
write storage-identities "{\"identities\":[{\"name\":\"agentgym\",\"credentials\":[{\"accessKey\":\"$(cat storage-access-key)\",\"secretKey\":\"$(cat storage-secret-key)\"}],\"actions\":[\"Admin\",\"Read\",\"Write\",\"List\",\"Tagging\"]}]}"
write server-secret "$(openssl rand -hex 32)"
write setup-secret "$(openssl rand -hex 16)"
write metrics-token "$(openssl rand -hex 24)"
write grafana-password "$(openssl rand -hex 12)"
write mail-url ''
write worker-token ''
write renting-token ''
write runpod-api-key ''
# Containers read them as users of their own. The folder keeps other users of this machine out.
chmod 444 ./*
