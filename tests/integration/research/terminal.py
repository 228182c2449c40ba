#!/usr/bin/env python3
"""`renga research` as a person and as a script use it: on a terminal, in a pipe, as a file, with further questions, and when
it is interrupted. The suite behind --connect has an agent whose nodes this test serves. Needs RENGA_BIN and RENGA_PROTO."""
import fcntl
import html.parser
import json
import os
import re
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "orchestrator"))
from harness import BIN, SLOW, Orchestrator, agent, api, check, expect, finish, nodes, reply, wait_until, word  # noqa: E402
import pseudo_terminal  # noqa: E402
from pseudo_terminal import width  # noqa: E402
from research_graph import CITATION, GRAPH, QUERIES, QUESTION, note, script, search, shows, take_notes  # noqa: E402

ROOT = os.path.realpath(os.path.join(HERE, "..", "..", ".."))
SAMPLES = os.path.join(ROOT, "deploy", "samples", "docs")
folder = tempfile.TemporaryDirectory(prefix="renga-research-")
api.start()
agent("deep_research", GRAPH)
WIDE = "https://wide.example/page?a=1&b=<2>"
REPORT = """## Backups

Backups are kept for **30 days**. <script>alert('x')</script> See [the site](https://ok.example/?q=1&r=2) or [this](javascript:alert(1)).

- a list
  - in a list

| age | place |
|---|---|
| 30 | Tokyo |

> quoted & told

```
if (a < b) <b>
```
"""
CITATIONS = [{**CITATION, "sentence": "Backups are kept for **30 days**.", "quote": "They are kept for <b>30 days</b> & \"nights\".",
              "heading_path": ["Guide", "Backup"]},
             {**CITATION, "sentence": "Backups are kept for **30 days**.", "uri": WIDE, "title": "Wide", "quote": "thirty days", "line_from": 0,
              "line_to": 0}]


def unnumbered(citations):
    return [{**one, "reference_number": 0} for one in citations]


def written(citations=tuple(unnumbered(CITATIONS)), report=REPORT, **more):
    return lambda call: shows({"report_md": report, "citations": list(citations), **more}, {"text": report[:20]}, {"text": report[20:]})


def surroundings(**more):
    there = {k: v for k, v in os.environ.items() if not k.startswith(("RENGA_", "OPENAI_", "ANTHROPIC_", "LC_")) and k not in ("NO_COLOR", "LANG")}
    return {**there, "XDG_DATA_HOME": os.path.join(folder.name, "data"), "TERM": "xterm", **more}


def run(*arguments, code=0, connect=True, **more):
    there = ["--connect", f"127.0.0.1:{api.port}"] if connect else []
    done = subprocess.run([f"{BIN}/renga", "research", *there, *arguments], capture_output=True, text=True, cwd=folder.name,
                          timeout=120 * SLOW, env=surroundings(**more))
    expect(done.returncode == code, f"{arguments}: it ended with {done.returncode}: {done.stdout[-300:]} {done.stderr[-600:]}")
    return done.stdout, done.stderr


class Terminal(pseudo_terminal.Terminal):
    def __init__(self, *arguments, columns=70, connect=True, port=None, **more):
        there = ["--connect", f"127.0.0.1:{port or api.port}"] if connect else []
        super().__init__([f"{BIN}/renga", "research", *there, *arguments], columns, cwd=folder.name, env=surroundings(**more))


def plain(text):
    return re.sub(r"\x1b\[[0-9;]*[A-Za-z]|\r", "", text)


def has(text, *wanted):
    for one in wanted:
        expect(one in text, f"{one!r} is missing: {text}")


# ---- a person at a terminal ------------------------------------------------------------------------------------------

@check("the plan, each search and each note are seen as they come, then the report, its sources with quotes, and the cost")
def _():
    gates = {name: threading.Event() for name in ("search", "take_notes", "write")}
    ways = {"search": search, "take_notes": take_notes, "write": written()}

    def held(name):
        return lambda call: (gates[name].wait(30), ways[name](call))[1]
    script(**{name: held(name) for name in gates})
    terminal = Terminal(QUESTION)
    terminal.until("Searching and summarizing…")
    has(plain(terminal.text()), "Cycle 1", *QUERIES)
    expect("results" not in terminal.text(), "a search is shown that has not ended")
    gates["search"].set()
    terminal.until("DEADLINE_EXCEEDED")
    has(plain(terminal.text()), "✓ backups kept", "5 results", "– backup retention", "no results", "✗ backup start")
    gates["take_notes"].set()
    terminal.until("Note 1")
    terminal.until("backup.md")
    gates["write"].set()
    text = terminal.ended()
    end = plain(text[text.rindex("\x1b[1mBackups"):])
    has(end, "• a list\n  • in a list", "    if (a < b) <b>", "│ quoted & told", "\nSources\n[1] backup.md:3 — Backup:", "\n[2] https://wide.example")
    has(" ".join(end.split()), "Backups are kept for 30 days.[1][2]", "the site (https://ok.example/?q=1&r=2)",
        'They are kept for <b>30 days</b> & "nights".', "1 cycle, 3 searches, 2 sources, no model was asked", "renga research --on ")
    expect("**" not in end, "Markdown's own marks are shown")
    has(text, "\x1b[1m", "\x1b[2m")


@check("lines fit a narrow terminal, in Japanese and in English, and NO_COLOR has no colours")
def _():
    script(write=written())
    for question in (QUESTION, "バックアップは何日間保存されますか。"):
        for columns in (30, 42):
            text = Terminal(question, columns=columns, NO_COLOR="1").ended()
            expect(not re.search(r"\x1b\[[0-9;]*m", text), f"there are colours: {text!r}")
            for line in plain(text).split("\n"):
                if "renga research --on" in line:  # it is copied, so it is not broken
                    continue
                words = [width(word) for word in line.split(" ")]
                expect(width(line) <= columns or max(words) > columns - 8, f"{columns} columns are not enough for {line!r}")
    has(plain(text), "1回目", "出典", "該当なし", "5件", "モデルは使っていません", "続けて質問する")


@check("control characters of queries, notes and reports do not reach the terminal")
def _():
    evil = "a\x1b]0;owned\x07b\x1b[31mc"
    script(take_notes=lambda call: shows({"notes": [note(1, evil)]}, note(1, evil)), write=written([{**CITATIONS[0], "quote": evil, "uri": evil}], f"## {evil}\n\n{evil}\n\n```\n{evil}\n```\n"))
    text = Terminal(QUESTION, NO_COLOR="1").ended()
    expect("\x1b]" not in text and "\x07" not in text and "\x1b[31m" not in text, repr(text))
    has(run("--verbose", QUESTION)[1], "Note 1")


@check("where no sequences move the cursor (TERM=dumb, or a pipe), there are plain lines alone")
def _():
    script(write=written())
    expect("\x1b" not in Terminal(QUESTION, TERM="dumb").ended(), "there are escape sequences")
    out, told = run("--verbose", QUESTION)
    expect("\x1b" not in out + told, "there are escape sequences")
    has(told, "Cycle 1: backups kept", "backups kept: 5 results", "backup start: 0 results, DEADLINE_EXCEEDED", "Note 1: backups kept")


@check("Ctrl-C cancels the run, and it is told how to go on; then it goes on where it was")
def _():
    gone = threading.Event()

    def hang(call):
        call.context.add_callback(gone.set)
        call.sleep(60)
        return search(call)
    script(search=hang, write=written())
    terminal = Terminal(QUESTION)
    terminal.until(QUERIES[2])
    wait_until(lambda: nodes.of("deep_research", "search"), "it does not search", 20 * SLOW)
    terminal.type("\x03")
    text = plain(terminal.ended(130))
    run_id = re.search(rf"'renga research --on (\S+) --connect 127.0.0.1:{api.port}' goes on", text)
    expect(run_id and gone.wait(10 * SLOW), f"it is not told how to go on, or the search goes on: {text}")
    expect(word("RunState", api.ask("GetRun", run_id=run_id[1]).run.state) == "RUN_STATE_CANCELLED", "the run is not cancelled")
    script(write=written())
    out, told = run("--verbose", "--on", run_id[1])
    has(out, "30 days**.[1][2]")
    has(told, "Cycle 1: backups kept", "Note 1: backups kept")
    expect(not nodes.of("deep_research", "plan"), "it was planned again")
    has(run("--on", run_id[1], "Why?")[0], "Why?: 1 notes")
    has(run("--on", run_id[1], code=1)[1], "is finished; give a question")
    has(run("--on", "never", code=1)[1], "NOT_FOUND", "never")


@check("a run that goes on has the options that it began with")
def _():
    script(search=lambda call: (call.sleep(60), search(call))[1])
    told = run("--web", "--collection", "c", "--cycles", "2", "--summary_tokens", "100", "--language", "ja", "--model", "m", "--timeout=500ms", QUESTION, code=1)[1]
    script(write=written())
    has(run("--on", re.search(r"--on (\S+)", told)[1])[1], "1回の検索サイクル")
    state = nodes.of("deep_research", "search")[0].state
    expect([state[key] for key in ("sources", "collections", "max_cycles", "summary_tokens")] == [["internal", "web"], ["c"], 2, 100], f"{state}")


@check("a suite that dies and comes back is asked for the rest, and no event is shown twice")
def _():
    frail = Orchestrator()
    frail.stays = True
    frail.write_agent("deep_research", json.dumps({"agent": "deep_research", **GRAPH}))
    frail.start()
    gate = threading.Event()
    script(take_notes=lambda call: (gate.wait(30), take_notes(call))[1], write=written())
    process = subprocess.Popen([f"{BIN}/renga", "research", "--connect", f"127.0.0.1:{frail.port}", "--verbose", QUESTION], stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True, cwd=folder.name, env=surroundings())
    told = []

    def until(wanted):
        while wanted not in "".join(told[-1:]):
            told.append(process.stderr.readline())
            expect(told[-1], f"it has ended: {told}")
    until("DEADLINE_EXCEEDED")
    frail.kill()
    until("does not answer any more")
    frail.start()
    gate.set()
    out, rest = process.communicate(timeout=60 * SLOW)
    told = "".join(told) + rest
    has(out, "30 days**.[1][2]")
    has(told, "answers again")
    for line in (f"Cycle 1: {QUERIES[0]}", f"{QUERIES[0]}: 5 results", "Note 1: "):
        expect(told.count(line) == 1, f"{line!r} is told {told.count(line)} times: {told}")
    expect(len(nodes.of("deep_research", "plan")) == 1, "it was planned again")
    frail.stop()


# ---- pipes and files -------------------------------------------------------------------------------------------------

@check("in a pipe standard output has the report as Markdown, with numbers and sources, and standard error the rest")
def _():
    script(write=written())
    out, told = run(QUESTION)
    has(out, "## Backups", "**30 days**.[1][2] <script>", "## Sources", '- [1] backup.md:3 — Backup: “They are kept', f"- [2] {WIDE} — Wide")
    has(told, "1 cycle, 3 searches, 2 sources", f"--connect 127.0.0.1:{api.port}")
    expect(not run("--quiet", QUESTION)[1], "--quiet tells something")
    numbered = "Backups are kept for **30 days** [1].\n\n## References\n\n1. [Backup](backup.md)\n"
    script(write=written([CITATIONS[0]], numbered))
    expect(run(QUESTION)[0] == numbered, "a report with numbers of its own is changed")


class Page(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.tags, self.links, self.ids, self.open, self.words = [], [], [], [], []
        self.feed(text)
        expect(not self.open, f"{self.open} stay open")

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.links += [value for name, value in attributes if name in ("href", "src")]
        self.ids += [value for name, value in attributes if name == "id"]
        expect(not any(name.startswith("on") for name, _ in attributes), f"{tag} has {attributes}")
        if tag not in ("meta", "br", "hr"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        expect(self.open and self.open.pop() == tag, f"</{tag}> closes another")

    def handle_data(self, data):
        self.words.append(data)


@check("a page stands alone: quotes as notes, everything escaped, no script, links to the web alone, and a style for print")
def _():
    for question, language, title in ((f"Why <i>{WIDE}</i>?", "en", "Sources"), ("バックアップは何日間?", "ja", "出典")):
        for citations in (unnumbered(CITATIONS), [{**one, "reference_number": i + 1} for i, one in enumerate(CITATIONS)]):
            report = REPORT if not citations[0]["reference_number"] else REPORT.replace("30 days**.", "30 days** [1][2].") + "\n## 参考文献\n\n1. LISTED\n2. LISTED\n"
            script(write=written(citations, report, gaps=["why <30>"]))
            run("--output", "report.html", question)
            with open(os.path.join(folder.name, "report.html")) as file:
                text = file.read()
            page = Page(text)
            expect("script" not in page.tags and f'<html lang="{language}">' in text and "@media print" in text, text[:200])
            expect(set(page.links) == {"#source-1", "#source-2", "https://ok.example/?q=1&r=2", WIDE}, f"{page.links}")
            expect({"source-1", "source-2"} <= set(page.ids) and {"table", "ul", "pre", "blockquote", "strong"} <= set(page.tags), f"{page.ids} {page.tags}")
            words = "".join(page.words)
            has(words, 'They are kept for <b>30 days</b> & "nights".', "thirty days", "<script>alert('x')</script>", title, "if (a < b) <b>", "why <30>",
                "Guide › Backup", question)
            expect("LISTED" not in words, "the report's own list stands beside the notes")


@check("--output by its ending, --json, and what cannot be written or is none of them")
def _():
    script(write=written())
    out, told = run("--output", "report.md", QUESTION)
    with open(os.path.join(folder.name, "report.md")) as file:
        expect(not out and "## Sources" in file.read(), "report.md")
    run("--output", "report.json", QUESTION)
    with open(os.path.join(folder.name, "report.json")) as file:
        kept = json.load(file)
    printed = json.loads(run("--json", QUESTION)[0])
    for result in (kept, printed):
        expect(result["report_md"] == REPORT and result["citations"][0]["quote"] == CITATIONS[0]["quote"], f"{result}")
    has(run("--output", "report.pdf", QUESTION, code=2)[1], ".md, .html or .json")
    has(run("--output", "/nowhere/report.md", QUESTION, code=2)[1], "/nowhere/report.md")


@check("where nothing was found the exit code is 3, and a run that fails is told with its code")
def _():
    script(write=written([], "Nothing was found.\n"))
    has(run(QUESTION, code=3)[0], "Nothing was found.")
    script(search=lambda call: call.fail("FAILED_PRECONDITION", "no source is set up for the web; set tool_runner.search"))
    has(run("--web", QUESTION, code=1)[1], "FAILED_PRECONDITION", "tool_runner.search")
    script(search=lambda call: (call.sleep(30), search(call))[1])
    has(run("--timeout=300ms", QUESTION, code=1)[1], "DEADLINE_EXCEEDED", "goes on with it")


@check("options become fields of the run, and wrong ones are refused before it begins")
def _():
    script(write=written())
    run("--web", "--collection", "c", "--cycles", "2", "--summary_tokens", "100", "--language", "ja", QUESTION)
    state = nodes.of("deep_research", "plan")[0].state
    expect([state[key] for key in ("sources", "collections", "max_cycles", "summary_tokens")] == [["internal", "web"], ["c"], 2, 100], f"{state}")
    script(write=written())
    run("--web", QUESTION)
    expect(nodes.of("deep_research", "plan")[0].state["sources"] == ["web"], "the documents are searched, too")
    for wrong in (["--cycles=4", QUESTION], ["--summary_tokens=63", QUESTION], ["  "], [], [QUESTION, "spare"], ["--on", "", QUESTION],
                  ["--on", "r", "--web", QUESTION]):
        expect(run(*wrong, code=2)[1], f"{wrong}: no word")
    has(run("--docs", "/nowhere", QUESTION, code=2, connect=False)[1], "there is no folder '/nowhere'")
    has(run("--on", "never", QUESTION, code=1)[1], "NOT_FOUND", "never")


# ---- by itself, offline and without a model --------------------------------------------------------------------------

HERE_QUESTIONS = (("en", "How long are backups kept and what does XYZ-5008 mean?", "no model was asked"),
                  ("ja", "バックアップは何日間保存されますか。エラーXYZ-5008とは何ですか。", "モデルは使っていません"))
runs = os.path.join(folder.name, "data", "renga", "research")


def is_cited(result):
    """Every quote stands at its place, and the numbers of the report are those of its citations."""
    for one in result["citations"]:
        with open(os.path.join(SAMPLES, one["uri"])) as file:
            there = " ".join("".join(file.readlines()[one["line_from"] - 1:one["line_to"]]).split())
        expect(one["quote"] in there, f"{one['quote']!r} is not in {one['uri']}:{one['line_from']}: {there!r}")
    numbers = {int(number) for number in re.findall(r"\[(\d+)\]", result["report_md"])}
    expect(numbers and numbers == {one["reference_number"] for one in result["citations"]}, result["report_md"])


for language, asked, words in HERE_QUESTIONS:
    @check(f"a folder is studied offline and without a model ({language}): each number of the report is a quote that stands in its file")
    def _(asked=asked, words=words):
        out, told = run("--docs", SAMPLES, asked, connect=False)
        is_cited(json.loads(run("--docs", SAMPLES, "--json", asked, connect=False)[0]))
        has(out, "[1]")
        has(told, words)
        name = re.search(r"--on (\S+)", told)[1]
        expect(os.path.exists(os.path.join(runs, f"{name}.db")), f"{name} is not kept: {os.listdir(runs)}")
        out, told = run("--on", name, asked.split("。")[-2] + "。" if "。" in asked else "What does XYZ-5008 mean?", connect=False)
        has(out, "XYZ-5008", "[1]")
        has(told, f"--on {name}")
        page = os.path.join(folder.name, "own.html")
        run("--docs", SAMPLES, "--output", page, asked, connect=False)
        with open(page) as file:
            Page(file.read())


@check("a line that announces a list is no finding, and a gap is named once")
def _():
    manual = os.path.join(folder.name, "manual")
    os.makedirs(manual)
    with open(os.path.join(manual, "espresso.md"), "w") as file:
        file.write("# Espresso machine\n\n## Descaling\nThe machine asks for descaling after 300 cups.\n\nTo descale the machine:\n\n"
                   "1. Empty the drip tray.\n2. Pour the descaler into the tank.\n")
    with open(os.path.join(manual, "inn.md"), "w") as file:
        file.write("# 霧の湯\n\n## 料金\nキャンセル料は、前日が宿泊料の50%、当日が100%です。\n\n## 温泉\n大浴場は午前5時から入れます。\n")
    out, _ = run("--docs", manual, "Descaling of the espresso machine", connect=False)
    has(out, "300 cups")
    expect("To descale the machine:" not in out, out)
    told = run("--docs", manual, "旅館の温泉とキャンセル料", connect=False)[1]
    has(told, "わかっていないこと: 旅館の温泉とキャンセル料")
    expect("まだ分かっていません" not in told, told)


@check("what the documents do not say is told with what was tried, and ends with 3; a run that is not there is told by its name")
def _():
    out, _ = run("--docs", SAMPLES, "Who won the football world cup in 1990?", code=3, connect=False)
    has(out, "football")
    expect("[1]" not in out, out)
    has(run("--on", "never", "Why?", code=1, connect=False)[1], "NOT_FOUND", "there is no finished run 'never'")
    expect(not [name for name in os.listdir(runs) if name.startswith("never")], "it leaves a file")


@check("a folder that another command is reading is waited for, and then studied")
def _():
    with open(os.path.join(folder.name, "data", "renga", "knowledge.db.lock"), "r+b") as lock:
        # Lets go when it is closed, as a process that ends does. 37: F_OFD_SETLK, of all bytes.
        fcntl.fcntl(lock.fileno(), 37, struct.pack("hhqqi4x", fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0))
        waits = subprocess.Popen([f"{BIN}/renga", "research", "--docs", SAMPLES, HERE_QUESTIONS[0][1]], text=True, stdout=subprocess.PIPE,
                                 stderr=subprocess.PIPE, cwd=folder.name, env=surroundings())
        told = waits.stderr.readline()
        has(told, "another command is reading this folder")
    out, more = waits.communicate(timeout=60 * SLOW)
    expect(waits.returncode == 0 and "[1]" in out and "another command" not in more, f"{waits.returncode}: {out} {more}")


@check("a report that cannot be printed is a failure, and a reader that has read enough is none")
def _():
    command = [f"{BIN}/renga", "research", "--docs", SAMPLES, HERE_QUESTIONS[0][1]]
    with open("/dev/full", "w") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, cwd=folder.name, timeout=60 * SLOW, env=surroundings())
    expect(done.returncode == 1, f"it ended with {done.returncode}")
    has(done.stderr, "standard output cannot be written")
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, text=True, cwd=folder.name, timeout=60 * SLOW, env=surroundings())
    os.close(writer)
    expect(done.returncode != 1 and "cannot be written" not in done.stderr, f"{done.returncode}: {done.stderr}")


@check("a folder without documents is told")
def _():
    with tempfile.TemporaryDirectory() as empty:
        has(run("--docs", empty, "Why?", code=3, connect=False)[1], "no document that can be read")


@check("two at once do not disturb each other")
def _():
    before = set(os.listdir(runs))
    terminals = [Terminal(HERE_QUESTIONS[0][1], connect=False) for _ in range(2)]
    names = {re.search(r"--on (\S+)", plain(terminal.ended()))[1] for terminal in terminals}
    expect(len(names) == 2 and {f"{name}.db" for name in names} <= set(os.listdir(runs)) - before, f"{names} {os.listdir(runs)}")


@check("Ctrl-C keeps the run of this process, and it goes on")
def _():
    hangs = socket.socket()
    hangs.bind(("127.0.0.1", 0))
    hangs.listen(8)
    model = ["--llm_gateway.key=k", f"--llm_gateway.upstream=http://127.0.0.1:{hangs.getsockname()[1]}/v1"]
    terminal = Terminal("--docs", SAMPLES, *model, HERE_QUESTIONS[0][1], connect=False)
    terminal.until("Planning…")
    hangs.accept()
    terminal.type("\x03")
    text = plain(terminal.ended(130))
    name = re.search(r"'renga research --on (\S+)' goes on", text)
    expect("CANCELLED" in text and name, text)
    out, told = run("--on", name[1], connect=False)
    has(out, "35 days", "[1]")
    has(run("--on", name[1], "What does XYZ-5008 mean?", connect=False)[0], "XYZ-5008")


folder.cleanup()
finish()
