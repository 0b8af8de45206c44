#!/bin/sh
# Run on a root that is being made: times of whole seconds for the folders of fonts, as the disk's file system will have
# them, and then the cache of fonts, which is only good for folders of exactly its time. Argument: the root.
set -e
find "$1/usr/share/fonts" -type d -exec touch -d 2020-01-01T00:00:00Z {} +
chroot "$1" fc-cache --force --system-only
