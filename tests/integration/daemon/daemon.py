#!/usr/bin/env python3
"""The binaries as an operator and a person at a terminal meet them: start, help, errors, health, metrics, traces, keys,
signals. Needs RENGA_BIN (binaries) and RENGA_PROTO (renga_descriptor_set.bin)."""
import concurrent.futures
import hashlib
import http.server
import json
import os
import re
import resource
import signal
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request

import grpc

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "lib"))
from checks import check, expect, finish, watch  # noqa: E402
from collector import FLAG as COLLECTOR, spans  # noqa: E402
from contract import message  # noqa: E402
from ports import free_port  # noqa: E402

BIN = os.environ["RENGA_BIN"]
PARROT = os.path.join(HERE, "..", "..", "..", "deploy", "samples", "parrot.py")
SLOW = 4 if os.environ.get("RENGA_SANITIZE") else 1  # sanitizers take their time
SERVICES = {
    "renga-llm-gateway": ["renga.v1.LlmGateway"],
    "renga-planner": ["renga.v1.Planner"],
    "renga-tool-runner": ["renga.v1.ToolRunner"],
    "renga-reviewer": ["renga.v1.Reviewer"],
    "renga-orchestrator": ["renga.v1.Orchestrator", "renga.v1.Helpdesk", "renga.v1.FormInterview",
                           "renga.v1.DeepResearch", "renga.v1.AutonomousResearch", "renga.v1.AceGenerator"],
}
SERVICES["renga"] = [name for names in SERVICES.values() for name in names]


class Running:
    """A daemon on free ports, with its log; stopped at the end of a `with`."""

    def __init__(self, name, *flags, env=None):
        self.port, self.http = free_port(), free_port()
        command = [f"{BIN}/{name}"] + (["serve"] if name == "renga" else [])
        command += [f"--rpc.listen=127.0.0.1:{self.port}", f"--http.listen=127.0.0.1:{self.http}", *flags]
        environment = {k: v for k, v in os.environ.items() if not k.startswith(("OPENAI_", "RENGA_RPC", "OTEL_"))}
        self.process = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True, errors="replace",
                                        env={**environment, **(env or {})})
        self.log = []
        self.listening = threading.Event()
        watch(name, self.log, self.process)
        threading.Thread(target=self.read_log, daemon=True).start()
        expect(self.listening.wait(60), f"{name} does not listen: {self.log}")
        self.channel = grpc.insecure_channel(f"127.0.0.1:{self.port}")

    def read_log(self):
        for line in self.process.stderr:
            self.log.append(line)
            if '"http.listening"' in line:
                self.listening.set()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.channel.close()
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()

    def get(self, path):
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.http}{path}", timeout=20 * SLOW) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()

    def call(self, method, request, response, metadata=(), timeout=60):
        return self.channel.unary_unary(
            "/" + method, request_serializer=lambda m: m.SerializeToString(),
            response_deserializer=message(response).FromString)(request, timeout=timeout * SLOW, metadata=metadata)

    def health(self, service=""):
        answer = self.call("grpc.health.v1.Health/Check", message("grpc.health.v1.HealthCheckRequest")(service=service),
                           "grpc.health.v1.HealthCheckResponse")
        return answer.status

    def stop(self, number=signal.SIGTERM, limit=30):
        began = time.time()
        self.process.send_signal(number)
        return self.process.wait(limit * SLOW), time.time() - began

    def resident_kib(self):
        with open(f"/proc/{self.process.pid}/status") as status:
            return int(re.search(r"VmRSS:\s+(\d+)", status.read()).group(1))


def run(*command, env=None, timeout=60):
    environment = {k: v for k, v in os.environ.items() if not k.startswith("OPENAI_")}
    return subprocess.run([f"{BIN}/{command[0]}", *command[1:]], capture_output=True, text=True, timeout=timeout * SLOW,
                          env={**environment, **(env or {})})


def status_of(function):
    try:
        function()
    except grpc.RpcError as error:
        return error.code().name, error.details()
    return "OK", ""


# ---- each binary ------------------------------------------------------------------------------------------------------

resident = {}
for binary, names in SERVICES.items():
    @check(f"{binary} starts, serves each of its services, answers probes and metrics, and leaves on SIGTERM with 0")
    def _():
        with Running(binary) as daemon:
            time.sleep(0.3)
            resident[binary] = daemon.resident_kib()
            for name in ["", "liveness", "readiness", *names]:
                expect(daemon.health(name) == 1, f"{name!r} is not SERVING")
            expect(daemon.get("/healthz")[0] == 200 and daemon.get("/readyz")[0] == 200, "the probes' pages say no")
            status, metrics = daemon.get("/metrics")
            expect(status == 200 and "renga_build_info{" in metrics, f"/metrics answers {status}")
            expect('grpc_server_handled_total{grpc_service="grpc.health.v1.Health",grpc_method="Check",grpc_code="OK"} '
                   f"{len(names) + 3}" in metrics, "the calls just made are not counted")
            daemon.channel.close()
            code, seconds = daemon.stop()
            expect(code == 0, f"exit code {code}: {daemon.log}")
            return f"{seconds:.1f} s"


@check("a method that this release does not have answers UNIMPLEMENTED and says so")
def _():
    with Running("renga-orchestrator") as daemon:
        code, text = status_of(lambda: daemon.call("renga.v1.AceGenerator/Regenerate", message("renga.v1.GenerateRequest")(),
                                                   "renga.v1.GenerateResponse"))
        expect(code == "UNIMPLEMENTED" and "renga.v1.AceGenerator has no method 'Regenerate'" in text, f"{code}: {text}")


if not os.environ.get("RENGA_SANITIZE"):
    @check("an idle service is at most 16 MB small")
    def _():
        expect(max(resident.values()) * 1024 <= 16e6, str(resident))
        return ", ".join(f"{name} {kib / 1024:.1f} MiB" for name, kib in resident.items())


# ---- configuration ----------------------------------------------------------------------------------------------------

@check("--help names every option with its environment variable, --version the version")
def _():
    text = run("renga-planner", "--help").stdout
    for wanted in ("--rpc.listen", "RENGA_RPC_LISTEN", "--drain.limit", "--rpc.keys", "--trace.endpoint"):
        expect(wanted in text, f"{wanted} is not in it")
    expect(re.fullmatch(r"renga-planner \d+\.\d+\.\d+\n", run("renga-planner", "--version").stdout), "--version")


@check("a slip in a flag is answered with the name that was meant, and exit code 2")
def _():
    done = run("renga-planner", "--rpc.lisen=127.0.0.1:1")
    expect(done.returncode == 2 and "rpc.listen" in done.stderr, f"{done.returncode}: {done.stderr}")


@check("a value out of range names option, value and range, and where it came from")
def _():
    done = run("renga-planner", env={"RENGA_RPC_STREAMS_MAX": "0"})
    expect(done.returncode == 2 and all(part in done.stderr for part in ("rpc.streams_max", "RENGA_RPC_STREAMS_MAX")),
           f"{done.returncode}: {done.stderr}")


@check("a port in use ends the start with exit code 1, and names the address and the option")
def _():
    with Running("renga-planner") as daemon:
        for one, other in (("rpc.listen", "http.listen"), ("http.listen", "rpc.listen")):
            done = run("renga-planner", f"--{one}=127.0.0.1:{daemon.port}", f"--{other}=127.0.0.1:0")
            expect(done.returncode == 1 and f"127.0.0.1:{daemon.port}" in done.stderr and f"choose another by {one}" in done.stderr,
                   f"{done.returncode}: {done.stderr}")


@check("`renga serve` tells the address of the console as a URL; one in use names its option; http.listen=off serves no pages")
def _():
    with tempfile.TemporaryDirectory() as data:
        serve = [f"{BIN}/renga", "serve", "--loops=1", "--rpc.listen=127.0.0.1:0", "--http.listen=off", "--orchestrator.store=memory:",
                 f"--tool_runner.store={data}/k.db", "--edge.listen=127.0.0.1:"]
        process = subprocess.Popen([*serve[:-1], serve[-1] + "0"], stderr=subprocess.PIPE, text=True, cwd=data)
        log = ""
        while '"edge.listening"' not in log and process.poll() is None:
            log += process.stderr.readline()
        url = re.search(r"the console, HTTP and JSON on (http://127\.0\.0\.1:(\d+)/), port \2\"", log)
        expect(url and urllib.request.urlopen(url.group(1) + "healthz").read() == b"ok\n", log)
        done = subprocess.run([*serve[:-1], serve[-1] + url.group(2)], capture_output=True, text=True, cwd=data, timeout=20 * SLOW)
        expect(done.returncode == 1 and "choose another by edge.listen" in done.stderr, f"{done.returncode}: {done.stderr}")
        process.send_signal(signal.SIGTERM)
        rest = process.stderr.read()
        expect(process.wait(20 * SLOW) == 0 and '"http.listening"' not in log + rest, rest)


@check("too few file descriptors end the start at once with exit code 2, and say how many are needed; those are enough")
def _():
    def start(most, *command):
        return subprocess.Popen([f"{BIN}/{command[0]}", *command[1:]], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                text=True, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (most, most)))

    serve = ("serve", "--loops=2", "--rpc.listen=127.0.0.1:0", "--http.listen=127.0.0.1:0", "--edge.listen=127.0.0.1:0",
             "--orchestrator.store=memory:")
    for command in (("renga", *serve), ("renga-planner", "--loops=2", "--rpc.listen=127.0.0.1:0"), ("renga", "usage", "--loops=2")):
        for most in (14, 24, 36):
            _, told = start(most, *command).communicate(timeout=20 * SLOW)
            expect(f"only {most} file descriptors are allowed; 64 are needed to start 2 loops" in told, f"{command}: {told}")
    with tempfile.TemporaryDirectory() as data:
        process = start(64, "renga", *serve, f"--tool_runner.store={data}/k.db")
        log = ""
        while '"http.listening"' not in log:
            line = process.stderr.readline()
            expect(line, f"it does not start: {log}")
            log += line
        process.terminate()
        expect(process.wait(20 * SLOW) == 0, process.returncode)


@check("an address that is none ends the start with exit code 2, and says what one looks like")
def _():
    for address in ("15001", "127.0.0.1:99999", "127.0.0.1:", "127.0.0.1:http", ":15001"):
        done = run("renga-planner", f"--rpc.listen={address}", "--http.listen=127.0.0.1:0")
        expect(done.returncode == 2 and "HOST:PORT" in done.stderr and address in done.stderr, f"{address}: {done.returncode}: {done.stderr}")


@check("a secret is neither printed nor logged")
def _():
    secret = "sk-do-not-show-this"
    done = run("renga-llm-gateway", "--print-config", env={"RENGA_PEERS_KEY": secret, "OPENAI_API_KEY": secret})
    expect(done.returncode == 0 and secret not in done.stdout + done.stderr, "it is printed")
    with Running("renga-llm-gateway", "--log.level=debug", env={"OPENAI_API_KEY": secret}) as daemon:
        daemon.health()
        daemon.channel.close()
        daemon.stop()
        expect(secret not in "".join(daemon.log), "it is logged")


@check("keys in a configuration file let their owners in, each to its methods")
def _():
    keys = [{"name": "ci", "tenant": "acme", "sha256": hashlib.sha256(b"right").hexdigest(),
             "methods": ["renga.v1.Planner/*"]}]
    with tempfile.NamedTemporaryFile("w", suffix=".jsonc") as file:
        file.write("// who may call\n" + json.dumps({"rpc": {"keys": keys}}))
        file.flush()
        with Running("renga", "--config", file.name) as daemon:
            def ask(method, request, response, key):
                metadata = [("authorization", f"Bearer {key}")] if key else []
                return status_of(lambda: daemon.call(method, message(request)(), response, metadata))[0]
            plan = ("renga.v1.Planner/Plan", "renga.v1.PlanRequest", "renga.v1.PlanResponse")
            models = ("renga.v1.LlmGateway/ListModels", "renga.v1.ListModelsRequest", "renga.v1.ListModelsResponse")
            expect(ask(*plan, None) == "UNAUTHENTICATED", "without a key")
            expect(ask(*plan, "wrong") == "UNAUTHENTICATED", "with a wrong key")
            expect(ask(*plan, "right") == "INVALID_ARGUMENT", "with the right key")  # and an empty request
            expect(ask(*models, "right") == "PERMISSION_DENIED", "on a method that is not its own")
            expect(daemon.health() == 1, "health is open to all")


# ---- the real path ----------------------------------------------------------------------------------------------------

parrot = subprocess.Popen([sys.executable, PARROT], stdout=subprocess.PIPE, text=True)
upstream = f"http://127.0.0.1:{parrot.stdout.readline().split()[1]}/v1"
MODEL = ["--llm_gateway.models=parrot", f"--llm_gateway.upstream={upstream}"]


def chat_request(text):
    request = message("renga.v1.ChatRequest")(model="parrot")
    request.messages.add(role=2, content=text)
    return request


@check("Chat and ChatStream give the upstream's answer through a gateway process")
def _():
    with Running("renga-llm-gateway", *MODEL) as daemon:
        answer = daemon.call("renga.v1.LlmGateway/Chat", chat_request("連歌とは?"), "renga.v1.ChatResponse")
        expect("連歌とは?" in answer.message.content, answer.message.content)
        expect(answer.finish.finish_reason == 1 and answer.finish.usage.output_tokens > 5, str(answer.finish))
        stream = daemon.channel.unary_stream(
            "/renga.v1.LlmGateway/ChatStream", request_serializer=lambda m: m.SerializeToString(),
            response_deserializer=message("renga.v1.ChatStreamEvent").FromString)
        events = list(stream(chat_request("連歌とは?"), timeout=5 * SLOW))
        expect("".join(event.text for event in events) == answer.message.content, "the stream says something else")
        expect(events[0].WhichOneof("event") == "start" and events[-1].WhichOneof("event") == "finish", "its ends")


@check("`renga chat` prints the answer, in this process and through a gateway, and as JSON")
def _():
    alone = run("renga", "chat", *MODEL, "--model=parrot", "hello there")
    expect(alone.returncode == 0 and alone.stdout.startswith("You asked: hello there"), alone.stdout + alone.stderr)
    with Running("renga-llm-gateway", *MODEL) as daemon:
        peer = f"--peers.llm_gateway=ipv4:127.0.0.1:{daemon.port}"
        through = run("renga", "chat", peer, "--model=parrot", "hello there")
        expect(through.stdout == alone.stdout, through.stdout + through.stderr)
        as_json = json.loads(run("renga", "chat", peer, "--model=parrot", "--json", "hello there").stdout)
        expect(as_json["text"] + "\n" == alone.stdout and as_json["finish_reason"] == "STOP", str(as_json))


@check("`renga chat` says on stderr that no model has answered, and how one is connected")
def _():
    done = run("renga", "chat", "hello")
    expect(done.returncode == 0 and "hello" in done.stdout and "OPENAI" not in done.stdout, done.stdout)
    expect("no model has answered" in done.stderr and "OPENAI_API_KEY" in done.stderr, done.stderr)
    expect("no model" not in run("renga", "chat", *MODEL, "--model=parrot", "hello there").stderr, "one that has answered is told of")


@check("`renga chat` ends with 2 without a question, with 1 and a reason where it fails")
def _():
    expect(run("renga", "chat").returncode == 2, "no question")
    failed = run("renga", "chat", *MODEL, "--model=cassandra", "will Troy fall?")
    expect(failed.returncode == 1 and "NOT_FOUND" in failed.stderr and failed.stdout == "", failed.stderr)
    nobody = run("renga", "chat", f"--peers.llm_gateway=ipv4:127.0.0.1:{free_port()}", "hello")
    expect(nobody.returncode == 1 and "UNAVAILABLE" in nobody.stderr, nobody.stderr)


@check("`renga usage` shows the accounts as a table with its sums, and as JSON")
def _():
    with Running("renga-llm-gateway", *MODEL, "--llm_gateway.models=parrot,鸚鵡") as daemon:
        peer = f"--peers.llm_gateway=ipv4:127.0.0.1:{daemon.port}"
        for model in ("parrot", "parrot", "鸚鵡"):
            expect(run("renga", "chat", peer, f"--model={model}", "one two").returncode == 0, model)
        done = run("renga", "usage", peer, "--by=model,day")
        rows = [line.split() for line in done.stdout.splitlines()]
        expect(done.returncode == 0 and rows[0][:3] == ["model", "day", "calls"], done.stdout + done.stderr)
        expect(rows[1][0] == "parrot" and rows[1][2:7] == ["2", "0", "0", "0", "4"], done.stdout)
        expect(rows[3][:2] == ["all", "3"] and rows[3][-1] == "-", done.stdout)
        expect("requests to models without a price" in done.stderr, done.stderr)
        wide = {len(line) + sum(c > "\u2e80" for c in line) for line in done.stdout.splitlines()}
        expect(len(wide) == 1, f"the columns do not stand under each other: {done.stdout}")
        answer = json.loads(run("renga", "usage", peer, "--by=model", "--model=parrot", "--json").stdout)
        expect([row["model"] for row in answer["rows"]] == ["parrot"] and answer["totals"]["calls"] == 2, str(answer))
        none = json.loads(run("renga", "usage", peer, "--to=2020-01-01", "--json").stdout)
        expect(none["rows"] == [] and none["totals"]["calls"] == 0, str(none))
        few = run("renga", "usage", peer, "--rows=1")
        expect(len(few.stdout.splitlines()) == 3 and "more than 1 rows" in few.stderr, few.stdout + few.stderr)


@check("`renga usage` gathers all pages")
def _():
    with Running("renga-llm-gateway", *MODEL) as daemon:
        def ask(i):
            request = chat_request("hi")
            request.origin.run_id = f"run-{i}\x1b[31m"
            daemon.call("renga.v1.LlmGateway/Chat", request, "renga.v1.ChatResponse", timeout=30)
        with concurrent.futures.ThreadPoolExecutor(16) as pool_of_threads:
            list(pool_of_threads.map(ask, range(1030)))
        done = run("renga", "usage", f"--peers.llm_gateway=ipv4:127.0.0.1:{daemon.port}", "--by=run", "--rows=5000")
        lines = done.stdout.splitlines()
        expect(len(lines) == 1032 and len(set(lines[1:-1])) == 1030, f"{len(lines)} lines {done.stderr}")
        expect("\x1b" not in done.stdout and lines[-1].split()[1] == "1030", lines[-1])


@check("`renga usage` has colours on a terminal alone")
def _():
    with Running("renga-llm-gateway", *MODEL) as daemon:
        command = [f"{BIN}/renga", "usage", f"--peers.llm_gateway=ipv4:127.0.0.1:{daemon.port}"]
        seen, here = os.openpty()
        subprocess.run(command, stdout=here, timeout=20 * SLOW, check=True)
        expect(b"\x1b[1mall" in os.read(seen, 65536), "no colours")
        os.close(seen), os.close(here)
        expect("\x1b" not in run(*["renga"] + command[1:]).stdout, "colours in a file")


@check("`renga usage` ends with 2 where it is asked wrongly, with 1 where nobody answers")
def _():
    for flags, said in (([], "--connect"), (["--by=clinet"], "clinet"), (["--from=yesterday"], "yesterday"),
                        (["--by=hour,model,client,run,day"], "at most 4"), (["extra"], "options alone")):
        done = run("renga", "usage", *flags, *(["--peers.llm_gateway=ipv4:127.0.0.1:1"] if flags else []))
        expect(done.returncode == 2 and said in done.stderr and not done.stdout, f"{flags}: {done.returncode} {done.stderr}")
    nobody = run("renga", "usage", f"--peers.llm_gateway=ipv4:127.0.0.1:{free_port()}")
    expect(nobody.returncode == 1 and "UNAVAILABLE" in nobody.stderr, nobody.stderr)


@check("`renga health` says SERVING with 0, and ends with 1 where nobody answers")
def _():
    with Running("renga-planner") as daemon:
        done = run("renga", "health", "--peers.server", f"127.0.0.1:{daemon.port}", "renga.v1.Planner")
        expect(done.returncode == 0 and done.stdout == "SERVING\n", done.stdout + done.stderr)
    for flag in ("--peers.server", "--connect"):
        port = free_port()
        nobody = run("renga", "health", flag, f"127.0.0.1:{port}")
        expect(nobody.returncode == 1 and f"does a server listen at 127.0.0.1:{port}?" in nobody.stderr, nobody.stderr)


# ---- traces -----------------------------------------------------------------------------------------------------------

def wait_for_spans(wanted):
    for _ in range(100 * SLOW):
        found = [span for span in spans if wanted(span)]
        if found:
            return found
        time.sleep(0.05)
    return []


@check("a caller's trace goes on through each of the five services to the collector, as its child")
def _():
    calls = {
        "renga-llm-gateway": ("renga.v1.LlmGateway/ListModels", "renga.v1.ListModels"),
        "renga-planner": ("renga.v1.Planner/Plan", "renga.v1.Plan"),
        "renga-tool-runner": ("renga.v1.ToolRunner/ListTools", "renga.v1.ListTools"),
        "renga-reviewer": ("renga.v1.Reviewer/Reflect", "renga.v1.Reflect"),
        "renga-orchestrator": ("renga.v1.Orchestrator/ListRuns", "renga.v1.ListRuns"),
    }
    trace, parent = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
    for binary, (method, stem) in calls.items():
        with Running(binary, COLLECTOR) as daemon:
            status_of(lambda: daemon.call(method, message(stem + "Request")(), stem + "Response",
                                          [("traceparent", f"00-{trace}-{parent}-01")]))
            found = wait_for_spans(lambda span: span["traceId"] == trace and span["name"] == method)
            expect(found, f"no span of {method}")
            expect(found[0]["parentSpanId"] == parent and found[0]["kind"] == 2, str(found[0]))
    services = {span["service"] for span in spans}
    expect(services == set(calls), f"service.name: {services}")


@check("a call that one process makes of another is one trace: client span, and server span below it")
def _():
    spans.clear()
    with Running("renga-llm-gateway", COLLECTOR, *MODEL) as daemon:
        done = run("renga", "chat", COLLECTOR, f"--peers.llm_gateway=ipv4:127.0.0.1:{daemon.port}", "--model=parrot", "hi")
        expect(done.returncode == 0, done.stderr)
        server = wait_for_spans(lambda s: s["name"] == "renga.v1.LlmGateway/ChatStream" and s["kind"] == 2)
        client = wait_for_spans(lambda s: s["name"] == "renga.v1.LlmGateway/ChatStream" and s["kind"] == 3)
        expect(server and client, f"{len(server)} server spans, {len(client)} client spans")
        expect(server[0]["traceId"] == client[0]["traceId"], "two traces")
        expect(server[0]["parentSpanId"] == client[0]["spanId"], "the server's span is not below the client's")


# ---- signals ----------------------------------------------------------------------------------------------------------

class Silent(http.server.BaseHTTPRequestHandler):
    asked = threading.Event()

    def do_POST(self):
        self.asked.set()
        time.sleep(60)

    def log_message(self, *_):
        pass


silent = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Silent)
silent.daemon_threads = True
threading.Thread(target=silent.serve_forever, daemon=True).start()
SILENT = ["--llm_gateway.models=parrot", f"--llm_gateway.upstream=http://127.0.0.1:{silent.server_port}/v1"]


def hanging_call(daemon):
    Silent.asked.clear()
    call = daemon.channel.unary_unary(
        "/renga.v1.LlmGateway/Chat", request_serializer=lambda m: m.SerializeToString(),
        response_deserializer=message("renga.v1.ChatResponse").FromString).future(chat_request("hm?"), timeout=60)
    expect(Silent.asked.wait(5 * SLOW), "the upstream was not asked")
    return call


@check("a call that runs is waited for until drain.limit, then cut with UNAVAILABLE; /readyz says draining meanwhile")
def _():
    with Running("renga-llm-gateway", "--drain.limit=1500ms", *SILENT) as daemon:
        call = hanging_call(daemon)
        began = time.time()
        daemon.process.send_signal(signal.SIGTERM)
        time.sleep(0.5)
        status, text = daemon.get("/readyz")
        expect(status == 503 and "draining" in text, f"/readyz: {status} {text}")
        code = call.code()
        seconds = time.time() - began
        expect(code == grpc.StatusCode.UNAVAILABLE and 1.3 < seconds < 15 * SLOW, f"{code} after {seconds:.1f} s")
        expect(daemon.process.wait(10 * SLOW) == 0, f"exit code {daemon.process.returncode}")
        return f"cut after {seconds:.1f} s"


@check("a second signal ends the process at once with exit code 3")
def _():
    with Running("renga-llm-gateway", "--drain.limit=60s", *SILENT) as daemon:
        hanging_call(daemon)
        daemon.process.send_signal(signal.SIGTERM)
        time.sleep(0.3)
        code, seconds = daemon.stop(signal.SIGINT)
        expect(code == 3 and seconds < 20 * SLOW, f"{code} after {seconds:.1f} s")


parrot.terminate()
finish()
