#!/usr/bin/env python3
"""`renga interview` as a person and as a script use it: on a terminal, in pipes, with JSON lines, and beside `renga serve`.
Needs RENGA_BIN and RENGA_PROTO."""
import csv
import io
import json
import os
import re
import signal
import subprocess
import time

from desk import BIN, SLOW, Desk, expect, folder, message
from checks import check, finish, wait_until
import pseudo_terminal
from pseudo_terminal import width

ROOT = os.path.realpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", ".."))
FORMS = os.path.join(ROOT, "deploy", "samples", "forms")
KNOWN = ("--language=en", "--country=JP", "--timezone=Asia/Tokyo")
PROMPT = "› "
FORM = {"title": "Guests", "fields": [
    {"id": "1", "field_id": "name", "label": "Name", "required": True, "sort_order": 1},
    {"id": "2", "field_id": "mail", "label": "E-mail", "required": True, "sort_order": 2, "type": "FIELD_TYPE_EMAIL"},
    {"id": "3", "field_id": "note", "label": "Note", "sort_order": 3},
]}


def write(name, content):
    path = os.path.join(folder, name)
    with open(path, "w") as file:
        file.write(content if isinstance(content, str) else json.dumps(content))
    return path


GUESTS = write("guests.json", FORM)
JAPANESE = write("japanese.json", {"title": "名簿", "fields": [
    {**FORM["fields"][0], "label": "お名前"}, {**FORM["fields"][1], "label": "メールアドレス"}]})


def surroundings(**more):
    there = {k: v for k, v in os.environ.items() if not k.startswith(("RENGA_", "OPENAI_", "ANTHROPIC_", "LC_")) and k not in ("NO_COLOR", "LANG")}
    return {**there, "XDG_DATA_HOME": os.path.join(folder, "data"), "TERM": "xterm", **more}


def pipe(*arguments, lines="", code=0, **more):
    text = lines if isinstance(lines, (str, bytes)) else "".join(f"{line}\n" for line in lines)
    done = subprocess.run([f"{BIN}/renga", "interview", *arguments], input=text if isinstance(text, bytes) else text.encode(),
                          capture_output=True, cwd=folder, timeout=120 * SLOW, env=surroundings(**more))
    out, told = done.stdout.decode(), done.stderr.decode()
    expect(done.returncode == code, f"{arguments}: it ended with {done.returncode}: {told[-600:]}")
    return out, told


class Terminal(pseudo_terminal.Terminal):
    """A conversation: asked(), said() and ended() give the text since the last of them."""

    def __init__(self, *arguments, columns=70, **more):
        super().__init__([f"{BIN}/renga", "interview", *arguments], columns, cwd=folder, env=surroundings(**more))

    def take(self):
        text, self.read = plain(self.text()), len(self.out)
        return text

    def asked(self):
        """Until the next prompt."""
        self.until(PROMPT)
        return self.take()

    def said(self, line):
        self.type(f"{line}\n")
        return self.asked()

    def ended(self, code=0):
        return plain(super().ended(code))


def plain(text):
    return re.sub(r"\x1b\[[0-9;]*[A-Za-z]|…\r|\r", "", text)


def has(text, *wanted):
    for one in wanted:
        expect(one in text, f"{one!r} is missing: {text}")


def name_of(text):
    found = re.search(r"--session (\S+)", text)
    expect(found, f"no session is named: {text}")
    return found.group(1)


# ---- a person at a terminal ------------------------------------------------------------------------------------------

@check("a conversation shows its progress, what was understood, and the values with the person's words before it is confirmed")
def _():
    terminal = Terminal(*KNOWN, GUESTS)
    has(terminal.asked(), "0 of 3 done", "Name")
    has(terminal.said("Ada Lovelace"), "1 of 3 done", "✓ Name: Ada Lovelace", "E-mail")
    has(terminal.said("it's ada@example.com, thanks"), "2 of 3 done", "✓ E-mail: ada@example.com", "Note")
    last = terminal.said("skip")
    has(last, "3 of 3 done", "1. ✓ Name [name]: Ada Lovelace", "2. ✓ E-mail [mail]: ada@example.com", "3. · Note [note]: (left open", "Enter confirms")
    expect(last.count("ada@example.com") <= 2, f"the values stand there twice: {last}")
    terminal.type("\n")
    text = terminal.ended(0)
    has(text, "✓ Confirmed.")
    expect(json.loads(text[text.index("{"):]) == {"name": "Ada Lovelace", "mail": "ada@example.com"}, text)


@check("in Japanese every word of the terminal is Japanese")
def _():
    terminal = Terminal("--language=ja", "--country=JP", "--timezone=Asia/Tokyo", JAPANESE)
    has(terminal.asked(), "2項目中0項目が完了", "お名前", "中断")
    has(terminal.said("/help"), "これまでの値")
    has(terminal.said("/edit 住所 東京"), "その項目はありません")
    has(terminal.said("/lsit"), "もしかして: /list")
    has(terminal.said("山田太郎"), "✓ お名前: 山田太郎", "2項目中1項目が完了")
    terminal.type("/quit\n")
    text = terminal.ended(3)
    has(text, "ここまで保存しました（2項目中1項目）", "続き: renga interview --session")
    terminal = Terminal("--session", name_of(text))
    has(terminal.asked(), "メールアドレス")
    has(terminal.said("taro@example.com"), "Enter で確定")
    terminal.type("はい。\n")
    has(terminal.ended(0), "✓ 確定しました。", '"山田太郎"')


@check("before the person has named a language, the terminal speaks that of LANG")
def _():
    terminal = Terminal(GUESTS, LANG="ja_JP.UTF-8")
    has(terminal.asked(), "/quit で中断")
    terminal.type("/quit\n")
    has(terminal.ended(3), "ここまで保存しました")


@check("/edit takes a field by its number, its name or its label, and a wrong value is asked for again")
def _():
    terminal = Terminal(*KNOWN, GUESTS)
    terminal.asked()
    terminal.said("Ada")
    has(terminal.said("/edit 1 Grace"), "✓ Name: Grace")
    has(terminal.said("/edit name Mary"), "✓ Name: Mary")
    has(terminal.said("/edit Name Jean"), "✓ Name: Jean")
    has(terminal.said("/edit mail j@example.com"), "✓ E-mail: j@example.com", "2 of 3 done")
    has(terminal.said("/edit town Paris"), "there is no such field")
    has(terminal.said("/edit 9 Paris"), "there is no such field")
    has(terminal.said("/edit name"), "the value is missing")
    has(terminal.said("/list"), "1. ✓ Name [name]: Jean", "3. · Note [note]")
    expect("✓ E-mail" not in terminal.said("/edit mail nonsense"), "a wrong value is taken")
    has(terminal.said("/list"), "2. · E-mail [mail]")
    terminal.type("/quit\n")
    terminal.ended(3)


@check("what is said when every field is done changes a value, and nothing is confirmed by it")
def _():
    terminal = Terminal(*KNOWN, GUESTS)
    terminal.asked()
    for line in ("Ada", "a@example.com", "skip"):
        terminal.said(line)
    has(terminal.said("the e-mail from before should be b@example.com"), "✓ E-mail [mail]: b@example.com", "Enter confirms")
    terminal.type("OK!\n")
    has(terminal.ended(0), '"b@example.com"')


@check("Ctrl-C and Ctrl-D leave a session that goes on by its name, from the question on that it waits for")
def _():
    for keys, code in (("\x03", 130), ("\x04", 3)):
        terminal = Terminal(*KNOWN, GUESTS)
        terminal.asked()
        terminal.said("Ada")
        terminal.type(keys)
        text = terminal.ended(code)
        has(text, "the session waits, 1 of 3 done")
        terminal = Terminal("--session", name_of(text))
        has(terminal.asked(), "1 of 3 done", "E-mail")
        has(terminal.said("/list"), "✓ Name [name]: Ada")
        terminal.type("\x04")
        terminal.ended(3)


@check("a process that is killed in the midst of a conversation loses nothing of it")
def _():
    terminal = Terminal(*KNOWN, "--session=it's mine", GUESTS)
    terminal.asked()
    terminal.said("Ada")
    terminal.process.kill()
    terminal.ended(-signal.SIGKILL)
    terminal = Terminal("--session=it's mine", GUESTS)
    has(terminal.asked(), "1 of 3 done", "E-mail")
    terminal.type("/quit\n")
    has(terminal.ended(3), r"--session 'it'\''s mine'")


@check("no line is wider than a narrow terminal, in either language")
def _():
    for columns, form, known, line in ((34, GUESTS, KNOWN, "Ada Lovelace, Countess of the whole county"),
                                       (30, JAPANESE, ("--language=ja", "--country=JP", "--timezone=Asia/Tokyo"), "山田太郎左衛門の三番目の息子の太郎丸")):
        terminal = Terminal(*known, form, columns=columns)
        terminal.asked()
        text = "".join(terminal.said(typed).split("\n", 1)[1] + "\n" for typed in ("/help", line, "/list", "/nothing"))
        terminal.type("\x04")
        terminal.ended(3)
        for one in text.split("\n"):
            expect(width(one) <= columns, f"{width(one)} columns: {one!r}")


@check("NO_COLOR has no colours, and control characters of an answer do not reach the terminal")
def _():
    terminal = Terminal(*KNOWN, GUESTS, NO_COLOR="1")
    terminal.asked()
    expect(not re.search(rb"\x1b\[[0-9;]*m", terminal.out), "there are colours")
    terminal = Terminal("--session=control", *KNOWN, GUESTS)
    terminal.asked()
    terminal.type("\x04")
    terminal.ended(3)
    pipe("--session=control", lines='{"values": {"name": "\\u001b[2Jgone\\u0007"}}\n', code=3, *["--json"])
    terminal = Terminal("--session=control")
    terminal.asked()
    terminal.said("/list")
    expect(b"\x1b[2J" not in terminal.out and b"\x07" not in terminal.out, f"{terminal.out!r}")


# ---- pipes -----------------------------------------------------------------------------------------------------------

@check("in a pipe the result alone is on standard output, and the conversation on standard error without escape sequences")
def _():
    out, told = pipe(*KNOWN, "--confirm", GUESTS, lines=["Ada", "a@example.com", "skip"])
    expect(json.loads(out) == {"name": "Ada", "mail": "a@example.com"}, out)
    has(told, "E-mail", "✓ Name: Ada")
    expect("\033" not in out + told, "there are escape sequences")


@check("in a pipe an empty line confirms nothing, a word that agrees does, and an input that ends too early leaves the session waiting")
def _():
    lines = ["Ada", "a@example.com", "skip"]
    out, told = pipe(*KNOWN, GUESTS, lines=[*lines, "", ""], code=3)
    expect(not out and "3 of 3 done" in told, out + told)
    expect(json.loads(pipe("--session", name_of(told), lines=["yes"])[0])["name"] == "Ada", "it is not confirmed")
    expect(json.loads(pipe("--session", name_of(told))[0])["name"] == "Ada", "the result does not come again")
    out, told = pipe(*KNOWN, "--confirm", GUESTS, lines=lines[:1], code=3)
    expect(not out and "1 of 3 done" in told, out + told)
    expect(json.loads(pipe(*KNOWN, GUESTS, lines="Ada\r\na@example.com\r\nskip\r\nyes")[0])["name"] == "Ada", "with Windows' line ends")


@check("a line that no answer can be is refused, and the session is as before")
def _():
    for line, why in ((b"\xff\xfe\n", "UTF-8"), (b"a\0b\n", "UTF-8"), (b"x" * 32769 + b"\n", "32,768")):
        told = pipe(*KNOWN, GUESTS, lines=line, code=2)[1]
        has(told, why, "0 of 3 done")
    told = pipe(*KNOWN, GUESTS, lines=b"x" * (4 << 20), code=2)[1]
    has(told, "32,768")


@check("--json prints each reply and last the typed result, one a line, and takes requests as JSON")
def _():
    form = write("typed.json", {"fields": [*FORM["fields"][:2], {"id": "4", "field_id": "age", "label": "Age", "type": "FIELD_TYPE_NUMBER", "sort_order": 4}]})
    out, _ = pipe(*KNOWN, "--json", "--confirm", form, lines=["/list is my name", '{"values": {"mail": "a@example.com"}, "text": ""}', '{"text": "36"}'])
    *replies, result = [json.loads(line) for line in out.splitlines()]
    expect(len(replies) == 4 and all(one["state"]["revision"] == i + 1 for i, one in enumerate(replies)), out)
    expect(replies[0]["response_text"] and replies[0]["awaiting_user_response"] and "awaiting_user_response" not in replies[-1], out)
    expect(result == {"name": "/list is my name", "mail": "a@example.com", "age": 36}, result)
    session = replies[0]["session_id"]
    expect(json.loads(pipe("--json", "--session", session)[0]) == result, "the result does not come again")
    told = pipe(*KNOWN, "--json", GUESTS, lines=['{"txt": "Ada"}'], code=2)[1]
    has(told, "there is no 'txt'", "'text'")
    has(pipe(*KNOWN, "--json", GUESTS, lines=["{"], code=2)[1], "the line:1:")
    out, told = pipe(*KNOWN, "--json", GUESTS, lines=["Ada"], code=3)
    session = json.loads(out.splitlines()[0])["session_id"]
    out, _ = pipe("--json", "--session", session, code=3)
    expect("E-mail" in json.loads(out)["response_text"] and json.loads(out)["state"]["collected_fields"] == {"name": "Ada"}, out)


FORMULAS = ["=HYPERLINK(\"http://x\")", "+1+cmd|' /C calc'!A0", "-2+3", "@SUM(A1)", "＝1+1"]


@check("a table is read back by Python's csv, and no cell of it is a formula")
def _():
    for name in [*FORMULAS, 'a "quoted", name', "-5", "+81312345678"]:
        out, _ = pipe(*KNOWN, "--result=csv", "--json", "--out=guests.csv", "--confirm", GUESTS,
                      lines=[json.dumps({"values": {"name": name}}), "a@example.com", json.dumps({"values": {"note": "two\nlines"}})])
        with open(os.path.join(folder, "guests.csv"), newline="") as file:
            rows = list(csv.reader(file))
        expect(rows[0] == ["field_id", "label", "value", "quote"] and [row[0] for row in rows[1:]] == ["name", "mail", "note"], rows)
        cell = f"'{name}" if name in FORMULAS else name
        expect(rows[1][2] == cell, f"{rows[1][2]!r}, not {cell!r}")
        expect(rows[3][2:] == ["two\nlines", "two\nlines"], rows[3])
    out, _ = pipe(*KNOWN, "--result=csv", "--confirm", GUESTS, lines=["Ada", "it is a@example.com", "skip"])
    expect(list(csv.reader(io.StringIO(out, newline="")))[2] == ["mail", "E-mail", "a@example.com", "a@example.com"], out)


@check("--out that cannot be written is told before the first question, and so is a table among JSON lines")
def _():
    for out, why in ((folder, "a folder"), ("/nowhere/x.csv", "cannot be written")):
        has(pipe(*KNOWN, "--out", out, GUESTS, code=2)[1], out, why)
    has(pipe(*KNOWN, "--json", "--result=csv", GUESTS, code=2)[1], "--out")


# ---- what is refused -------------------------------------------------------------------------------------------------

def one(**more):
    return {"fields": [{"id": "a", "field_id": "b", "label": "c", **more}]}


WRONG = {
    "1:1: must be an object, a SessionForm": [],
    "'fields' must be a list": {"fields": {}},
    "'fields' must be an object": {"fields": [3]},
    "there is no 'lable'; did you mean 'label'": one(lable="x"),
    "there is no 'maxlength'; did you mean 'max_length'": one(limits={"maxlength": 3}),
    "did you mean 'FIELD_TYPE_EMAIL'": one(type="email"),
    "'required' must be true or false": one(required="yes"),
    "'max_length' must be a whole number": one(limits={"max_length": 1.5}),
    "'label' must be a string": one(label=3),
    "neither 'fields' (a SessionForm) nor 'properties' (a JSON Schema)": {"title": "x"},
    "expected a key in double quotes": "{",
    "form.fields[0].choices": one(type="FIELD_TYPE_CHOICE"),
    "form.fields[0].only_if_json": one(only_if={"field": "b", "present": True}),
    "form.schema_json": {"properties": {"a": {"type": "string", "multipleOf": 3}}},
}


@check("a form that is wrong ends the command with 2, and the message has the place and what would be right")
def _():
    for why, content in WRONG.items():
        has(pipe(*KNOWN, write("wrong.json", content), code=2)[1], why)
    has(pipe(*KNOWN, write("wrong.json", '{"fields": [\n  {"id": 1}]}'), code=2)[1], "wrong.json:2:4: 'id' must be a string")
    has(pipe(*KNOWN, "/nowhere.json", code=2)[1], "/nowhere.json")
    has(pipe(*KNOWN, code=2)[1], "FORM.json")
    has(pipe("--session=never", code=2)[1], "no session 'never'")
    has(pipe("--country=Japan", GUESTS, code=2)[1], "bootstrap.country", "Japan")
    has(pipe(*KNOWN, GUESTS, GUESTS, code=2)[1], "is not expected")


@check("a session does not go on with another form")
def _():
    pipe(*KNOWN, "--session=lunch", GUESTS, lines=["Ada"], code=3)
    has(pipe("--session=lunch", JAPANESE, lines=["x"], code=2)[1], "'lunch' was begun with another form")
    has(pipe("--session=lunch", GUESTS, code=3)[1], "E-mail", "1 of 3 done")


# ---- beside a suite --------------------------------------------------------------------------------------------------

desk = Desk(store="memory:")


@check("--connect asks a suite that runs, and a window that another was faster than shows where the session stands")
def _():
    terminal = Terminal(*KNOWN, "--connect", f"127.0.0.1:{desk.port}", "--session=two", GUESTS)
    terminal.asked()
    desk.answer("two", "Grace")
    text = terminal.said("Ada")
    has(text, "ABORTED", "1 of 3 done", "E-mail")
    has(terminal.said("a@example.com"), "2 of 3 done")
    terminal.said("skip")
    desk.answer("two", values={"name": "Mary"})
    has(terminal.said(""), "ABORTED", "Mary")
    terminal.type("\n")
    has(terminal.ended(0), "Mary")
    state = desk.state("two")
    expect(state.confirmed and dict(state.collected_fields)["name"] == "Mary", f"{state}")


@check("a session that waits at a suite is told with its address, and a suite that is gone leaves the terminal as it was")
def _():
    terminal = Terminal(*KNOWN, "--connect", f"127.0.0.1:{desk.port}", "--session=gone", "--timeout=5s", GUESTS)
    terminal.asked()
    desk.delete("gone")
    terminal.type("Ada\n")
    has(terminal.ended(1), "NOT_FOUND", "gone")
    terminal = Terminal(*KNOWN, "--connect", f"127.0.0.1:{desk.port}", "--session=away", "--timeout=5s", GUESTS)
    terminal.asked()
    desk.stop()
    has(terminal.said("Ada"), "UNAVAILABLE")
    terminal.type("/quit\n")
    has(terminal.ended(3), f"renga interview --session away --connect 127.0.0.1:{desk.port}")
    has(pipe("--connect", f"127.0.0.1:{desk.port}", "--timeout=5s", GUESTS, code=1)[1], "UNAVAILABLE", str(desk.port))


def stands_still(pid):
    """Every thread of it."""
    states = set()
    for thread in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{thread}/stat") as file:
            states.add(file.read().rpartition(")")[2].split()[0])
    return states == {"T"}


@check("what is typed while a reply is awaited is taken back by Ctrl-C, and the session is as before")
def _():
    stopped = Desk(store="memory:")
    terminal = Terminal(*KNOWN, "--connect", f"127.0.0.1:{stopped.port}", "--peers.keepalive=60s", "--session=frozen", GUESTS)
    terminal.asked()
    os.kill(stopped.processes[0].process.pid, signal.SIGSTOP)
    wait_until(lambda: stands_still(stopped.processes[0].process.pid), "it does not stand still", 20.0 * SLOW)
    terminal.type("Ada\n")
    wait_until(lambda: terminal.more(0.1) and "…".encode() in terminal.out[terminal.read:], "nothing is awaited", 20.0 * SLOW)
    time.sleep(0.5 * SLOW)  # the mark stands there shortly before the call begins
    terminal.type("\x03")
    text = terminal.ended(130)
    os.kill(stopped.processes[0].process.pid, signal.SIGCONT)
    has(text, "CANCELLED", "--session frozen")
    stopped.stop()


finish()
