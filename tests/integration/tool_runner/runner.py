"""A real renga-tool-runner in a process of its own, with a document of tool servers, its record and its knowledge base
in a folder that goes away.

    with Runner({"odd": odd("hang")}) as runner:
        result = runner.run(("odd__hang", {}))[0]

    with Runner(roots=[folder]) as runner:
        runner.index("manual", folder)
        runner.search("ports").hits[0].uri

Needs RENGA_BIN and RENGA_PROTO."""
import atexit
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import urllib.request
import uuid

import grpc

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "lib"))
import checks  # noqa: E402
from checks import Broken, check, expect, wait_until, watch  # noqa: E402,F401
from contract import message  # noqa: E402

BIN = os.environ["RENGA_BIN"]
SLOW = 5 if os.environ.get("RENGA_SANITIZE") else 1  # sanitizers take their time
MODULES = os.path.join(HERE, "..", "node_modules")
NODE = os.path.join(MODULES, ".bin", "node")
SERVICE = "renga.v1.ToolRunner"
OURSELVES = f"{os.geteuid()}:{os.getegid()}"  # servers write into folders of the test, which are closed to others


def npm(package, *arguments, **more):
    """A server of npm's, over stdio."""
    return {"command": NODE, "args": [os.path.join(MODULES, package, "dist", "index.js"), *arguments], "user": OURSELVES,
            **more}


def odd(*arguments, **more):
    """The server of odd.py."""
    return {"command": "/usr/bin/python3", "args": [os.path.join(HERE, "odd.py"), *arguments], "user": OURSELVES, **more}


class Runner:
    """`folder` is kept where it is given. `binary` may be renga with `serve`, for all services."""

    def __init__(self, servers=None, *flags, folder=None, roots=(), binary=("renga-tool-runner",), environment=None):
        self.kept = tempfile.TemporaryDirectory(prefix="renga-tools-") if folder is None else None
        self.folder = folder or self.kept.name
        self.command = [os.path.join(BIN, binary[0]), *binary[1:]]
        self.environment = {**os.environ, **(environment or {})}
        usual = {"--rpc.listen": "127.0.0.1:0", "--http.listen": "127.0.0.1:0", "--loops": "2", "--log.format": "json",
                 "--tool_runner.record": f"sqlite:{self.folder}/record.db", "--tool_runner.store": f"{self.folder}/knowledge.db"}
        if servers is not None:
            self.write(servers)
            usual["--tool_runner.mcp"] = f"{self.folder}/mcp.json"
        if roots:
            usual["--tool_runner.roots"] = ",".join(roots)
        given = {flag.split("=")[0] for flag in flags}
        self.flags = [f"{name}={value}" for name, value in usual.items() if name not in given] + list(flags)
        self.process, self.log = None, []
        atexit.register(self.kill)
        self.start()

    def write(self, servers):
        with open(f"{self.folder}/mcp.json", "w") as file:
            json.dump({"mcpServers": servers}, file)

    def start(self):
        self.process = subprocess.Popen([*self.command, *self.flags], stderr=subprocess.PIPE, text=True, cwd=self.folder,
                                        env=self.environment)
        watch("the tool-runner", self.log, self.process)
        self.port = self.metrics_port = None
        for line in self.process.stderr:
            self.log.append(line)
            found = re.search(r'"(rpc|http)\.listening".*?port (\d+)', line)
            if found and found.group(1) == "rpc":
                self.port = int(found.group(2))
            elif found:
                self.metrics_port = int(found.group(2))
            if self.port and self.metrics_port:
                break
        if not self.port:
            raise AssertionError("the tool-runner did not start: " + "".join(self.log[-5:]))
        threading.Thread(target=lambda stream: self.log.extend(stream), args=(self.process.stderr,), daemon=True).start()
        self.channel = grpc.insecure_channel(f"127.0.0.1:{self.port}", options=[("grpc.enable_http_proxy", 0)])
        grpc.channel_ready_future(self.channel).result(20 * SLOW)

    def kill(self, how=signal.SIGKILL):
        if self.process:
            self.channel.close()
        if self.process and self.process.poll() is None:
            self.process.send_signal(how)
            self.process.wait(20 * SLOW)

    def restart(self, how=signal.SIGKILL):
        self.kill(how)
        self.start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.kill(signal.SIGTERM)
        if self.process.returncode:
            raise AssertionError(f"the tool-runner ended with {self.process.returncode}: " + "".join(self.log[-20:]))

    def method(self, name, request, response, stream=False, service=SERVICE):
        kind = self.channel.unary_stream if stream else self.channel.unary_unary
        return kind(f"/{service}/{name}", message(request).SerializeToString, message(response).FromString)

    def list(self, *names, timeout=30):
        return self.method("ListTools", "ListToolsRequest", "ListToolsResponse")(
            message("ListToolsRequest")(names=names), timeout=timeout * SLOW, wait_for_ready=True)

    def request(self, *calls, key=None, run="", thread="", token=0, allowed=(), ids=None, **more):
        """Calls are pairs of a tool and its arguments, text or object, and perhaps fields of the invocation."""
        request = message("RunToolsRequest")(idempotency_key=key or uuid.uuid4().hex, fencing_token=token,
                                             allowed_tools=allowed, **more)
        request.origin.run_id, request.origin.thread_id = run, thread
        for i, (name, arguments, *fields) in enumerate(calls):
            text = arguments if isinstance(arguments, str) else json.dumps(arguments)
            asked = request.calls.add(**(fields[0] if fields else {}))
            asked.call.id, asked.call.name, asked.call.arguments_json = ids[i] if ids else f"call{i}", name, text
        return request

    def begin(self, *calls, timeout=30, **more):
        return self.method("RunTools", "RunToolsRequest", "RunToolsResponse").future(
            self.request(*calls, **more), timeout=timeout * SLOW, wait_for_ready=True)

    def run(self, *calls, **more):
        return self.begin(*calls, **more).result().results

    def one(self, name, arguments, fields=None, **more):
        return self.run((name, arguments, fields or {}), **more)[0]

    def forget(self, thread):
        return self.method("ForgetThread", "ForgetThreadRequest", "ForgetThreadResponse")(
            message("ForgetThreadRequest")(thread_id=thread), timeout=20 * SLOW, wait_for_ready=True)

    def index_stream(self, collection, folder, **fields):
        """Does not wait for a server that has been killed."""
        return self.method("IndexDocuments", "IndexDocumentsRequest", "IndexDocumentsProgress", stream=True)(
            message("IndexDocumentsRequest")(collection=collection, folder=folder, **fields), timeout=3600)

    def index(self, collection, folder, **fields):
        """The last message, and what was skipped in all of them."""
        skipped, last = [], None
        for last in self.index_stream(collection, folder, **fields):
            skipped += last.skipped
        return last, skipped

    def search(self, query, **fields):
        return self.method("Search", "SearchRequest", "SearchResponse")(
            message("SearchRequest")(query=query, **fields), timeout=300, wait_for_ready=True)

    def collections(self):
        answer = self.method("GetKnowledgeBase", "GetKnowledgeBaseRequest", "GetKnowledgeBaseResponse")(
            message("GetKnowledgeBaseRequest")(), timeout=300, wait_for_ready=True)
        return {collection.name: collection for collection in answer.collections}

    def metrics(self, name):
        """Of each of its series the labels and the value."""
        text = urllib.request.urlopen(f"http://127.0.0.1:{self.metrics_port}/metrics", timeout=10 * SLOW).read().decode()
        for line in text.splitlines():
            found = re.match(r"(\w+)(?:\{(.*)\})? (\S+)$", line)
            if found and found.group(1) == name:
                yield dict(re.findall(r'(\w+)="([^"]*)"', found.group(2) or "")), float(found.group(3))

    def metric(self, name, **labels):
        return next((value for have, value in self.metrics(name) if all(have.get(key) == wanted for key, wanted in labels.items())), None)

    def total(self, name):
        return sum(value for _, value in self.metrics(name))
