#!/usr/bin/env python3
"""Whether the gateway's README is true: its examples run, its document of routes and that of the samples are accepted, its table
has the metrics that a scrape shows, its options exist. RENGA_BIN=<folder of the binaries> readme.py; one line a check, exit 1
when one fails."""
import json
import os
import re
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, f"{HERE}/../../lib")
from checks import check, expect, finish, watch  # noqa: E402
from ports import free_port  # noqa: E402

BIN = os.environ["RENGA_BIN"]
ROOT = os.path.join(HERE, "..", "..", "..")
SLOW = 5 if os.environ.get("RENGA_SANITIZE") else 1
with open(f"{ROOT}/services/llm_gateway/README.md") as file:
    README = file.read()


def example(language):
    found = re.findall(rf"^```{language}\n(.*?)^```$", README, re.M | re.S)
    expect(len(found) == 1, f"{len(found)} examples in {language}")
    return found[0]


parrot = subprocess.Popen([sys.executable, f"{ROOT}/deploy/samples/parrot.py"], stdout=subprocess.PIPE, text=True)
# The README's ports, and those of this run.
PORTS = {"8080": parrot.stdout.readline().split()[1], "15201": str(free_port()), "15001": str(free_port()), "15101": str(free_port())}
KEYS = ["OPENAI_API_KEY", "AZURE_TOKYO_KEY", "AZURE_OSAKA_KEY"]  # that the documents take from the environment
ENVIRONMENT = {**{k: v for k, v in os.environ.items() if not k.startswith("OPENAI_")}, "PATH": f"{BIN}:{os.environ['PATH']}"}


def here(text):
    return re.sub(r"\b(8080|15201|15001|15101)\b", lambda match: PORTS[match.group()], text)


class Gateway:
    def __init__(self, command):
        command += f" --rpc.listen=127.0.0.1:{PORTS['15001']} --http.listen=127.0.0.1:{PORTS['15101']}"
        self.process = subprocess.Popen(command.split(), stderr=subprocess.PIPE, text=True,
                                        env={**ENVIRONMENT, **{name: "sk-none" for name in KEYS}})
        self.log = []
        watch("the gateway", self.log, self.process)
        self.thread = threading.Thread(target=lambda: self.log.extend(self.process.stderr))
        self.thread.start()

    def __enter__(self):
        for _ in range(1000 * SLOW):
            if '"http.listening"' in "".join(self.log) or self.process.poll() is not None:
                break
            time.sleep(0.01)
        expect(self.process.poll() is None, self.log)
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(20 * SLOW)
        self.thread.join()


def run(command, **more):
    done = subprocess.run(command, shell=isinstance(command, str), capture_output=True, text=True, timeout=30 * SLOW,
                          env=ENVIRONMENT, **more)
    expect(done.returncode == 0, f"{command}: {done.returncode} {done.stdout} {done.stderr}")
    return done.stdout


def scrape():
    with urllib.request.urlopen(f"http://127.0.0.1:{PORTS['15101']}/metrics", timeout=5 * SLOW) as answer:
        return answer.read().decode()


@check("the examples run as they stand there")
def _():
    server, *commands = here(example("sh")).splitlines()
    with Gateway(server):
        answers = [run(command) for command in commands]
        expect("What is linked verse?" in answers[0], answers[0])
        expect(json.loads(answers[1])["data"][0]["id"] == "parrot", answers[1])
        expect(re.search(r"^-? +parrot|^- .*parrot", answers[2], re.M) and "all" in answers[2], answers[2])
        said = run(["node", "--input-type=module", "-e", here(example("js"))], cwd=os.path.join(HERE, ".."))
        expect("連歌とは?" in said and "req_" in said, said)


@check("its document of routes is accepted, a model answers, and the table has the metrics that are shown")
def _():
    with tempfile.TemporaryDirectory() as folder:
        with open(f"{folder}/routes.json", "w") as file:
            # The first choice asks a real provider: here nobody is there, and the second stands in.
            file.write(here(example("json")).replace('"provider": "openai"', '"upstream": "http://127.0.0.1:9"'))
        with Gateway(f"renga-llm-gateway --llm_gateway.routes={folder}/routes.json --llm_gateway.ledger={folder}/ledger"):
            for _ in range(2):
                run(["renga", "chat", f"--peers.llm_gateway=ipv4:127.0.0.1:{PORTS['15001']}", "--model=small", "hi"])
            shown = {}
            for name, labels in re.findall(r"^(renga_(?:llm|ledger)_\w+?)(?:_bucket|_sum|_count)?(\{.*?\})? \S+$", scrape(), re.M):
                shown.setdefault(name, set()).update(re.findall(r'(\w+)="', labels))
    rows = re.findall(r"^\| `(renga_\w+)` \|([^|]*)\|", README, re.M)
    told = {name: set(re.findall(r"\w+", labels)) for name, labels in rows}
    for name in sorted(set(shown) | set(told)):
        mine = {label for label in shown.get(name, set()) if label != "le"}
        expect(name in told and name in shown, f"{name} is {'not shown' if name in told else 'not told'}")
        expect(mine == told[name], f"{name} has {mine}, and it is told of {told[name]}")


@check("the document of the samples is accepted")
def _():
    with Gateway(f"renga-llm-gateway --llm_gateway.routes={ROOT}/deploy/samples/routes.json"):
        pass


@check("its options exist, and its links lead somewhere")
def _():
    text = run(["renga-llm-gateway", "--help"])
    for option in set(re.findall(r"\bllm_gateway\.[a-z_.]*[a-z]", README)):
        expect(re.search(rf"--(\[no-\])?{re.escape(option)}\b", text), option)
    for link in re.findall(r"\]\(([^)]+)\)", README):
        expect(os.path.exists(f"{ROOT}/services/llm_gateway/{link}"), link)


parrot.kill()
finish()
