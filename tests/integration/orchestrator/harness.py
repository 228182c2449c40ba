"""A real renga-orchestrator in a process of its own, its store in a folder that goes away, and nodes that this process
serves: what they do is a function for each agent and node. RENGA_REDIS is the URL of a Redis to keep runs in instead.

    agent("adder", {"state": …, "start": "add", "nodes": {"add": remote()}})
    nodes.on("adder", add=lambda call: {"sum": call.state["a"] + 1})
    run = api.start("adder", {"a": 1})

Documents are written while the orchestrator runs, and read on SIGHUP. Needs RENGA_BIN and RENGA_PROTO."""
import atexit
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from concurrent import futures

import grpc

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "lib"))
import checks  # noqa: E402
from checks import Broken, check, expect, wait_until, watch  # noqa: E402,F401
from contract import message, number, pool, word  # noqa: E402,F401
from ports import free_port  # noqa: E402

BIN = os.environ["RENGA_BIN"]
SLOW = 5 if os.environ.get("RENGA_SANITIZE") else 1  # sanitizers take their time
SERVICE = "renga.v1.Orchestrator"

# ---- nodes -----------------------------------------------------------------------------------------------------------


class Call:
    """One attempt at a node, as the node sees it."""

    def __init__(self, request, context):
        self.request, self.context = request, context
        self.agent, self.node = request.position.agent, request.function
        self.state = json.loads(request.state_json or "{}")
        self.answers = {answer.key: json.loads(answer.answer_json) for answer in request.answers}
        self.attempt, self.step, self.branch = request.attempt, request.position.step, request.position.branch
        self.path, self.run_id = request.position.path, request.position.run_id
        self.peer, self.metadata, self.context_time = context.peer(), context.invocation_metadata(), context.time_remaining()
        self.began, self.ended, self.cancelled, self.is_over = time.monotonic(), None, None, threading.Event()
        if not context.add_callback(self.over):
            self.over()

    def over(self):
        if self.ended is None:  # the call ended before its handler
            self.cancelled = time.monotonic()
        self.is_over.set()

    def fail(self, code, text="as it was told"):
        self.context.abort(getattr(grpc.StatusCode, code), text)

    def sleep(self, seconds):
        """Until the time is over or nobody waits any more; False where that was so."""
        return not self.is_over.wait(seconds)


def reply(update=None, **fields):
    """What a node answers; sends are pairs of node and input, interrupts dictionaries."""
    response = message("RunNodeResponse")(update_json=json.dumps(update) if update is not None else "")
    for node, given in fields.pop("sends", []):
        response.sends.add(node=node, input_json=json.dumps(given))
    for asked in fields.pop("interrupts", []):
        response.interrupts.add(**asked)
    for name, value in fields.items():
        getattr(response, name).extend(value) if isinstance(value, list) else setattr(response, name, value)
    return response


class Nodes:
    def __init__(self):
        self.lock, self.calls, self.behaviours = threading.Lock(), [], {}
        self.server = grpc.server(futures.ThreadPoolExecutor(300), options=[("grpc.so_reuseport", 0)])
        request, response = message("RunNodeRequest"), message("RunNodeResponse")
        self.server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler("renga.v1.NodeService", {
            "Run": grpc.unary_unary_rpc_method_handler(self.run, request.FromString, response.SerializeToString),
            "RunStream": grpc.unary_stream_rpc_method_handler(self.stream, request.FromString,
                                                              message("RunNodeEvent").SerializeToString)}),))
        self.address = f"127.0.0.1:{self.server.add_insecure_port('127.0.0.1:0')}"
        self.server.start()

    def on(self, agent_name, **behaviours):
        for node, behaviour in behaviours.items():
            self.behaviours[agent_name, node] = behaviour

    def begin(self, request, context):
        call = Call(request, context)
        with self.lock:
            self.calls.append(call)
        behaviour = self.behaviours.get((call.agent, call.node))
        if behaviour is None:
            context.abort(grpc.StatusCode.NOT_FOUND, f"there is no function {call.node} for {call.agent}")
        return call, behaviour

    def run(self, request, context):
        call, behaviour = self.begin(request, context)
        try:
            answer = behaviour(call) if callable(behaviour) else behaviour
        finally:
            call.ended = time.monotonic()
        return answer if isinstance(answer, message("RunNodeResponse")) else reply(answer)

    def stream(self, request, context):
        call, behaviour = self.begin(request, context)
        for event in behaviour(call):
            yield event
        call.ended = time.monotonic()

    def of(self, agent_name, node=None, run_id=None):
        with self.lock:
            return [call for call in self.calls if call.agent == agent_name and node in (None, call.node) and
                    run_id in (None, call.run_id)]

    def count(self, agent_name, node=None):
        return len(self.of(agent_name, node))


nodes = Nodes()


def remote(on="end", **more):
    """A node that this process serves; `on` is where "done" leads, or all edges."""
    return {"kind": "remote", "address": nodes.address, "on": on if isinstance(on, dict) else {"done": on}, **more}


# ---- the orchestrator ------------------------------------------------------------------------------------------------


class Orchestrator:
    def __init__(self, folder=None, *flags):
        self.folder = folder or tempfile.mkdtemp(prefix="renga-orchestrator-")
        self.flags = flags
        self.agents = os.path.join(self.folder, "agents")
        os.makedirs(self.agents, exist_ok=True)
        self.store = f"{os.environ['RENGA_REDIS']}?name={os.path.basename(self.folder)}" if "RENGA_REDIS" in os.environ else \
            f"sqlite:{self.folder}/runs.db"
        self.process, self.metadata, self.port = None, None, None
        self.stays = False  # at its ports, when it is started again
        self.environment = {}  # more of it, for the process
        self.authorities = None  # who signed its certificate, where it serves over TLS
        atexit.register(self.clear)

    def start(self, may_die=False):
        """`may_die`: a run that kills its owner may do so before the owner listens."""
        for _ in range(5):  # another process may have taken a port meanwhile
            if self.try_start():
                break
            self.port = None
        died = self.process.poll() is not None
        expect(self.listening.is_set() or (may_die and died), f"the orchestrator does not listen: {self.log[-3:]}")
        self.channel = self.connect([("grpc.use_local_subchannel_pool", 1)])
        return self

    def connect(self, options):
        if not self.authorities:
            return grpc.insecure_channel(f"127.0.0.1:{self.port}", options=options)
        with open(self.authorities, "rb") as file:
            return grpc.secure_channel(f"127.0.0.1:{self.port}", grpc.ssl_channel_credentials(file.read()), options=options)

    def try_start(self):
        if not self.port or not self.stays:
            self.port, self.http = free_port(), free_port()
        self.log, self.listening = [], threading.Event()
        environment = {k: v for k, v in os.environ.items() if not k.startswith("RENGA_ORCHESTRATOR")}
        self.process = subprocess.Popen(
            [f"{BIN}/renga-orchestrator", f"--rpc.listen=127.0.0.1:{self.port}", f"--http.listen=127.0.0.1:{self.http}",
             f"--orchestrator.agents={self.agents}", f"--orchestrator.store={self.store}",
             "--log.format=json", "--loops=3", f"--orchestrator.fan_out={os.environ.get('RENGA_FAN_OUT', 'auto')}",
             *(flag.replace("{port}", str(self.port)) for flag in self.flags)],
            stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True, errors="replace",
            env={**environment, **self.environment},
            restore_signals=False)  # SIGXFSZ stays ignored: files may be kept small
        watch("the orchestrator", self.log, self.process)
        threading.Thread(target=self.read_log, args=(self.process,), daemon=True).start()
        wait_until(lambda: self.listening.is_set() or self.process.poll() is not None, "it does not listen", 10 * SLOW)
        return self.listening.wait(0.1) or not any("Address already in use" in line for line in self.log)

    def read_log(self, process):
        for line in process.stderr:
            self.log.append(line)
            if '"http.listening"' in line:
                self.listening.set()

    def signal(self, which):
        self.process.send_signal(which)

    def kill(self):
        if self.process and self.process.poll() is None:
            self.process.kill()
            self.process.wait()
            self.channel.close()

    def clear(self):
        self.kill()
        shutil.rmtree(self.folder, ignore_errors=True)

    def stop(self, signalled=False):
        self.channel.close()  # an idle one hears of the drain only within 5 s
        if not signalled:
            self.signal(signal.SIGTERM)
        return self.process.wait(30 * SLOW)

    def write_agent(self, name, text):
        os.makedirs(os.path.join(self.agents, name), exist_ok=True)
        with open(os.path.join(self.agents, name, "graph.json"), "w") as file:
            file.write(text)

    # ---- calls

    def call(self, method, request, timeout=20):
        return self.begin(method, request, timeout).result()

    def begin(self, method, request, timeout=20):
        return self.channel.unary_unary(
            f"/{SERVICE}/{method}", request_serializer=lambda m: m.SerializeToString(),
            response_deserializer=message(method + "Response").FromString).future(
                request, timeout=timeout * SLOW, wait_for_ready=True, metadata=self.metadata)

    def ask(self, method, timeout=20, **fields):
        return self.call(method, message(method + "Request")(**fields), timeout)

    def start_request(self, name, given=None, **fields):
        fields.setdefault("wait", True)
        return message("StartRunRequest")(agent=name, input_json=json.dumps(given) if given is not None else "", **fields)

    def start_run(self, name, given=None, **fields):
        """Starts a run and, where it is not told otherwise, waits until it has stopped."""
        return self.call("StartRun", self.start_request(name, given, **fields)).run

    def resume(self, run, answer=..., answers=None, **fields):
        request = message("ResumeRunRequest")(run_id=run.run_id, **{"wait": True, **fields})
        if answer is not ...:
            request.answer_json = json.dumps(answer)
        for interrupt, value in (answers or {}).items():
            request.answers.add(interrupt_id=interrupt, answer_json=json.dumps(value))
        return self.call("ResumeRun", request).run

    def get(self, run):
        return self.ask("GetRun", run_id=run.run_id).run

    def stopped(self, run, seconds=15):
        open_states = (number("RunState", "RUN_STATE_QUEUED"), number("RunState", "RUN_STATE_RUNNING"))

        def look():
            now = self.get(run)
            return now.state not in open_states and now
        return wait_until(look, "the run does not stop", seconds * SLOW, every=0.01)

    def metric(self, name):
        """The values of a metric by their labels, as they are written."""
        with urllib.request.urlopen(f"http://127.0.0.1:{self.http}/metrics", timeout=5 * SLOW) as answer:
            lines = answer.read().decode().splitlines()
        return {line[len(name):].rsplit(" ", 1)[0]: float(line.rsplit(" ", 1)[1])
                for line in lines if re.match(rf"{name}[ {{]", line)}

    def state(self, thread_id, **fields):
        return json.loads(self.ask("GetState", thread_id=thread_id, **fields).state_json)

    def checkpoints(self, thread_id):
        return list(self.ask("ListCheckpoints", thread_id=thread_id, page_size=500).checkpoints)

    def watch(self, run, timeout=20, **fields):
        request = message("WatchRunRequest")(run_id=run.run_id, **fields)
        return self.channel.unary_stream(
            f"/{SERVICE}/WatchRun", request_serializer=lambda m: m.SerializeToString(),
            response_deserializer=message("RunEvent").FromString)(request, timeout=timeout * SLOW, metadata=self.metadata)


api = Orchestrator()


def agent(name, document):
    """Writes a document and waits until it is loaded."""
    api.write_agent(name, json.dumps({"agent": name, **document}))
    before = {known.name: known.graph_version for known in api.ask("ListAgents").agents}
    api.signal(signal.SIGHUP)

    problems = []

    def loaded():
        answer = api.ask("ListAgents")
        problems[:] = [f"{p.file}:{p.line}: {p.message}" for p in answer.problems if p.agent == name]
        return any(known.name == name and known.graph_version != before.get(name) for known in answer.agents)
    try:
        wait_until(loaded, f"'{name}' is not loaded", 3 * SLOW)
    except Broken as broken:
        raise Broken(f"{broken}: {problems}") from None


# ---- what is expected ------------------------------------------------------------------------------------------------


def stands(run, state, reason=None):
    got = word("RunState", run.state).removeprefix("RUN_STATE_")
    why = word("StopReason", run.stop_reason).removeprefix("STOP_REASON_")
    expect(got == state and reason in (None, why),
           f"the run is {got}, {why} ({run.stop_text}), not {state}{', ' + reason if reason else ''}")
    return run


def succeeded(run):
    return json.loads(stands(run, "SUCCEEDED", "COMPLETED").output_json)


def equal(got, wanted, what="it"):
    expect(got == wanted, f"{what} is {got!r}, not {wanted!r}")


def refused(code, function, reason=None):
    """That the call fails so; gives the error's text."""
    try:
        function()
    except grpc.RpcError as error:
        expect(error.code() == getattr(grpc.StatusCode, code), f"it failed with {error.code()}: {error.details()}")
        if reason:
            equal(reason_of(error), reason, "the reason")
        return error.details()
    raise AssertionError(f"it was not refused with {code}")


def reason_of(error):
    for key, value in error.trailing_metadata():
        if key == "grpc-status-details-bin":
            for detail in message("google.rpc.Status").FromString(value).details:
                if detail.type_url.endswith("google.rpc.ErrorInfo"):
                    return message("google.rpc.ErrorInfo").FromString(detail.value).reason
    return None


def in_background(function):
    """Runs it in a thread; the result is had by calling what is returned."""
    executor = futures.ThreadPoolExecutor(1)
    return executor.submit(function).result


def finish():
    @check("the orchestrator ends with 0 on SIGTERM, and no sanitizer has complained")
    def _():
        code = api.stop()
        complaints = [line for line in api.log if "Sanitizer" in line or "runtime error" in line]
        expect(code == 0 and not complaints, f"it ended with {code}: {complaints[:3]} {''.join(api.log[-8:])[-1500:]}")
    checks.finish()
