"""The form interview as its clients see it: the suite in one process, or as five.

    desk = Desk()                                    # without a model; Desk(model=port) plays OpenAI's protocol there
    reply = desk.start(form("name:TEXT!", "mail:EMAIL!"), language="en", country="JP", timezone="Asia/Tokyo")
    reply = desk.answer(reply, "Ada")

Needs RENGA_BIN and RENGA_PROTO."""
import atexit
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
from contract import message, number, word  # noqa: E402

BIN = os.environ["RENGA_BIN"]
SLOW = 5 if os.environ.get("RENGA_SANITIZE") else 1  # sanitizers take their time
folder = tempfile.mkdtemp(prefix="renga-interview-")
atexit.register(shutil.rmtree, folder, ignore_errors=True)

Field, Form, Fact = message("FormField"), message("SessionForm"), message("FactDefinition")
REPLIES = {"Start": "StartInterview", "Answer": "AnswerInterview", "Confirm": "ConfirmInterview"}


def field(text, **more):
    """"mail:EMAIL!": field_id, type, and whether it is required."""
    name, _, kind = text.partition(":")
    kind = kind or "TEXT"
    return Field(**{"id": f"id-{name}", "field_id": name, "label": name, "required": kind.endswith("!"),
                    "type": number("FieldType", "FIELD_TYPE_" + kind.rstrip("!")), **more})


def form(*fields, facts=()):
    made = [one if isinstance(one, Field) else field(one) for one in fields]
    for place, one in enumerate(made):
        one.sort_order = one.sort_order or place + 1
    return Form(fields=made, facts=facts)


class Process:
    def __init__(self, *command):
        environment = {k: v for k, v in os.environ.items() if not k.startswith(("RENGA_", "OPENAI_", "ANTHROPIC_"))}
        self.log, self.port = [], None
        self.process = subprocess.Popen([*command, "--http.listen=", "--log.format=json", "--loops=2"], cwd=folder, text=True,
                                        errors="replace", stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, env=environment)
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


class Desk:
    def __init__(self, *flags, store=None, model=None, five=False, port=0, peers_flags=()):
        self.store = store or f"sqlite:{folder}/runs.db"
        gateway = [f"--llm_gateway.upstream=http://127.0.0.1:{model}/v1", "--llm_gateway.key=k", "--llm_gateway.models=scripted"] if model else []
        own = [f"--orchestrator.store={self.store}", *flags]
        self.processes = []
        if five:
            peers = []
            for name, more in (("llm-gateway", gateway), ("tool-runner", ["--tool_runner.store=memory:", "--tool_runner.record=memory:"]),
                               ("planner", []), ("reviewer", []), ("orchestrator", own)):
                process = Process(f"{BIN}/renga-{name}", "--rpc.listen=127.0.0.1:0", *peers, *more,
                                  *(() if name == "orchestrator" else peers_flags))
                peers.append(f"--peers.{name.replace('-', '_')}=ipv4:127.0.0.1:{process.port}")
                self.processes.append(process)
        else:
            self.processes.append(Process(f"{BIN}/renga", "serve", f"--rpc.listen=127.0.0.1:{port}", "--tool_runner.store=memory:",
                                          "--tool_runner.record=memory:", *own, *gateway))
        self.port = self.processes[-1].port
        self.channel = grpc.insecure_channel(f"127.0.0.1:{self.port}", options=[("grpc.use_local_subchannel_pool", 1)])

    def ask(self, method, request, timeout=20):
        name = REPLIES.get(method, method)
        reply = "InterviewReply" if method in ("Start", "Answer") else f"{name}Response"
        make = self.channel.unary_unary(f"/renga.v1.FormInterview/{method}", response_deserializer=message(reply).FromString,
                                        request_serializer=lambda one: one if isinstance(one, bytes) else one.SerializeToString())
        return make(request, timeout=timeout * SLOW, wait_for_ready=True)

    def start(self, made, language="", country="", timezone="", **more):
        known = message("Bootstrap")(language=language, country=country, timezone=timezone)
        return self.ask("Start", message("StartInterviewRequest")(form=made, bootstrap=known, **more))

    def answer(self, session, text="", **more):
        name = session if isinstance(session, str) else session.session_id
        return self.ask("Answer", message("AnswerInterviewRequest")(session_id=name, text=text, **more))

    def confirm(self, session, **more):
        name = session if isinstance(session, str) else session.session_id
        return self.ask("Confirm", message("ConfirmInterviewRequest")(session_id=name, **more)).state

    def state(self, session):
        name = session if isinstance(session, str) else session.session_id
        return self.ask("GetSession", message("GetSessionRequest")(session_id=name)).state

    def sessions(self, **filters):
        return self.ask("ListSessions", message("ListSessionsRequest")(**filters))

    def delete(self, session):
        name = session if isinstance(session, str) else session.session_id
        return self.ask("DeleteSession", message("DeleteSessionRequest")(session_id=name)).deleted

    def kill(self):
        self.channel.close()
        for process in self.processes:
            process.process.kill()
            process.process.wait()

    def stop(self):
        self.channel.close()
        for process in reversed(self.processes):
            process.process.terminate()
            expect(process.process.wait(40 * SLOW) == 0, f"it ended with {process.process.returncode}: {process.log[-3:]}")


def states(state):
    """field_id to "DONE" and the like."""
    return {one.field_id: word("FieldState", one.state).removeprefix("FIELD_STATE_") for one in state.field_statuses}


def values(state):
    return dict(state.collected_fields)


def refused(code, call):
    """The text of the refusal."""
    try:
        call()
    except grpc.RpcError as error:
        expect(error.code().name == code, f"the code is {error.code().name}, not {code}: {error.details()}")
        return error.details()
    raise AssertionError(f"it was not refused with {code}")
