#!/usr/bin/env python3
"""`renga research --autonomous` as a person and as a script use it: in a pipe, as a file, and with a person who decides at a
terminal. No model is asked. Needs RENGA_BIN."""
import json
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "lib"))
from checks import check, expect, finish  # noqa: E402
from pseudo_terminal import SLOW, Terminal  # noqa: E402

RENGA = os.path.join(os.environ["RENGA_BIN"], "renga")
SAMPLES = os.path.realpath(os.path.join(HERE, "..", "..", "..", "deploy", "samples", "docs"))
THEME = "How are backups kept and restored?"
PROMPT = "? help > "
folder = tempfile.TemporaryDirectory(prefix="renga-autonomous-")
environment = {**{name: value for name, value in os.environ.items() if not name.startswith("RENGA_") and name != "OPENAI_API_KEY"},
               "XDG_DATA_HOME": folder.name, "LC_ALL": "C.UTF-8"}


def command(*arguments):
    return [RENGA, "research", *arguments]


def study(*arguments, code=0, **more):
    done = subprocess.run(command(*arguments), cwd=folder.name, env=environment, capture_output=True, text=True, timeout=60 * SLOW,
                          stdin=subprocess.DEVNULL, **more)
    expect(done.returncode == code, f"it ended with {done.returncode}: {done.stdout[-500:]} {done.stderr[-900:]}")
    return done


def terminal(*arguments, **more):
    return Terminal(command("--docs", SAMPLES, "--autonomous", "--human", *arguments), columns=90, cwd=folder.name,
                    env={**environment, **more})


def plain(text):
    return re.sub(r"\x1b\[[0-9;]*[A-Za-z]", "", text)


def prompted(at):
    """The text up to the prompt at which the command waits for a line."""
    while not at.text().endswith(PROMPT):
        expect(at.more(60 * SLOW), f"the prompt does not come: {at.text()}")
    text = plain(at.text())
    at.read = len(at.out)
    return text


def run_of(text):
    return re.search(r"--on (\S+)'", text)[1]


@check("in a pipe: the report has five parts and notes that resolve; --verbose tells plan, choices, searches and scores")
def _():
    done = study("--docs", SAMPLES, "--autonomous", "--verbose", THEME)
    parts = re.findall(r"^#{1,2} (.+)$", done.stdout, re.M)
    expect(parts == [THEME, "Executive Summary", "Key Findings", "Detailed Analysis", "References"], f"{parts}")
    used, listed = set(re.findall(r"\[\^(\d+)\](?!:)", done.stdout)), set(re.findall(r"^\[\^(\d+)\]: ", done.stdout, re.M))
    expect(used and used == listed, f"{used}, {listed}")
    for word in ("Plan\n", "→ search", "→ write", "  ✓ ", "overall ", "steps, overall"):
        expect(word in done.stderr, f"{word!r} is not in {done.stderr}")


@check("--json and --output have the whole result, and a page whose notes lead to their quotes")
def _():
    result = json.loads(study("--docs", SAMPLES, "--autonomous", "--json", "--output", "page.html", THEME).stdout)
    expect(result["draft"].startswith(f"# {THEME}") and result["stop_reason"] and result["decisions"], f"{list(result)}")
    with open(f"{folder.name}/page.html") as file:
        page = file.read()
    targets = set(re.findall(r'href="#([^"]+)"', page))
    expect(targets and all(f'id="{target}"' in page for target in targets) and "[^" not in page, page[-1500:])
    study("--docs", SAMPLES, "--autonomous", "--output", "result.json", THEME)
    with open(f"{folder.name}/result.json") as file:
        expect(json.load(file)["sources"], "result.json has no sources")


@check("options that do not go together are refused with 2 and a text that names them")
def _():
    for arguments, words in ((("--human", THEME), "--human goes with --autonomous"), (("--iterations", "3", THEME), "--iterations"),
                             (("--autonomous", "--cycles", "1", THEME), "--cycles"),
                             (("--autonomous", "--human_timeout", "1h", THEME), "--human_timeout goes with --human")):
        done = study("--docs", SAMPLES, *arguments, code=2)
        expect(words in done.stderr, f"{arguments}: {done.stderr}")


@check("a person at the terminal adds, moves and drops queries, goes on with that plan, and stops: a draft is written once")
def _():
    at = terminal(THEME)
    first = prompted(at)
    expect("Plan" in first and "5. " in first and "✓" not in first, f"the plan is not shown first: {first}")
    for line, wanted in (("+ restore a backup", "6. restore a backup"), ("9 > 1", "there is no query 9; the plan has 6"),
                         ("6 > 1", "1. restore a backup"), ("- 2", f"2. {THEME} users numbers statistics")):
        at.type(line + "\n")
        shown = prompted(at)
        expect(wanted in shown, f"{line}: {shown}")
    at.type("\n")
    shown = prompted(at)
    expect("✓ restore a backup: " in shown, shown)
    for _ in range(6):
        if "Write a draft" in shown:
            break
        at.type("\n")
        shown = prompted(at)
    at.type("s enough\n")
    text = plain(at.ended())
    expect("a person stopped it" in text and text.count("Executive Summary") == 1, text)


@check("a rejected plan is made again, an editor changes it, advice is taken, and the report comes at the end")
def _():
    editor = os.path.join(folder.name, "editor.sh")
    with open(editor, "w") as file:
        file.write("#!/bin/sh\nprintf '[points]\\nRetention\\n[queries]\\nbackup retention\\nrestore\\n' > \"$1\"\n")
    os.chmod(editor, 0o700)
    at = terminal(THEME, EDITOR=editor)
    for line in ("", "r look for restores too", "e", "", "a short sentences", *[""] * 20):
        while not at.text().endswith(PROMPT) and at.more(60 * SLOW):  # ends with the command, too
            pass
        if not at.text().endswith(PROMPT):
            break
        at.read = len(at.out)
        at.type(line + "\n")
    at.read = 0
    text = plain(at.ended())
    expect("\nDetailed Analysis\n" in text and "\nRetention\n" in text and "\nSources\n" in text, text)


@check("in a pipe the run waits: 3, and --on goes on with it, also when Ctrl-C has left the prompt")
def _():
    waiting = study("--docs", SAMPLES, "--autonomous", "--human", THEME, code=3)
    run = run_of(waiting.stderr)
    again = study("--on", run, code=3)
    expect(run_of(again.stderr) == run, again.stderr)
    at = Terminal(command("--on", run), columns=90, cwd=folder.name, env=environment)
    prompted(at)
    at.type("\x03")
    expect(run in plain(at.ended(3)), "the run is not told")
    at = Terminal(command("--on", run), columns=90, cwd=folder.name, env=environment)
    prompted(at)
    at.type("s\n")
    expect("a person stopped it" in plain(at.ended(3)), plain(at.text()))


finish()
