#!/usr/bin/env python3
"""Waits until something listens on a port of this machine."""
import socket
import sys
import time

port = int(sys.argv[1])
for _ in range(200):
    try:
        socket.create_connection(("127.0.0.1", port), timeout=1).close()
    except OSError:
        time.sleep(0.05)
    else:
        print(f"port {port} answers")
        break
else:
    sys.exit(f"nothing listens on port {port}")
