#!/usr/bin/env python3
"""Sixty dialogues without a model and with a scripted one: the form's values at the end, and the number of questions.

Each file of dialogues/LANGUAGE has the fields of its form, what the person says, and the values that must be there.
No value may ever be wrong: one that was not understood is asked for again."""
import datetime
import glob
import json
import os

from desk import Desk, expect, states, values
from form import booking
from checks import check, finish
from player import PARTS, Model, architect, field_reviewed, field_shown, interviewer
from web import serve

HERE = os.path.dirname(os.path.abspath(__file__))


def wanted(value):
    """A day may be told by its distance from today in Tokyo, or by the weekday of next week."""
    today = (datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(hours=9)).date()
    if isinstance(value, dict) and "days" in value:
        return [(today + datetime.timedelta(days=value["days"])).isoformat()]
    if isinstance(value, dict):  # "next Friday": that of the coming week, for some speakers the very next one
        ahead = (value["weekday"] - today.weekday() - 1) % 7 + 1
        return [(today + datetime.timedelta(days=ahead + more)).isoformat() for more in (0, 7)]
    return [value]


# ---- the scripted model: it reads the dialogue's values, and some of its answers are wrong on purpose ----------------

LIES = {"name": "Mallory", "mail": "mallory@example.com", "phone": "+81300000000", "age": "7", "day": "1999-01-01", "time": "03:33",
        "room": "penthouse", "meals": '["supper"]', "parking": "maybe", "plate": "ZZZ 999", "note": "a note that nobody has written"}
script = {"good": {}, "turns": {}, "prompts": 0, "wrong": 0}


def turn_of(agent):
    """Turns of an agent count over all dialogues."""
    script["turns"][agent] = script["turns"].get(agent, 0) + 1
    script["prompts"] += 1
    return script["turns"][agent]


def wrong(answer):
    script["wrong"] += 1
    return answer


def plan(request):
    good, turn = architect(request), turn_of("architect")
    fields = good[0][1]["fields"]
    bad = {1: fields[:-1], 2: fields + fields[:1], 3: [{**one, "required": False} for one in fields],
           4: fields + [{"field_id": "card", "label": "Card number", "intent": "", "required": True}]}.get(turn % 5)
    return wrong([("create_plan", {"fields": bad})]) if bad else good


def interview(request):
    turn = turn_of("interviewer")
    if turn % 4 == 0:
        return wrong("I think that we are finished.")
    if turn % 7 == 0:
        return wrong([("ask", {})])
    if turn % 9 == 0:
        return wrong([("mark_done", {"field_id": field_shown(request)}), ("ask", {"text": "All is done; shall we go on?"})])
    return interviewer(request)


def review(request):
    """A good answer is the value in its normal form; before the person has said it, it is invented, too."""
    turn, name = turn_of("reviewer"), field_reviewed(request)
    if turn % 3 == 0:
        return wrong([("review", {"passed": True, "field_value": LIES[name]})])
    if turn % 5 == 0:
        return wrong([("review", {"passed": True})])
    if turn % 7 == 0:
        return wrong([("review", '{"passed": tru')])
    return [("review", {"passed": True, "field_value": script["good"].get(name, [LIES[name]])[0]})]


# ---- the dialogues ---------------------------------------------------------------------------------------------------


def talk(desk, told, path):
    with open(path) as file:
        dialogue = json.load(file)
    good = script["good"] = {name: wanted(value) for name, value in dialogue["values"].items()}
    language = dialogue["language"]
    reply = desk.start(booking(dialogue["fields"], language), language=language, country="JP", timezone="Asia/Tokyo")
    asked = 1
    for text in dialogue["say"]:
        reply = desk.answer(reply, text)
        asked += reply.awaiting_user_response
    got = values(reply.state)
    invented = {name: value for name, value in got.items() if value not in good.get(name, [])}
    told["fields"] += len(good)
    told["right"] += sum(got.get(name) in value for name, value in good.items())
    told["wrong"] += len(invented)
    told["questions"] += asked - len(good)
    expect(not invented, f"wrong: {invented}; right is {good}")
    expect(set(got) == set(good), f"{got} in place of {good}; {states(reply.state)}; it says {reply.response_text!r}")
    return f"{asked} questions, {len(good)} values"


def hold_all(how, desk):
    told = {"fields": 0, "right": 0, "wrong": 0, "questions": 0}
    for path in sorted(glob.glob(f"{HERE}/dialogues/*/*.json")):
        name = os.path.relpath(path, f"{HERE}/dialogues").removesuffix(".json").replace("-", " ")
        check(f"dialogue {name}, {how}")(lambda: talk(desk, told, path))

    @check(f"no value is wrong, and all are there, {how}")
    def _():
        expect(told["wrong"] == 0 and told["right"] == told["fields"], f"{told}")
        return f"{told['right']} of {told['fields']} fields right, {told['wrong']} wrong, {told['questions']} questions beyond one a field"

    desk.stop()


hold_all("without a model", Desk(store="memory:"))
Model.plays = {**PARTS, "create_plan": plan, "subtask": interview, "review": review}
hold_all("with a scripted model", Desk(store="memory:", model=serve(Model).server_port))


@check("the scripted model answered each of Architect, Interviewer and Reviewer, sometimes wrong")
def _():
    expect(set(script["turns"]) == {"architect", "interviewer", "reviewer"}, f"{script['turns']}")
    expect(script["wrong"] * 5 > script["prompts"], f"{script['wrong']} of {script['prompts']} answers are wrong")
    return f"{script['prompts']} prompts, {script['wrong']} answers wrong on purpose"


finish()
