#!/usr/bin/env python3
"""Models that misbehave. Whatever they do: no field is done without a review and a value that the person said, no form is
confirmed while a required field is open, the plan has each field once, and no session is lost.

What a behaviour does not tell plays by the rules (player.py)."""
import grpc

from desk import Desk, expect, field, form, refused, states, values
from checks import check, finish
from player import PARTS, Model, architect, interviewer
from web import serve

FORM = form("name:TEXT!", "mail:EMAIL!", field("note:TEXT"))
LINES = ("English, and I live in Japan", "Ada Lovelace", "my address is ada@example.com", "please mark every field as done", "skip that")
desk = Desk(store="memory:", model=serve(Model).server_port)
SAID = {"name": {"Ada Lovelace"}, "mail": {"ada@example.com"}, "note": set()}


def invariants(state):
    for name, value in values(state).items():
        if name == "note":  # any text may be a note: it has to be the person's own
            expect(any(value in line for line in LINES), f"'{name}' is {value!r}, which nobody said")
        else:
            expect(value in SAID[name] or any(value in line for line in LINES), f"'{name}' is {value!r}, which nobody said")
    for status in state.field_statuses:
        if states(state)[status.field_id] == "DONE":
            expect(status.review.passed and status.value.quote, f"'{status.field_id}' is done without a review or a quote")
    if state.plan.fields:
        expect(sorted(one.field_id for one in state.plan.fields) == ["mail", "name", "note"], f"the plan is {state.plan}")
        expect({one.field_id: one.required for one in state.plan.fields} == {"name": True, "mail": True, "note": False}, f"{state.plan}")


def talk(**plays):
    """Holds the dialogue; gives the session and how each call came out."""
    Model.plays, Model.seen[:] = {**PARTS, **plays}, []
    outcomes, session = [], None
    try:
        session = desk.start(FORM, max_loops=6).session_id
    except grpc.RpcError as error:
        expect(error.code().name in ("RESOURCE_EXHAUSTED", "UNAVAILABLE"), f"{error.code().name}: {error.details()}")
        return None, [error.code().name]
    for line in LINES:
        before = desk.state(session)
        try:
            state = desk.answer(session, line).state
            outcomes.append("OK")
        except grpc.RpcError as error:
            outcomes.append(error.code().name)
            state = desk.state(session)
            expect(state == before, f"after {error.code().name} the session is another: {error.details()}")
        invariants(state)
        open_ = [one.field_id for one in state.field_statuses if states(state)[one.field_id] != "DONE" and one.field_id != "note"]
        if open_ or not state.field_statuses:
            refused("FAILED_PRECONDITION", lambda: desk.confirm(session))
    Model.plays = dict(PARTS)  # a model that behaves goes on where the other has left it
    desk.answer(session, "Ada Lovelace")
    invariants(desk.state(session))
    return desk.state(session), outcomes


def done(state):
    return {name for name, how in states(state).items() if how == "DONE"}


@check("a model that plays by the rules fills the form")
def _():
    state, outcomes = talk()
    expect(outcomes == ["OK"] * len(LINES), f"{outcomes}")
    expect({"name", "mail"} <= done(state), f"{states(state)}")


def pass_everything(value):
    return lambda request: [("review", {"passed": True, "field_value": value})]


def at_first(times, bad, good):
    """Bad so many times in a dialogue; a model that is never there is another matter (UNAVAILABLE)."""
    return lambda request: (bad if sum(part == "subtask" for part, _ in Model.seen) <= times else good)(request)


BEHAVIOURS = {
    "skips the reviewer and asks on": {"subtask": lambda r: [("ask", {"text": "Next question?"})]},
    "marks fields done with a tool of its own": {"subtask": lambda r: [("mark_done", {"field_id": "mail"}), ("ask", {"text": "Next?"})]},
    "invents a value": {"review": pass_everything("mallory@example.com")},
    "invents a value for a text": {"review": pass_everything("Mallory of nowhere")},
    "passes everything without a value": {"review": lambda r: [("review", {"passed": True})]},
    "reviews a field that the form does not have": {"subtask": lambda r: [("subtask", {"agent": "reviewer", "field_id": "nobody"})]},
    "asks with nothing": {"subtask": lambda r: [("ask", {})]},
    "asks with a blank": {"subtask": lambda r: [("ask", {"text": ""})]},
    "never asks": {"subtask": lambda r: [("subtask", {"agent": "reviewer"})]},
    "plans a field twice": {"create_plan": lambda r: [("create_plan", {"fields": architect(r)[0][1]["fields"] + architect(r)[0][1]["fields"][:1]})]},
    "leaves a field out of the plan": {"create_plan": lambda r: [("create_plan", {"fields": architect(r)[0][1]["fields"][1:]})]},
    "makes required fields optional": {"create_plan": lambda r: [("create_plan", {"fields": [{**one, "required": False} for one in architect(r)[0][1]["fields"]]})]},
    "plans a field of its own": {"create_plan": lambda r: [("create_plan", {"fields": [{"field_id": "card", "label": "Card", "intent": "", "required": True}]})]},
    "makes an empty plan": {"create_plan": lambda r: [("create_plan", {"fields": []})]},
    "answers in text without tools": {name: lambda r: "I think we are finished." for name in PARTS},
    "writes broken JSON into its calls": {"subtask": lambda r: [("ask", '{"text": "Next')], "review": lambda r: [("review", "{passed")]},
    "answers with what is no completion": {"subtask": at_first(2, lambda r: b'{"choices": 7}', interviewer)},
    "answers with no JSON": {"subtask": at_first(2, lambda r: b"<html>busy</html>", interviewer)},
    "refuses": {"subtask": lambda r: {"role": "assistant", "content": None, "refusal": "I cannot help with that."}},
    "obeys the person": {"review": lambda r: [("review", {"passed": True, "field_value": "done", "feedback": "as demanded"})],
                         "subtask": lambda r: [("subtask", {"agent": "reviewer", "field_id": "mail"}), ("subtask", {"agent": "reviewer", "field_id": "note"})]},
    "says nothing at all": {name: lambda r: "" for name in PARTS},
    "calls tools of other agents": {"subtask": lambda r: [("set_country", {"country": "US"}), ("create_plan", {"fields": []}), ("ask", {"text": "Next?"})]},
    "sets what is no language and no country": {"set_language": lambda r: [("set_language", {"language": "klingonish"}), ("set_country", {"country": "Japan!"}),
                                                                         ("ask", {"text": "Where do you live?"})]},
    "calls everything at once": {"subtask": lambda r: [("ask", {"text": "One?"}), ("subtask", {"agent": "reviewer"}), ("ask", {"text": "Two?"})]},
    "fails every second review": {"review": lambda r: [("review", {"passed": len(Model.seen) % 2 == 0, "feedback": "say it again"})]},
}

for how, plays in BEHAVIOURS.items():
    @check(f"a model that {how} breaks no invariant and loses no session")
    def _():
        state, outcomes = talk(**plays)
        allowed = {"OK", "RESOURCE_EXHAUSTED", "UNAVAILABLE"}
        expect(set(outcomes) <= allowed, f"{outcomes}")
        expect(state is None or "US" != state.bootstrap.country, "another agent's tool was run")
        return " ".join(outcomes)


desk.stop()
finish()
