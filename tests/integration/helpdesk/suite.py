"""The suite as it is shipped, over real documents and without a model: in one process, or as five."""
import atexit
import os
import re
import subprocess
import sys
import threading

import grpc

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "lib"))
from checks import expect, watch  # noqa: E402
from collector import FLAG as COLLECTOR  # noqa: E402
from contract import message  # noqa: E402
from documents import docs, folder  # noqa: E402
from ports import free_port  # noqa: E402

BIN = os.environ["RENGA_BIN"]
SLOW = 5 if os.environ.get("RENGA_SANITIZE") else 1  # sanitizers take their time
SERVICES = ("llm-gateway", "tool-runner", "planner", "reviewer", "orchestrator")


def index():
    """Brings the documents into the knowledge base that every suite here reads."""
    done = subprocess.run([f"{BIN}/renga", "index", *STORES, f"--tool_runner.roots={docs}", "--collection=docs", docs],
                          capture_output=True, text=True, timeout=60, cwd=folder)
    expect(done.returncode == 0, done.stdout + done.stderr)


STORES = (f"--tool_runner.store={folder}/knowledge.db", f"--tool_runner.record=sqlite:{folder}/tools.db")


class Process:
    def __init__(self, *command):
        environment = {k: v for k, v in os.environ.items() if not k.startswith(("RENGA_", "OPENAI_", "ANTHROPIC_"))}
        self.log, self.port, self.ready = [], None, threading.Event()
        self.process = subprocess.Popen([*command, "--log.format=json", "--http.listen=", "--loops=2", COLLECTOR], cwd=folder, text=True,
                                        errors="replace", stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, env=environment)
        watch(os.path.basename(command[0]), self.log, self.process)
        threading.Thread(target=self.read, daemon=True).start()
        expect(self.ready.wait(10 * SLOW), f"{command[0]} does not listen: {self.log[-3:]}")
        atexit.register(self.kill)

    def read(self):
        for line in self.process.stderr:
            self.log.append(line)
            listening = re.search(r'"rpc\.listening".*port (\d+)', line)
            if listening:
                self.port = int(listening.group(1))
                self.ready.set()
        self.ready.set()

    def kill(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()

    def stop(self):
        self.process.terminate()
        return self.process.wait(30 * SLOW)

    def complaints(self):
        return [line for line in self.log if "Sanitizer" in line or "runtime error" in line]


class Suite:
    def __init__(self, **flags):
        """`flags`: more of a service, such as llm_gateway=["--llm_gateway.key=k"]."""
        self.processes, self.flags = {}, flags

    def one(self):
        self.processes["renga"] = Process(f"{BIN}/renga", "serve", "--rpc.listen=127.0.0.1:0", *STORES,
                                          f"--orchestrator.store=sqlite:{folder}/runs.db", *sum(self.flags.values(), []))
        return self.open("renga")

    def five(self):
        for name in SERVICES:
            self.start(name)
        return self.open("orchestrator")

    def start(self, name, port=None):
        flags = [f"--peers.{other.replace('-', '_')}=ipv4:127.0.0.1:{process.port}"
                 for other, process in self.processes.items() if other != "orchestrator" and other != name]
        flags += self.flags.get(name.replace("-", "_"), [])
        flags += STORES if name == "tool-runner" else ()
        flags += [f"--orchestrator.store=sqlite:{folder}/runs5.db"] if name == "orchestrator" else ()
        self.processes[name] = Process(f"{BIN}/renga-{name}", f"--rpc.listen=127.0.0.1:{port or free_port()}", *flags)

    def restart(self, name):
        """kill -9, and again where it was."""
        port = self.processes[name].port
        self.processes[name].kill()
        self.start(name, port)

    def open(self, name):
        self.channel = grpc.insecure_channel(f"127.0.0.1:{self.processes[name].port}",
                                             options=[("grpc.use_local_subchannel_pool", 1)])
        return self

    def ask(self, question, timeout=30, **fields):
        make = self.channel.unary_unary("/renga.v1.Helpdesk/Ask", request_serializer=lambda m: m.SerializeToString(),
                                        response_deserializer=message("AskResponse").FromString)
        return make(message("AskRequest")(question=question, **fields), timeout=timeout * SLOW, wait_for_ready=True).result

    def watch(self, question, timeout=30, trace=None, **fields):
        make = self.channel.unary_stream("/renga.v1.Helpdesk/AskStream", request_serializer=lambda m: m.SerializeToString(),
                                         response_deserializer=message("AskEvent").FromString)
        return make(message("AskRequest")(question=question, **fields), timeout=timeout * SLOW, wait_for_ready=True,
                    metadata=[("traceparent", f"00-{trace}-00f067aa0ba902b7-01")] if trace else [])

    def stop(self):
        self.channel.close()
        codes = {name: process.stop() for name, process in reversed(self.processes.items())}
        expect(not any(codes.values()), f"they ended with {codes}")
        complaints = [line for process in self.processes.values() for line in process.complaints()]
        expect(not complaints, f"{complaints[:3]}")
