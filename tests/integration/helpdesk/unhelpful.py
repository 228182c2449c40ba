#!/usr/bin/env python3
"""An answer never gets worse than without a model: the same questions without one, and with models that do not help in
ways of their own, in one process and as five.
    unhelpful.py one|five        RENGA_BIN=<binaries> RENGA_PROTO=<folder of renga_descriptor_set.bin>; one line a check."""
import json
import re
import sys

from suite import Suite, expect, index
from checks import check
from scripted_model import Upstream, serve
import checks

# Each question with the words that answer it; of the last ones nothing in the documents answers.
QUESTIONS = {
    "What is port 9090 used for?": ["Port 9090 is used for monitoring."],
    "What does error E-1024 mean? After how many minutes does a session timeout happen?":
        ["the license server cannot be reached", "after 20 minutes without activity"],
    "バックアップデータの保存期間は何日間ですか。": ["30日間"],
    "How do I export reports?": ["Export as CSV"],
    "How many employees does the XYZ company have in Norway?": None,
    "社員食堂の営業時間は何時からですか。": None,
}
INVENTED = "It was bought by a bank in Geneva for 900 dollars."


def inside(tag, request):
    found = re.findall(f"<{tag}>\n(.*?)\n</{tag}>", request["messages"][-1]["content"] or "", re.S)
    return found[-1] if found else None


class Model(Upstream):
    """Plans the question as it is, searches for its subtask's words, and answers with the words above."""

    def good(self, request):
        stage, choice = super().good(request)
        if stage == "plan":
            choice["message"]["content"] = json.dumps({"subtasks": [inside("question", request)]})
        elif stage == "select":
            choice["message"]["tool_calls"][0]["function"]["arguments"] = json.dumps({"query": inside("subtask", request)})
        elif stage == "answer":
            asked = json.dumps(request["messages"], ensure_ascii=False)
            choice["message"]["content"] = next((" ".join(words) for question, words in QUESTIONS.items() if words and question in asked),
                                                "NOT_FOUND")
        return stage, choice


def at(wanted, change):
    return lambda stage, choice, number: change(choice) if stage == wanted else None


def says(text):
    return lambda choice: choice.update(finish_reason="stop", message={"role": "assistant", "content": text})


def calls(name, arguments):
    def change(choice):
        choice["message"]["tool_calls"][0]["function"] = {"name": name, "arguments": arguments}
    return change


def everywhere(text):
    return lambda stage, choice, number: says(text)(choice)


def judges_badly(stage, choice, number):
    if stage == "reflect":
        says(json.dumps({"advice": "Try again.", "is_completed": False}))(choice)


def both(*faults):
    def fault(stage, choice, number):
        for one in faults:
            one(stage, choice, number)
    return fault


def rewrites(change):
    """The right answer, changed, wherever it is written; an absent one as the model pleases."""
    def fault(stage, choice, number):
        if stage == "answer" and choice["message"]["content"] != "NOT_FOUND":
            choice["message"]["content"] = change(choice["message"]["content"])
    return fault


def asks_back(stage, choice, number):
    """The last answer is the question, which faq.csv has, too; those of the subtasks are right."""
    if stage == "answer" and inside("results", Upstream.asked[-1]):
        says(inside("question", Upstream.asked[-1]))(choice)


def swapped(text):
    for word, other in (("monitoring", "invoicing"), ("reached", "painted"), ("activity", "payment"), ("30日間", "30週間"), ("Export", "Send")):
        text = text.replace(word, other)
    return text


SEARCHES = ("search_documents", json.dumps({"query": "release notes"}))
FAULTS = {
    "plans nothing": at("plan", says('{"subtasks": []}')),
    "plans something else": at("plan", says('{"subtasks": ["Say hello to the moon", "Which colour is a giraffe?"]}')),
    "plans in prose": at("plan", says("I would look it up.")),
    "calls no tool": at("select", says("I would look for it.")),
    "calls no tool and says nothing": at("select", says("")),
    "calls a tool that nobody has": at("select", calls("erase_everything", "{}")),
    "calls with arguments that are no JSON": at("select", calls("search_documents", "{query: port")),
    "calls with arguments that do not fit": at("select", calls("search_documents", '{"limit": "many"}')),
    "searches for something else": both(at("select", calls(*SEARCHES)), at("answer", says("NOT_FOUND\nI looked for it."))),
    "answers with an empty text": at("answer", says("")),
    "answers with spaces": at("answer", says(" \n ")),
    "answers with a sentence of its own": at("answer", says(INVENTED)),
    "swaps a word of each right sentence": rewrites(swapped),
    "writes text from right to left": rewrites(lambda text: "\u202e" + text + "\u2066"),
    "writes a label before each answer": rewrites(lambda text: ("**回答：** " if re.search("[ぁ-ん]", text) else "Answer: ") + text),
    "asks in place of each answer": rewrites(lambda text: "保存期間は30日間ですか。" if "30日間" in text else text[:-1] + "?"),
    "ends with the question in place of what its subtasks found": asks_back,
    "searches for something else and answers with a sentence of its own": both(at("select", calls(*SEARCHES)), at("answer", says(INVENTED))),
    "answers with sources of its own alone": at("answer", says("[1] https://example.org/a\n[2] https://example.org/b")),
    "answers that it knows nothing, without a search": both(at("select", says("No.")), at("answer", says("NOT_FOUND"))),
    "answers right and judges all answers to be wrong": judges_badly,
    "invents and judges all answers to be wrong": both(at("answer", says(INVENTED)), judges_badly),
    "says the same nonsense always": everywhere("Lorem ipsum."),
    "says an empty text always": everywhere(""),
}


def state(result):
    return {"found": result.found, "answer": result.answer, "plan": list(result.plan.subtasks)}


server = serve(Model)
index()
started = Suite.one if sys.argv[1] == "one" else Suite.five
suite = started(Suite())
without = {question: suite.ask(question) for question in QUESTIONS}
suite.stop()
suite = started(Suite(llm_gateway=[f"--llm_gateway.upstream=http://127.0.0.1:{server.server_port}/v1", "--llm_gateway.provider=openai",
                                   "--llm_gateway.key=k", "--llm_gateway.models=m"]))


@check("without a model each question is answered, but those that the documents do not answer")
def _():
    for question, words in QUESTIONS.items():
        answered = without[question].found and all(one in without[question].answer for one in words or ())
        expect(answered == bool(words), f"{question}: {state(without[question])}")


def holds(question, words):
    result = suite.ask(question, timeout=60)
    if not words:
        expect(not result.found and not result.citations, f"{question}: {state(result)}")
        return
    expect(result.found and all(one in result.answer for one in words), f"{question}: {state(result)}")
    expect(INVENTED not in result.answer and result.citations, f"{question}: {state(result)}")
    expect(not re.search("invoicing|Answer:|回答：|\\?|か。|painted|payment|30週間|[\u202a-\u202e\u2066-\u2069]", result.answer), f"{question}: {state(result)}")


@check("a model that behaves answers them too, and nothing else")
def _():
    for question, words in QUESTIONS.items():
        holds(question, words)


for name, fault in FAULTS.items():
    @check(f"a model that {name}: no answer is worse than without it")
    def _(fault=fault):
        Upstream.asked.clear()
        Model.fault = staticmethod(fault)
        try:
            for question, words in QUESTIONS.items():
                holds(question, words)
        finally:
            Model.fault = None
        expect(len(Upstream.asked) <= 40 * len(QUESTIONS), f"{len(Upstream.asked)} calls of the model")
        return f"{len(Upstream.asked)} calls of the model"


suite.stop()
checks.finish()
