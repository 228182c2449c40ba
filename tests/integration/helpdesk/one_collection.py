#!/usr/bin/env python3
"""A question that is asked of one collection is answered from that one alone, and each row is cited once; without a model
and with one.
    RENGA_BIN=<binaries>; one line a check."""
import json
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "lib"))
from checks import check, expect, finish  # noqa: E402
from web import Handler, completion, serve  # noqa: E402

BIN = os.environ["RENGA_BIN"]
SLOW = 5 if os.environ.get("RENGA_SANITIZE") else 1  # sanitizers take their time
QUESTION = "How do I reset the turbine?"
ANSWERS = {"red": "Press the red button of the turbine for five seconds.", "blue": "Turn the blue key of the turbine twice."}
kept = tempfile.TemporaryDirectory(prefix="renga-collections-")
folder = kept.name


class Model(Handler):
    """Chooses lookup_qa where it may, and says little else."""
    requests = []

    def do_POST(self):
        request = self.asked()
        Model.requests.append(request)
        answer = {"role": "assistant", "content": ANSWERS["red"]}
        if request.get("tools") and request["messages"][-1]["role"] != "tool":
            answer = {"role": "assistant", "content": None, "tool_calls": [
                {"id": "1", "type": "function", "function": {"name": "lookup_qa", "arguments": json.dumps({"query": QUESTION})}}]}
        self.reply(completion(answer))


upstream = serve(Model)


def renga(*arguments, model=False):
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("RENGA_", "OPENAI_", "ANTHROPIC_"))}
    if model:
        environment |= {"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": f"http://127.0.0.1:{upstream.server_port}/v1", "OPENAI_MODEL": "m"}
    done = subprocess.run([f"{BIN}/renga", arguments[0], f"--tool_runner.store={folder}/knowledge.db", *arguments[1:]], capture_output=True,
                          text=True, timeout=60 * SLOW, cwd=folder, env=environment)
    expect(done.returncode == 0 or model, f"{done.returncode}: {done.stdout}{done.stderr}")
    return done.stdout


def offered(*arguments):
    """The tools that the model may choose from, and all that it was told."""
    Model.requests.clear()
    renga("ask", "--tool_runner.pages=*", *arguments, QUESTION, model=True)
    names = {tool["function"]["name"] for request in Model.requests for tool in request.get("tools", [])}
    return names, json.dumps(Model.requests)


for name, text in ANSWERS.items():
    os.makedirs(f"{folder}/{name}")
    with open(f"{folder}/{name}/qa.csv", "w") as file:
        file.write(f'question,answer\n"{QUESTION}","{text}"\n')
    renga("index", f"--collection={name}", f"{folder}/{name}")


@check("without a model, every tool looks in the collection that was named, and nowhere else")
def _():
    text = renga("ask", "--json", "--collection=red", QUESTION)
    expect("red button" in text and "blue" not in text, text)


@check("a row that two tools have found stands in the answer once, and is cited once")
def _():
    answer = json.loads(renga("ask", "--json", "--collection=red", QUESTION))
    expect(answer["answer"] == ANSWERS["red"], answer["answer"])
    expect(len(answer["citations"]) == 1, answer["citations"])
    told = renga("ask", "--collection=red", QUESTION)
    expect(told.count("qa.csv:2") == 1, told)


@check("without a collection both are found, each once")
def _():
    answer = json.loads(renga("ask", "--json", QUESTION))["answer"]
    expect([answer.count(text) for text in ANSWERS.values()] == [1, 1], answer)


@check("a model that calls lookup_qa is told of the collection that was named alone")
def _():
    _, told = offered("--collection=red")
    expect("red button" in told and "blue key" not in told, told[-2000:])


@check("a tool that cannot be held to a collection is offered only where none is named")
def _():
    names, _ = offered("--collection=red")
    expect({"search_documents", "lookup_qa", "calculate"} <= names and "fetch_page" not in names, names)
    names, _ = offered()
    expect("fetch_page" in names, names)


finish()
