# Starts PostgreSQL as its public image does: as a user of its own, on a database that the first start makes.
set -eu

if [ "$(id -u)" = 0 ]; then
  mkdir -p "$PGDATA" /run/postgresql
  chown postgres "$PGDATA" /run/postgresql
  exec setpriv --reuid postgres --regid postgres --init-groups sh "$0" "$@"
fi
if [ ! -s "$PGDATA/PG_VERSION" ]; then
  # shellcheck disable=SC2086 # a list of arguments
  initdb --pgdata "$PGDATA" --username "$POSTGRES_USER" --pwfile "$POSTGRES_PASSWORD_FILE" --encoding UTF8 --locale C.UTF-8 ${POSTGRES_INITDB_ARGS:-}
  echo 'host all all all scram-sha-256' >> "$PGDATA/pg_hba.conf"
  # Not on TCP, where the health check would find it.
  pg_ctl --pgdata "$PGDATA" --options "-c listen_addresses=''" --wait start
  createdb --username "$POSTGRES_USER" "$POSTGRES_DB"
  pg_ctl --pgdata "$PGDATA" --mode fast --wait stop
fi
exec postgres -D "$PGDATA" -c listen_addresses='*'
