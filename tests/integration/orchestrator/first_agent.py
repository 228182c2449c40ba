#!/usr/bin/env python3
"""Whether "Your first agent" (deploy/samples/agents/README.md) runs as its page says: its blocks of `sh`, in their order. Needs RENGA_BIN."""
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, f"{HERE}/../../lib")
from checks import check, expect, finish, follow, wait_until  # noqa: E402
from ports import free_port  # noqa: E402

BIN = os.environ["RENGA_BIN"]
ROOT = os.path.realpath(os.path.join(HERE, "..", "..", ".."))
SLOW = 5 if os.environ.get("RENGA_SANITIZE") else 1
folder = tempfile.TemporaryDirectory()
NODE, GRPC = free_port(), free_port()
with open(f"{ROOT}/deploy/samples/agents/README.md") as file:
    page = file.read()
begin, look, run = re.findall(r"^```sh\n(.*?)^```$", page, re.M | re.S)
environment = {k: v for k, v in os.environ.items() if not k.startswith("OPENAI_")}
environment.update(PATH=f"{BIN}:{os.environ['PATH']}", XDG_DATA_HOME=folder.name, RENGA_PEERS_ORCHESTRATOR=f"127.0.0.1:{GRPC}",
                   RENGA_RPC_LISTEN=f"127.0.0.1:{GRPC}", RENGA_HTTP_LISTEN=f"127.0.0.1:{free_port()}")

# The page's own commands in a copy of the two folders that they name, with ports of this run.
shutil.copytree(f"{ROOT}/deploy/samples/agents", f"{folder.name}/deploy/samples/agents")
os.symlink(f"{ROOT}/proto", f"{folder.name}/proto")
for name in ("guess/graph.json", "guess_node.py"):
    path = f"{folder.name}/deploy/samples/agents/{name}"
    with open(path) as file:
        text = file.read()
    with open(path, "w") as file:
        file.write(text.replace("127.0.0.1:15300", f"127.0.0.1:{NODE}"))


def shell(text):
    return subprocess.run(["bash", "-c", text], env=environment, cwd=folder.name, capture_output=True, text=True, timeout=60 * SLOW)


protoc, node, serve = begin.strip().splitlines()
expect(shell(protoc).returncode == 0, "protoc failed")
processes = []
for command in (node.replace("python3", "/usr/bin/python3"), serve):
    processes.append(subprocess.Popen(["bash", "-c", "exec " + command.rstrip(" &")], env=environment, cwd=folder.name,
                                      stderr=subprocess.PIPE, text=True))
    follow(command.split()[0], processes[-1])
try:
    wait_until(lambda: shell("renga health --peers.server $RENGA_PEERS_ORCHESTRATOR").returncode == 0, "the suite does not serve", 20.0 * SLOW, 0.1)

    @check("the agent of the page has no fault, and is drawn")
    def _():
        done = shell(look)
        expect(done.returncode == 0 and "compare" in done.stdout, done.stdout + done.stderr)

    @check("the commands of the page lead to the output that the page shows")
    def _():
        done = shell(run)
        told = json.loads(re.search(r"`(\{.*\})`\.$", page, re.M).group(1))
        expect(done.returncode == 0, done.stdout + done.stderr)
        expect(json.loads(done.stdout.strip().splitlines()[-1]) == told, done.stdout + done.stderr)

    @check("a number that is none is refused, and the run waits on")
    def _():
        done = shell("run=$(renga run guess --background); renga watch $run; renga resume $run --answer 101; renga resume $run --answer 42")
        expect("at most 100" in done.stderr and done.returncode == 0, done.stdout + done.stderr)
finally:
    for process in processes:
        process.send_signal(signal.SIGTERM)
    for process in processes:
        process.wait(20 * SLOW)
folder.cleanup()
finish()
