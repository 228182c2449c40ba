"""A redis-server of a test's own, at a socket in a folder that goes away, with the promises that a store asks for.

    with RedisServer() as redis:
        … f"{redis.url}?name=runs" …
        redis.say("config", "set", "maxmemory", "1")

Its disk is full behind `file_max` bytes of its log, with which it may be started, or at once with fill()."""
import os
import resource
import shutil
import subprocess
import tempfile
import threading

from checks import expect, wait_until


class RedisServer:
    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix="renga-redis-")
        self.socket, self.process = f"{self.folder}/sock", None
        self.log = []
        self.url = f"unix:{self.socket}"

    def start(self, file_max=resource.RLIM_INFINITY):
        """SIGXFSZ stays ignored, so that a write behind the end fails; Redis may then have ended when this comes back."""
        self.process = subprocess.Popen(
            ["redis-server", "--port", "0", "--unixsocket", self.socket, "--dir", self.folder, "--save", "", "--appendonly", "yes",
             "--appendfsync", "always", "--auto-aof-rewrite-percentage", "0"],
            restore_signals=False, stdout=subprocess.PIPE, text=True,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (file_max, resource.RLIM_INFINITY)))
        threading.Thread(target=lambda lines: self.log.extend(lines), args=(self.process.stdout,), daemon=True).start()
        wait_until(lambda: self.process.poll() is not None or self.say("ping", may_fail=True) == "PONG", "Redis does not answer", 20, every=0.02)

    def say(self, *words, may_fail=False):
        done = subprocess.run(["redis-cli", "-s", self.socket, *words], capture_output=True, text=True)
        expect(may_fail or done.returncode == 0, f"{words[0]}: {done.stdout}{done.stderr}")
        return done.stdout.strip()

    def fill(self, room):
        """From now on there is room for so many bytes."""
        resource.prlimit(self.process.pid, resource.RLIMIT_FSIZE, (self.bytes_of_log() + room, resource.RLIM_INFINITY))

    def bytes_of_log(self):
        folder = f"{self.folder}/appendonlydir"
        return max(os.path.getsize(f"{folder}/{name}") for name in os.listdir(folder))

    def kill(self):
        if self.process and self.process.poll() is None:
            self.process.kill()
            self.process.wait()

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.kill()
        shutil.rmtree(self.folder, ignore_errors=True)
