"""The suite with keys, in one process or as five, and its callers: clients by their own key, and a service that forwards.

    anna = client("anna")                       tenant acme
    bert = forwarded("bert", "other")           what the tool-runner sees of an orchestrator that works for bert
    anna("ToolRunner", "ListNotes", thread_id="t")

Needs RENGA_BIN and RENGA_PROTO."""
import atexit
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading

import grpc

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "lib"))
from checks import expect, watch  # noqa: E402
from contract import message, pool  # noqa: E402
from web import Handler, completion, serve  # noqa: E402

BIN = os.environ["RENGA_BIN"]
SLOW = 5 if os.environ.get("RENGA_SANITIZE") else 1  # sanitizers take their time
SERVICES = {"llm-gateway": "LlmGateway", "tool-runner": "ToolRunner", "planner": "Planner", "reviewer": "Reviewer",
            "orchestrator": "Orchestrator"}
INNER = [f"renga.v1.{service}" for service in (*SERVICES.values(), "Helpdesk", "DeepResearch", "AceGenerator")]
TENANTS = {"anna": "acme", "bert": "other"}
folder = tempfile.mkdtemp(prefix="renga-tenants-")
atexit.register(shutil.rmtree, folder, ignore_errors=True)

# ---- a model ---------------------------------------------------------------------------------------------------------


class Model(Handler):
    """Each answer has a number, so that one that was given before is known again. "held": waits for the gate."""
    answers, gate, lock = 0, threading.Event(), threading.Lock()

    def do_POST(self):
        request = self.asked()
        with Model.lock:
            Model.answers += 1
            number = Model.answers
        if "held" in request["messages"][-1]["content"]:
            Model.gate.wait(20)
        self.reply(completion({"role": "assistant", "content": f"answer {number}"}))


class Source(Handler):
    """A search engine that is paid: each answer has a number, too."""
    answers, gate, held, lock = 0, threading.Event(), 0, threading.Lock()

    def do_POST(self):
        query = self.asked()["query"]
        if "held" in query:
            Source.held += 1
            Source.gate.wait(20)
        with Source.lock:
            Source.answers += 1
            number = Source.answers
        self.reply({"results": [{"title": "Harbours", "url": f"https://harbours.example/{number}", "score": 0.9,
                                 "content": f"{query}: answer {number} of the engine."}]})


upstream = serve(Model)
engine = serve(Source)

# ---- the suite -------------------------------------------------------------------------------------------------------


def key(name, tenant, *methods):
    return {"name": name, "tenant": tenant, "sha256": hashlib.sha256(name.encode()).hexdigest(), "methods": list(methods)}


CLIENTS = [key(name, tenant, *(f"{service}/*" for service in INNER)) for name, tenant in TENANTS.items()]
SERVICE = key("services", "renga", *(f"{service}/{right}" for service in INNER for right in ("*", "forward")))
CALLS = {"llm-gateway": (), "tool-runner": ("LlmGateway",), "planner": ("LlmGateway",), "reviewer": ("LlmGateway",),
         "orchestrator": ("LlmGateway", "ToolRunner", "Planner", "Reviewer", "Orchestrator")}
OWN = [key(f"own-{name}", "renga", *(f"renga.v1.{service}/{right}" for service in calls for right in ("*", "forward")))
       for name, calls in CALLS.items()]  # what each of the five shows, as deploy/kubernetes has it
SCARCE = key("sara", "scarce", *(f"{service}/*" for service in INNER))
KEYS = CLIENTS + OWN + [SERVICE, SCARCE, key("chatty", "renga", *(f"{service}/*" for service in INNER))]
AGENTS = {
    "noter": {"state": {"notes": {"type": "object[]"}}, "start": "keep",
              "nodes": {"keep": {"kind": "note", "of": "notes", "on": {"noted": "end"}}}},
    "thinker": {"state": {"question": {"type": "string"}, "answer": {"type": "string"}}, "start": "think", "nodes": {
        "think": {"kind": "chat", "model": "m", "prompt": "ask", "inputs": ["question"], "into": "answer", "on": {"replied": "end"}}}},
    "asker": {"state": {"x": {"type": "any"}}, "start": "q", "nodes": {"q": {"kind": "ask", "question": "?", "into": "x"}}},
    "searcher": {"state": {"question": {"type": "string"}, "hits": {"type": "object[]"}}, "start": "look", "nodes": {
        "look": {"kind": "search", "query": "question", "into": "hits", "inputs": ["question"], "on": {"found": "end", "nothing": "end"}}}},
}
ROUTES = {"deployments": {"up": {"provider": "openai", "upstream": f"http://127.0.0.1:{upstream.server_port}/v1", "key": "k"}},
          "models": {"m": {"targets": [{"deployment": "up"}], "cache": {"read": True, "write": True, "ttl": "10m"}},
                     "few": {"targets": [{"deployment": "up"}]}},
          "clients": {"*": {}}, "tenants": {"*": {}, "meagre": {"requests_per_minute": 1}, "scarce": {"requests_per_minute": 1}}}


def write(name, text):
    os.makedirs(os.path.dirname(f"{folder}/{name}"), exist_ok=True)
    with open(f"{folder}/{name}", "w") as file:
        file.write(text)
    return f"{folder}/{name}"


for agent, document in AGENTS.items():
    write(f"agents/{agent}/graph.json", json.dumps({"agent": agent, **document}))
write("agents/thinker/prompts/en/ask.md", "{question}")
ENGINE = {"kind": "tavily", "url": f"http://127.0.0.1:{engine.server_port}", "key": "k", "timeout": "20s", "attempts": 1}
SEARCH = {"sources": {"paid": ENGINE, "narrow": {**ENGINE, "concurrency": 2, "stand_in": True}}}
FLAGS = {"llm-gateway": [f"--llm_gateway.routes={write('routes.json', json.dumps(ROUTES))}", f"--llm_gateway.ledger={folder}/ledger.db"],
         "tool-runner": [f"--tool_runner.store={folder}/knowledge.db", f"--tool_runner.search={write('search.json', json.dumps(SEARCH))}", f"--tool_runner.record=sqlite:{folder}/tools.db"],
         "orchestrator": [f"--orchestrator.agents={folder}/agents", f"--orchestrator.store=sqlite:{folder}/runs.db"]}


class Process:
    def __init__(self, *command, shown="services"):
        self.log, self.port = [], None
        self.process = subprocess.Popen(
            [*command, "--rpc.listen=127.0.0.1:0", "--http.listen=", "--loops=2", "--log.format=json", f"--peers.key={shown}",
             "--rpc.keys=" + json.dumps(KEYS)], cwd=folder, text=True, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL)
        watch(os.path.basename(command[0]), self.log, self.process)
        atexit.register(self.process.kill)
        for line in self.process.stderr:
            self.log.append(line)
            found = re.search(r'"rpc\.listening".*port (\d+)', line)
            if found:
                self.port = int(found.group(1))
                break
        expect(self.port, f"{command[0]} does not listen: {self.log[-3:]}")
        threading.Thread(target=lambda: self.log.extend(self.process.stderr), daemon=True).start()
        self.channel = grpc.insecure_channel(f"127.0.0.1:{self.port}", options=[("grpc.use_local_subchannel_pool", 1)])


class House:
    def __init__(self, layout):
        self.processes, self.at = {}, {}
        if layout == "one":
            process = self.processes["renga"] = Process(f"{BIN}/renga", "serve", *sum(FLAGS.values(), []))
            self.at = dict.fromkeys((*SERVICES.values(), "Helpdesk", "DeepResearch", "AceGenerator"), process)
        else:
            for name, service in SERVICES.items():
                peers = [f"--peers.{other.replace('-', '_')}=ipv4:127.0.0.1:{one.port}" for other, one in self.processes.items()]
                self.at[service] = self.processes[name] = Process(f"{BIN}/renga-{name}", *peers, *FLAGS.get(name, []), shown=f"own-{name}")
            self.at["Helpdesk"] = self.at["DeepResearch"] = self.at["AceGenerator"] = self.at["Orchestrator"]

    def stop(self):
        for process in reversed(self.processes.values()):
            process.channel.close()
            process.process.terminate()
            expect(process.process.wait(30 * SLOW) == 0, f"it ended with {process.process.returncode}: {process.log[-3:]}")


def is_streamed(method):
    return "Stream" in method or method in ("WatchRun", "IndexDocuments")


def method_of(service, method):
    return pool.FindServiceByName(f"renga.v1.{service}").FindMethodByName(method)


class Caller:
    def __init__(self, house, *metadata):
        self.house, self.metadata = house, metadata

    def future(self, service, method, timeout=20, **fields):
        described = method_of(service, method)
        channel = self.house.at[service].channel
        request = message(described.input_type.full_name)(**fields)
        streams = is_streamed(method)
        kind = channel.unary_stream if streams else channel.unary_unary
        stub = kind(f"/renga.v1.{service}/{method}", request_serializer=lambda m: m.SerializeToString(),
                    response_deserializer=message(described.output_type.full_name).FromString)
        if streams:
            return stub(request, timeout=timeout * SLOW, metadata=self.metadata)
        return stub.future(request, timeout=timeout * SLOW, metadata=self.metadata, wait_for_ready=True)

    def __call__(self, service, method, **fields):
        """The answer; of a stream all of it, as a list."""
        call = self.future(service, method, **fields)
        return list(call) if is_streamed(method) else call.result()


def client(house, name):
    return Caller(house, ("authorization", f"Bearer {name}"))


def forwarded(house, name, tenant, shown="services"):
    return Caller(house, ("authorization", f"Bearer {shown}"), ("renga-forwarded-bin", f"{tenant}\0{name}".encode()))
