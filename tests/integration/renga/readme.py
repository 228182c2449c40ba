#!/usr/bin/env python3
"""Whether the README of the command line is true: its table has every command with its own flags, its examples run against
`renga serve`, its exit codes are those that come. RENGA_BIN=<folder of the binaries> readme.py; one line a check, exit 1 when
one fails."""
import glob
import json
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, f"{HERE}/../../lib")
from checks import check, expect, finish, follow, wait_until  # noqa: E402
from ports import free_port  # noqa: E402

BIN = os.environ["RENGA_BIN"]
ROOT = os.path.realpath(os.path.join(HERE, "..", "..", ".."))
SLOW = 5 if os.environ.get("RENGA_SANITIZE") else 1
OF_ALL = {"--config", "--print-config", "--version", "--help"}
with open(f"{ROOT}/services/renga/README.md") as file:
    README = file.read()
folder = tempfile.TemporaryDirectory()
environment = {k: v for k, v in os.environ.items() if not k.startswith(("RENGA_", "OPENAI_", "ANTHROPIC_"))}
environment.update(PATH=f"{BIN}:{os.environ['PATH']}", XDG_DATA_HOME=folder.name)

PORT = free_port()
environment["RENGA_PEERS_ORCHESTRATOR"] = f"127.0.0.1:{PORT}"


def renga(*arguments, shell=None):
    return subprocess.run(shell or [f"{BIN}/renga", *arguments], shell=bool(shell), env=environment, cwd=folder.name,
                          capture_output=True, text=True, timeout=60 * SLOW)


def ends(code, *arguments):
    done = renga(*arguments)
    expect(done.returncode == code, f"renga {' '.join(arguments)} ended with {done.returncode}: {done.stderr}")
    return done


rows = {name: (takes.strip(), set(re.findall(r"`(--[a-z_]+)`", flags)))
        for name, takes, flags in re.findall(r"^\| `(\w+)` \|([^|]*)\|([^|]*)\|", README, re.M)}


@check("the table has every command and no other")
def _():
    known = re.findall(r"^  (\w+) +\S", ends(0, "--help").stdout, re.M)
    expect(sorted(known) == sorted(rows), f"{sorted(set(known) ^ set(rows))} stand in one alone")


@check("each row has what its command takes and its own flags")
def _():
    for name, (takes, flags) in rows.items():
        text = renga(name, "--help").stdout
        text = re.sub(r"--(loops LOOPS|\[no-\]core_dumps)", "", text) if name == "serve" else text
        own = {f"--{flag}" for flag in re.findall(r"^  --(?:\[no-\])?([a-z_-]+)(?: |$)", text, re.M)} - OF_ALL
        expect(own == flags, f"{name}: {sorted(own ^ flags)} stand in one alone")
        expect(f"Usage: renga {name} {'[OPTIONS] ' if name != 'backup' else ''}{takes}".rstrip() in text, f"{name}: not {takes!r}")


@check("a command line that is wrong is told what is wanted, and ends with 2")
def _():
    expect("there is no command" in ends(2, "sing").stderr, "not told")
    for name, (takes, _) in rows.items():
        if takes and not takes.startswith("["):
            told = ends(2, name).stderr
            expect(re.match(rf"renga {name}: \S+ ", told), f"{name}: {told}")
        told = ends(2, name, "--sing").stderr
        expect("--sing" in told, f"{name}: {told}")


@check("help begins with a command's own flags and examples, and leaves out what servers alone take")
def _():
    for name, (_, flags) in rows.items():
        if name in ("serve", "ask", "backup"):
            continue
        text = renga(name, "--help").stdout
        first = re.search(r"\noptions\n  --(?:\[no-\])?([a-z_]+)", text)
        expect(first and f"--{first.group(1)}" in flags, f"{name} begins with {first and first.group(1)}")
        expect(f"Examples:\n  renga {name}" in text, f"{name} has no example")
        text += renga(name, "--help-all").stdout
        told = [idle for idle in ("rpc.listen", "drain.limit", "http.listen", "rpc.keys") if f"--{idle}" in text]
        expect(not told, f"{name} tells of {told}")
    expect("has no effect here" in ends(2, "watch", "--rpc.listen=0").stderr, "a server's option is taken")


@check("no help names a method of the contract: a person at a terminal has commands")
def _():
    methods = set()
    for path in glob.glob(f"{ROOT}/proto/renga/v1/*.proto"):
        with open(path) as file:
            methods.update(re.findall(r"^  rpc ([A-Z][a-z]+[A-Z]\w+)", file.read(), re.M))
    expect("ResumeRun" in methods, "the contract is not read")
    for name in rows:
        text = "".join(renga(name, more).stdout for more in ("--help", "--help-all"))
        told = sorted(methods & set(re.findall(r"\w+", text)))
        expect(text and not told, f"{name} tells of {told}")


@check("a file and variables that are made for `renga serve` do not hinder the other commands")
def _():
    with open(f"{folder.name}/serve.json", "w") as file:
        file.write('{"rpc": {"listen": "0.0.0.0:1"}, "drain": {"limit": "no time"}, "llm_gateway": {"key": "file:/nowhere"}}')
    environment["RENGA_RPC_STREAMS_MAX"] = "none"
    told = renga("runs", "--config", f"{folder.name}/serve.json", "--timeout=1s", "--connect", f"127.0.0.1:{free_port()}")
    printed = renga("runs", "--config", f"{folder.name}/serve.json", "--print-config").stdout
    del environment["RENGA_RPC_STREAMS_MAX"]
    expect(told.returncode == 1 and "UNAVAILABLE" in told.stderr, f"{told.returncode}: {told.stderr}")
    expect('"limit": 20' in printed and "streams_max" not in printed and "listen" not in printed, printed)


@check("an argument too many is named, and so is the command that was meant")
def _():
    for arguments in (["watch", "a", "spare"], ["ask", "a", "spare"], ["runs", "spare"], ["backup", "a", "b", "spare"], ["usage", "spare"],
                      ["health", "a", "spare"], ["index", "a", "spare"], ["chat", "a", "spare"], ["graph", "a", "spare"]):
        told = ends(2, *arguments).stderr
        expect("'spare' is not expected" in told and f"renga {arguments[0]} --help" in told, told)
    expect("did you mean 'watch'?" in ends(2, "wach").stderr, "not told")
    expect("the command comes before '--json'" in ends(2, "--json", "runs").stderr, "not told")
    equal = ends(0, "help", "watch").stdout == ends(0, "watch", "--help").stdout
    expect(equal, "`renga help watch` says something else")


@check("an orchestrator that is not there is named, and ends a command with 1")
def _():
    away = f"127.0.0.1:{free_port()}"
    done = ends(1, "runs", "--peers.orchestrator", away, "--timeout", "2s")
    expect("UNAVAILABLE" in done.stderr and away in done.stderr and not done.stdout, done.stderr)


server = subprocess.Popen([f"{BIN}/renga", "serve", f"--rpc.listen=127.0.0.1:{PORT}", f"--http.listen=127.0.0.1:{free_port()}",
                           f"--orchestrator.agents={ROOT}/services/orchestrator/agents", "--orchestrator.store=memory:",
                           "--tool_runner.store=memory:", "--tool_runner.record=memory:"],
                          env=environment, cwd=folder.name, stderr=subprocess.PIPE, text=True)
follow("renga serve", server)
try:
    @check("the examples run")
    def _():
        os.mkdir(f"{folder.name}/handbook")
        with open(f"{folder.name}/handbook/backup.md", "w") as file:
            file.write("# Backups\n\nBackups are kept for 30 days.\n")
        with open(f"{folder.name}/questions.jsonl", "w") as file:
            file.writelines(line + "\n" for line in re.findall(r"^    ({.*})$", README, re.M))
        wait_until(lambda: renga("health", "--peers.server", f"127.0.0.1:{PORT}").returncode == 0, "nobody serves", 20.0 * SLOW, 0.1)
        lines = [line.split("  #")[0].strip() for line in re.findall(r"^    (renga .*)$", README, re.M)]
        expect(len(lines) >= 6, f"{len(lines)} examples")
        for line in lines:
            done = renga(shell=line.replace("127.0.0.1:15000", f"127.0.0.1:{PORT}"))
            expect(done.returncode == 0 and done.stdout and not done.stderr, f"{line}: {done.returncode} {done.stderr}")
            if "--against" in line:
                expect("right, all questions" in done.stdout and "100.0 %" in done.stdout and "of both" in done.stdout, done.stdout)
            if "run echo --input" in line:
                expect(json.loads(done.stdout) == {"text": "moon", "heard": True}, done.stdout)

    @check("what is not there ends with 1 and its code")
    def _():
        for arguments in (["watch", "never"], ["state", "never"], ["run", "never"], ["graph", "never"]):
            done = ends(1, *arguments)
            expect(re.match(rf"renga {arguments[0]}: [A-Z_]+: ", done.stderr) and not done.stdout, done.stderr)
finally:
    server.terminate()
    server.wait(20 * SLOW)


@check("a question that the documents do not answer ends with 3, and is asked here whatever orchestrator others are to ask")
def _():
    expect("no effect" in ends(2, "ask", "--peers.orchestrator=127.0.0.1:1", "What?").stderr, "not told")
    ends(3, "ask", "--docs", f"{ROOT}/deploy/samples/docs", "Who won the football world cup in 1990?")


folder.cleanup()
finish()
