#!/usr/bin/env python3
"""`renga ace` as a person and as a script use it, in one process: a task, learning from samples, measuring, and playbooks.
The model is that of the toy world (toy.py), behind OpenAI's protocol. Needs RENGA_BIN."""
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "lib"))
import toy  # noqa: E402
from checks import check, expect, finish  # noqa: E402
from pseudo_terminal import SLOW, Terminal  # noqa: E402
from web import Handler, completion, serve  # noqa: E402

RENGA = os.path.join(os.environ["RENGA_BIN"], "renga")
folder = tempfile.TemporaryDirectory(prefix="renga-ace-")
asked, stop_after = [], None
reached = threading.Event()


class Model(Handler):
    def do_POST(self):
        body = self.asked()
        text = body["messages"][-1]["content"]
        asked.append(text)
        if stop_after and len(asked) == stop_after:
            reached.set()
        self.reply(completion({"role": "assistant", "content": toy.answer(text, json.dumps(body.get("response_format", "")))}))


environment = {**{name: value for name, value in os.environ.items() if not name.startswith("RENGA_")}, "LC_ALL": "C.UTF-8",
               "XDG_DATA_HOME": folder.name, "OPENAI_API_KEY": "sk-test", "OPENAI_BASE_URL": f"http://127.0.0.1:{serve(Model).server_port}/v1"}


def ace(*arguments, code=0, **more):
    done = subprocess.run([RENGA, "ace", *arguments], cwd=folder.name, env={**environment, **more}, capture_output=True, text=True,
                          timeout=120 * SLOW, stdin=subprocess.DEVNULL)
    expect(done.returncode == code, f"renga ace {' '.join(arguments)} ended with {done.returncode}: {done.stdout[-500:]} {done.stderr[-900:]}")
    return done


def written(name, text):
    path = os.path.join(folder.name, name)
    with open(path, "w") as file:
        file.write(text)
    return path


def samples(name, tasks):
    words = {3: "number"}
    return written(name, "".join(json.dumps({**one, "match": words[one["match"]]}) + "\n" for one in tasks))


def bullets(dataset):
    return json.loads(ace("playbook", "show", dataset, "--json").stdout)["bullets"]


TEXT = "## prices\n[pri-00001] helpful=3 harmful=0 :: Crates from Brenn: add 3.\nno bullet\n\n## vehicles\n[veh-00002] helpful=0 harmful=1 :: Transport by sledge: add 100.\n"


@check("a playbook is imported, its bad lines are named, and exported as text and JSON that are read back the same")
def _():
    done = ace("playbook", "import", "trade", written("book.txt", TEXT), "--reason", "by hand")
    expect(re.search(r"book\.txt:3: \S", done.stderr) and "2 bullets" in done.stdout, f"{done.stdout} {done.stderr}")
    text = ace("playbook", "export", "trade").stdout
    expect(text == TEXT.replace("no bullet\n", ""), text)
    ace("playbook", "export", "trade", "--output", "book.json")
    ace("playbook", "import", "copy", "book.json")
    equal = [{key: one.get(key) for key in ("id", "section", "content", "helpful", "harmful")} for one in bullets("copy")]
    expect(equal == [{key: one.get(key) for key in ("id", "section", "content", "helpful", "harmful")} for one in bullets("trade")], equal)
    shown = ace("playbook", "show", "trade").stdout
    expect("pri-00001\t3\t0\tprices\tCrates from Brenn: add 3.\n" in shown, shown)


@check("history tells who changed what and why, diff shows it, undo takes it back")
def _():
    ace("playbook", "import", "trade", written("more.txt", "## prices\n[pri-00001] helpful=4 harmful=0 :: Crates from Brenn: add 3.\n[pri-00003] helpful=0 harmful=0 :: Crates from Quito: add 63.\n"))
    diff = ace("playbook", "diff", "trade").stdout
    expect("~ [pri-00001] helpful 3 → 4" in diff and "+ [pri-00003]" in diff and "veh-00002" not in diff, diff)
    ace("playbook", "undo", "trade")
    expect(ace("playbook", "export", "trade").stdout == TEXT.replace("no bullet\n", ""), "not as before")
    rows = [json.loads(line) for line in ace("playbook", "history", "trade", "--json").stdout.splitlines()]
    expect([row["revision"] for row in rows] == [3, 2, 1] and rows[2]["reason"] == "by hand" and rows[0]["restored_revision"] == 1, rows)
    expect("by hand" in ace("playbook", "history", "trade").stdout, "the table lacks the reason")
    listed = ace("playbook", "list").stdout
    expect(re.search(r"^trade +2 ", listed, re.M) and re.search(r"^copy +2 ", listed, re.M), listed)


@check("search shows the bullets that fit, best first, and ends with 3 where none does")
def _():
    expect(ace("playbook", "search", "trade", "What does the sledge cost?").stdout.startswith("veh-00002\t"), "not found")
    ace("playbook", "search", "nothing", "What does the sledge cost?", code=3)


@check("a task prints its answer, names its bullets on standard error, and with --json is the specification's trajectory")
def _():
    ace("playbook", "import", "trade", written("quito.txt", "## prices\n[pri-00009] helpful=1 harmful=0 :: Crates from Quito: add 63.\n"))
    task = "Crate 3 has the base price 500. What does it cost to send it from Quito?"
    done = ace("run", "trade", task)
    expect(done.stdout == "Crate 3 costs 563\n" and "pri-00009" in done.stderr, f"{done.stdout} {done.stderr}")
    made = json.loads(ace("run", "trade", task, "--json").stdout)
    expect(made["status"] == "success" and made["error_message"] is None and "pri-00009" in made["used_bullet_ids"], made)
    expect(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z?", made["created_at"]), made)


@check("learning raises the accuracy of tasks that were not learnt from, and says so with intervals")
def _():
    done = ace("learn", "crates", samples("train.jsonl", toy.LESSONS[:60]), "--measure", samples("held.jsonl", toy.HELD_OUT[:40]), "--verbose")
    shares = {name: float(share) for name, share in re.findall(r"^(before|after) +\d+ of 40 \(([\d.]+) %, 95 %: [\d.]+–[\d.]+ %\)$", done.stdout, re.M)}
    expect(shares["after"] > shares["before"] + 20, done.stdout)
    expect(re.search(r"^playbook +revision 0 → \d+: \d+ added", done.stdout, re.M) and re.search(r"^cost +\d+ calls, ", done.stdout, re.M), done.stdout)
    expect(len(re.findall(r"^learning 1: crate-\d+: (right|wrong), revision", done.stderr, re.M)) == 60, done.stderr[-500:])
    expect(len(bullets("crates")) > 10, "little was learnt")
    expect(not os.listdir(os.path.join(folder.name, "renga", "learning")), "the ledger of a learning that is done is still there")


@check("after Ctrl-C the same command goes on, and the model is asked for nothing twice")
def _():
    global stop_after
    path = samples("some.jsonl", toy.LESSONS[:20])
    asked.clear()
    ace("learn", "whole", path)
    whole, expected = len(asked), [one["content"] for one in bullets("whole")]
    asked.clear()
    reached.clear()
    stop_after = whole // 2
    process = subprocess.Popen([RENGA, "ace", "learn", "stopped", path], cwd=folder.name, env=environment, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True, stdin=subprocess.DEVNULL)
    expect(reached.wait(60 * SLOW), "the model is not asked")
    process.send_signal(signal.SIGINT)
    out, error = process.communicate(timeout=60 * SLOW)
    expect(process.returncode == 130 and "the same command goes on" in error, f"{process.returncode} {out} {error}")
    stop_after = None
    ace("learn", "stopped", path)
    expect([one["content"] for one in bullets("stopped")] == expected, "another playbook came of it")
    expect(len(asked) <= whole + 1, f"{len(asked)} calls where {whole} are enough, and one may be cut off")


@check("eval measures and changes nothing")
def _():
    before = ace("playbook", "export", "crates").stdout
    done = ace("eval", "crates", samples("held.jsonl", toy.HELD_OUT[:40]))
    expect(re.search(r"^accuracy +\d+ of 40 ", done.stdout, re.M) and "playbook" not in done.stdout, done.stdout)
    expect(ace("playbook", "export", "crates").stdout == before, "the playbook was changed")
    rows = [json.loads(line) for line in ace("eval", "crates", "held.jsonl", "--json").stdout.splitlines()]
    result = rows[-1]["result"]
    expect(len(rows) == 41 and result["judged"] == 40 and 0 <= result["accuracy_low"] <= result["correct"] / 40 <= result["accuracy_high"] <= 1, rows[-1])


@check("samples that are wrong are refused with file, line and what would be right")
def _():
    for text, said in (("", "a JSON object a line"), ('{"query": "a"}\n{"query": 1}\n', ":2: query"), ('{"query": "  "}\n', ":1: query is empty"),
                       ('{"query": "a", "truth": "b"}\n', ":1: 'truth' is not known; id, query"), ('{"query": "a", "match": "near"}\n', "exact, contains, number"),
                       ("[]\n", ":1: it is no object"), ('{"query": "a"\n', ":1: ")):
        expect(said in ace("learn", "crates", written("bad.jsonl", text), code=2).stderr, said)
    expect("--measure goes with learn" in ace("eval", "crates", "held.jsonl", "--measure", "held.jsonl", code=2).stderr, "not told")
    expect("--epochs goes with" in ace("learn", "crates", "held.jsonl", "--mode", "online", "--epochs", "2", code=2).stderr, "not told")


@check("without a model a task is answered from bullets, and learning is refused with what is missing")
def _():
    none = {"OPENAI_API_KEY": "", "OPENAI_BASE_URL": ""}
    done = ace("run", "trade", "How much is added for crates from Quito?", **none)
    expect("Crates from Quito: add 63." in done.stdout, done.stdout)
    expect("needs a model" in ace("learn", "other", "some.jsonl", code=2, **none).stderr, "not told")


@check("a word that is no verb is told with the nearest one; a playbook is deleted with --yes alone")
def _():
    expect("did you mean 'learn'?" in ace("lern", "a", "b", code=2).stderr, "not told")
    expect("did you mean 'export'?" in ace("playbook", "exprt", "a", code=2).stderr, "not told")
    expect("list, show, search, history" in ace("playbook", code=2).stderr, "not told")
    expect("Usage: renga ace learn DATASET SAMPLES.jsonl" in ace("learn", "a", code=2).stderr, "not told")
    expect("no revision" in ace("playbook", "undo", "trade", "last", code=2).stderr, "not told")
    expect("--yes" in ace("playbook", "delete", "trade", code=2).stderr, "not told")
    ace("playbook", "delete", "trade", "--yes")
    expect("NOT_FOUND" in ace("playbook", "show", "trade", code=1).stderr, "it is still there")


@check("on a terminal learning is a line that is drawn anew, and its figures stay")
def _():
    terminal = Terminal([RENGA, "ace", "learn", "seen", samples("few.jsonl", toy.LESSONS[:5])], columns=100, cwd=folder.name, env=environment)
    while terminal.more(60 * SLOW):
        pass
    text = terminal.text()
    expect("learning, epoch 1: 5 of 5 samples" in text and "\x1b[" in text and "playbook" in text, text[-800:])


finish()
