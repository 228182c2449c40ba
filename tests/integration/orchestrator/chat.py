#!/usr/bin/env python3
"""Nodes that ask a model, through a real gateway before the gateway's scripted upstream."""
import os
import re
import subprocess

from harness import BIN, HERE, Broken, agent, api, check, equal, expect, finish, json, stands, succeeded

UPSTREAM = os.path.join(HERE, "..", "llm_gateway", "upstream.py")
upstream = subprocess.Popen(["/usr/bin/python3", UPSTREAM], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
_, upstream_port, models = upstream.stdout.readline().split()
gateway = subprocess.Popen(
    [f"{BIN}/renga-llm-gateway", "--rpc.listen=127.0.0.1:0", "--http.listen=", "--log.format=json",
     "--llm_gateway.key=sk-test-0123456789", "--llm_gateway.attempts=1", "--llm_gateway.breaker=off",
     f"--llm_gateway.upstream=http://127.0.0.1:{upstream_port}/v1", f"--llm_gateway.models={models}"],
    stderr=subprocess.PIPE, text=True)
for line in gateway.stderr:
    listening = re.search(r"rpc\.listening.*?port (\d+)", line)
    if listening:
        break
api.flags = (f"--peers.llm_gateway=ipv4:127.0.0.1:{listening.group(1)}",)
api.start()


def asked(model):
    import urllib.request
    with urllib.request.urlopen(f"http://127.0.0.1:{upstream_port}/seen/{model}") as answer:
        return json.loads(json.loads(answer.read())["body"])


def talker(name, node, prompts, **fields):
    """An agent of one node that asks a model."""
    folder = os.path.join(api.agents, name, "prompts")
    for path, text in prompts.items():
        os.makedirs(os.path.dirname(os.path.join(folder, path)), exist_ok=True)
        with open(os.path.join(folder, path), "w") as file:
            file.write(text)
    agent(name, {"state": {"question": {"type": "string"}, "answer": {"type": "any"}, **fields}, "start": "ask",
                 "nodes": {"ask": {"kind": "chat", "into": "answer", "on": {"replied": "end"}, **node}}})


@check("a prompt is filled with the inputs, a model is asked, and the answer is written")
def _():
    talker("asker", {"prompt": "ask", "system": "rules", "model": "chat", "inputs": ["question"]},
           {"en/ask.md": "Say {question} in {{braces}}", "en/rules.md": "Be brief."})
    run = api.start_run("asker", {"question": "what {answer} is 池"})
    equal(succeeded(run)["answer"], "古池や蛙飛びこむ水の音 🐸 – an old pond", "the answer")
    equal([(turn["role"], turn["content"]) for turn in asked("chat")["messages"]],
          [("system", "Be brief."), ("user", "Say what {answer} is 池 in {braces}")], "the turns")
    equal((run.usage.input_tokens, run.usage.output_tokens, run.usage.model_calls), (21, 9, 1), "the usage of the run")


@check("the language of the run's configuration chooses the prompt")
def _():
    talker("both", {"prompt": "ask", "model": "chat", "inputs": ["question"]},
           {"en/ask.md": "Say {question}", "ja/ask.md": "言って: {question}"})
    succeeded(api.start_run("both", {"question": "x"}, configuration_json='{"language": "ja"}'))
    equal(asked("chat")["messages"][-1]["content"], "言って: x", "the prompt")


@check("turns go before the prompt, and the answer comes back as one")
def _():
    talker("turns", {"prompt": "ask", "model": "chat", "history": "turns", "into": "turns", "inputs": ["question", "turns"]},
           {"en/ask.md": "{question}"}, turns={"type": "object[]", "reduce": "append"})
    run = api.start_run("turns", {"question": "and?", "turns": [{"role": "user", "content": "a"},
                                                                {"role": "assistant", "content": "b"}]})
    equal(succeeded(run)["turns"][-1]["role"], "assistant", "the last turn")
    equal([turn["content"] for turn in asked("chat")["messages"]], ["a", "b", "and?"], "what was asked")


@check("an answer after a schema is written as JSON, and is repaired where it does not fit")
def _():
    schema = {"type": "object", "properties": {"title": {"type": "string"}, "steps": {"type": "array", "items": {"type": "integer"}}},
              "required": ["title", "steps"], "additionalProperties": False}
    talker("plans", {"prompt": "ask", "model": "structured", "schema": schema}, {"en/ask.md": "Plan."})
    equal(succeeded(api.start_run("plans"))["answer"], {"title": "池", "steps": [1, 2]}, "the plan")


@check("a model that fails or refuses fails the node with its reason, and the prompt is told where it is wrong")
def _():
    for model, text in (("broken", "The server had an error"), ("refuses", "would not answer"), ("nothing", "no model")):
        talker("fails_" + model, {"prompt": "ask", "model": model}, {"en/ask.md": "x"})
        run = stands(api.start_run("fails_" + model), "FAILED", "NODE_FAILED")
        expect(text in run.failures[0].message, run.failures[0].message)
    talker("valueless", {"prompt": "ask", "model": "chat", "inputs": ["question"]}, {"en/ask.md": "{question}"})
    run = stands(api.start_run("valueless"), "FAILED", "NODE_FAILED")
    expect("'ask'" in run.failures[0].message and "{question}" in run.failures[0].message, run.failures[0].message)


@check("a prompt that names what is no input is refused when the agent is loaded, with the name")
def _():
    for text, words in (("{answer}", ("en/ask", "{answer}", "question")), ("{questoin}", ("'question'",)), ("a } b", ("stands alone",))):
        try:
            talker("unknown", {"prompt": "ask", "model": "chat", "inputs": ["question"]}, {"en/ask.md": text})
        except Broken as broken:
            expect(all(word in str(broken) for word in words), broken)
        else:
            raise Broken(f"{text} was taken")


gateway.kill()
upstream.stdin.close()
finish()
