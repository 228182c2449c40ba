#!/usr/bin/env python3
"""A gateway with a document of routes, as an operator starts it, asked through its OpenAI HTTP interface.
RENGA_BIN=<folder of renga-llm-gateway> routes.py; one line a check, exit 1 when one fails."""
import http.client
import json
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, f"{HERE}/../../lib")
from checks import check, expect, finish  # noqa: E402

BIN = os.environ["RENGA_BIN"]
SLOW = 5 if os.environ.get("RENGA_SANITIZE") else 1
KEY = "sk-plain-0123456789"

upstream = subprocess.Popen(["/usr/bin/python3", f"{HERE}/upstream.py"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
upstream_port = int(upstream.stdout.readline().split()[1])
folder = tempfile.TemporaryDirectory()
path = f"{folder.name}/routes.json"


def write(deployment=""):
    with open(path, "w") as file:
        file.write(f"""{{ // two deployments of the same upstream
  "deployments": {{
    "here": {{"upstream": "http://127.0.0.1:{upstream_port}/v1", "key": "{KEY}"}},
    "none": {{"provider": "anthropic"}}, {deployment}
  }},
  "models": {{
    "small": {{"targets": [{{"deployment": "here", "model": "chat"}}]}},
    "picky": {{"targets": [{{"deployment": "here"}}], "tools": false}},
    "vectors": {{"targets": [{{"deployment": "here"}}], "chat": false, "embeddings": true}},
    "unset": {{"targets": [{{"deployment": "none"}}]}},
  }},
}}""")


def start(*flags):
    environment = {name: value for name, value in os.environ.items() if not name.endswith("_API_KEY")}
    return subprocess.Popen([f"{BIN}/renga-llm-gateway", "--rpc.listen=127.0.0.1:0", "--http.listen=", "--loops=3",
                             "--log.format=json", "--llm_gateway.http.listen=127.0.0.1:0",
                             f"--llm_gateway.routes={path}", *flags], stderr=subprocess.PIPE, text=True, env=environment)


def ask(method, way, port, **body):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20 * SLOW)
    connection.request(method, way, json.dumps(body) if body else None, {"content-type": "application/json"})
    answer = connection.getresponse()
    value = json.loads(answer.read())
    connection.close()
    return answer.status, value


def chat(model, **more):
    return ask("POST", "/v1/chat/completions", port, model=model, messages=[{"role": "user", "content": "hi"}], **more)


def seen(model):
    return ask("GET", f"/seen/{model}", upstream_port)[1]


write()
gateway, port, log = start(), None, []
for line in gateway.stderr:
    log.append(line)
    match = re.search(r"llm_gateway\.listening.*port (\d+)", line)
    if match:
        port = int(match.group(1))
        break


@check("a model's name leads to the upstream's model with the deployment's key")
def _():
    status, body = chat("small")
    expect(status == 200 and seen("chat")["authorization"] == f"Bearer {KEY}", f"{status} {body}")
    status, body = chat("default")
    expect(status == 200 and seen("chat")["requests"] == 2, f"{status} {body}")


@check("models are listed in the document's order")
def _():
    _, body = ask("GET", "/v1/models", port)
    expect([model["id"] for model in body["data"]] == ["small", "picky", "vectors", "unset"], body)


@check("what a route does not do is refused before anybody is asked")
def _():
    tool = {"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}
    status, body = chat("vectors")
    expect(status == 400 and "does not chat" in body["error"]["message"], f"{status} {body}")
    status, body = chat("picky", tools=[tool])
    expect(status == 400 and "'picky' has none" in body["error"]["message"], f"{status} {body}")
    status, body = chat("smal")
    expect(status == 404 and "did you mean 'small'?" in body["error"]["message"], f"{status} {body}")
    expect(seen("picky")["requests"] == 0, seen("picky"))


@check("a deployment without a key is not asked")
def _():
    status, body = chat("unset")
    expect(status >= 400 and "no model is set up" in body["error"]["message"], f"{status} {body}")


@check("what one loop has learned of a deployment the others know")
def _():
    for _ in range(12):
        chat("picky", temperature=0.5)
    expect(seen("picky")["requests"] == 13, seen("picky"))  # the first is asked once more, without a temperature


@check("the start says where models are asked, once, and no key")
def _():
    text = "".join(log)
    expect(text.count("4 models through 2 deployments") == 1, text)
    expect(f"'here' is http://127.0.0.1:{upstream_port}, with a key" in text, text)
    expect("'none' cannot be asked" in text and KEY not in text, text)


@check("the gateway ends with nothing left")
def _():
    gateway.terminate()
    rest = gateway.stderr.read()
    expect(gateway.wait(10 * SLOW) == 0 and KEY not in rest, rest)


@check("a wrong document ends the start with its place, and not with a key")
def _():
    write(f'\n    "typo": {{"key": "{KEY}", "upstraem": "http://x"}},')
    process = start()
    _, text = process.communicate(timeout=20 * SLOW)
    expect(process.returncode == 2 and f"{path}:5:{len(KEY) + 25}: unknown key 'upstraem'" in text, text)
    expect(KEY not in text, text)


@check("a document and the options of one deployment do not go together")
def _():
    write()
    process = start("--llm_gateway.provider=openai")
    _, text = process.communicate(timeout=20 * SLOW)
    expect(process.returncode == 2 and "leave llm_gateway.provider out" in text, text)


for process in (gateway, upstream):
    if process.poll() is None:
        process.kill()
finish()
