#!/bin/sh
# Fills an empty compose installation, its web processes and workers not started, with what docker/backup.sh wrote:
# `docker/restore.sh FOLDER`. COMPOSE as there.
set -eu
here=$(dirname "$0")
compose=${COMPOSE:-docker compose -f $here/compose.yaml}
secrets=$(python3 "$here/keys.py" --where)
source=${1:?the folder of a backup}
(cd "$source" && sha256sum --check --quiet sums)
if [ ! -f "$source/secrets/secret_key" ]; then
  echo "no secrets in $source" >&2
  exit 1
fi
if [ ! -e "$secrets" ] && [ -L "$secrets" ]; then
  echo "$secrets is a link to where nothing is; remove it, or have there what it leads to" >&2
  exit 1
elif [ ! -e "$secrets" ]; then
  mkdir -p "$(dirname "$secrets")"
  cp -RpL "$source/secrets" "$secrets"
elif ! cmp -s "$source/secrets/secret_key" "$secrets/secret_key"; then
  echo "$secrets are another installation's; move them away" >&2
  exit 1
fi
# Who starts beside PostgreSQL finds it well, and tells whether compose takes the same secrets.
running=$($compose run --rm -T migrate sh -c 'sha256sum < /run/secrets/secret_key' < /dev/null)
if [ "$running" != "$(sha256sum < "$source/secrets/secret_key")" ]; then
  echo "compose takes other secrets than $secrets: say where they are by PILOTHOUSE_SECRETS, or in $here/.env" >&2
  exit 1
fi
database() {
  $compose exec -T postgres sh -c '
    export PGPASSWORD="$(cat "$POSTGRES_PASSWORD_FILE")"
    exec "$@" --username "$POSTGRES_USER" --dbname "$POSTGRES_USER"' database "$@"
}
if [ -n "$(database psql -tAc "SELECT 1 FROM pg_tables WHERE schemaname = 'public' LIMIT 1" < /dev/null)" ]; then
  echo "this database is not empty" >&2
  exit 1
fi
database pg_restore --exit-on-error --single-transaction < "$source/database.dump"
$compose run --rm -T --no-deps migrate sh -c 'tar -C "$PILOTHOUSE_DATA" -x' < "$source/data.tar"
echo "Restored; start it: $compose up --detach"
