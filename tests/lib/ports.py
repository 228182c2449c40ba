"""Ports for servers that must know theirs before they start."""
import fcntl
import os
import random
import socket
import tempfile

# Below those that the kernel gives to connections and for port 0 (32768 and up): until the server has started, none of
# the tests beside can be given it so, and whoever dials it again and again is not connected to itself in the end.
# Above 21000 is the room of helpdesk/terminal.py, which wants a row.
FIRST, LAST = 17000, 20900

# A port belongs to the process that got it until that process ends: a server that a test kills and starts again finds
# its port free, whatever other tests ask for meanwhile. A lock on a file says so to the other processes.
_FOLDER = os.path.join(tempfile.gettempdir(), f"renga-test-ports-{os.getuid()}")
_locks = {}
_random = random.SystemRandom()  # tests seed the other one, and would be given the same ports


def _reserve(port):
    os.makedirs(_FOLDER, mode=0o700, exist_ok=True)
    lock = open(os.path.join(_FOLDER, str(port)), "w")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        lock.close()
        return False
    _locks[port] = lock
    return True


def free_port(host="127.0.0.1"):
    while True:
        port = _random.randrange(FIRST, LAST)
        if port in _locks or not _reserve(port):
            continue
        with socket.socket() as probe:
            try:
                probe.bind((host, port))
                return port
            except OSError:
                _locks.pop(port).close()
