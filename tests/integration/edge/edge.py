"""The suite with its edge, in one process or as six, and clients of HTTP.

    suite = Suite("one")
    suite.ask("GET", "/v1/agents", key="anna").json["agents"]
    for event in suite.events("/v1/runs/R/events", key="anna"): event.id, event.name, event.data

Needs RENGA_BIN."""
import atexit
import gzip
import hashlib
import http.client
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "lib"))
from checks import expect, follow, wait_until  # noqa: E402
from ports import free_port  # noqa: E402

BIN = os.environ["RENGA_BIN"]
SLOW = 5 if os.environ.get("RENGA_SANITIZE") else 1
folder = tempfile.mkdtemp(prefix="renga-edge-")
atexit.register(shutil.rmtree, folder, ignore_errors=True)
PAGE = "x" * 4000
LARGE = "\u6708\n" * 50_000
AGENTS = {
    "echo": {"state": {"text": {"type": "string"}, "heard": {"type": "boolean"}}, "input": ["text"], "start": "hear",
             "nodes": {"hear": {"kind": "set", "values": {"heard": True}, "on": {"done": "end"}}}},
    "asker": {"state": {"x": {"type": "any"}}, "start": "q", "nodes": {"q": {"kind": "ask", "question": "?", "into": "x"}}},
    "turner": {"state": {"x": {"type": "string"}}, "recursion_limit": 1000000, "start": "turn",
               "nodes": {"turn": {"kind": "set", "values": {"x": PAGE}, "on": {"done": "turn"}}}},
    "large": {"state": {"x": {"type": "string"}, "n": {"type": "integer"}}, "start": "a",
              "nodes": {"a": {"kind": "set", "values": {"x": LARGE}, "on": {"done": "b"}}, "b": {"kind": "set", "values": {"n": 1}, "on": {"done": "c"}},
                        "c": {"kind": "set", "values": {"x": LARGE + "end"}, "on": {"done": "end"}}}},
    "larger": {"state": {"x": {"type": "string"}}, "start": "a",
               "nodes": {"a": {"kind": "set", "values": {"x": LARGE}, "visits": {"max": 40, "then": "end"}, "on": {"done": "a"}}}},
    "late": {"state": {"x": {"type": "any"}, "y": {"type": "string"}}, "start": "q",
             "nodes": {"q": {"kind": "ask", "question": "?", "into": "x", "on": {"answered": "a"}},
                       "a": {"kind": "set", "values": {"y": "moon"}, "visits": {"max": 30, "then": "end"}, "on": {"done": "a"}}}},
    "wide": {"state": {"x": {"type": "string"}, **{f"x{i}": {"type": "string"} for i in range(24)}}, "input": ["x"], "start": [f"n{i}" for i in range(24)],
             "nodes": {f"n{i}": {"kind": "set", "inputs": ["x"], "copy": {f"x{i}": "x"}, "on": {"done": "end"}} for i in range(24)}},
}


def key(name, tenant, *methods):
    return {"name": name, "tenant": tenant, "sha256": hashlib.sha256(name.encode()).hexdigest(), "methods": list(methods)}


KEYS = [key("anna", "acme", "*"), key("bert", "other", "renga.v1.Orchestrator/*"), key("carl", "acme", "*"), key("services", "", "*")]


def write(name, text):
    os.makedirs(os.path.dirname(f"{folder}/{name}"), exist_ok=True)
    with open(f"{folder}/{name}", "w") as file:
        file.write(text)
    return f"{folder}/{name}"


for agent, document in AGENTS.items():
    write(f"agents/{agent}/graph.json", json.dumps({"agent": agent, "description": agent, **document}))


class Answer:
    def __init__(self, response):
        self.status, self.reason = response.status, response.reason
        self.headers = {name.lower(): value for name, value in response.getheaders()}
        self.bytes = response.read()
        if self.headers.get("content-encoding") == "gzip":
            self.bytes = gzip.decompress(self.bytes)

    @property
    def json(self):
        return json.loads(self.bytes)

    @property
    def error(self):
        return self.json["error"]

    def field(self):
        """The field that a BadRequest names."""
        for detail in self.error["details"]:
            if detail["@type"].endswith("BadRequest"):
                return detail["fieldViolations"][0]["field"]


class Event:
    def __init__(self, lines):
        self.id, self.name, self.data, self.retry = None, "message", None, None
        for line in lines:
            name, _, value = line.partition(": ")
            if name == "data":
                self.data = json.loads(value)
            elif name == "id":
                self.id = value
            elif name == "event":
                self.name = value
            elif name == "retry":
                self.retry = int(value)


def parse_events(lines):
    """The events of lines that end in a newline, comments left out."""
    block = []
    for line in lines:
        line = line.rstrip("\n")
        if line and not line.startswith(":"):
            block.append(line)
        elif not line and block:
            yield Event(block)
            block = []


class Suite:
    def __init__(self, processes, *flags, keys=True, key=None):
        """`key`: of all requests that name no other."""
        self.processes, self.port, self.host, self.key = [], free_port(), "127.0.0.1", key
        self.rpc_port = free_port()  # of the process, or of the orchestrator
        common = ["--http.listen=", "--loops=2"]
        if keys:
            common += [f"--rpc.keys=file:{write('keys.json', json.dumps(KEYS))}", "--peers.key=services"]
        orchestrator = [f"--orchestrator.agents={folder}/agents", "--orchestrator.store=memory:"]
        edge = [f"--edge.listen=127.0.0.1:{self.port}", *flags]
        tools = ["--tool_runner.store=memory:", "--tool_runner.record=memory:"]
        if processes == "one":
            self.begin("renga", "serve", f"--rpc.listen=127.0.0.1:{self.rpc_port}", *common, *orchestrator, *tools, *edge)
        else:
            at = {name: f"127.0.0.1:{free_port()}" for name in ("llm_gateway", "planner", "tool_runner", "reviewer")}
            at["orchestrator"] = f"127.0.0.1:{self.rpc_port}"
            own = {"orchestrator": orchestrator, "tool_runner": tools}
            for name, address in at.items():
                peers = [f"--peers.{peer}=dns:///{where}" for peer, where in at.items() if peer != name]
                self.begin(f"renga-{name.replace('_', '-')}", f"--rpc.listen={address}", *common, *peers, *own.get(name, ()))
            self.begin("renga-edge", f"--rpc.listen=127.0.0.1:{free_port()}", *common, *edge,
                       *(f"--peers.{peer}=dns:///{at[peer]}" for peer in ("llm_gateway", "tool_runner", "orchestrator")))
        wait_until(self.answers, "the edge does not answer", 30.0 * SLOW, 0.05)

    def begin(self, name, *arguments):
        environment = {k: v for k, v in os.environ.items() if not k.startswith(("RENGA_", "OPENAI_", "ANTHROPIC_"))}
        process = subprocess.Popen([f"{BIN}/{name}", *arguments], env=environment, stderr=subprocess.PIPE, text=True)
        atexit.register(process.kill)
        self.processes.append(process)
        self.log = follow(name, process)

    def answers(self):
        expect(all(process.poll() is None for process in self.processes), "a process has ended")
        try:
            return self.ask("GET", "/v1/agents", key="anna").status == 200
        except OSError:
            return False

    def connect(self, timeout=30):
        return http.client.HTTPConnection(self.host, self.port, timeout=timeout * SLOW)

    def ask(self, method, path, body=None, key=None, **headers):
        """One request. In the names of headers an underscore stands for a dash."""
        connection = self.connect()
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        if key or self.key:
            sent["authorization"] = f"Bearer {key or self.key}"
        if isinstance(body, (dict, list)):
            body = json.dumps(body)
            sent.setdefault("content-type", "application/json")
        try:
            connection.request(method, path, body=body, headers=sent)
            return Answer(connection.getresponse())
        finally:
            connection.close()

    def stream(self, path, method="GET", body=None, key=None, **headers):
        """The response of a stream, to be read; its connection is `.connection`."""
        connection = self.connect(60)
        sent = {"accept": "text/event-stream", **{name.replace("_", "-"): value for name, value in headers.items()}}
        if key or self.key:
            sent["authorization"] = f"Bearer {key or self.key}"
        if body is not None:
            sent["content-type"] = "application/json"
        connection.request(method, path, body=None if body is None else json.dumps(body), headers=sent)
        response = connection.getresponse()
        response.connection = connection
        return response

    def events(self, path, **more):
        response = self.stream(path, **more)
        expect(response.status == 200, f"{path}: {response.status}")
        return list(parse_events(line.decode() for line in response))

    def start(self, agent, key="anna", **fields):
        return self.ask("POST", "/v1/runs", {"agent": agent, **fields}, key=key).json["run"]

    def stop(self):
        codes = []
        for process in reversed(self.processes):
            process.terminate()
            codes.append(process.wait(30 * SLOW))
        return codes


def in_background(function):
    thread = threading.Thread(target=function, daemon=True)
    thread.start()
    return thread
