#!/usr/bin/env python3
"""AceGenerator.Generate: a task becomes a trajectory, whatever fails. Services are scripted."""
import json
import time

import grpc

from ace import CONTENTS, IDS, bullet, generate, playbook, said, script, services, status
from harness import api, check, equal, expect, finish, message, refused, succeeded

api.start()


def failed(answer, *words):
    """A trajectory with FAILURE whose message has these words."""
    made = answer.trajectory
    equal((status(made), made.generated_answer), ("FAILURE", ""), "the trajectory")
    expect(made.HasField("error_message") and all(word in made.error_message for word in words), f"the message is {made.error_message!r}")
    return made


@check("a task is done with the bullets that fit, best first, and its trajectory has every field")
def _():
    script()
    before = time.time() * 1000
    answer = generate(top_k=5)
    made = answer.trajectory
    equal((made.query, made.dataset, made.generated_answer, status(made)),
          ("How do I limit the rate of an API?", "appworld", "A token bucket.", "SUCCESS"), "the trajectory")
    equal((list(made.used_bullet_ids), made.HasField("error_message")), (list(IDS), False), "the bullets")
    equal([step.split('"')[0].split(":")[0] for step in made.reasoning_steps],
          ["Searched the playbook ", "Put these bullets before the task, best first", "Let the model answer."], "the steps")
    expect(all(number in made.reasoning_steps[1] for number in IDS), made.reasoning_steps)
    expect(before - 1000 <= made.created_ms <= time.time() * 1000 + 1000, made.created_ms)
    asked = services.of("ToolRunner/SearchPlaybook")[0]
    equal((asked.dataset, asked.query, asked.limit), ("appworld", made.query, 5), "what was searched")
    prompt = services.of("LlmGateway/Chat")[0].messages[-1].content
    expect("\n".join(CONTENTS) in prompt and made.query in prompt, prompt)
    equal((answer.outcome.usage.model_calls, bool(answer.outcome.run_id)), (1, True), "the outcome")


@check("the output of a plain run has the trajectory as the JSON of the specification")
def _():
    script()
    output = succeeded(api.start_run("ace_generator", {"query": "{braces} and {{more}}", "dataset": "d"}))
    made = output["trajectory"]
    equal(list(made), ["query", "dataset", "generated_answer", "reasoning_steps", "used_bullet_ids", "status", "error_message", "created_at"], "the keys")
    equal((made["query"], made["status"], made["error_message"], made["used_bullet_ids"]), ("{braces} and {{more}}", "success", None, list(IDS)), "the JSON")
    expect(made["created_at"].endswith("Z") and "T" in made["created_at"], made["created_at"])
    expect("{braces} and {{more}}" in services.of("LlmGateway/Chat")[0].messages[-1].content, "braces of a query are lost")


@check("an empty playbook gives an empty context, and the model is asked")
def _():
    script(search=playbook(revision=0))
    made = generate("課題を解いてください").trajectory
    equal((status(made), list(made.used_bullet_ids), made.generated_answer), ("SUCCESS", [], "A token bucket."), "the trajectory")
    expect(made.reasoning_steps[0].startswith("プレイブック"), list(made.reasoning_steps))


def abort(code, text="as it was told"):
    return lambda request, context: context.abort(getattr(grpc.StatusCode, code), text)


@check("a search that fails is a trajectory with FAILURE, and the model is not asked")
def _():
    for code in ("UNIMPLEMENTED", "INTERNAL", "DATA_LOSS", "UNAUTHENTICATED"):
        script(search=abort(code, "the index is broken"))
        made = failed(generate(), code, "the index is broken")
        expect("Failed at the step \"search_playbook\"" in made.reasoning_steps[-1], list(made.reasoning_steps))
        equal(len(services.of("LlmGateway/Chat")), 0, "the calls of the model")


@check("a model that fails is a trajectory with FAILURE and the bullets that were shown to it")
def _():
    for code in ("INTERNAL", "NOT_FOUND", "PERMISSION_DENIED", "FAILED_PRECONDITION"):
        script(chat=abort(code, "no such model"))
        made = failed(generate(), code, "no such model")
        equal(list(made.used_bullet_ids), list(IDS), "the bullets")


@check("an answer that is empty, cut or refused is a trajectory with FAILURE")
def _():
    for text, fields, word in (("", {}, "empty"), (" \n", {}, "empty"), ("half a", {"finish_reason": 2}, "cut"), ("", {"finish_reason": 5}, "")):
        script(chat=lambda request, context: said(text, **fields))
        failed(generate(), word)


@check("a run whose time or budget is over is a trajectory with FAILURE")
def _():
    script(chat=lambda request, context: time.sleep(3) or said("late"))
    began = time.monotonic()
    made = failed(generate(options={"timeout_ms": 500}), "DEADLINE_EXCEEDED")
    expect(time.monotonic() - began < 3 and made.query, "the answer came late")
    script()
    answer = generate(options={"budget": {"model_calls": 0}})
    failed(answer)
    expect(answer.outcome.run_id, "the outcome has no run")


@check("a wrong request is refused with the field, its value and what would be right")
def _():
    script()
    for fields, words in (({"query": ""}, ("query", "empty")), ({"query": " \u3000"}, ("query", "blank")), ({"query": "x" * 65537}, ("query", "65537", "65536")),
                          ({"top_k": -1}, ("top_k", "-1", "100")), ({"top_k": 101}, ("top_k", "101")),
                          ({"dataset": ""}, ("dataset", "empty")), ({"dataset": "../x"}, ("dataset", "../x", "A-Z"))):
        text = refused("INVALID_ARGUMENT", lambda: generate(**fields))
        expect(all(word in text for word in words), f"{fields!r:.80}: {text}")


@check("a second task on the same thread has nothing of the first")
def _():
    script()
    first = api.start_run("ace_generator", {"query": "one", "dataset": "d"})
    script(search=abort("INTERNAL", "broken"))
    second = succeeded(api.start_run("ace_generator", {"query": "two", "dataset": "d"}, thread_id=first.thread_id))["trajectory"]
    equal((second["status"], second["used_bullet_ids"], second["generated_answer"], second["query"]), ("failure", [], "", "two"), "the second")
    script()
    third = succeeded(api.start_run("ace_generator", {"query": "three", "dataset": "d"}, thread_id=first.thread_id))["trajectory"]
    equal((third["status"], third["error_message"]), ("success", None), "the third")


finish()
