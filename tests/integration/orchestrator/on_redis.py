#!/usr/bin/env python3
"""`on_redis.py SCRIPT`: the same script, with its runs in a Redis of its own instead of SQLite."""
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "lib"))
from redis_server import RedisServer  # noqa: E402

with RedisServer() as redis:
    code = subprocess.call([sys.executable, sys.argv[1]], env={**os.environ, "RENGA_REDIS": redis.url})
sys.exit(code)
