#!/bin/sh
# Copies a running compose installation into a folder that is not there yet: `docker/backup.sh FOLDER`.
# COMPOSE is the command where it is another: COMPOSE="docker compose -f docker/compose.yaml -f docker/debian.yaml"
set -eu
here=$(dirname "$0")
compose=${COMPOSE:-docker compose -f $here/compose.yaml}
target=${1:?the folder to make}
if [ -e "$target" ]; then
  echo "$target exists; name a folder that does not" >&2
  exit 1
fi
# With other secrets than those it is sealed by, a copy is worth nothing: better none than one of which that shows late.
secrets=$(python3 "$here/keys.py" --where)
if [ ! -f "$secrets/secret_key" ]; then
  echo "no secrets in $secrets: say where they are by PILOTHOUSE_SECRETS, or in $here/.env" >&2
  exit 1
fi
running=$($compose exec -T worker sh -c 'sha256sum < /run/secrets/secret_key' < /dev/null)
if [ "$running" != "$(sha256sum < "$secrets/secret_key")" ]; then
  echo "$secrets are not what the worker runs with: say where those are by PILOTHOUSE_SECRETS, or in $here/.env" >&2
  exit 1
fi
umask 077
mkdir -p "$(dirname "$target")"
new=$(mktemp -d "$target.XXXXXX")
trap 'rm -rf "$new"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP
# The database first: files are only ever added, so each that it names is there afterwards.
$compose exec -T postgres sh -c '
  export PGPASSWORD="$(cat "$POSTGRES_PASSWORD_FILE")"
  exec pg_dump --username "$POSTGRES_USER" --format custom "$POSTGRES_USER"' > "$new/database.dump"
# With 1 tar tells that something was written meanwhile: an export that is not done, which nobody could fetch yet.
$compose exec -T worker sh -c 'tar -C "$PILOTHOUSE_DATA" -c . || [ $? -eq 1 ]' > "$new/data.tar"
# What links lead to: they may lead nowhere where the copy is needed.
cp -RpL "$secrets" "$new/secrets"
if [ "$running" != "$(sha256sum < "$new/secrets/secret_key")" ]; then
  echo "$secrets changed while they were copied" >&2
  exit 1
fi
(cd "$new" && sha256sum database.dump data.tar > sums)
bytes=$(($(wc -c < "$new/database.dump") + $(wc -c < "$new/data.tar")))
mv "$new" "$target"
# The page Health tells how old the last backup is.
$compose exec -T worker sh -c '
  note="$PILOTHOUSE_DATA/last-backup.json"
  printf "{\"created_at\": \"%s\", \"bytes\": %s}" "$(date -u +%Y-%m-%dT%H:%M:%S+00:00)" "$1" > "$note.tmp"
  mv "$note.tmp" "$note"' note "$bytes"
echo "Saved $bytes bytes in $target"
