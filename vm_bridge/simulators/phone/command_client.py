#!/usr/bin/python3 -ISs
"""Stands in the phone's PATH under the name of every command of `commands.py`, and asks the phone to do it."""

import json
import os
import socket
import struct
import sys

REPLY_HEADER = struct.Struct(">BII")
NOT_FOUND = 127


def main() -> int:
    """The exit status of the command."""
    with socket.socket(socket.AF_UNIX) as link:
        link.connect(os.environ["PHONE_DOOR"])
        link.sendall(json.dumps([os.path.basename(sys.argv[0]), *sys.argv[1:]]).encode() + b"\n")
        with link.makefile("rb") as answer:
            header = answer.read(REPLY_HEADER.size)
            if len(header) < REPLY_HEADER.size:
                return NOT_FOUND
            code, output, errors = REPLY_HEADER.unpack(header)
            sys.stdout.buffer.write(answer.read(output))
            sys.stderr.buffer.write(answer.read(errors))
    return int(code)


if __name__ == "__main__":
    sys.exit(main())
