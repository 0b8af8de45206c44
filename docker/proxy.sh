#!/bin/sh
# Runs nginx where its servers have names: `proxy.sh CONFIGURATION NAME...`. nginx asks for an address once, when it reads
# its configuration, and does not start where there is none; but containers come back in any order, at other addresses.
# So it is given addresses, and again when one is another. Sockets that are open stay with the process that has them.
set -eu
source=$1
shift
folder=${TMPDIR:-/tmp}
here=$folder/proxy.conf

# Whole or not at all. Where the loop below calls it, -e does not hold.
put() {
  printf '%s\n' "$2" > "$1.new" && mv "$1.new" "$1"
}

# The configuration as of now: of a name that nobody has, with the last address it had, or one where nobody answers.
written() {
  edits=$(for name; do
    # An engine knows its own at once, and asks the world for all others.
    if found=$(timeout 2 getent ahostsv4 "$name"); then
      put "$folder/$name.place" "s|\\<$name:|${found%% *}:|" || exit 1
    fi
    cat "$folder/$name.place" 2> /dev/null || printf 's|\\<%s:[0-9]*|127.0.0.1:1|\n' "$name"
  done) && sed "$edits" "$source"
}

known=$(written "$@")
put "$here" "$known"
# This process becomes nginx; who looks after its addresses ends with it, and not by a round that fails: the next may not.
while sleep 5 && kill -0 $$ 2> /dev/null; do
  now=$(written "$@") && [ "$now" != "$known" ] && put "$here" "$now" && nginx -c "$here" -s reload && known=$now || true
done &
exec nginx -c "$here" -g "daemon off;"
