"""Planner and reviewer before a real gateway, whose upstream is scripted here, in two ways: all in one process ("renga
serve"), and as three processes that speak gRPC.

    upstream.will(say({"subtasks": ["a"]}))        what the next requests get; the last one is repeated
    answer = minds.planner("Plan", subtasks={"question": "x"})
    upstream.asked[-1]                              the last request, as the upstream got it

Needs RENGA_BIN and RENGA_PROTO."""
import atexit
import json
import os
import re
import select
import subprocess
import sys
import threading
import urllib.request

import grpc
from google.protobuf import descriptor_pb2

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "lib"))
import checks  # noqa: E402
from checks import Broken, expect, wait_until, watch  # noqa: E402,F401
from contract import message, word  # noqa: E402
from web import Handler, completion, serve  # noqa: E402

BIN = os.environ["RENGA_BIN"]
SLOW = 5 if os.environ.get("RENGA_SANITIZE") else 1  # sanitizers take their time


# ---- the upstream ----------------------------------------------------------------------------------------------------


def say(value, finish="stop", **message_fields):
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)

    def behaviour(request):
        request.reply(completion({"role": "assistant", "content": text, **message_fields}, finish))
    return behaviour


def refuse(status, message="no", **headers):
    return lambda request: request.reply({"error": {"message": message, "type": "server_error"}}, status, **headers)


def hang(request):
    """Until the client leaves."""
    poll = select.poll()
    poll.register(request.connection, select.POLLIN | select.POLLRDHUP | select.POLLHUP | select.POLLERR)
    if poll.poll(20000):
        upstream.left += 1
    request.close_connection = True


class Model(Handler):
    def do_POST(self):
        request = self.asked()
        with upstream.lock:
            upstream.asked.append(request)
            behaviour = upstream.script.pop(0) if len(upstream.script) > 1 else upstream.script[0]
        behaviour(self)


class Upstream:
    def __init__(self):
        self.lock, self.asked, self.script, self.left = threading.Lock(), [], [refuse(500)], 0
        self.port = serve(Model).server_port

    def will(self, *behaviours):
        with self.lock:
            self.asked, self.script = [], list(behaviours)

    def turns(self, which=-1):
        return {turn["role"]: turn["content"] for turn in self.asked[which]["messages"]}


upstream = Upstream()

# ---- the services ----------------------------------------------------------------------------------------------------

GATEWAY = ["--llm_gateway.key=sk-test-0123456789", "--llm_gateway.attempts=1", "--llm_gateway.breaker=off",
           f"--llm_gateway.upstream=http://127.0.0.1:{upstream.port}/v1", "--llm_gateway.models=m,other"]
EMPTY = descriptor_pb2.FileDescriptorSet  # any message: only its bytes go out


class Process:
    def __init__(self, *command, port=0):
        environment = {name: text for name, text in os.environ.items() if not name.endswith("_API_KEY")}
        self.log, self.leaving = [], False
        self.process = subprocess.Popen(
            [f"{BIN}/{command[0]}", *command[1:], f"--rpc.listen=127.0.0.1:{port}", "--http.listen=127.0.0.1:0", "--loops=2",
             "--log.format=json"], stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True, env=environment)
        watch(command[0], self.log, self.process)
        atexit.register(self.kill)
        self.port = self.http = None
        for line in self.process.stderr:
            self.log.append(line)
            self.port = self.port or self.port_in(line, "rpc.listening")
            self.http = self.http or self.port_in(line, "http.listening")
            if self.port and self.http:
                break
        expect(self.port and self.http, f"{command[0]} does not listen: {self.log[-3:]}")
        threading.Thread(target=lambda: self.log.extend(self.process.stderr), daemon=True).start()
        self.channel = grpc.insecure_channel(f"127.0.0.1:{self.port}", options=[("grpc.max_send_message_length", -1)])

    @staticmethod
    def port_in(line, event):
        found = re.search(r"port (\d+)", line) if f'"{event}"' in line else None
        return int(found.group(1)) if found else None

    def metrics(self):
        with urllib.request.urlopen(f"http://127.0.0.1:{self.http}/metrics") as answer:
            return answer.read().decode()

    def kill(self):
        self.process.kill()
        self.process.wait()

    def leave(self):
        if not self.leaving:  # a second SIGTERM would cut the drain short
            self.leaving = True
            self.channel.close()
            self.process.terminate()

    def stop(self):
        self.leave()
        code = self.process.wait(30 * SLOW)
        complaints = [line for line in self.log if "Sanitizer" in line or "runtime error" in line]
        expect(code == 0 and not complaints, f"it ended with {code}: {complaints[:3]} {''.join(self.log[-5:])[-800:]}")


class Minds:
    """A service is called as minds.planner("Plan", …)."""

    def __init__(self, way, *flags, gateway=GATEWAY):
        self.way = way
        if way == "in one process":
            self.gateway = Process("renga", "serve", *gateway, *flags)
            self.processes = [self.gateway] * 2
        else:
            self.gateway = Process("renga-llm-gateway", *gateway)
            peer = f"--peers.llm_gateway=ipv4:127.0.0.1:{self.gateway.port}"
            mine = {name: [flag for flag in flags if flag.startswith(f"--{name}.")] for name in ("planner", "reviewer")}
            self.processes = [Process(f"renga-{name}", peer, *mine[name]) for name in ("planner", "reviewer")]

    def call(self, service, method, timeout, request):
        process = self.processes[0 if service == "Planner" else 1]
        return process.channel.unary_unary(
            f"/renga.v1.{service}/{method}", request_serializer=lambda m: m if isinstance(m, bytes) else m.SerializeToString(),
            response_deserializer=message(method + "Response").FromString).future(
                request, timeout=timeout * SLOW, wait_for_ready=True)

    def begin(self, service, method, timeout=20, **fields):
        fields.setdefault("prompting", {"model": "m"})
        return self.call(service, method, timeout, message(method + "Request")(**fields))

    def planner(self, method, **fields):
        return self.begin("Planner", method, **fields).result()

    def reviewer(self, method, **fields):
        return self.begin("Reviewer", method, **fields).result()

    def thoughts(self, service, kind, way):
        index = 0 if service == "planner" else 1
        found = re.search(r'renga_thoughts_total\{service="%s",kind="%s",way="%s"\} (\d+)' % (service, kind, way),
                          self.processes[index].metrics())
        return int(found.group(1)) if found else 0

    def jobs(self, service):
        index = 0 if service == "planner" else 1
        return int(re.search(r"renga_jobs_total (\d+)", self.processes[index].metrics()).group(1))

    def stop(self):
        processes = {id(process): process for process in [self.gateway, *self.processes]}.values()
        for process in processes:
            process.leave()
        for process in processes:
            process.stop()


# ---- what is expected ------------------------------------------------------------------------------------------------


def equal(got, wanted, what="it"):
    expect(got == wanted, f"{what} is {got!r}, not {wanted!r}")


def details_of(error):
    for key, value in error.trailing_metadata() or ():
        if key == "grpc-status-details-bin":
            return {detail.type_url.rsplit("/", 1)[1]: detail.value
                    for detail in message("google.rpc.Status").FromString(value).details}
    return {}


def refused(code, function, field=None):
    """That the call fails so, with that field; gives the error."""
    try:
        function()
    except grpc.RpcError as error:
        expect(error.code() == getattr(grpc.StatusCode, code), f"it failed with {error.code()}: {error.details()}")
        if field:
            violations = message("google.rpc.BadRequest").FromString(details_of(error).get("google.rpc.BadRequest", b""))
            equal([violation.field for violation in violations.field_violations], [field], "the field")
        return error
    raise Broken(f"it was not refused with {code}")


def full(answer, calls=1):
    equal([d.reason for d in answer.degradations], [], "what fell short")
    equal((answer.model, answer.usage.model_calls, answer.usage.input_tokens), ("scripted-2026", calls, 20 * calls),
          "who answered, and the usage")
    return answer


def degraded(answer, status=None, calls=1):  # one request that failed counts, as usage.proto says
    kinds = [word("DegradationKind", d.kind) for d in answer.degradations]
    equal(kinds, ["DEGRADATION_KIND_FALLBACK"], "the degradations")
    equal(answer.model, "", "the model")
    if calls is not None:
        equal(answer.usage.model_calls, calls, "calls to the model")
    if status is not None:
        equal(answer.degradations[0].status_code, status, "the status behind it")
    return answer


def check_in(way):
    """@check with the way in the sentence."""
    return lambda sentence: checks.check(f"{way}: {sentence}")


def in_both_ways(body, *flags):
    """Runs the checks in body(minds, check) for each way."""
    for way in ("in one process", "as processes"):
        minds = Minds(way, *flags)
        check = check_in(way)
        body(minds, check)
        check("the processes end with 0 on SIGTERM, and no sanitizer has complained")(minds.stop)
    checks.finish()
