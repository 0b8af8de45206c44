#!/bin/sh
# Run on a root that is being made: its initramfs holds only the named modules. Arguments: the root, then the names.
set -e
folder=$1/etc/initramfs-tools
shift
mkdir -p "$folder/conf.d"
printf '%s\n' "$@" > "$folder/modules"
printf 'MODULES=list\nCOMPRESS=gzip\n' > "$folder/conf.d/pilothouse"
