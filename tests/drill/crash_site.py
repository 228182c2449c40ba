"""The processes of the crash drill: an orchestrator, a tool-runner with a tool server, and nodes, all of which may be killed."""
import json
import os
import random
import subprocess
import sys
import tempfile
import threading
import time
from collections import namedtuple

HERE = os.path.dirname(os.path.abspath(__file__))
INTEGRATION = os.path.join(HERE, "..", "integration")
sys.path.insert(0, os.path.join(INTEGRATION, "orchestrator"))
from harness import BIN, SLOW, Orchestrator, expect, free_port, wait_until  # noqa: E402
import crash_load  # noqa: E402
from crash_stages import Hunger, Marks  # noqa: E402

Blow = namedtuple("Blow", "names kind began")  # who was hit, what is to be measured of it, and from when on


class Keeper(Orchestrator):
    """An orchestrator whose log is heard."""

    def __init__(self, marks, name, folder, *flags):
        self.marks, self.name, self.channel = marks, name, None
        super().__init__(folder, *flags)

    def kill(self):
        """Its channel is closed, too, though somebody else has seen it die: a call that waits there for a server, waits for
        its own deadline of 5 s."""
        super().kill()
        if self.channel:
            self.channel.close()

    def read_log(self, process):
        for line in process.stderr:
            self.log.append(line)
            self.marks.heard(self.name, line)
            if '"http.listening"' in line:
                self.listening.set()


class Beside:
    """A process with a fixed port that is killed and comes back; `line` is what it says when it listens."""

    def __init__(self, marks, name, command, line):
        self.marks, self.name, self.command, self.line = marks, name, command, line
        self.process, self.environment = None, {}

    def begin(self):
        self.listening = threading.Event()
        self.process = subprocess.Popen(self.command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                        env={**os.environ, **self.environment})
        threading.Thread(target=self.read, args=(self.process, self.listening), daemon=True).start()

    def read(self, process, listening):
        for line in process.stdout:
            self.marks.heard(self.name, line)
            if self.line in line:
                self.marks.add(self.name, "listens")
                listening.set()

    def listens(self):
        """Waits for it."""
        wait_until(lambda: self.listening.is_set() or self.process.poll() is not None, f"{self.name} does not listen", 20 * SLOW)
        return self.listening.is_set()

    def start(self, begun=False):
        until = time.monotonic() + 20 * SLOW
        if not begun:
            self.begin()
        while not self.listens():  # another process may have the port for a moment
            expect(time.monotonic() < until, f"{self.command[0]} does not start")
            self.begin()

    def kill(self):
        if self.process and self.process.poll() is None:
            self.process.kill()
            self.process.wait()


class Site:
    """Whatever `store` names is on a disk."""
    VICTIMS = (("orchestrator",),) * 6 + (("tools",), ("tools",), ("nodes",), ("nodes",), ("orchestrator", "tools", "nodes"), ("orchestrator", "nodes"))

    def __init__(self, sub="disk"):
        self.kept = tempfile.TemporaryDirectory(prefix="renga-drill-")
        self.folder = self.kept.name
        self.store = os.path.normpath(f"{self.folder}/{sub}")
        os.makedirs(self.store, exist_ok=True)
        self.tools_port, self.nodes_port, self.marks = free_port(), free_port(), Marks()
        with open(f"{self.folder}/mcp.json", "w") as file:
            json.dump({"mcpServers": {"odd": {"command": "/usr/bin/python3", "args": [f"{INTEGRATION}/tool_runner/odd.py"],
                                              "user": f"{os.geteuid()}:{os.getegid()}"}}}, file)
        self.journal, self.judged = f"{self.folder}/journal", 0
        self.nodes = Beside(self.marks, "nodes", [sys.executable, f"{HERE}/crash_nodes.py", str(self.nodes_port), self.journal], "listening")
        self.tools = Beside(self.marks, "tools", [f"{BIN}/renga-tool-runner", f"--rpc.listen=127.0.0.1:{self.tools_port}", "--http.listen=", "--loops=1",
                             f"--tool_runner.record={self.record()}", f"--tool_runner.mcp={self.folder}/mcp.json",
                             f"--tool_runner.store={self.folder}/knowledge.db", "--log.format=json"], '"rpc.listening"')
        self.keepers = self.make_keepers()
        self.parts = {**self.keepers, "tools": self.tools, "nodes": self.nodes}

    KINDS = ("the restart",)  # of blows: the one that costs most first
    ON_DISK = ("orchestrator", "tools")  # whose power is cut

    def prepare_disk(self):
        """Where their files are, before anybody is started."""
        return self.store

    def with_it(self):
        """Who dies with the disk."""
        return ()

    def record(self):
        return f"sqlite:{self.store}/record.db"

    def make_keepers(self):
        """Those who keep runs, by name, in the order in which they start."""
        self.api = self.orchestrator("orchestrator", self.store)
        return {"orchestrator": self.api}

    def orchestrator(self, name, folder, *flags):
        made = Keeper(self.marks, name, folder, f"--peers.tool_runner=ipv4:127.0.0.1:{self.tools_port}", *flags)
        for agent, document in crash_load.documents(f"127.0.0.1:{self.nodes_port}").items():
            made.write_agent(agent, json.dumps({"agent": agent, **document}))
        return made

    def start(self):
        self.restart(*self.parts)

    def hunger(self):
        """From now on."""
        return Hunger(lambda: {"the drill": os.getpid(), **{name: part.process.pid for name, part in self.parts.items()}})

    def kill(self, *names):
        for name in names:
            self.marks.add(name, "is killed")
            self.parts[name].process.kill()  # all at about the same moment
        for name in names:
            self.parts[name].kill()

    def restart(self, *names):
        """All of them at about the same time; gives when."""
        began = time.monotonic()
        parts = [self.parts[name] for name in names]
        beside = [part for part in parts if isinstance(part, Beside)]
        for part in beside:
            part.begin()
        for part in parts:
            part.start(*([True] if part in beside else []))
        return began

    def hit_somebody(self):
        """Somebody is killed, and comes back."""
        names = random.choice(self.VICTIMS)
        self.kill(*names)
        return Blow(names, "the restart", self.restart(*names))

    def attempts(self):
        """What the nodes have in their journal of attempts, in order, since it was asked last."""
        found = []
        with open(self.journal) as file:
            file.seek(self.judged)
            while line := file.readline():
                entry = json.loads(line) if line.endswith("\n") else {}
                if "attempt" in entry:
                    found.append(entry)
            self.judged = file.tell()
        return found

    def close(self):
        for part in self.parts.values():
            part.kill()
        self.kept.cleanup()
