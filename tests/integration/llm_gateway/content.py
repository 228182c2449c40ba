#!/usr/bin/env python3
"""Whether what people write stays out of logs, traces, metrics and accounts, and where the operator wants it, gets in.
RENGA_BIN=<folder of renga-llm-gateway> content.py; one line a check, exit 1 when one fails."""
import contextlib
import glob
import http.client
import json
import os
import re
import subprocess
import sys
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, f"{HERE}/../../lib")
from checks import check, expect, finish, watch  # noqa: E402
from web import Handler, completion, serve  # noqa: E402

BIN = os.environ["RENGA_BIN"]
SLOW = 5 if os.environ.get("RENGA_SANITIZE") else 1
KEY, ASKED, ANSWERED = "sk-secret-0123456789abcdef", "frogjumps", "PONDSPLASH"


class Model(Handler):
    """Says what its name tells it to."""

    def do_POST(self):
        request = self.asked()
        model, usage = request["model"], {"prompt_tokens": 3, "completion_tokens": 4}
        call = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": json.dumps({"a": ANSWERED})}}
        message = {"role": "assistant", "content": f"{ANSWERED} 池", "refusal": None}
        if model == "fails":
            return self.reply({"error": {"message": "no", "type": "server_error"}}, 500)
        if model == "calls":
            message = {"role": "assistant", "content": None, "tool_calls": [call]}
        if model == "embeds":
            return self.reply({"data": [{"index": 0, "embedding": [1]}], "usage": usage})
        if model == "garbles":
            return self.reply(f'{{"choices": [{ANSWERED}'.encode())
        if not request.get("stream"):
            return self.reply(completion(message, "stop", usage))
        chunks = [{"choices": [{"index": 0, "delta": {"content": part}}]} for part in (ANSWERED[:4], ANSWERED[4:])]
        if model != "cuts":
            chunks.append({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
        events = "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks) + ("data: [DONE]\n\n" if model != "cuts" else "")
        return self.reply(events.encode(), kind="text/event-stream")


class Collector(Handler):
    bodies = []

    def do_POST(self):
        self.bodies.append(self.asked())
        self.reply({})


MODEL, COLLECTOR = serve(Model).server_port, serve(Collector).server_port


@contextlib.contextmanager
def gateway(*flags):
    """Gives what the run leaves behind, once it has ended: {"log": …, "traces": …, "metrics": …, "accounts": …}."""
    with tempfile.TemporaryDirectory() as folder:
        Collector.bodies.clear()
        process = subprocess.Popen(
            [f"{BIN}/renga-llm-gateway", "--rpc.listen=127.0.0.1:0", "--http.listen=127.0.0.1:0", "--log.format=json",
             "--log.level=debug", "--llm_gateway.http.listen=127.0.0.1:0", f"--llm_gateway.upstream=http://127.0.0.1:{MODEL}/v1",
             f"--llm_gateway.key={KEY}", "--llm_gateway.models=says,calls,fails,garbles,cuts,embeds", "--llm_gateway.attempts=1",
             "--llm_gateway.breaker=off", f"--llm_gateway.ledger={folder}/ledger", f"--trace.endpoint=http://127.0.0.1:{COLLECTOR}",
             *flags], stderr=subprocess.PIPE, text=True)
        lines, ports = [], {}
        watch("the gateway", lines, process)
        reader = threading.Thread(target=lambda: lines.extend(process.stderr))
        reader.start()
        for _ in range(400 * SLOW):
            text = "".join(lines)
            ports = {name: re.search(rf"{name}\.listening.*?port (\d+)", text) for name in ("llm_gateway", "http")}
            if all(ports.values()):
                break
            time.sleep(0.01)
        left = {}
        try:
            yield {name: int(match.group(1)) for name, match in ports.items()}, left
            left["metrics"] = get(int(ports["http"].group(1)), "/metrics")
        finally:
            process.terminate()
            process.wait(20 * SLOW)
            reader.join()
        left["log"] = "".join(lines)
        left["traces"] = json.dumps(Collector.bodies, ensure_ascii=False)
        left["accounts"] = "".join(open(path, "rb").read().decode("latin-1") for path in glob.glob(f"{folder}/ledger*"))


def get(port, path):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20 * SLOW)
    connection.request("GET", path)
    text = connection.getresponse().read().decode()
    connection.close()
    return text


def post(port, path, **body):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20 * SLOW)
    connection.request("POST", path, json.dumps(body), {"content-type": "application/json"})
    text = connection.getresponse().read().decode()
    connection.close()
    return text


def ask_everything(port):
    messages = [{"role": "system", "content": f"rule {ASKED}"}, {"role": "user", "content": f"{ASKED}?"},
                {"role": "assistant", "tool_calls": [{"id": "t1", "type": "function", "function":
                                                      {"name": "f", "arguments": json.dumps({"q": ASKED})}}]},
                {"role": "tool", "tool_call_id": "t1", "content": f"result {ASKED}"}]
    schema = {"type": "json_schema", "json_schema": {"name": "n", "strict": True, "schema": {
        "type": "object", "properties": {}, "required": [], "additionalProperties": False}}}
    for model in ("says", "calls", "fails", "garbles", "cuts", "nothing-" + "such"):
        for stream in (False, True):
            post(port, "/v1/chat/completions", model=model, messages=messages, stream=stream)
    post(port, "/v1/chat/completions", model="says", messages=messages, response_format=schema)
    post(port, "/v1/chat/completions", model="says", messages=messages, nonsense=ASKED)
    post(port, "/v1/embeddings", model="embeds", input=[ASKED])


@check("without the option nothing that was asked or answered is seen anywhere, and the key never")
def _():
    with gateway() as (ports, left):
        ask_everything(ports["llm_gateway"])
    for place, text in left.items():
        expect(len(text) > 100, f"{place} is empty")
        for marker in (ASKED, ANSWERED, KEY, KEY[4:]):
            at = text.find(marker)
            expect(at < 0, f"{marker} in the {place}: …{text[max(0, at - 300):at + 100]}…")
    expect("llm_gateway.answered" not in left["log"] and "chat says" in left["traces"], "the run is not as it should be")


def attributes(left):
    spans = [span for body in json.loads(left["traces"]) for resource in body["resourceSpans"]
             for scope in resource["scopeSpans"] for span in scope["spans"]]
    found = [{a["key"]: a["value"].get("stringValue") for a in span["attributes"]} for span in spans if span["name"].startswith("chat ")]
    return [one for one in found if "gen_ai.input.messages" in one]


@check("with the option logs and traces have it, metrics and accounts do not, and the key is nowhere")
def _():
    with gateway("--llm_gateway.log_content=true") as (ports, left):
        ask_everything(ports["llm_gateway"])
    for place, text in left.items():
        expect(KEY not in text, f"the key is in the {place}")
    for place in ("metrics", "accounts"):
        expect(ASKED not in left[place] and ANSWERED not in left[place], f"content in the {place}")
    expect(re.search(f"llm_gateway.asked.*{ASKED}", left["log"]), "not asked in the log")
    expect(re.search(f"llm_gateway.answered.*{ANSWERED}", left["log"]), "not answered in the log")
    spans = attributes(left)
    expect(len(spans) >= 10, f"{len(spans)} spans")
    asked = json.loads(spans[0]["gen_ai.input.messages"])
    expect([message["role"] for message in asked] == ["system", "user", "assistant", "tool"], asked)
    expect(asked[1]["parts"] == [{"type": "text", "content": f"{ASKED}?"}], asked)
    expect(asked[2]["parts"] == [{"type": "tool_call", "id": "t1", "name": "f", "arguments": json.dumps({"q": ASKED})}], asked)
    expect(asked[3]["parts"] == [{"type": "tool_call_response", "id": "t1", "result": f"result {ASKED}"}], asked)
    answers = [json.loads(one["gen_ai.output.messages"])[0] for one in spans if "gen_ai.output.messages" in one]
    whole = {"role": "assistant", "parts": [{"type": "text", "content": f"{ANSWERED} 池"}], "finish_reason": "stop"}
    pieces = {"role": "assistant", "parts": [{"type": "text", "content": ANSWERED}], "finish_reason": "stop"}
    cut = {"role": "assistant", "parts": [{"type": "text", "content": ANSWERED}]}
    expect(whole in answers and pieces in answers and cut in answers, answers)
    expect(any(part["type"] == "tool_call" and ANSWERED in part["arguments"] for one in answers for part in one["parts"]), answers)


@check("what is shown is short, whatever was said: the newest of it")
def _():
    many = [{"role": "user", "content": f"old {i} " + "\"池\"\n" * 1000} for i in range(300)]
    with gateway("--llm_gateway.log_content=true") as (ports, left):
        post(ports["llm_gateway"], "/v1/chat/completions", model="says", messages=many + [{"role": "user", "content": "newest"}])
    expect(max(len(line.encode()) for line in left["log"].splitlines()) <= 4096, "a line of the log is too long")
    shown = json.loads(attributes(left)[0]["gen_ai.input.messages"])
    expect(shown[-1]["parts"][0]["content"] == "newest", shown[-1])
    expect(sum(len(part["content"].encode()) for message in shown for part in message["parts"]) <= 8192, "more than 8 KiB")


finish()
