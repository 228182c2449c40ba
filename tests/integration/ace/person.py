#!/usr/bin/env python3
"""A person at a terminal, without any server: `renga ask`, then `renga feedback`, and the next answer is another one. The
model is scripted, behind OpenAI's protocol. Needs RENGA_BIN."""
import json
import os
import re
import stat
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "lib"))
from checks import check, expect, finish  # noqa: E402
from pseudo_terminal import SLOW, Terminal  # noqa: E402
from web import Handler, completion, serve  # noqa: E402

RENGA = os.path.join(os.environ["RENGA_BIN"], "renga")
QUESTION, NIGHT, DAYS = "What about backups?", "Backups run every night at 02:00.", "Backups are kept for 30 days."
WHY, LESSON = "Say how long they are kept.\n\x07", "Say how long backups are kept."
folder = tempfile.TemporaryDirectory(prefix="renga-person-")
DATA = os.path.join(folder.name, "data", "renga")
prompts = []


def says(request):
    schema, text = json.dumps(request.get("response_format", {})), json.dumps(request["messages"], ensure_ascii=False)
    if "subtasks" in schema:
        return {"subtasks": [QUESTION]}
    if "is_completed" in schema:
        return {"advice": "", "is_completed": True}
    if "key_insight" in schema:
        return {"reasoning": "r", "error_identification": "e", "root_cause_analysis": "c", "correct_approach": "a", "key_insight": LESSON, "bullet_tags": []}
    if "operations" in schema:
        return {"reasoning": "It was not known.", "operations": [{"kind": "ADD", "ids": [], "section": "answers", "content": LESSON, "reason": "new"}]}
    prompts.append(text)
    return DAYS if LESSON in text else NIGHT


class Model(Handler):
    def do_POST(self):
        request = self.asked()
        if request.get("tools") and request["messages"][-1]["role"] == "user":
            call = {"id": "c1", "type": "function", "function": {"name": "search_documents", "arguments": '{"query": "backups night kept days"}'}}
            self.reply(completion({"role": "assistant", "content": None, "tool_calls": [call]}))
            return
        content = says(request)
        message = {"role": "assistant", "content": content if isinstance(content, str) else json.dumps(content)}
        if not request.get("stream"):
            self.reply(completion(message))
            return
        chunk = {"id": "1", "object": "chat.completion.chunk", "model": "m", "created": 1, "choices": [{"index": 0, "delta": message, "finish_reason": "stop"}]}
        body = f"data: {json.dumps(chunk)}\n\ndata: [DONE]\n\n".encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


environment = {**{name: value for name, value in os.environ.items() if not name.startswith(("RENGA_", "OPENAI_"))}, "LC_ALL": "C.UTF-8",
               "XDG_DATA_HOME": os.path.join(folder.name, "data"), "TMPDIR": folder.name, "TERM": "xterm"}
environment.pop("XDG_RUNTIME_DIR", None)
model = {"OPENAI_API_KEY": "sk-test", "OPENAI_BASE_URL": f"http://127.0.0.1:{serve(Model).server_port}/v1"}
os.mkdir(os.path.join(folder.name, "docs"))
with open(os.path.join(folder.name, "docs", "backups.md"), "w") as page:
    page.write(f"# Backups\n\n{NIGHT} {DAYS}\n")


def renga(*arguments, code=0, **more):
    done = subprocess.run([RENGA, *arguments], cwd=folder.name, env={**environment, **more}, capture_output=True, text=True, timeout=60 * SLOW,
                          stdin=subprocess.DEVNULL)
    expect(done.returncode == code, f"renga {' '.join(arguments)} ended with {done.returncode}: {done.stdout[-500:]} {done.stderr[-900:]}")
    return done


def ask(**more):
    return renga("ask", "--docs", "docs", QUESTION, **{**model, **more})


def named(text):
    found = re.search(r"renga feedback (\S+) bad", text)
    expect(found, f"no run is named: {text}")
    return found.group(1)


def history():
    return [json.loads(line) for line in renga("ace", "playbook", "history", "helpdesk", "--json").stdout.splitlines()]


@check("without a model feedback says that learning from a reason needs one, and how it is set up")
def _():
    run = named(renga("ask", "--docs", "docs", QUESTION).stderr)
    done = renga("feedback", run, "bad", WHY)
    expect("needs a model" in done.stderr and "OPENAI_API_KEY" in done.stderr and "nothing was changed" in done.stdout, f"{done.stdout} {done.stderr}")


@check("ask, feedback with a reason, ask again: the lesson stands in the prompts, and the answer is another one")
def _():
    first = ask()
    expect(first.stdout.startswith(NIGHT) and LESSON not in "".join(prompts), first.stdout)
    done = renga("feedback", named(first.stderr), "bad", WHY, **model)
    expect("revision 1: 1 change;" in done.stdout and LESSON in done.stdout and not done.stderr, f"{done.stdout} {done.stderr}")
    prompts.clear()
    second = ask()
    expect(second.stdout.startswith(DAYS), f"{second.stdout} {second.stderr}")
    expect(len(prompts) >= 2 and all("<playbook>" in one and LESSON in one for one in prompts), prompts)
    with open(os.path.join(DATA, "asked", named(second.stderr) + ".json")) as file:
        kept = json.load(file)
    expect((kept["query"], kept["dataset"], kept["generated_answer"], len(kept["used_bullet_ids"])) == (QUESTION, "helpdesk", DAYS, 1), kept)


@check("history and diff tell why a playbook has changed: the verdict and the person's words, on one line")
def _():
    expect([row.get("reason") for row in history()] == ["bad: " + WHY[:-2] + "  "], history())
    expect("bad: Say how long they are kept." in renga("ace", "playbook", "diff", "helpdesk").stderr, "not told")


@check("the same feedback counts once; 'last' is the last run, whose bullet is counted")
def _():
    run = named(ask().stderr)
    renga("feedback", "last", "good", **model)
    for _ in range(2):
        renga("feedback", run, "good", **model)
    rows = history()
    expect(len(rows) == 2 and rows[0]["reason"] == "good", rows)
    shown = json.loads(renga("ace", "playbook", "show", "helpdesk", "--json").stdout)["bullets"]
    expect([one.get("helpful") for one in shown] == [1], shown)


@check("a run is kept for its user alone, the last 200 of them; no copy of a playbook is left; --quiet and --json name no run")
def _():
    place = os.path.join(DATA, "asked")
    for number in range(205):
        path = os.path.join(place, f"old-{number}.json")
        with open(path, "w") as file:
            file.write("{}")
        os.utime(path, (number, number))
    leftovers = ["cut-1.json.4711", "cut-2.json.1", "folder.json", "other.json.4711.txt", "full.json"]
    for name in leftovers:
        path = os.path.join(place, name)
        if name.startswith("f"):
            os.makedirs(os.path.join(path, "of-somebody") if name == "full.json" else path)
        else:
            open(path, "w").close()
        os.utime(path, (1, 1))
    open(os.path.join(place, "now.json.4711"), "w").close()
    for flag in ("--quiet", "--json"):
        expect(not renga("ask", flag, "--docs", "docs", QUESTION).stderr, f"{flag} says more")
    names = set(os.listdir(place))
    expect(names & {*leftovers, "now.json.4711"} == {"other.json.4711.txt", "full.json", "now.json.4711"}, "what a killed command leaves stays")
    names = [name for name in names if name.endswith(".json") and name != "full.json"]
    expect(len(names) == 200 and "old-0.json" not in names and "old-204.json" in names, f"{len(names)} files")
    newest = max((os.path.join(place, name) for name in names), key=os.path.getmtime)
    expect(stat.S_IMODE(os.stat(newest).st_mode) == 0o600 and stat.S_IMODE(os.stat(place).st_mode) == 0o700, "others may read it")
    expect(not [name for name in os.listdir(folder.name) if name.startswith("renga-")], os.listdir(folder.name))


@check("on a terminal the run stands below the answer")
def _():
    terminal = Terminal([RENGA, "ask", "--docs", "docs", QUESTION], columns=100, cwd=folder.name, env={**environment, **model})
    while terminal.more(60 * SLOW):
        pass
    named(terminal.text())


@check("a file of a run that is cut or foreign is told, and another id is asked of an orchestrator")
def _():
    for text in ("", '{"query": "a"', "[]", '{"query": 1}'):
        with open(os.path.join(DATA, "asked", "cut.json"), "w") as file:
            file.write(text)
        expect("'cut' cannot be read" in renga("feedback", "cut", "bad", code=1).stderr, "not told")
    for other in ("../asked/cut", "cut.json", "unknown"):
        expect("UNAVAILABLE" in renga("feedback", "--timeout=1s", "--peers.orchestrator=127.0.0.1:1", other, "bad", code=1).stderr, f"{other} is taken")
    expect("neither good nor bad" in renga("feedback", "last", "fine", code=2).stderr, "not told")


@check("the reason of a foreign run may be 'last', and only a regular file is a kept run")
def _():
    place = os.path.join(DATA, "asked")
    os.mkfifo(os.path.join(place, "pipe.json"))
    os.symlink("pipe.json", os.path.join(place, "link.json"))
    away = ("--timeout=1s", "--peers.orchestrator=127.0.0.1:1")
    for words in (("foreign", "bad", "last"), ("pipe", "bad"), ("link", "bad")):
        expect("UNAVAILABLE" in renga("feedback", *away, *words, code=1).stderr, f"{words[0]} is taken")
    expect("'cut' cannot be read" in renga("feedback", "last", "bad", code=1).stderr, "the newest file is another one")


finish()
