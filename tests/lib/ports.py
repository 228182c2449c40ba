"""Ports for servers that must know theirs before they start."""
import random
import socket

# Below those that the kernel gives to connections and for port 0 (32768 and up): until the server has started, none of
# the tests beside can be given it so, and whoever dials it again and again is not connected to itself in the end.
# Above 21000 is the room of helpdesk/terminal.py, which wants a row.
FIRST, LAST = 17000, 20900

_given = set()


def free_port(host="127.0.0.1"):
    while True:
        port = random.randrange(FIRST, LAST)
        with socket.socket() as probe:
            try:
                probe.bind((host, port))
            except OSError:
                continue
        if port not in _given:
            _given.add(port)
            return port
