"""`renga serve` with its edge, as clients of HTTP see it.

    front = Front()                      # one tenant, no keys; Front("--rpc.keys=FILE") has them
    status, headers, body = front.ask("POST", "/v1/runs", {"agent": "echo", "inputJson": {"text": "moon"}})

Needs RENGA_BIN."""
import atexit
import gzip
import http.client
import json
import os
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.realpath(os.path.join(HERE, "..", "..", ".."))
sys.path.insert(0, os.path.join(HERE, "..", "..", "lib"))
from checks import expect, follow, wait_until  # noqa: E402
from ports import free_port  # noqa: E402

BIN = os.environ["RENGA_BIN"]
SLOW = 5 if os.environ.get("RENGA_SANITIZE") else 1  # sanitizers take their time
folder = tempfile.mkdtemp(prefix="renga-edge-")
atexit.register(shutil.rmtree, folder, ignore_errors=True)


SUITE = [f"{BIN}/renga", "serve", f"--orchestrator.agents={ROOT}/services/orchestrator/agents", "--orchestrator.store=memory:",
         "--tool_runner.store=memory:", "--tool_runner.record=memory:"]


class Front:
    """The edge of a process, by default of the whole suite; of others with command=["renga-edge", ...]."""

    def __init__(self, *options, command=SUITE):
        self.port, self.rpc = free_port(), free_port()
        environment = {k: v for k, v in os.environ.items() if not k.startswith(("RENGA_", "OPENAI_", "ANTHROPIC_"))}
        environment["XDG_DATA_HOME"] = folder
        self.process = subprocess.Popen(
            [*command, f"--edge.listen=127.0.0.1:{self.port}", f"--rpc.listen=127.0.0.1:{self.rpc}", "--http.listen=", "--loops=2", *options],
            cwd=folder, env=environment, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True, errors="replace")
        self.log = follow(os.path.basename(command[0]), self.process)
        atexit.register(self.process.kill)
        wait_until(self.serves, "nobody serves", 20.0 * SLOW, 0.05)

    def serves(self):
        expect(self.process.poll() is None, f"renga serve has ended: {''.join(self.log[-5:])}")
        try:
            return self.ask("GET", "/healthz")[0] == 200
        except OSError:
            return False

    def ask(self, method, path, body=None, **headers):
        """The status, the headers by their names in lower case, and the body: of JSON as its value."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60 * SLOW)
        headers = {name.replace("_", "-"): value for name, value in headers.items()}
        if body is not None and not isinstance(body, (bytes, str)):
            body = json.dumps(body)
            headers.setdefault("content-type", "application/json")
        try:
            connection.request(method, path, body, headers)
            response = connection.getresponse()
            answered = {name.lower(): value for name, value in response.getheaders()}
            data = response.read()
            if answered.get("content-encoding") == "gzip":
                data = gzip.decompress(data)
        finally:
            connection.close()
        is_json = answered.get("content-type", "").startswith("application/json") and data
        return response.status, answered, json.loads(data) if is_json else data

    def stop(self):
        self.process.terminate()
        self.process.wait(20 * SLOW)
