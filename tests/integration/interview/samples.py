#!/usr/bin/env python3
"""The forms of deploy/samples/forms, each through one whole dialogue of `renga interview --json` without a model: every answer
belongs to the field that is asked about. Needs RENGA_BIN."""
import glob
import json
import os
import subprocess

from desk import BIN, SLOW, expect, folder
from checks import check, finish

ROOT = os.path.realpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", ".."))
FORMS = os.path.join(ROOT, "deploy", "samples", "forms")
JAPANESE, ENGLISH = ("--language=ja", "--country=JP", "--timezone=Asia/Tokyo"), ("--language=en", "--country=US", "--timezone=America/New_York")
# By field: the answers in their order; one more than the first where an answer has to be asked for again.
DIALOGUES = {
    "onboarding.json, by train": (JAPANESE, {
        "name": ["山田太郎"], "kana": ["山田", "やまだ　たろう"], "birthday": ["平成2年2月30日", "平成2年4月1日です"],
        "email": ["ｔａｒｏ＠example.com です"], "phone": ["０３－１２３４－５６７８"], "start_date": ["2026年4月1日"],
        "commute": ["電車で通います"], "route": ["丸の内線", "渋谷駅から乗ります"]},
        {"name": "山田太郎", "kana": "やまだ　たろう", "birthday": "1990-04-01", "email": "taro@example.com", "phone": "+81312345678",
         "start_date": "2026-04-01", "commute": "train"}),
    "onboarding.json, from home": (JAPANESE, {
        "name": ["鈴木花子"], "kana": ["スズキハナコ"], "birthday": ["1985/12/24"], "email": ["hanako@example.co.jp"], "phone": ["スキップ"],
        "start_date": ["2026-10-01"], "commute": ["テレワーク"]},
        {"name": "鈴木花子", "kana": "スズキハナコ", "birthday": "1985-12-24", "email": "hanako@example.co.jp", "start_date": "2026-10-01",
         "commute": "remote"}),
    "incident.json, with people hurt": (ENGLISH, {
        "reporter": ["Ada Lovelace"], "email": ["ada at example", "it's ada@example.com"], "date": ["March 3, 2026"], "time": ["half past nine? 09:30"],
        "kind": ["someone got hurt"], "people_hurt": ["-2", "two"],
        "story": ["A shelf fell down in the warehouse and we called the landlord at once", "in the warehouse", "we called the landlord"],
        "doctor": ["yes"]},
        {"reporter": "Ada Lovelace", "email": "ada@example.com", "date": "2026-03-03", "time": "09:30", "kind": "injury", "people_hurt": 2,
         "doctor": True}),
    "incident.json, with damage": (ENGLISH, {
        "reporter": ["Grace Hopper"], "email": ["grace@example.com"], "date": ["2026-03-03"], "time": ["I don't know"], "kind": ["Damage to property"],
        "cost": ["$1,200"], "story": ["A pipe broke in the kitchen and was mended the same day", "in the kitchen", "it was mended"]},
        {"reporter": "Grace Hopper", "email": "grace@example.com", "date": "2026-03-03", "kind": "damage", "cost": 1200}),
    "event.json, for a day": (ENGLISH, {
        "name": ["Ada Lovelace"], "email": ["ada@example.com"], "ticket": ["one day"], "visit_date": ["2026-05-02"], "meals": ["vegan and halal"],
        "guests": ["11", "3"], "newsletter": ["no thanks"]},
        {"name": "Ada Lovelace", "email": "ada@example.com", "ticket": "day", "visit_date": "2026-05-02", "meals": ["vegan", "halal"], "guests": 3,
         "newsletter": False}),
    "event.json, in Japanese from afar": (JAPANESE, {
        "name": ["山田太郎"], "email": ["taro@example.com"], "ticket": ["オンライン"], "meals": ["特にありません"], "guests": ["０人"],
        "newsletter": ["はい"]},
        {"name": "山田太郎", "email": "taro@example.com", "ticket": "online", "meals": [], "guests": 0, "newsletter": True}),
}


def current(state):
    place = state.get("current_field_index", 0)
    return state["plan"]["fields"][place]["field_id"] if place < len(state["plan"]["fields"]) else None


def hold(form, known, answers):
    """The result and the questions of each field."""
    process = subprocess.Popen([f"{BIN}/renga", "interview", "--json", "--confirm", *known, os.path.join(FORMS, form)], cwd=folder, text=True,
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               env={k: v for k, v in os.environ.items() if not k.startswith(("RENGA_", "OPENAI_"))} | {"XDG_DATA_HOME": folder})
    left, asked = {field: list(lines) for field, lines in answers.items()}, []
    try:
        for line in process.stdout:
            reply = json.loads(line)
            field = reply.get("awaiting_user_response") and current(reply["state"])
            if not field:
                break
            asked.append(field)
            expect(left.get(field), f"{field} is asked for once more than it has answers: {reply['response_text']}")
            process.stdin.write(left[field].pop(0) + "\n")
            process.stdin.flush()
        out, told = process.communicate(timeout=60 * SLOW)
        expect(process.returncode == 0, f"it ended with {process.returncode} after {asked}: {told}")
        return json.loads(out), asked
    finally:
        process.kill()


@check("every sample has a dialogue")
def _():
    forms = {os.path.basename(path) for path in glob.glob(f"{FORMS}/*.json")}
    expect(forms == {name.split(",")[0] for name in DIALOGUES}, forms)


for title, (flags, lines, wanted) in DIALOGUES.items():
    @check(f"{title}: every value is right, fields whose condition does not hold are not asked")
    def _(title=title, flags=flags, lines=lines, wanted=wanted):
        result, asked = hold(title.split(",")[0], flags, lines)
        expect(set(asked) == set(lines), f"{set(asked) ^ set(lines)} were not expected, or not asked")
        differ = {field: (result.get(field), value) for field, value in wanted.items() if result.get(field) != value}
        told = set(result) - set(wanted)  # what a person tells in several answers
        expect(not differ and told <= {"story", "route"}, f"{differ or told}: {result}")
        expect(all(said.split()[-1] in result[field] for field in told for said in lines[field]), f"{told}: {result}")
        return f"{len(asked)} questions for {len(lines)} fields"


finish()
