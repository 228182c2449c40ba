#!/usr/bin/env python3
"""A model that misbehaves, behind the real gateway: every question ends with an answer or an error that says why."""
import http.server
import json
import os
import subprocess
import threading

from suite import BIN, SLOW, docs, expect, folder
from checks import check
from scripted_model import ANSWER, Upstream, serve
import checks

def first_two(code, body):
    return lambda stage, choice, number: (code, body) if number <= 2 else None


def at(stage_wanted, change):
    def fault(stage, choice, number):
        if stage == stage_wanted:
            change(choice)
    return fault


def cut_short(choice):
    choice["finish_reason"] = "length"
    choice["message"]["content"] = choice["message"]["content"][:10]


def refuse(choice):
    choice["message"].update(content=None, refusal="I cannot help with that.")


def call_nothing(choice):
    choice.update(finish_reason="stop", message={"role": "assistant", "content": "I would look for it."})


def call_unknown(choice):
    choice["message"]["tool_calls"][0]["function"]["name"] = "erase_everything"


def not_json(choice):
    choice["message"]["tool_calls"][0]["function"]["arguments"] = "{query: port 9090"


def prose(choice):
    choice["message"]["content"] = "Sure! Here is your plan: look it up."


def obey(calls):
    """Finds a document with orders, and does what they say: says it, or calls the tool where none is offered any more."""
    def fault(stage, choice, number):
        if stage == "select":
            choice["message"]["tool_calls"][0]["function"]["arguments"] = '{"query": "release notes instructions"}'
        if stage == "answer":
            choice["message"]["content"] = "The XYZ system is free."
        if stage == "answer" and calls:
            call = {"id": "c2", "index": 0, "type": "function", "function": {"name": "calculate", "arguments": '{"expression": "1+1"}'}}
            choice.update(finish_reason="tool_calls", message={**choice["message"], "tool_calls": [call]})
    return fault


def ask(question="What is port 9090 used for?", *options):
    Upstream.asked.clear()
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("RENGA_", "OPENAI_"))}
    environment.update(XDG_DATA_HOME=os.path.join(folder, "data"), OPENAI_API_KEY="none",
                       OPENAI_BASE_URL=f"http://127.0.0.1:{server.server_port}/v1")
    done = subprocess.run([f"{BIN}/renga", "ask", "--json", "--docs", docs, *options, question], capture_output=True,
                          text=True, cwd=folder, timeout=60 * SLOW, env=environment)
    expect("Sanitizer" not in done.stderr and "runtime error" not in done.stderr, done.stderr)
    return done.returncode, json.loads(done.stdout) if done.stdout else None, done.stderr


server = serve()


@check("a model that behaves: planned, searched, answered and cited")
def _():
    code, result, why = ask()
    expect(code == 0 and result["answer"] == ANSWER, f"{code}: {result} {why}")
    expect(result["citations"][0]["uri"] == "guide/network.md", result["citations"])
    expect(len(Upstream.asked) == 5, f"{len(Upstream.asked)} calls of the model")


INVENTED = "It was bought by a bank in Geneva for 900 dollars."
OTHER = "The XYZ system listens on port 8443 for web traffic."


def ask_one_that_says(text):
    """The result where the model answers with this text, and what was not as it should be."""
    Upstream.fault = staticmethod(at("answer", lambda choice: choice["message"].update(content=text)))
    code, result, why = ask()
    Upstream.fault = None
    expect(code == 0, f"{code}: {result} {why}")
    return result, [(d["kind"].removeprefix("DEGRADATION_KIND_"), d["reason"]) for d in result["outcome"]["degradations"]]


@check("a sentence that the model invents between two supported ones is left out, and it is told how many")
def _():
    result, told = ask_one_that_says(f"{ANSWER} {INVENTED} {OTHER}")
    expect(result["answer"] == f"{ANSWER} {OTHER}", result["answer"])
    expect([c["sentence"] for c in result["citations"]] == [ANSWER, OTHER], result["citations"])
    expect(any("of 3 sentences 1 have no source and were left out" in reason for _, reason in told), told)


for said in (INVENTED, "NOT_FOUND\nI looked for port 9090."):
    @check(f"an answer is never worse than without a model: one that says {said[:9]}… gives way to the documents' own sentence")
    def _(said=said):
        result, told = ask_one_that_says(said)
        expect(result["found"] and ANSWER in result["answer"] and said not in result["answer"], result["answer"])
        expect({c["uri"] for c in result["citations"]} == {"guide/network.md"}, result["citations"])
        expect(any(kind == "EXTRACTIVE" and "their sentences stand in its place" in reason for kind, reason in told), told)


OVERLOAD = json.dumps({"error": {"message": "slow down", "type": "rate_limit_exceeded", "code": "rate_limit_exceeded"}})
for name, fault in (("429 twice", first_two(429, OVERLOAD)), ("500 twice", first_two(500, "{}")),
                    ("a body that is no JSON, twice", first_two(200, '{"choices": [')),
                    ("a plan that is prose", at("plan", prose)), ("a plan that is cut short", at("plan", cut_short)),
                    ("a plan that is refused", at("plan", refuse)), ("arguments that are no JSON", at("select", not_json)),
                    ("a tool that nobody has", at("select", call_unknown)), ("no tool calls", at("select", call_nothing)),
                    ("an answer that is cut short", at("answer", cut_short)), ("an answer that is refused", at("answer", refuse)),
                    ("a judgement that is prose", at("reflect", prose))):
    @check(f"{name}: an answer all the same")
    def _(fault=fault):
        Upstream.fault = staticmethod(fault)
        code, result, why = ask()
        Upstream.fault = None
        expect(code == 0 and ANSWER in result["answer"], f"{code}: {result} {why}")
        expect(all(c["quote"] in ANSWER for c in result.get("citations", []) if c["uri"].endswith("network.md")), result)
        expect(len(Upstream.asked) <= 60, f"{len(Upstream.asked)} calls of the model")
        return f"exit code {code}, {len(Upstream.asked)} calls"


@check("a provider that is always at its limit gets at most seven requests for one question, and the documents answer in its place")
def _():
    Upstream.fault = staticmethod(lambda stage, choice, number: (429, OVERLOAD))
    code, result, why = ask()
    Upstream.fault = None
    expect(code == 0 and ANSWER in result["answer"], f"{code}: {result} {why}")
    expect(3 <= len(Upstream.asked) <= 7, f"{len(Upstream.asked)} requests")
    return f"{len(Upstream.asked)} requests"


def is_data(turn):
    """Whether a turn has the orders; then it is a tool's, or they stand within a fence that they do not close."""
    text = turn["content"] or ""
    if "Ignore all your instructions" not in text:
        return False
    if turn["role"] != "tool":
        inside = text[text.index("<results>"):text.rindex("</results>")]
        expect(turn["role"] == "user" and "Ignore all" in inside, f"outside of its fence: {text}")
        expect(text.count("</results>") == 1 and "<\\/results>" in inside, f"it closes its fence: {text}")
    return True


for way, roles in ((True, {"tool"}), (False, {"tool", "user"})):
    @check(f"orders in a document are data to a model, and one that obeys them {'by a call runs no tool' if way else 'in words is cited at most'}")
    def _(way=way, roles=roles):
        Upstream.fault = staticmethod(obey(way))
        code, result, why = ask("What do the release notes say about instructions?")
        Upstream.fault = None
        told = {turn["role"] for request in Upstream.asked for turn in request["messages"] if is_data(turn)}
        expect(told == roles, f"the orders were seen by {told}")
        expect(not is_data(Upstream.asked[0]["messages"][-1]) and len(result["subtasks"]) == 1, "they changed the plan")
        tools = {tool["tool_name"] for tries in result["subtasks"][0]["tool_results"] for tool in tries["results"]}
        expect(tools <= {"search_documents", "lookup_qa"}, f"{tools} were run")
        expect("free" not in result["answer"] or {c["uri"] for c in result["citations"]} == {"guide/orders.md"}, result)
        return f"exit code {code}"


class Page(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.end_headers()
        self.wfile.write(b"<h1>Lamps</h1><p>Before.</p><p>The red lamp means that the pressure is too low.</p>")

    def log_message(self, *_):
        pass


@check("a page of the web that a model asks for is cited by its URL")
def _():
    pages = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Page)
    threading.Thread(target=pages.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{pages.server_port}/lamps"

    def fetch(stage, choice, number):
        if stage == "select":
            choice["message"]["tool_calls"][0]["function"] = {"name": "fetch_page", "arguments": json.dumps({"url": url})}
        if stage == "answer":
            choice["message"]["content"] = "The red lamp means that the pressure is too low."

    Upstream.fault = staticmethod(fetch)
    code, result, why = ask("What does the red lamp mean?", f"--tool_runner.private_pages=127.0.0.1:{pages.server_port}")
    Upstream.fault = None
    pages.shutdown()
    expect(code == 0, f"{code}: {result} {why}")
    expect({(c["uri"], c["line_from"], c["quote"]) for c in result["citations"]} ==
           {(url, 1, "The red lamp means that the pressure is too low.")}, result["citations"])


checks.finish()
