#!/bin/sh
# Runs a program with what PILOTHOUSE_…_FILE name: a secret is a file to the engine and a variable to the program.
set -eu
for name in $(env | sed -n 's/^\(PILOTHOUSE_[A-Z_]*\)_FILE=.*/\1/p'); do
  eval "file=\$${name}_FILE"
  value=$(cat "$file")
  export "$name=$value"
  unset "${name}_FILE"
done
exec "$@"
