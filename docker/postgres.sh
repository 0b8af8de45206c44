#!/bin/sh
# Makes the database at the first start, out of the place where it is looked for: half of one is never taken for whole.
set -eu
if [ ! -d "$PGDATA" ]; then
  new="$PGDATA.new"
  rm -rf "$new"
  initdb --pgdata="$new" --username="$POSTGRES_USER" --pwfile="$POSTGRES_PASSWORD_FILE" \
    --auth=scram-sha-256 --encoding=UTF8 --locale=C.UTF-8
  echo "listen_addresses = '*'" >> "$new/postgresql.conf"
  echo "host all all all scram-sha-256" >> "$new/pg_hba.conf"
  echo "CREATE DATABASE \"$POSTGRES_USER\"" | postgres --single -D "$new" postgres
  mv "$new" "$PGDATA"
fi
exec "$@"
