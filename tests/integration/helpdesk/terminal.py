#!/usr/bin/env python3
"""The help desk for people: `renga ask` in a pipe and on a terminal, the README's first command, its example."""
import fcntl
import json
import os
import pty
import re
import shutil
import signal
import socket
import struct
import subprocess
import sys
import termios
import threading
import unicodedata
from concurrent.futures import ThreadPoolExecutor

import grpc

from suite import BIN, HERE, SLOW, Process, expect, folder
from checks import check, wait_until
from contract import message
from web import Handler, completion, serve
import checks

ROOT = os.path.join(HERE, "..", "..", "..")
SAMPLES = os.path.realpath(os.path.join(ROOT, "deploy", "samples", "docs"))
JAPANESE = "バックアップは何日間保存されますか。パスワードを忘れたときはどうすればよいですか。"
ENGLISH = "How long are backups kept? What does XYZ-5008 mean?"
NOWHERE = "Who won the football world cup in 1990?"
COLUMNS = 60


def surroundings(**more):
    there = {k: v for k, v in os.environ.items() if not k.startswith(("RENGA_", "OPENAI_", "ANTHROPIC_")) and k != "NO_COLOR"}
    return {**there, "XDG_DATA_HOME": os.path.join(folder, "data"), "TERM": "xterm", **more}


def ask(*arguments, **more):
    return subprocess.run([f"{BIN}/renga", "ask", *arguments], capture_output=True, text=True, cwd=folder, timeout=60 * SLOW,
                          env=surroundings(**more))


def on_terminal(*arguments, **more):
    """What a terminal of COLUMNS is sent."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, COLUMNS, 0, 0))
    process = subprocess.Popen([f"{BIN}/renga", "ask", *arguments], stdin=theirs, stdout=theirs, stderr=theirs, cwd=folder,
                               env=surroundings(**more))
    os.close(theirs)
    out = b""
    try:
        while piece := os.read(ours, 65536):
            out += piece
    except OSError:  # the other end is closed
        pass
    os.close(ours)
    expect(process.wait(30 * SLOW) == 0, out.decode(errors="replace"))
    return out.decode()


def sources(text):
    """The numbered places of an answer, each checked to have its quote."""
    found = {}
    for number, uri, first, last, quote in re.findall(r'^\[(\d+)\] (.+?\.\w+):(\d+)(?:-(\d+))? — .*?: "(.*)"$', text, re.M):
        found[int(number)] = uri
        if uri.endswith(".md"):
            with open(os.path.join(SAMPLES, uri)) as file:
                there = " ".join("".join(file.readlines()[int(first) - 1:int(last or first)]).split())
            expect(quote in there, f"{quote!r} is not in {uri}:{first}: {there!r}")
    return found


def is_cited(text):
    answer, found = text[:text.index("\n[1] ")], sources(text)
    expect(found and list(found) == list(range(1, len(found) + 1)), f"the sources are {found}: {text}")
    expect({int(n) for n in re.findall(r"\[(\d+)\]", answer)} == set(found), f"numbers and sources differ: {text}")
    return found


NAMED = r'run \w+; if it is wrong: renga feedback \w+ bad "WHY"\n'
for language, question, note in (("Japanese", JAPANESE, "抽出のみ"), ("English", ENGLISH, "extractive")):
    @check(f"a two-part {language} question over the samples: every number of the answer is a place that has the quote")
    def _(question=question, note=note):
        done = ask("--docs", SAMPLES, question)
        expect(done.returncode == 0 and re.fullmatch(NAMED, done.stderr), f"{done.returncode}: {done.stderr}")
        expect("\033" not in done.stdout, "there are escape sequences in a pipe")
        expect(len(set(is_cited(done.stdout).values())) >= 2, "one document answers both parts")
        expect(note in done.stdout, "it does not say that no model was asked")


@check("what the documents do not say: exit code 3, and what was looked for")
def _():
    done = ask(NOWHERE)
    expect(done.returncode == 3, f"{done.returncode}: {done.stderr}")
    expect("football" in done.stdout and "[1]" not in done.stdout, done.stdout)
    expect(done.stdout.count("\n~ ") == 3 and "Nearest passages, which do not answer it:" in done.stdout, done.stdout)
    expect(done.stdout.count("OPENAI_API_KEY") == 1 and "extractive:" not in done.stdout, done.stdout)


@check("a part that the documents do not say is named behind the answer to the other one: exit code 0")
def _():
    for question, missing, nearest in ((f"How long are backups kept? {NOWHERE}", "No answer was found in the documents for:", "Nearest"),
                                       ("バックアップは何日間保存されますか。月の裏側の気温は何度ですか。", "見つかりませんでした", "最も近い箇所")):
        done = ask(question)
        expect(done.returncode == 0 and missing in done.stdout and nearest in done.stdout, f"{done.returncode}: {done.stdout}")
        expect("35" in done.stdout.split(missing)[0] and "[1]" in done.stdout and "OPENAI_API_KEY" in done.stdout, done.stdout)


@check("a collection that is not there is an error, and it is told which there are")
def _():
    done = ask("--collection", "handbok", NOWHERE)
    expect(done.returncode == 1 and re.search(r"NOT_FOUND: collections\[0\]: there is no collection 'handbok'; there is 'docs-\w{8}'\n", done.stderr),
           f"{done.returncode}: {done.stderr}")
    there = re.search(r"docs-\w{8}", done.stderr).group()
    expect(re.fullmatch(NAMED, ask("--collection", there, NOWHERE).stderr), "one that is there is said to be missing")
    expect(f"did you mean '{there}'?" in ask("--collection", there[:-1], NOWHERE).stderr, "the one that was meant is not named")


@check("a question over an empty knowledge base says that nothing has been indexed, and not that a model is missing")
def _():
    there = os.path.join(folder, "nothing_indexed")
    os.mkdir(there)
    for command in ("ask", "research"):
        done = subprocess.run([f"{BIN}/renga", command, NOWHERE], capture_output=True, text=True, cwd=there, timeout=60 * SLOW,
                              env=surroundings(XDG_DATA_HOME=there))
        expect(done.returncode == 3 and "OPENAI_API_KEY" not in done.stdout, f"{done.returncode}: {done.stdout}")
        expect(f"renga {command}: no documents have been indexed; bring some in by --docs FOLDER or 'renga index FOLDER'\n" in done.stderr, done.stderr)
    expect("have been indexed" not in ask(NOWHERE).stderr, "of a knowledge base with documents it is said, too")


@check("--docs with a file asks for its folder")
def _():
    done = ask("--docs", f"{SAMPLES}/en/backup.md", "How long are backups kept?")
    expect(done.returncode == 2 and done.stderr == f"renga ask: '{SAMPLES}/en/backup.md' is no folder; give the folder that holds it\n", done.stderr)


@check("a wrong command line is 2, a suite that is not there 1, and both say why")
def _():
    for arguments in ([], ["  "], ["one", "two"], ["--docs", "/nowhere", "x"], ["--unknown", "x"]):
        done = ask(*arguments)
        expect(done.returncode == 2 and done.stderr, f"{arguments}: {done.returncode}")
    done = ask("--connect", "127.0.0.1:1", "--timeout", "5s", "x")
    expect(done.returncode == 1 and "UNAVAILABLE" in done.stderr, f"{done.returncode}: {done.stderr}")


@check("--json is the whole result, for machines")
def _():
    done = ask("--json", ENGLISH)
    result = json.loads(done.stdout)
    expect(len(result["subtasks"]) == 2 and result["citations"][0]["uri"], result["plan"])
    expect(all(subtask["is_completed"] for subtask in result["subtasks"]), result["subtasks"])
    expect([result["found"], *(s["found"] for s in result["subtasks"])] == [True] * 3 and "not_found" not in result, result)
    result = json.loads(ask("--json", NOWHERE).stdout)
    expect([result["found"], result["subtasks"][0]["found"]] == [False, False], result)
    expect(result["not_found"]["looked_for"] == [NOWHERE], result)
    expect([set(hit) >= {"uri", "line_from", "quote", "score"} for hit in result["not_found"]["nearest"]] == [True] * 3, result)


def width(line):
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in line)


@check("on a terminal the subtasks advance side by side, and no line is wider than it")
def _():
    for question in (JAPANESE, ENGLISH):
        text = on_terminal(question)
        expect("\033[32m✓" in text and re.search(r"\033\[[23]A\r", text) and "\033[J" in text, f"nothing is drawn anew: {text!r}")
        lines = re.sub(r"\033\[[0-9;]*[A-Za-z]|\r", "", text).split("\n")
        expect(max(map(width, lines)) <= COLUMNS, max(lines, key=width))


@check("NO_COLOR has no colours, --quiet has no plan")
def _():
    expect(not re.search(r"\033\[[0-9;]*m", on_terminal(ENGLISH, NO_COLOR="1")), "there are colours")
    expect("✓" not in on_terminal("--quiet", ENGLISH), "there is a plan")


@check("a folder that changes is asked as it is now, and folders of one name stay apart")
def _():
    for place, text in (("a", "The red lamp means low pressure.\n"), ("b", "The green lamp means high pressure.\n")):
        os.makedirs(os.path.join(folder, place, "notes"))
        with open(os.path.join(folder, place, "notes", "lamps.md"), "w") as file:
            file.write("# Lamps\n\n" + text)
    red, green = os.path.join(folder, "a", "notes"), os.path.join(folder, "b", "notes")
    expect("low pressure" in ask("--docs", red, "What does the red lamp mean?").stdout, "not found")
    expect("high pressure" in ask("--docs", green, "What does the green lamp mean?").stdout, "not found")
    expect("low pressure" in ask("--docs", red, "What does the red lamp mean?").stdout, "lost to its namesake")
    with open(os.path.join(red, "lamps.md"), "w") as file:
        file.write("# Lamps\n\nThe red lamp means an open door.\n")
    expect("open door" in ask("--docs", red, "What does the red lamp mean?").stdout, "the old text is asked")


@check("in a pipe, files of --docs that are left out are told on standard error, each with its reason")
def _():
    place = os.path.join(folder, "mixed")
    os.makedirs(place)
    for name, text in (("lamps.md", "# Lamps\n\nThe blue lamp means standby.\n"), ("plan.pdf", "%PDF-1.4\n% blue lamp plan\n")):
        with open(os.path.join(place, name), "w") as file:
            file.write(text)
    done = ask("--docs", place, "What does the blue lamp mean?")
    expect("standby" in done.stdout and "%PDF" not in done.stdout, done.stdout)
    expect("skipped plan.pdf: is a PDF document" in done.stderr, done.stderr)


@check("a knowledge base in memory is asked in the process that made it, and `renga index` refuses to make one")
def _():
    place = os.path.join(folder, "mixed")
    done = ask("--docs", place, "--tool_runner.store", "memory:", "What does the blue lamp mean?")
    expect(done.returncode == 0 and "standby" in done.stdout, done.stdout + done.stderr)
    index = subprocess.run([f"{BIN}/renga", "index", "--tool_runner.store=memory:", place], capture_output=True, text=True, cwd=folder,
                           env=surroundings())
    expect(index.returncode == 2 and "ends with this command" in index.stderr, f"{index.returncode}: {index.stderr}")


@check("questions at the same time are all answered")
def _():
    processes = [subprocess.Popen([f"{BIN}/renga", "ask", ENGLISH], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                  cwd=folder, env=surroundings()) for _ in range(3)]
    for process in processes:
        out, err = process.communicate(timeout=60 * SLOW)
        expect(process.returncode == 0 and "[1]" in out, f"{process.returncode}: {err}")


class Upstream(Handler):
    @classmethod
    def serve(cls):
        """The server, and the surroundings of who asks it."""
        server = serve(cls)
        return server, {"OPENAI_BASE_URL": f"http://127.0.0.1:{server.server_port}/v1", "OPENAI_API_KEY": "none"}

    def sleep(self):
        """Until the other side has closed."""
        self.close_connection = True
        return not self.connection.recv(1)


class Sleeper(Upstream):
    came, gone = threading.Event(), threading.Event()

    def do_POST(self):
        self.asked()
        Sleeper.came.set()
        if self.sleep():
            Sleeper.gone.set()


@check("Ctrl-C cancels the run and stops the model's call: exit code 130")
def _():
    server, upstream = Sleeper.serve()
    process = subprocess.Popen([f"{BIN}/renga", "ask", "What is it?"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                               cwd=folder, env=surroundings(**upstream))
    expect(Sleeper.came.wait(20 * SLOW), "the model was not asked")
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=20 * SLOW)
    expect(process.returncode == 130 and "CANCELLED" in err, f"{process.returncode}: {err}")
    expect(Sleeper.gone.wait(5 * SLOW), "the model's call goes on")
    server.shutdown()


class Refuser(Upstream):
    """Does not know the key."""

    def do_POST(self):
        self.asked()
        self.reply({"error": {"message": "Incorrect API key provided", "type": "invalid_request_error", "code": "invalid_api_key"}}, 401)


@check("a model that refuses each call gives way to the documents' own sentences, and it is told why")
def _():
    server, upstream = Refuser.serve()
    done = ask("--docs", SAMPLES, ENGLISH, **upstream)
    expect(done.returncode == 0 and "Incorrect API key" in done.stdout, f"{done.returncode}: {done.stdout}")
    expect("XYZ-5008" in done.stdout.split("\n[1] ")[0] and "35 days" in done.stdout, done.stdout)
    server.shutdown()


@check("where every subtask broke off and no sentence answers, nothing is said of the documents: exit code 1, and why")
def _():
    server, upstream = Refuser.serve()
    done = ask("--docs", SAMPLES, NOWHERE, **upstream)
    expect(done.returncode == 1 and not done.stdout, f"{done.returncode}: {done.stdout}")
    expect(re.fullmatch(r"renga ask: [A-Z_]+: every subtask broke off.*Incorrect API key.*\n", done.stderr), done.stderr)
    told = ask("--json", NOWHERE, **upstream)
    expect(told.returncode == 1 and all(s["status_code"] for s in json.loads(told.stdout)["subtasks"]), told.stdout)
    server.shutdown()


class Dawdler(Upstream):
    """Plans at once, and then sleeps."""

    def do_POST(self):
        if "subtasks" not in json.dumps(self.asked().get("response_format", "")):
            self.sleep()
            return
        message = {"role": "assistant", "content": json.dumps({"subtasks": ["What is a very long question about backups?", "二つ目の質問"]})}
        self.reply(completion(message))


@check("while a model thinks each subtask's seconds go on, and a terminal that becomes narrow gets lines that fit")
def _():
    server, upstream = Dawdler.serve()
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, COLUMNS, 0, 0))
    process = subprocess.Popen([f"{BIN}/renga", "ask", "What is it?"], stdin=theirs, stdout=theirs, stderr=theirs, cwd=folder,
                               env=surroundings(**upstream))
    shown = bytearray()

    def show():
        try:
            while piece := os.read(ours, 65536):
                shown.extend(piece)
        except OSError:
            pass

    def lines_of(text):
        return re.sub(r"\033\[[0-9;]*[A-Za-z]|\r", "", text.decode(errors="replace")).split("\n")

    def times(number):
        return {t for line in lines_of(shown) for t in re.findall(rf"^● {number} .*choosing tools (\d\.\d) s", line)}

    threading.Thread(target=show, daemon=True).start()
    os.close(theirs)
    wait_until(lambda: len(times(1)) >= 3 and len(times(2)) >= 3, "the seconds of both go on", 20 * SLOW)
    fcntl.ioctl(ours, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 24, 0, 0))
    before = len(shown)
    wait_until(lambda: shown[before:].count(b"\033[J") >= 3, "it is drawn anew", 20 * SLOW)
    drawn = shown[before:].split(b"\033[J", 1)[1].rsplit(b"\033[J", 1)[0]
    expect(max(map(width, lines_of(drawn))) <= 24 and b"1 " in drawn, f"{lines_of(drawn)}")
    process.send_signal(signal.SIGINT)
    expect(process.wait(20 * SLOW) == 130, f"{process.returncode}: {shown[-200:]}")
    server.shutdown()


served = Process(f"{BIN}/renga", "serve", "--rpc.listen=127.0.0.1:0", f"--tool_runner.store={folder}/data/renga/knowledge.db",
                 "--tool_runner.record=memory:", "--orchestrator.store=memory:")


@check("--connect asks a suite that runs, with the same answer")
def _():
    done = ask("--connect", f"127.0.0.1:{served.port}", ENGLISH)
    expect(done.returncode == 0, done.stderr)
    expect(done.stdout == ask(ENGLISH).stdout, done.stdout)


@check("a run of --connect has the beginning of its question as its title, which the console shows")
def _():
    there = ("--connect", f"127.0.0.1:{served.port}")
    for command, question, title in (("ask", JAPANESE * 3, (JAPANESE * 3)[:60] + "…"), ("research", "How long\tare backups kept?", "How long are backups kept?")):
        subprocess.run([f"{BIN}/renga", command, *there, question], capture_output=True, cwd=folder, timeout=60 * SLOW, env=surroundings())
        listed = subprocess.run([f"{BIN}/renga", "runs", *there, "--json", "--limit=1"], capture_output=True, text=True, timeout=60 * SLOW, env=surroundings())
        expect(json.loads(listed.stdout)["labels"] == {"title": title}, listed.stdout + listed.stderr)


@check("`renga run` of the help desk refuses a collection that is not there")
def _():
    given = json.dumps({"question": ENGLISH, "collections": ["handbok"]})
    done = subprocess.run([f"{BIN}/renga", "run", "helpdesk", "--connect", f"127.0.0.1:{served.port}", "--input", given], capture_output=True,
                          text=True, cwd=folder, timeout=60 * SLOW, env=surroundings())
    expect(done.returncode == 1 and re.search(r"NOT_FOUND: input_json\.collections\[0\]: there is no collection 'handbok'; there are 'docs-\w{8}'",
                                              done.stderr), f"{done.returncode}: {done.stdout} {done.stderr}")


def ask_one_that_ends(**event):
    """What becomes of a question at a suite that ends each time, behind one event; and how often it was asked."""
    asked = []

    def answer(request, context):
        asked.append(request)
        yield message("AskEvent")(**event)
        context.abort(grpc.StatusCode.UNAVAILABLE, "it ended")

    server = grpc.server(ThreadPoolExecutor(2))
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler("renga.v1.Helpdesk", {
        "AskStream": grpc.unary_stream_rpc_method_handler(answer, message("AskRequest").FromString, message("AskEvent").SerializeToString)}),))
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    try:
        return ask("--connect", f"127.0.0.1:{port}", "How long?"), len(asked)
    finally:
        server.stop(0)


@check("an answer that was shown is not asked for again when the suite is lost right behind it")
def _():
    done, asked = ask_one_that_ends(result={"answer": "Thirty days."})
    expect(done.stdout.count("Thirty days.") == 1 and asked == 1, f"asked {asked} times: {done.stdout}{done.stderr}")
    expect(done.returncode == 3 and not done.stderr, f"{done.returncode}: {done.stderr}")


@check("a question that its suite does not survive is asked three times, not for ever")
def _():
    done, asked = ask_one_that_ends(accepted={"run_id": "r"})
    expect(asked == 3 and done.returncode == 1, f"asked {asked} times, {done.returncode}: {done.stderr}")
    expect("UNAVAILABLE: it ended" in done.stderr, done.stderr)


@check("the README's example in Node is answered with sources")
def _():
    with open(os.path.join(ROOT, "README.md")) as file:
        example = re.search(r"```js\n(.*?)```", file.read(), re.S).group(1)
    expect("127.0.0.1:15000" in example, "it asks nobody we know")
    with open(os.path.join(folder, "example.mjs"), "w") as file:
        file.write(example.replace("127.0.0.1:15000", f"127.0.0.1:{served.port}"))
    os.symlink(os.path.realpath(os.path.join(ROOT, "proto")), os.path.join(folder, "proto"))
    os.symlink(os.path.realpath(os.path.join(HERE, "..", "node_modules")), os.path.join(folder, "node_modules"))
    done = subprocess.run([shutil.which("node"), "example.mjs"], cwd=folder, capture_output=True, text=True, timeout=60 * SLOW)
    expect("35 days" in done.stdout and re.search(r"^en/backup\.md:\d+: ", done.stdout, re.M), done.stdout + done.stderr)


def free_ports():
    """The first of a row of ports that nobody has, with a row of as many 100 above it."""
    for first in range(21001 + os.getpid() % 200 * 10, 31000, 10):
        try:
            for port in (*range(first, first + 5), *range(first + 100, first + 105)):
                with socket.socket() as probe:
                    probe.bind(("127.0.0.1", port))
            return first
        except OSError:
            continue
    raise AssertionError("no ports are free")


@check("the first command through five processes: they start, index, answer, and are gone")
def _():
    first = free_ports()
    done = subprocess.run([os.path.join(ROOT, "deploy", "quickstart"), "--services", JAPANESE], capture_output=True, text=True,
                          cwd=folder, timeout=120 * SLOW, env=surroundings(RENGA_BIN=os.path.realpath(BIN), PORT=str(first)))
    expect(done.returncode == 0, done.stdout + done.stderr)
    expect(done.stdout.count("SERVING") == 5, done.stdout)
    is_cited(done.stdout[done.stdout.index("Asking:"):].split("\n", 1)[1])
    for port in range(first, first + 5):
        with socket.socket() as probe:
            expect(probe.connect_ex(("127.0.0.1", port)) != 0, f"port {port} is still served")


@check("the first command through five processes ends with 1 where another program has one of its ports, and says which")
def _():
    first = free_ports()
    for port in (first + 2, first + 104):
        with socket.create_server(("127.0.0.1", port)):
            done = subprocess.run([os.path.join(ROOT, "deploy", "quickstart"), "--services", JAPANESE], capture_output=True, text=True,
                                  cwd=folder, timeout=120 * SLOW, env=surroundings(RENGA_BIN=os.path.realpath(BIN), PORT=str(first)))
        expect(done.returncode == 1 and done.stderr == f"quickstart: port {port} is in use; PORT=NUMBER names the first of others\n", done.stdout + done.stderr)
        expect("Starting" not in done.stdout, done.stdout)


@check("the first command in one process answers as the terminal does")
def _():
    done = subprocess.run([os.path.join(ROOT, "deploy", "quickstart"), ENGLISH], capture_output=True, text=True, cwd=folder,
                          timeout=60 * SLOW, env=surroundings(RENGA_BIN=os.path.realpath(BIN)))
    expect(done.returncode == 0 and ask("--docs", SAMPLES, ENGLISH).stdout in done.stdout, done.stdout + done.stderr)


@check("the first command refuses a wrong flag, a second question and a folder that is not there, and says how it is called")
def _():
    def called(*arguments, **variables):
        return subprocess.run([os.path.join(ROOT, "deploy", "quickstart"), *arguments], capture_output=True, text=True, cwd=folder,
                              timeout=60 * SLOW, env=surroundings(**{"RENGA_BIN": os.path.realpath(BIN), **variables}))
    for done, why in ((called("--wrong"), "unknown flag '--wrong'"), (called("How", "long?"), "give one question, in quotes"),
                      (called(DOCS="/nowhere"), "there is no folder '/nowhere'"), (called(RENGA_BIN="/nowhere"), "there is no program '/nowhere/renga'")):
        expect(done.returncode == 2 and not done.stdout and done.stderr.startswith(f"quickstart: {why}"), f"{done.returncode}: {done.stdout}{done.stderr}")
        expect('\n  deploy/quickstart --services ["QUESTION"]' in done.stderr and "#" not in done.stderr, done.stderr)
    helped = called("--help")
    expect(helped.returncode == 0 and "OPENAI_MODEL" in helped.stdout and not helped.stderr, helped.stdout + helped.stderr)


@check("the README shows what the first command prints")
def _():
    with open(os.path.join(ROOT, "README.md")) as file:
        sample = re.search(r"^```\n(Asking: .*?)^```$", file.read(), re.M | re.S).group(1)
    done = subprocess.run([os.path.join(ROOT, "deploy", "quickstart")], capture_output=True, text=True, cwd=folder,
                          timeout=60 * SLOW, env=surroundings(RENGA_BIN=os.path.realpath(BIN)))
    expect(done.stdout.endswith(sample), done.stdout + done.stderr)


@check("the suite ends with 0, and no sanitizer has complained")
def _():
    expect(served.stop() == 0, "it did not end with 0")
    expect(not served.complaints(), served.complaints())


checks.finish()
