#!/usr/bin/env python3
"""The four properties of the specification against a running server, from Python and from Node, a thousand cases each. The
model answers with the prompt that it was shown, so that an answer tells what the prompt had. Needs NODE. If RENGA_TURN is a
number, Python has a quarter of the thousand cases, another one with the next number, and Node the first quarter of its own."""
import json
import os
import random
import subprocess
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timezone

from ace import bullet, generate, said, script, services, status
from harness import HERE, SLOW, api, check, equal, expect, finish, number, refused

TURN = os.environ.get("RENGA_TURN")
CASES = 200 if os.environ.get("RENGA_SANITIZE") else 250 if TURN else 1000
FIRST = int(TURN or 0) % (1000 // CASES) * CASES
MARKS = "{}\"\\[]:,.-_'%$\n\t\r <>"
api.start()


def lessons(query):
    return [f"first {query[:2000]}", query[::-1][:2000], "{context} {{query}} }"]


def search(request, context):
    from harness import message
    hits = [bullet(f"x-{n:05}", text) for n, text in enumerate(lessons(request.query)) if text.strip()]
    return message("SearchPlaybookResponse")(hits=hits, revision=7)


script(search=search, chat=lambda request, context: said(request.messages[-1].content))


def text_of(rng, most=200):
    """A text at random that is not blank: ASCII, marks, control characters, Japanese, emoji, combining marks."""
    kinds = (lambda: rng.choice("abcXYZ019"), lambda: rng.choice(MARKS), lambda: chr(rng.randrange(0x3040, 0x9fff)),
             lambda: chr(rng.randrange(0x1f300, 0x1f600)), lambda: chr(rng.randrange(0x300, 0x370)), lambda: chr(rng.randrange(1, 0xd7ff)))
    return "q" + "".join(rng.choice(kinds)() for _ in range(rng.randrange(most)))


def large(rng):
    return text_of(rng, 40)[:40] + "大" * 20000


def case(seed):
    """Properties 1, 3 and 4 of one task."""
    rng = random.Random(seed)
    query = large(rng) if seed % 250 == 0 else text_of(rng)
    answer = generate(query, f"set-{seed % 7}", timeout=60)
    made = answer.trajectory
    equal((made.query, made.dataset, status(made)), (query, f"set-{seed % 7}", "SUCCESS"), "the trajectory")
    expect(query in made.generated_answer and all(lesson in made.generated_answer for lesson in lessons(query)), f"case {seed}: {made.generated_answer!r:.900}")
    output = json.loads(api.ask("GetRun", timeout=60, run_id=answer.outcome.run_id).run.output_json)["trajectory"]
    time = datetime.fromisoformat(output["created_at"].replace("Z", "+00:00"))
    equal(output, {"query": query, "dataset": made.dataset, "generated_answer": made.generated_answer, "reasoning_steps": list(made.reasoning_steps),
                   "used_bullet_ids": list(made.used_bullet_ids), "status": "success", "error_message": None, "created_at": output["created_at"]},
          f"case {seed}, the JSON")
    equal(json.loads(json.dumps(output)), output, "the JSON, written and read again")
    equal(round((time - datetime(1970, 1, 1, tzinfo=timezone.utc)).total_seconds() * 1000), made.created_ms, "the time")


def wrong_type(seed):
    """Property 2: a field of another type is refused with its name."""
    rng = random.Random(seed)
    field = rng.choice(("query", "dataset", "top_k"))
    wrong = [rng.randrange(10**6) + 0.5, True, [text_of(rng)], {text_of(rng): 1}, [], {}]
    wrong += [text_of(rng)] if field == "top_k" else [rng.randrange(10**6)]
    given = {"query": text_of(rng), "dataset": "d", field: rng.choice(wrong)}
    words = refused("INVALID_ARGUMENT", lambda: api.start_run("ace_generator", given))
    expect(f"'{field}'" in words and "which takes a" in words, f"{given!r:.200}: {words}")


def side_by_side(function, numbers):
    with ThreadPoolExecutor(8) as threads:
        for _ in threads.map(function, numbers):
            pass


@check(f"properties 1, 3 and 4 hold for {CASES} tasks from Python")
def _():
    side_by_side(case, range(FIRST, FIRST + CASES))


@check(f"property 2 holds for {CASES} inputs from Python")
def _():
    side_by_side(wrong_type, range(FIRST, FIRST + CASES))


@check("an answer of a megabyte is recorded whole")
def _():
    answer = "".join(chr(0x3042 + n % 80) for n in range(349000)) + '"\\\n'
    script(search=search, chat=lambda request, context: said(answer))
    made = generate("how long?").trajectory
    equal((status(made), made.error_message), ("SUCCESS", ""), "the trajectory")
    expect(made.generated_answer == answer, f"{len(made.generated_answer)} characters came back of {len(answer)}")


def hostile(name):
    made = json.loads(api.start_run("ace_generator", {"query": "q", "dataset": name}).output_json)["trajectory"]
    equal((made["status"], made["dataset"].encode()[:64], made["generated_answer"]), ("failure", name.encode()[:64], ""), "the trajectory")
    expect(made["error_message"].startswith("INVALID_ARGUMENT: ") and "dataset: " in made["error_message"], made["error_message"])


@check("no name of a data set that is a path reaches the tool-runner or a template, also by a plain run")
def _():
    script(search=search)
    rng = random.Random(1)
    names = ["../x", "a/b", "", ".", "..", "x" * 200, "/etc/passwd", "a\\b", "日本", "a\nb", " a", ".a", "a b", "%2e%2e/x"]
    names += [name for name in (text_of(rng, 30)[rng.randrange(2):] for _ in range(CASES)) if not name.replace("-", "a").replace("_", "a").replace(".", "a").isalnum() or not name.isascii()]
    side_by_side(hostile, names)
    equal((len(services.of("ToolRunner/SearchPlaybook")), len(services.of("LlmGateway/Chat"))), (0, 0), "the calls")
    refused("INVALID_ARGUMENT", lambda: api.start_run("ace_generator", {"query": "q", "dataset": "a\0b"}))
    return f"{len(names)} names"


@check(f"the four properties hold for {CASES} cases each from Node")
def _():
    script(search=search, chat=lambda request, context: said(request.messages[-1].content))
    done = subprocess.run([os.environ["NODE"], os.path.join(HERE, "..", "ace", "properties.mjs"), f"127.0.0.1:{api.port}", str(CASES)],
                          capture_output=True, text=True, timeout=400)
    expect(done.returncode == 0, (done.stdout + done.stderr)[-1500:])
    told = json.loads(done.stdout)
    equal(told, {"tasks": CASES, "refused": CASES}, "what Node counted")


finish()
