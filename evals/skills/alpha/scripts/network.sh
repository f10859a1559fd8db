#!/bin/sh
# Tries to reach a server, which the sandbox does not let it.
if command -v python3 >/dev/null; then
    python3 -c 'import socket; socket.create_connection(("127.0.0.1", 9), 1)' 2>&1 | tail -n 1
fi
exit 4
