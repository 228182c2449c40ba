"""A model of OpenAI's protocol that plans what a test says and writes with sentences of what it is given, and an invented one.

    question = plan("moon", ["moon distance"], ["moon age"])   # the queries of two cycles; then no more
    suite = Suite(llm_gateway=GATEWAY).one()
    call(suite.channel, "DeepResearch", "Research", "DeepResearchResponse")(message("DeepResearchRequest")(question=question))
"""
import json
import re
import threading

from contract import message
from web import Handler, completion, serve

QUESTION = "When do night backups run, what does error E-1024 mean, and when does a session time out?"


class Model(Handler):
    """Plans what the test says, a list for each cycle of a run; summarises and writes with sentences of what it is given."""
    plans, held, seen, lock = {}, {}, [], threading.Lock()

    def do_POST(self):
        asked = self.asked()
        text = "\n".join(turn["content"] or "" for turn in asked["messages"])
        kind = "plan" if "queries" in json.dumps(asked.get("response_format", {})) else "report" if "<notes>" in text else "summary"
        with Model.lock:
            Model.seen.append((kind, text))
            plan = next((rounds.pop(0) if rounds else [] for key, rounds in Model.plans.items() if kind == "plan" and key in text), [])
        gate = Model.held.get(kind)
        if gate:
            gate.wait(30)
        self.reply(completion({"role": "assistant", "content": getattr(self, kind)(text) if kind != "plan" else json.dumps(
            {"queries": plan, "gaps": [], "reasoning": "as the test says"})}))

    @staticmethod
    def within(text, tag):
        return json.loads(text.split(f"<{tag}>\n")[-1].split(f"\n</{tag}>")[0])

    def summary(self, text):
        return "\n".join(one["text"] for one in self.within(text, "results")[:2])

    def report(self, text):
        notes = self.within(text, "notes")
        return "\n\n".join(f"## {note['query']}\n\n{note['summary']}" for note in notes) + "\n\nThe moon is made of green cheese [1].\n\n## Sources\n\n1. https://invented.example\n"


GATEWAY = [f"--llm_gateway.upstream=http://127.0.0.1:{serve(Model).server_port}/v1", "--llm_gateway.provider=openai",
           "--llm_gateway.key=k", "--llm_gateway.models=scripted"]


def call(channel, service, method, reply, stream=False):
    make = channel.unary_stream if stream else channel.unary_unary
    return make(f"/renga.v1.{service}/{method}", request_serializer=lambda m: m.SerializeToString(), response_deserializer=message(reply).FromString)


def plan(marker, *rounds):
    """A question that the model plans so."""
    Model.plans[f"({marker})"] = [list(one) for one in rounds]
    return f"{QUESTION} ({marker})"


def says(report, sentence):
    """Whether the sentence stands there, whatever numbers it has."""
    return sentence in re.sub(r" ?\[\d+\]", "", report)
