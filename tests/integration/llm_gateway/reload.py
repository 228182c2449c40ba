#!/usr/bin/env python3
"""A gateway whose document of routes is changed while it serves, as an operator does it: write the file, send SIGHUP.
RENGA_BIN=<folder of renga-llm-gateway> reload.py; one line a check, exit 1 when one fails."""
import http.client
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, f"{HERE}/../../lib")
from checks import check, expect, finish  # noqa: E402

BIN = os.environ["RENGA_BIN"]
SLOW = 5 if os.environ.get("RENGA_SANITIZE") else 1
RELOADS = 50
KEY = "sk-plain-0123456789"

upstream = subprocess.Popen(["/usr/bin/python3", f"{HERE}/upstream.py"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
upstream_port = int(upstream.stdout.readline().split()[1])
folder = tempfile.TemporaryDirectory()
path = f"{folder.name}/routes.json"


def document(models, deployments=("here",), clients=None, **limits):
    """Models of the upstream: "name" or "name@deployment"."""
    places = {name: {"upstream": f"http://127.0.0.1:{upstream_port}/v1", "key": KEY, "limits": limits} for name in deployments}
    routes = {}
    for model in models:
        name, _, deployment = model.partition("@")
        routes[name] = {"targets": [{"deployment": deployment or "here"}], "retry": {"attempts": 1},
                        "embeddings": name.startswith("embeds")}
    return json.dumps({"deployments": places, "models": routes, "clients": clients or {}}, indent=1)


def write(text):
    with open(f"{path}.new", "w") as file:
        file.write(text)
    os.rename(f"{path}.new", path)


log, told = [], threading.Condition()


def listen(stream):
    for line in stream:
        with told:
            log.append(line)
            told.notify_all()


def await_line(pattern, since=0):
    """The first such line of the log from the `since`th on."""
    def found():
        return next((match for match in (re.search(pattern, line) for line in log[since:]) if match), None)
    with told:
        if not told.wait_for(found, timeout=20 * SLOW):
            raise AssertionError(f"no '{pattern}' in {''.join(log[since:])}")
        return found()


def reload(text, result="llm_gateway.reloaded"):
    """Gives the lines of the log that it led to."""
    since = len(log)
    write(text)
    gateway.send_signal(signal.SIGHUP)
    await_line(r"llm_gateway\.reload", since)
    if result == "llm_gateway.reloaded":
        await_line(r"llm_gateway\.routes", since)
    expect(result in "".join(log[since:]), log[since:])
    return "".join(log[since:])


def connect():
    return http.client.HTTPConnection("127.0.0.1", port, timeout=20 * SLOW)


def ask(connection, model, way="/v1/chat/completions", **more):
    body = {"model": model, "messages": [{"role": "user", "content": "hi"}], **more}
    connection.request("POST", way, json.dumps(body), {"content-type": "application/json"})
    answer = connection.getresponse()
    return answer.status, answer.read().decode()


def chat(model, **more):
    connection = connect()
    status, text = ask(connection, model, **more)
    connection.close()
    return status, text


def metric(name):
    connection = http.client.HTTPConnection("127.0.0.1", metrics_port, timeout=20 * SLOW)
    connection.request("GET", "/metrics")
    text = connection.getresponse().read().decode()
    connection.close()
    match = re.search(rf"^{re.escape(name)} (\S+)$", text, re.M)
    return float(match.group(1)) if match else None


write(document(["chat", "drips"]))
gateway = subprocess.Popen(
    [f"{BIN}/renga-llm-gateway", "--rpc.listen=127.0.0.1:0", "--http.listen=127.0.0.1:0", "--loops=3", "--log.format=json",
     "--llm_gateway.http.listen=127.0.0.1:0", f"--llm_gateway.routes={path}"], stderr=subprocess.PIPE, text=True)
threading.Thread(target=listen, args=[gateway.stderr], daemon=True).start()
port = int(await_line(r"llm_gateway\.listening.*port (\d+)").group(1))
metrics_port = int(await_line(r'"http\.listening".*?(\d+)"?\}?$').group(1))


@check("a model that was added is served, one that was taken away is not, and the log says what was loaded")
def _():
    lines = reload(document(["chat", "slow"]))
    expect("1 models" not in lines and "2 models through 1 deployments" in lines and KEY not in lines, lines)
    expect(chat("slow")[0] == 200 and chat("chat")[0] == 200, "not served")
    expect(chat("drips")[0] == 404, "still served")
    expect(metric('renga_llm_reloads_total{result="loaded"}') == 1, "not counted")


@check("a wrong document is refused with its line and what would be right, and the old stays")
def _():
    lines = reload(document(["chat", "slow@hear"]), "the routes stay as they were")
    expect(re.search(re.escape(path) + r":\d+:\d+: there is no deployment 'hear'; did you mean 'here'\?", lines), lines)
    expect(chat("slow")[0] == 200, "gone")
    os.remove(path)
    since = len(log)
    gateway.send_signal(signal.SIGHUP)
    await_line(r"llm_gateway\.reload.*the routes stay as they were", since)
    expect(chat("slow")[0] == 200, "gone")
    expect(metric('renga_llm_reloads_total{result="refused"}') == 2, "not counted")


@check("a stream under way ends whole on a deployment that is gone, which is then forgotten")
def _():
    reload(document(["drips@leaving", "chat"], ["here", "leaving"]))
    connection = connect()
    body = {"model": "drips", "stream": True, "messages": [{"role": "user", "content": "hi"}]}
    connection.request("POST", "/v1/chat/completions", json.dumps(body), {"content-type": "application/json"})
    answer = connection.getresponse()
    start = answer.read(1)
    reload(document(["chat"]))
    expect(metric('renga_llm_outstanding{deployment="leaving",model="drips"}') is None, "still shown")
    text = (start + answer.read()).decode()
    expect('"slow"' in text and text.endswith("data: [DONE]\n\n"), text)
    expect(chat("drips")[0] == 404, "still served")


@check("a breaker stays open where the deployment stays, and another key begins anew")
def _():
    circuit = 'renga_llm_circuit{deployment="here",model="broken"}'
    same = document(["chat", "broken"])
    reload(same)
    for _ in range(5):
        expect(chat("broken")[0] == 503, "it answers")
    expect(metric(circuit) == 1, metric(circuit))
    reload(same.replace('"chat"', '"other"'))
    expect(metric(circuit) == 1, "closed by the reload")
    reload(same.replace(KEY, KEY + "0"))
    expect(metric(circuit) == 0, "the old breaker for another key")


@check("what a model has refused to take is not sent to it again after a reload")
def _():
    def asked():
        connection = http.client.HTTPConnection("127.0.0.1", upstream_port, timeout=20 * SLOW)
        connection.request("GET", "/seen/picky")
        return json.loads(connection.getresponse().read())["requests"]
    reload(document(["chat", "picky"]))
    chat("picky", temperature=0.5)
    expect(asked() == 2, asked())  # once more without a temperature
    reload(document(["picky", "chat"]))
    chat("picky", temperature=0.5)
    expect(asked() == 3, asked())


@check("a client's limits change, and what it has used of its minute stays used")
def _():
    reload(document(["chat"], clients={"*": {"requests_per_minute": 4}}))
    expect([chat("chat")[0] for _ in range(5)] == [200] * 4 + [429], "not four a minute")
    reload(document(["chat"], clients={"*": {"requests_per_minute": 6}}))
    expect([chat("chat")[0] for _ in range(3)] == [200] * 2 + [429], "not two more")
    reload(document(["chat"]))
    expect(chat("chat")[0] == 200, "still limited")


@check("a deployment's limits change, and what was used of its minute stays used")
def _():
    reload(document(["chat"], requests_per_minute=3))
    expect([chat("chat")[0] for _ in range(4)] == [200] * 3 + [429], "not three a minute")
    reload(document(["chat"], requests_per_minute=5))
    expect([chat("chat")[0] for _ in range(3)] == [200] * 2 + [429], "not two more")


@check(f"no call fails while the document changes {RELOADS} times under it")
def _():
    errors, ended, stop = [], [0], threading.Event()

    def press(model, stream):
        connection = connect()
        while not stop.is_set():
            status, text = ask(connection, model, stream=stream)
            if status != 200 or (stream and not text.endswith("data: [DONE]\n\n")):
                errors.append(f"{model}: {status} {text[-200:]}")
            ended[0] += 1
        connection.close()

    models = ["chat", "slow", "drips.load", "chat.bounded@bounded"]
    places = ["here", "bounded"]
    one, two = document(models, places, concurrency=2), document(models[::-1], places[::-1], concurrency=3)
    other = document(models + ["slow.more"], ["here", "bounded"], {"*": {"concurrency": 50, "weight": 2}})
    reload(one)
    threads = [threading.Thread(target=press, args=pair) for pair in
               [("chat", False), ("slow", False), ("drips.load", True), ("chat.bounded", True), ("chat.bounded", False)]]
    for thread in threads:
        thread.start()
    for turn in range(RELOADS):
        reload([one, two, other, two.replace(KEY, KEY + "x")][turn % 4])
        time.sleep(0.01)
    stop.set()
    for thread in threads:
        thread.join(60 * SLOW)
    expect(not errors, f"{len(errors)} of {ended[0]}: {errors[:3]}")
    expect(ended[0] > RELOADS, f"only {ended[0]} calls")
    for model in ("chat", "slow", "chat.bounded"):
        for place in places:
            expect(not metric(f'renga_llm_outstanding{{deployment="{place}",model="{model}"}}'), f"{model} is still under way")
    expect(metric("renga_llm_in_flight") == 0, "places were lost")


@check("the gateway ends with nothing left, and no key in its log")
def _():
    gateway.terminate()
    expect(gateway.wait(20 * SLOW) == 0, gateway.returncode)
    text = "".join(log)
    expect(KEY not in text and "ERROR: " not in text and "WARNING: ThreadSanitizer" not in text, text[-3000:])


for process in (gateway, upstream):
    if process.poll() is None:
        process.kill()
finish()
