#!/usr/bin/env python3
"""`renga eval` over the documents of the help desk's tests: its figures, its reports, a comparison with an earlier run, lines that
are wrong, calls that fail, Ctrl-C; in one process and with five. RENGA_BIN=<folder of the binaries> eval.py"""
import json
import os
import re
import signal
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [f"{HERE}/../../lib", f"{HERE}/../helpdesk"]
from checks import check, expect, finish  # noqa: E402
from documents import docs, folder  # noqa: E402
from ports import free_port  # noqa: E402
from suite import Suite, index  # noqa: E402

BIN = os.environ["RENGA_BIN"]
SLOW = 5 if os.environ.get("RENGA_SANITIZE") else 1
environment = {k: v for k, v in os.environ.items() if not k.startswith(("RENGA_", "OPENAI_", "ANTHROPIC_"))}
environment.update(XDG_DATA_HOME=f"{folder}/data")
QUESTIONS = [
    {"question": "Which port is used for monitoring?", "answers": ["9090"], "file": "network.md"},
    {"question": "When does a session timeout happen?", "answers": ["20 minutes"], "file": "guide/sessions.html"},
    {"question": "バックアップデータの保存期間は何日間ですか", "answers": ["30日間"], "file": "manual/backup.md", "id": "保存期間"},
    {"question": "Which port does <script>alert(1)</script> the XYZ system listen on for web traffic?", "expected": "9443"},
    {"question": "Who painted the Mona Lisa?", "found": False},
    {"question": "How old are the giraffes of Nairobi?", "uri": None, "near": True},
]
WRONG = ["{", '{"question": "a"}', '{"question": "a", "anwsers": ["b"]}', '{"question": "a", "answers": [3]}']


def write(name, lines):
    with open(f"{folder}/{name}", "w") as file:
        file.writelines((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in lines)
    return f"{folder}/{name}"


def evaluate(path, *flags, code=0):
    done = subprocess.run([f"{BIN}/renga", "eval", path, *flags], env=environment, cwd=folder, capture_output=True, text=True,
                          timeout=60 * SLOW)
    expect(done.returncode == code, f"ended with {done.returncode}: {done.stderr}")
    return done


def results(text):
    lines = [json.loads(line) for line in text.splitlines()]
    figures = {(one["figure"], one["group"]): one for one in lines[-1]["figures"]}
    return lines[:-1], figures, lines[-1]


def read(name):
    with open(f"{folder}/{name}") as file:
        return file.read()


QUESTIONS_FILE = write("questions.jsonl", QUESTIONS)
HERE_FLAGS = ("--docs", docs)


@check("the figures are those of the verdicts, with their intervals, and stand alone on standard output")
def _():
    done = evaluate(QUESTIONS_FILE, *HERE_FLAGS, "--json", "--report", "report.html,report.md,before.jsonl")
    rows, figures, end = results(done.stdout)
    expect([row["why"] for row in rows[:3] + rows[4:]] == ["right"] * 5, [(row["question"], row["why"], row["answer"]) for row in rows])
    expect(rows[5]["nearest"] is not None and "citations" in rows[0] and "citations" not in rows[5], rows[5])
    expect(rows[3]["why"] in ("wrong_sentence", "abstained", "not_found"), rows[3])
    right = figures["right", "all"]
    expect(right["count"] == 6 and round(right["value"], 3) == 0.833 and round(right["low"], 3) == 0.436, right)
    expect(figures["contained", "ja"]["count"] == 1 and figures["contained", "en"]["count"] == 3, figures)
    expect(figures["mrr", "all"]["count"] == 3 and figures["quotes", "all"]["value"] == 1, figures)
    expect(figures["near_answered", "all"]["value"] == 0 and figures["failed", "all"]["value"] == 0, figures)
    expect(("tokens", "all") not in figures, "no model has read or written a token")
    expect(end["asked"] == 6 and not done.stderr, done.stderr)
    expect(results(read("before.jsonl"))[0] == rows, "the file has something else")


@check("a report shows what was not right, and nothing of a text is obeyed")
def _():
    page, text = read("report.html"), read("report.md")
    for report in (page, text):
        expect("9443" in report and "Mona Lisa" not in report and "83.3 %" in report, report[:400])
        expect("<script" not in report and "&lt;script" in report, "it has a script")
    in_japanese = evaluate(QUESTIONS_FILE, *HERE_FLAGS, "--language", "ja", "--report", "japanese.html").stdout
    expect("正解（全問）" in in_japanese and '<html lang="ja">' in read("japanese.html"), in_japanese)
    expect("default-src 'none'" in page and not re.search(r'(src|href)="', page), "it loads something")


@check("with an earlier run it says what got better and worse, with a test")
def _():
    before = read("before.jsonl").splitlines()
    before[0] = before[0].replace('"why":"right"', '"why":"abstained"').replace('"contained":true', '"contained":false')
    before[4] = before[4].replace('"answered":false', '"answered":true')
    write("earlier.jsonl", before)
    _, _, end = results(evaluate(QUESTIONS_FILE, *HERE_FLAGS, "--json", "--against", "earlier.jsonl").stdout)
    changes = {one["figure"]: one for one in end["against"]["changes"]}
    expect(end["against"]["better"] == [QUESTIONS[0]["question"]] and not end["against"]["worse"], end["against"])
    expect((changes["contained"]["better"], changes["contained"]["worse"], changes["contained"]["p"]) == (1, 0, 1), changes)
    expect((changes["absent_answered"]["better"], changes["absent_answered"]["after"]) == (1, 0), changes)
    told = evaluate(QUESTIONS_FILE, *HERE_FLAGS, "--against", "earlier.jsonl").stdout
    expect("Became right: 1" in told and "Against earlier.jsonl: 6 questions of both" in told, told)


@check("a line that is wrong is named and left out; without any other the command line is wrong")
def _():
    done = evaluate(write("mixed.jsonl", WRONG + QUESTIONS[:1]), *HERE_FLAGS, "--json")
    told = done.stderr.splitlines()
    for number, why in enumerate(("1:2", "answers: is missing", "did you mean 'answers'", "answers: must be words"), 1):
        expect(f"mixed.jsonl:{number}: " in told[number - 1] and why in told[number - 1], told)
    expect(results(done.stdout)[2]["lines_left_out"] == 4, done.stdout)
    expect("has no question that can be used" in evaluate(write("wrong.jsonl", WRONG), *HERE_FLAGS, code=2).stderr, "not told")
    expect("no question" in evaluate(QUESTIONS_FILE, "--against", write("empty.jsonl", []), code=2).stderr, "not told")
    expect("its ending" in evaluate(QUESTIONS_FILE, "--report", "report.pdf", code=2).stderr, "not told")
    own = write("own.jsonl", QUESTIONS)
    expect("name another file" in evaluate(own, "--report", f"{folder}/./own.jsonl", code=2).stderr, "the questions are overwritten")
    expect("cannot open" in evaluate("nowhere.jsonl", code=2).stderr, "not told")
    for encoding in ("utf-16", "utf-16-le", "utf-16-be"):
        with open(f"{folder}/wide.jsonl", "w", encoding=encoding) as file:
            file.write(json.dumps(QUESTIONS[2], ensure_ascii=False) + "\n")
        told = evaluate("wide.jsonl", code=2).stderr
        expect("in UTF-16" in told and "iconv -f UTF-16" in told and len(told.splitlines()) == 1, f"{encoding}: {told}")


@check("calls that fail are counted, and a suite that is not there is not asked for ever")
def _():
    done = evaluate(write("many.jsonl", QUESTIONS * 20), "--connect", f"127.0.0.1:{free_port()}", "--json", code=1)
    _, figures, end = results(done.stdout)
    expect(figures["failed", "all"]["value"] == 1 and figures["answered", "all"]["value"] == 0, figures)
    expect(end["asked"] < 20 and "UNAVAILABLE" in done.stderr and "not asked" in done.stderr, done.stderr)
    nowhere = evaluate(write("nowhere.jsonl", QUESTIONS * 20), "--collection", "nowhere", "--json", code=1)
    expect("NOT_FOUND: collections[0]: there is no collection 'nowhere'; there is 'docs-" in nowhere.stderr, nowhere.stderr)
    expect(results(nowhere.stdout)[2]["asked"] < 20, "all were asked of a collection that is not there")
    late = evaluate(QUESTIONS_FILE, "--collection", "docs", "--timeout", "1ms", "--limit", "2", "--json", code=1)
    expect({row["why"] for row in results(late.stdout)[0]} == {"failed"}, late.stdout)


@check("Ctrl-C stops with what is done, and writes it")
def _():
    process = subprocess.Popen([f"{BIN}/renga", "eval", write("endless.jsonl", QUESTIONS * 2000), *HERE_FLAGS, "--verbose", "--report",
                                "stopped.jsonl"], env=environment, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    process.stderr.readline()
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=30 * SLOW)
    rows, figures, end = results(read("stopped.jsonl"))
    expect(process.returncode == 130 and "right, all questions" in out, f"{process.returncode}: {out}")
    expect(0 < end["asked"] < 12000 and end["asked"] == len(rows) == figures["right", "all"]["count"], end)


@check("a suite of five processes gives the same verdicts")
def _():
    index()
    suite = Suite().five()
    rows, figures, _ = results(evaluate(QUESTIONS_FILE, "--collection", "docs", "--concurrency", "4", "--json", "--connect",
                                        f"127.0.0.1:{suite.processes['orchestrator'].port}").stdout)
    suite.stop()
    before = results(read("before.jsonl"))[0]
    expect([row["why"] for row in rows] == [row["why"] for row in before], [(row["question"], row["why"]) for row in rows])
    expect(("quotes", "all") not in figures, "quotes were looked up without a folder")


finish()
