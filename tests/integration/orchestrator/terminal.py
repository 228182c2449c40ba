#!/usr/bin/env python3
"""The commands about runs, as a person at a terminal and a script in a pipe meet them."""
import fcntl
import json
import os
import pty
import re
import signal
import subprocess
import termios
import time
from concurrent import futures

import grpc

from harness import BIN, SLOW, agent, api, check, equal, expect, finish, free_port, in_background, nodes, remote, wait_until

api.flags = ("--no-orchestrator.shipped_agents",)
api.start()
LIST = {"type": "string[]", "reduce": "append"}


def renga(*words, target=None):
    """In a pipe: exit code, standard output, standard error."""
    done = subprocess.run([f"{BIN}/renga", words[0], f"--peers.orchestrator={target or f'127.0.0.1:{api.port}'}", *words[1:]],
                          capture_output=True, text=True, timeout=30 * SLOW)
    return done.returncode, done.stdout, done.stderr


def on_terminal(*words, lines=()):
    """On a terminal: exit code, and all that was shown. Each of the lines is typed at a prompt of its own."""
    master, slave = pty.openpty()
    process = subprocess.Popen([f"{BIN}/renga", words[0], f"--peers.orchestrator=127.0.0.1:{api.port}", *words[1:]],
                               stdin=slave, stdout=slave, stderr=slave, start_new_session=True,
                               preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))  # Ctrl-C is a signal
    os.close(slave)
    shown, lines, prompts = b"", list(lines), 0
    while True:
        try:
            piece = os.read(master, 65536)
        except OSError:  # the other end is closed
            break
        if not piece:
            break
        shown += piece
        if lines and shown.count(b"\n> ") > prompts:
            prompts = shown.count(b"\n> ")
            os.write(master, lines.pop(0))
    os.close(master)
    return process.wait(10 * SLOW), shown.decode(errors="replace")


@check("an orchestrator that cannot serve a call now is told apart from one that is not there")
def _():
    def refuse(request, context):
        context.set_trailing_metadata([("grpc-status-details-bin", b"\x08\x0e")])
        context.abort(grpc.StatusCode.UNAVAILABLE, "the store is full")
    server = grpc.server(futures.ThreadPoolExecutor(1))
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(
        "renga.v1.Orchestrator", {"CancelRun": grpc.unary_unary_rpc_method_handler(refuse),
                                  "ListRuns": grpc.unary_unary_rpc_method_handler(lambda request, context: context.abort(
                                      grpc.StatusCode.UNAUTHENTICATED, "the call has no key"))}),))
    there, away = f"127.0.0.1:{server.add_insecure_port('127.0.0.1:0')}", f"127.0.0.1:{free_port()}"
    server.start()
    code, _, told = renga("cancel", "a", target=there)
    expect(code == 1 and "UNAVAILABLE: the store is full" in told and "running at" not in told, told)
    code, _, told = renga("runs", target=there)
    expect(code == 1 and told == "renga runs: UNAUTHENTICATED: the call has no key (of this command: --peers.key or RENGA_PEERS_KEY)\n", told)
    server.stop(0)
    code, _, told = renga("cancel", "a", "--timeout=2s", target=away)
    expect(code == 1 and f"is an orchestrator running at {away}?" in told, told)


agent("poem", {"description": "Writes a verse.", "state": {"topic": {"type": "string"}, "verses": LIST}, "start": "think",
               "nodes": {"think": remote("write"), "write": remote()}})
nodes.on("poem", think=lambda call: call.sleep(0.3) and {} or None, write=lambda call: {"verses": [call.state["topic"]]})
agent("question", {"state": {"name": {"type": "string"}}, "start": "who",
                   "nodes": {"who": {"kind": "ask", "question": "Who are \u001b[31myou?", "into": "name",
                                     "on": {"answered": "end"}}}})
agent("broken", {"start": "a", "nodes": {"a": remote()}})
nodes.on("broken", a=lambda call: call.fail("FAILED_PRECONDITION", "the ink is dry"))


@check("`renga graph` lists agents, tells what is wrong with documents on standard error, and draws one")
def _():
    api.write_agent("spoilt", '{"agent": "spoilt",\n"start": }')
    agent("extra", {"start": "a", "nodes": {"a": remote()}})
    code, out, err = renga("graph")
    rows = [line.split("\t") for line in out.splitlines()]
    equal((code, [row[0] for row in rows]), (1, ["broken", "extra", "poem", "question"]), "code and names")
    equal(renga("graph", "--json")[0], 1, "the code with --json")
    equal(rows[2][2], "Writes a verse.", "the description")
    expect("spoilt/graph.json:2:10: " in err, f"standard error is: {err}")
    code, out, _ = renga("graph", "poem")
    expect(code == 0 and out.startswith("flowchart") and "think" in out, f"{code}: {out}")
    equal(json.loads(renga("graph", "poem", "--json")[1])["agent"]["name"], "poem", "the name in JSON")
    code, _, err = renga("graph", "peom")
    expect(code == 1 and "'poem'" in err, f"{code}: {err}")


@check("`renga run` prints in a pipe what comes of it, and nothing else")
def _():
    code, out, err = renga("run", "poem", "--input", '{"topic": "snow"}')
    equal((code, json.loads(out)["verses"], err), (0, ["snow"], ""), "code, output and errors")


@check("`renga run` shows on a terminal what is at work, in colours")
def _():
    code, shown = on_terminal("run", "poem", "--input", '{"topic": "rain"}')
    equal(code, 0, "the code")
    for part in ("● ", "think", "finished", "\x1b[32m", "\x1b[1A\x1b[J", '"rain"'):
        expect(part in shown, f"{part!r} is not in {shown!r}")


@check("a run that fails ends with 1 and the reason")
def _():
    code, out, err = renga("run", "broken")
    expect(code == 1 and "the ink is dry" in err and not out, f"{code}: {out} {err}")
    code, _, err = renga("run", "broken", "--input", "[1]")
    expect(code == 1 and "input_json" in err, f"{code}: {err}")
    equal(renga("run")[0], 2, "the code without an agent")


@check("a run that asks ends with 3 and the question; `renga resume` answers, by id or bare")
def _():
    for by_id in (False, True):
        code, run_id, _ = renga("run", "question", "--background")
        run_id = run_id.strip()
        expect(code == 0 and re.fullmatch(r"\S{8,64}", run_id), f"{code}: {run_id}")
        code, out, err = renga("resume", run_id)
        expect(f"the run {run_id} waits; go on with: renga resume {run_id} --answer JSON\n" in err, f"standard error: {err}")
        match = re.search(r"^(\S+)\s+who asks: Who are \?\[31myou\?$", out, re.M)
        expect(code == 3 and match, f"{code}: {out!r}")
        answer = ("--answers", json.dumps({match.group(1): "Basho"})) if by_id else ("--answer", '"Basho"')
        code, out, err = renga("resume", run_id, *answer)
        equal((code, json.loads(out)), (0, {"name": "Basho"}), f"code and output ({err})")
    code, _, err = renga("resume", run_id, "--answer", '"again"')
    expect(code == 1 and "FAILED_PRECONDITION" in err, f"{code}: {err}")


agent("ages", {"state": {"age": {"type": "integer"}, "name": {"type": "string"}}, "start": "how_old",
               "nodes": {"how_old": {"kind": "ask", "question": "How old?", "into": "age", "on": {"answered": "who"}},
                         "who": {"kind": "ask", "question": "Who?", "into": "name"}}})


@check("on a terminal `renga run` asks each question of the run; a refused answer is asked again; a number may be a text")
def _():
    code, shown = on_terminal("run", "ages", lines=[b"ten\n", b"\n", b"10\n", b"42\n"])
    expect(code == 0 and '"age":' in shown and '"42"' in shown, f"{code}: {shown}")
    expect("must be an integer, not a string" in shown and shown.count("How old?") == 2 and "resume" not in shown, shown)
    code, shown = on_terminal("run", "ages", "--quiet")
    expect(code == 3 and "how_old asks: How old?" in shown, f"{code}: {shown}")


@check("Ctrl-C or the end of the input at a question leaves the run waiting, and `renga resume` asks it again")
def _():
    for leaves in (b"\x03", b"\x04"):
        code, shown = on_terminal("run", "ages", lines=[b"10\n", leaves])
        run_id = re.search(r"the run (\S+) waits; go on with: renga resume (\S+)\x1b", shown)
        expect(code == 3 and run_id and run_id.group(1) == run_id.group(2), f"{code}: {shown}")
        code, shown = on_terminal("resume", run_id.group(1), lines=[b"Basho\n"])
        expect(code == 0 and '"Basho"' in shown and "How old?" not in shown, f"{code}: {shown}")


@check("an answer of `renga resume` that is no JSON is refused before it is sent, with the quotes that it needs")
def _():
    code, _, err = renga("resume", "any", "--answer", "yes")
    expect(code == 2 and "--answer '\"yes\"'" in err, f"{code}: {err}")


@check("`renga watch` tells events as plain lines in a pipe, as JSON with --json, and goes on after an id")
def _():
    run_id = renga("run", "poem", "--background", "--thread", "watched", "--input", '{"topic": "moon"}')[1].strip()
    code, out, _ = renga("watch", run_id)
    expect(code == 0 and "\x1b" not in out, f"{code}: {out!r}")
    for part in (" started ", " finished step 1 think", " finished step 2 write", " stopped ", '"moon"'):
        expect(part in out, f"'{part}' is not in {out}")
    events = [json.loads(line) for line in renga("watch", run_id, "--json")[1].splitlines()]
    expect("stopped" in events[-2] and events[-1]["state"] == "RUN_STATE_SUCCEEDED", f"it ends with {events[-2:]}")
    half = events[len(events) // 2]["event_id"]
    rest = [json.loads(line) for line in renga("watch", run_id, "--json", f"--after={half}")[1].splitlines()]
    equal([e.get("event_id") for e in rest[:-1]], [e["event_id"] for e in events[:-1] if e["event_id"] > half], "the rest")


@check("`renga runs`, `state` and `history` show what is kept")
def _():
    rows = [line.split("\t") for line in renga("runs", "--thread", "watched")[1].splitlines()]
    equal([(row[1], row[3], row[4], row[5]) for row in rows], [("succeeded", "poem", "watched", "COMPLETED")], "the runs")
    equal(json.loads(renga("runs", "--json", "--limit=1", "--agent=poem")[1])["agent"], "poem", "the agent in JSON")
    expect("\x1b[32m" in on_terminal("runs")[1], "a terminal has no colours")
    equal(json.loads(renga("state", "watched")[1]), {"topic": "moon", "verses": ["moon"]}, "the state")
    equal(json.loads(renga("state", "watched", "--fields=topic")[1]), {"topic": "moon"}, "the field")
    history = [line.split("\t") for line in renga("history", "watched")[1].splitlines()]
    equal([(row[2], row[4], row[5]) for row in history], [("step", "write", ""), ("step", "think", "write"), ("input", "", "think")],
          "the history")
    before = renga("state", "watched", f"--checkpoint={history[1][0]}")[1]
    equal(json.loads(before).get("verses"), [], "the verses before")
    code, _, err = renga("state", "nowhere")
    expect(code == 1 and "NOT_FOUND" in err, f"{code}: {err}")


@check("`renga cancel` stops a run, and who watches it hears why")
def _():
    agent("long", {"start": "a", "nodes": {"a": remote()}})
    nodes.on("long", a=lambda call: call.sleep(30) and {} or None)
    run_id = renga("run", "long", "--background")[1].strip()
    wait_until(lambda: nodes.count("long"), "it begins", 5 * SLOW)
    watched = in_background(lambda: renga("watch", run_id))
    time.sleep(0.2)
    code, out, _ = renga("cancel", run_id, "--reason", "too long")
    equal((code, out.split()), (0, [run_id, "cancelled"]), "code and output")
    code, _, err = watched()
    expect(code == 1 and "too long" in err, f"{code}: {err}")


@check("an orchestrator that is frozen is noticed, said so, waited for, and watched on from the last event; without patience it is an end")
def _():
    agent("later", {"state": {"x": {"type": "string"}}, "start": "who",
                    "nodes": {"who": {"kind": "ask", "question": "When?", "into": "x", "on": {"answered": "end"}}}})
    run_id = renga("run", "later", "--background")[1].strip()
    wait_until(lambda: renga("runs", "--state=waiting", "--agent=later")[1], "it does not wait", 5 * SLOW)
    followers = [subprocess.Popen([f"{BIN}/renga", "watch", "--follow", f"--patience={patience}", "--connect", f"127.0.0.1:{api.port}", run_id],
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for patience in ("60s", "0s")]
    begun = [[follower.stdout.readline() for _ in range(7)] for follower in followers]
    expect(all("QUESTION" in lines[-1] for lines in begun), f"they saw {begun}")
    api.signal(signal.SIGSTOP)
    frozen = time.monotonic()
    told, gave_up = followers[0].stderr.readline(), followers[1].stderr.read()
    noticed = time.monotonic() - frozen
    api.signal(signal.SIGCONT)
    expect("does not answer any more" in told and "asked again for 60 s" in told, told)
    last = begun[1][-1].split()[0]
    expect(f"watch: UNAVAILABLE: 127.0.0.1:{api.port} has not answered" in gave_up and f"renga watch {run_id} --after {last}" in gave_up, gave_up)
    equal(followers[1].wait(10 * SLOW), 1, "the code of the one without patience")
    expect("answers again" in followers[0].stderr.readline(), "it does not say that it is back")
    equal(renga("resume", run_id, "--answer", '"soon"')[0], 0, "the code of the answer")
    rest, more = followers[0].communicate(timeout=20 * SLOW)
    shown = [int(line.split()[0]) for line in (*begun[0], *rest.splitlines()) if line[0].isdigit()]
    equal(shown, sorted(set(shown)), "events, in order and once")
    expect('{"x":"soon"}' in rest and not more and followers[0].returncode == 0, f"{followers[0].returncode}: {rest} {more}")
    return f"noticed after {noticed:.1f} s"


@check("where no orchestrator is, the commands say so and end with 1")
def _():
    code, _, err = renga("runs", "--timeout=2s", target=f"127.0.0.1:{free_port()}")
    expect(code == 1 and "renga serve" in err, f"{code}: {err}")


finish()
