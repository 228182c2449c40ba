#!/usr/bin/env python3
"""`on_redis.py SCRIPT`: the same script, with its runs in a Redis of its own instead of SQLite."""
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time

folder = tempfile.mkdtemp(prefix="renga-redis-")
path = os.path.join(folder, "redis.sock")
redis = subprocess.Popen(["redis-server", "--port", "0", "--unixsocket", path, "--dir", folder, "--save", "", "--appendonly", "yes",
                          "--appendfsync", "always"], stdout=subprocess.DEVNULL)


def answers():
    try:
        with socket.socket(socket.AF_UNIX) as asking:
            asking.connect(path)
            asking.sendall(b"PING\r\n")
            return asking.recv(5) == b"+PONG"
    except OSError:
        return False


try:
    until = time.monotonic() + 20
    while not answers() and time.monotonic() < until:
        time.sleep(0.01)
    code = subprocess.call([sys.executable, sys.argv[1]], env={**os.environ, "RENGA_REDIS": f"unix:{path}"})
finally:
    redis.kill()
    redis.wait()
    shutil.rmtree(folder)
sys.exit(code)
