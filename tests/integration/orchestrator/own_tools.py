#!/usr/bin/env python3
"""Models that call tools of the document itself: what becomes of the state, which way the run takes, what bounds them."""
import json
import os
import signal
import threading
import time

import grpc

from harness import SLOW, agent, api, check, equal, expect, finish, message, stands, succeeded, wait_until
from services import called, found, hit, said, services, tool

api.flags = services.flags()
api.start()

TURNS = {"type": "object[]", "reduce": "append"}
TEXT = {"type": "string"}
STATE = {"said": TEXT, "turns": TURNS, "history": {"type": "object[]"}, "reply": TEXT, "language": TEXT, "country": TEXT, "zone": TEXT,
         "facts": {"type": "string[]", "reduce": "append"}, "plan": {"type": "object"}, "verdict": {"type": "object"}, "calls": TURNS,
         "most": {"type": "integer"}, "way": TEXT, "mood": {"type": "string", "values": ["good", "bad"]}}


def schema(**properties):
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


SET_LANGUAGE = {"description": "tool", "parameters": schema(language={"type": "string", "format": "language"}),
                "into": {"language": "language"}}
SET_COUNTRY = {"description": "tool", "parameters": schema(country={"type": "string", "format": "country"}),
               "into": {"country": "country"}, "when": {"field": "language", "present": True}, "refusal": "refusal"}
SET_ZONE = {"description": "tool", "parameters": schema(zone={"type": "string", "format": "time-zone"}), "into": {"zone": "zone"}}
ASK = {"description": "tool", "parameters": schema(text={"type": "string", "minLength": 1}), "into": {"text": "reply"}, "outcome": "asked"}
PROMPTS = {"ask": "<said>{said}</said>", "rules": "Language: {language}.", "tool": "A tool for {said}.", "refusal": "first the language",
           "todo": "You still need to:\n{tasks}", "language": "set the language", "country": "set the country"}


def talker(name, on=None, graphs=None, nodes=None, **parameters):
    for prompt, text in PROMPTS.items():
        file = os.path.join(api.agents, name, "prompts", "en", prompt + ".md")
        os.makedirs(os.path.dirname(file), exist_ok=True)
        with open(file, "w") as out:
            out.write(text)
    ways = {"replied": "end", "again": "work", **{way: "was_" + way for way in (on or ())}}
    agent(name, {"state": STATE, "start": "work", "nodes": {
        "work": {"kind": "agent_loop", "prompt": "ask", "system": "rules", "turns": "turns", "into": "reply", "calls": "calls",
                 "tools": [], "visits": {"max": 50}, "on": {**ways, **parameters.pop("ways", {})}, **parameters},
        **{"was_" + way: {"kind": "set", "values": {"way": way}} for way in (on or ())}, **(nodes or {})}, **({"graphs": graphs} if graphs else {})})


def model(*turns):
    left = list(turns)
    services.forget()

    def chat(request, context):
        turn = left.pop(0)
        return turn(request, context) if callable(turn) else turn
    services.on("LlmGateway/Chat", chat)
    services.on("ToolRunner/ListTools", lambda r, c: message("ListToolsResponse")(tools=[tool("search"), tool("ask")]))
    services.on("ToolRunner/RunTools", found(hit("A frog jumps in.")))


def chats():
    return services.of("LlmGateway/Chat")


def results(request):
    """What the model reads of its last calls."""
    return [(turn.content, turn.tool_failed) for turn in request.messages if turn.role == 4]


OK = ('{"ok":true}', False)


@check("checked arguments become fields, each call sees those before it, and no tool-runner is asked")
def _():
    talker("setter", own_tools={"set_language": SET_LANGUAGE, "set_country": SET_COUNTRY, "set_timezone": SET_ZONE,
                                "note": {"description": "tool", "parameters": schema(fact={"type": "string"}), "into": {"fact": "facts"}}})
    model(called(("set_language", '{"language": "ja"}'), ("set_country", '{"country": "JP"}'), ("set_timezone", '{"zone": "Asia/Tokyo"}'),
                 ("note", '{"fact": "a"}'), ("note", '{"fact": "b"}')), said("こんにちは"))
    run = api.start_run("setter", {"said": "日本"}, configuration_json='{"language": "en"}')
    state = succeeded(run)
    equal((state["language"], state["country"], state["zone"], state["facts"], state["reply"]),
          ("ja", "JP", "Asia/Tokyo", ["a", "b"], "こんにちは"), "the state")
    first, second = chats()
    equal([(t.name, t.description) for t in first.tools],
          [(name, "A tool for 日本.") for name in ("set_language", "set_country", "set_timezone", "note")], "the tools on offer")
    equal((second.messages[0].content, results(second)), ("Language: English.", [OK] * 5), "what the model is told")
    equal(len(services.of("ToolRunner/ListTools")) + len(services.of("ToolRunner/RunTools")), 0, "requests to the tool-runner")
    equal((run.step, run.usage.model_calls, run.usage.tool_calls), (2, 2, 0), "what it cost")
    equal(state["calls"][1], {"agent": "setter", "name": "set_country", "arguments_json": '{"country": "JP"}', "result_json": '{"ok":true}',
                              "error": ""}, "what is told of a call")


@check("a call that breaks a rule writes nothing, and its result says why")
def _():
    talker("strict", own_tools={"set_language": SET_LANGUAGE, "set_country": SET_COUNTRY, "set_timezone": SET_ZONE, "mood": {
        "description": "tool", "parameters": schema(mood={"type": "string"}), "into": {"mood": "mood"}}})
    model(called(("set_language", '{"language": "japanese"}'), ("set_language", '{"lang": "ja"}'), ("set_language", "{"),
                 ("set_country", '{"country": "JP"}'), ("set_timezone", '{"zone": "Tokyo"}'), ("fly", "{}"), ("mood", '{"mood": "odd"}')),
          called(("set_language", '{"language": "ja"}'), ("set_country", '{"country": "Japan"}')), said("?"))
    state = succeeded(api.start_run("strict", {"said": "x"}))
    told = results(chats()[1])
    for (text, failed), part in zip(told, (
            "INVALID_ARGUMENT: language is 'japanese'; it must be a BCP 47 tag", "INVALID_ARGUMENT: the arguments do not fit: ",
            "INVALID_ARGUMENT: the arguments are no JSON", "FAILED_PRECONDITION: first the language",
            "INVALID_ARGUMENT: zone is 'Tokyo'; it must be the name of an IANA time zone",
            "NOT_FOUND: there is no tool 'fly'; there are set_language, set_country", "INVALID_ARGUMENT: mood ")):
        expect(failed and part in text, f"{part!r} is not in {text!r}")
    expect("must be an ISO 3166" in results(chats()[2])[-1][0], "the country")
    equal((state.get("language"), state.get("country"), state.get("zone"), state.get("mood")), ("ja", None, None, None), "the state")
    equal([bool(call["error"]) for call in state["calls"]], [True] * 7 + [False, True], "the calls that failed")


@check("a call with an outcome ends the visit; the rest of the turn is not run")
def _():
    talker("asker", on=["asked"], own_tools={"set_language": SET_LANGUAGE, "ask": ASK})
    model(called(("set_language", '{"language": "en"}'), ("ask", '{"text": ""}'), ("ask", '{"text": "Where do you live?"}'),
                 ("set_language", '{"language": "fr"}'), ("ask", '{"text": "Twice?"}')))
    state = succeeded(api.start_run("asker", {"said": "hello"}))
    equal((state["way"], state["reply"], state["language"]), ("asked", "Where do you live?", "en"), "the state")
    equal([(turn.get("tool_call_id"), bool(turn.get("tool_failed"))) for turn in state["turns"] if turn["role"] == "tool"],
          [("c0", False), ("c1", True), ("c2", False), ("c3", True), ("c4", True)], "the results of all calls")
    expect(state["turns"][-1]["content"].startswith("ABORTED: it was not run"), "the last result")
    model(called(("ask", '{"text": "And now?"}')))
    equal(succeeded(api.start_run("asker", {"said": "again"}))["reply"], "And now?", "another run")


@check("the node may be left for a graph, whose result the model reads when the node is visited again")
def _():
    sub = {"state": {"said": TEXT, "verdict": {"type": "object"}}, "start": "judge", "nodes": {
        "judge": {"kind": "set", "values": {"verdict": {"passed": True}}}}}
    talker("boss", graphs={"reviewer": sub}, nodes={
        "review": {"kind": "graph", "graph": "reviewer", "in": {"said": "said"}, "out": {"verdict": "verdict"}, "on": {"done": "work"}}},
        ways={"review": "review"}, own_tools={"subtask": {
            "description": "tool", "parameters": schema(agent={"type": "string", "enum": ["reviewer"]}), "outcome": "review", "result": "verdict"}})
    model(called(("subtask", '{"agent": "nobody"}')), called(("subtask", '{"agent": "reviewer"}')), said("Passed."))
    state = succeeded(api.start_run("boss", {"said": "x"}))
    equal((results(chats()[2])[1], state["reply"]), (('{"passed":true}', False), "Passed."), "what the model reads")
    equal([(c["result_json"], bool(c["error"])) for c in state["calls"]], [("", True), ('{"passed":true}', False)], "the calls")
    equal(len([t for t in state["turns"] if t["role"] == "tool"]), 2, "each call has one result")


@check("a model that stops too early is told what is left, and the last answer counts")
def _():
    talker("reminded", own_tools={"set_language": SET_LANGUAGE, "set_country": SET_COUNTRY}, remaining_prompt="todo", remaining=[
        {"when": {"field": "language", "present": False}, "task": "language"}, {"when": {"field": "country", "present": False}, "task": "country"}])
    model(said("Hello!"), called(("set_language", '{"language": "en"}')), said("Well?"), called(("set_country", '{"country": "JP"}')), said("Bye."))
    state = succeeded(api.start_run("reminded", {"said": "x"}))
    equal(state["reply"], "Bye.", "the answer")
    told = [turn.content for turn in chats()[-1].messages if turn.role == 2]
    equal(told, ["<said>x</said>", "You still need to:\n- set the language\n- set the country", "You still need to:\n- set the country"], "reminders")
    expect(not any(turn.name for chat in chats() for turn in chat.messages), "a name of a turn is sent")


@check("beyond its most turns the node leaves by limit, also with reminders between them; a field may say how many")
def _():
    talker("bounded", on=["limit"], own_tools={"set_language": SET_LANGUAGE}, most_turns=4, most_turns_of="most", remaining_prompt="todo",
           remaining=[{"when": {"field": "country", "present": False}, "task": "country"}])
    for most, turns in ((None, 4), (2, 2)):
        model(*[said("No."), called(("set_language", '{"language": "en"}'))] * 9)
        run = api.start_run("bounded", {"said": "x", **({"most": most} if most else {})})
        equal((succeeded(run)["way"], len(chats()), run.usage.model_calls), ("limit", turns, turns), "the way")
        expect(not any(chat.HasField("tool_choice") for chat in chats()), "a turn has no tools")


def models(*providers):
    return lambda r, c: message("ListModelsResponse")(models=[{"name": "default", "chat": True, "deployments": [
        {"target": {"deployment": p, "provider": p}} for p in providers]}])


@check("where only the embedded model is set up, it is not asked to play an agent")
def _():
    talker("modest", on=["no_model"], own_tools={"ask": ASK}, ways={"asked": "end"})
    model(said("extracted", answered_by={"provider": "extractive"}))
    run = api.start_run("modest", {"said": "x"})  # the gateway lists nothing: the answer tells
    equal((succeeded(run)["way"], len(chats())), ("no_model", 1), "told by the answer")
    expect("reply" not in succeeded(run) and run.degradations[0].kind == 1, "the extracted answer is used")
    services.on("LlmGateway/ListModels", models("extractive"))
    model()
    run = api.start_run("modest", {"said": "x"}, configuration_json='{"language": "ja"}')
    equal((succeeded(run)["way"], len(chats()), run.degradations[0].reason, run.degradations[0].part),
          ("no_model", 0, "言語モデルが設定されていません。", "work"), "told by the list")
    api.kill()
    api.start()  # the list is kept for two seconds
    services.on("LlmGateway/ListModels", models("openai", "extractive"))
    model(lambda r, c: c.abort(grpc.StatusCode.UNAVAILABLE, "nobody home"))
    run = stands(api.start_run("modest", {"said": "x"}), "FAILED", "NODE_FAILED")
    equal((run.status_code, "nobody home" in run.stop_text), (14, True), "a model that cannot be reached")
    model(called(("ask", '{"text": "Hm?"}')))
    equal(succeeded(api.start_run("modest", {"said": "x"}))["reply"], "Hm?", "a model that is there")


@check("a model whose answers cannot be used is left by unusable, where the document has the edge")
def _():
    talker("patient", on=["unusable"], own_tools={"set_language": SET_LANGUAGE})
    talker("impatient", own_tools={"set_language": SET_LANGUAGE})
    refusal = message("ChatResponse")(id="a", message={"role": 3, "refusal": "I will not."}, finish={"finish_reason": 5, "usage": {"model_calls": 1}})
    vain = [called(("fly", "{}")), called(("set_language", '{"language": "?"}'), ("fly", "{}")), called(("set_language", "{"))]
    for turns, code in (([refusal], 9), ([message("ChatResponse")(
            id="a", message={"role": 3, "content": "cut"}, finish={"finish_reason": 2, "usage": {"model_calls": 1}})], 15),
            ([lambda r, c: c.abort(grpc.StatusCode.DATA_LOSS, "broke its JSON Schema")], 15), (vain, 0)):
        model(*turns, said("never"))
        run = api.start_run("patient", {"said": "x"})
        equal((succeeded(run)["way"], [(d.part, d.kind, d.status_code) for d in run.degradations]), ("unusable", [("work", 2, code)]), "the way")
        equal(len(chats()), len(turns), "how often it was asked")
    model(refusal)
    equal(stands(api.start_run("impatient", {"said": "x"}), "FAILED").status_code, 9, "without the edge")
    model(*vain, said("At last."))
    equal(succeeded(api.start_run("impatient", {"said": "x"}))["reply"], "At last.", "without the edge")
    model(vain[0], vain[1], called(("set_language", '{"language": "en"}')), vain[0], vain[2], said("Fine."))
    equal(succeeded(api.start_run("patient", {"said": "x"}))["reply"], "Fine.", "a model that comes to its senses")


@check("tools of the tool-runner and of the document may be mixed; the document's own comes first where both have a name")
def _():
    talker("mixed", on=["asked"], tools=["search", "ask"], own_tools={"set_language": SET_LANGUAGE, "ask": ASK})
    model(called(("search", '{"query": "frog"}'), ("set_language", '{"language": "en"}'), ("search", '{"query": "pond"}')),
          called(("search", '{"query": "sea"}'), ("ask", '{"text": "Which?"}')))
    run = api.start_run("mixed", {"said": "x"})
    state = succeeded(run)
    equal((state["way"], state["language"], state["reply"]), ("asked", "en", "Which?"), "the state")
    equal([[c.call.arguments_json for c in r.calls] for r in services.of("ToolRunner/RunTools")], [['{"query": "frog"}', '{"query": "pond"}']], "runs")
    equal([t.name for t in chats()[0].tools], ["search", "set_language", "ask"], "the tools on offer")
    answered = {turn.tool_call_id for turn in chats()[1].messages if turn.role == 4}
    equal((answered, run.usage.tool_calls), ({"c0", "c1", "c2"}, 2), "the results of the first turn")
    equal([(c["name"], c["error"][:7]) for c in state["calls"]],
          [("set_language", ""), ("search", ""), ("search", ""), ("ask", ""), ("search", "ABORTED")], "the calls")


@check("a history of plain turns stands before the conversation")
def _():
    talker("old", history="history", own_tools={"ask": ASK}, ways={"asked": "end"})
    model(said("Hello again."))
    succeeded(api.start_run("old", {"said": "now", "history": [{"role": "user", "content": "before"}, {"role": "assistant", "content": "yes?"}]}))
    equal([turn.content for turn in chats()[0].messages], ["Language: English.", "before", "yes?", "<said>now</said>"], "the conversation")


@check("with durability exit and after a kill the same state is written")
def _():
    talker("durable", own_tools={"note": {"description": "tool", "parameters": schema(fact={"type": "string"}), "into": {"fact": "facts"}}})
    begun = threading.Event()

    def hang(request, context):
        begun.set()
        while context.is_active():
            time.sleep(0.01)
    model(called(("note", '{"fact": "a"}')), hang)
    run = api.start_run("durable", {"said": "x"}, durability=2, wait=False)
    expect(begun.wait(20 * SLOW), "the model is not asked again")
    api.kill()
    model(called(("note", '{"fact": "a"}')), said("Done."))
    api.start()
    state = succeeded(api.stopped(run))
    equal((state["facts"], state["reply"]), (["a"], "Done."), "the state")


@check("documents that cannot be say what is wrong")
def _():
    for count, (wanted, parameters) in enumerate((
            ("own_tools: must be an object", {"own_tools": []}),
            ("'a b' is no name for a tool", {"own_tools": {"a b": ASK}}),
            ("ask.description: must be the name of a prompt", {"own_tools": {"ask": {**ASK, "description": "none"}}}),
            ("ask has an unknown key 'outcom'; did you mean 'outcome'?", {"own_tools": {"ask": {**ASK, "outcom": "x"}}}),
            ("ask.parameters: must be a JSON Schema", {"own_tools": {"ask": {**ASK, "parameters": {}}}}),
            ("ask.parameters: ", {"own_tools": {"ask": {**ASK, "parameters": {"type": "object", "oneOf": []}}}}),
            ("ask.into: the parameters have no property 'txt'", {"own_tools": {"ask": {**ASK, "into": {"txt": "reply"}}}}),
            ("ask.into: there is no field 'repli'", {"own_tools": {"ask": {**ASK, "into": {"text": "repli"}}}}),
            ("ask.into: 'text' is of the type string, and 'most' is a whole number", {"own_tools": {"ask": {**ASK, "into": {"text": "most"}}}}),
            ("'calls' is the field of \"calls\"", {"own_tools": {"ask": {
                **ASK, "parameters": schema(text={"type": "array"}), "into": {"text": "calls"}, "outcome": "replied"}}}),
            ("ask.outcome: 'asked' has no edge", {"own_tools": {"ask": ASK}}),
            ("ask.result: is for tools with an \"outcome\"", {"own_tools": {"ask": {**SET_LANGUAGE, "result": "verdict"}}}),
            ("ask.when: there is no field 'languag'", {"own_tools": {"ask": {**SET_LANGUAGE, "when": {"field": "languag", "present": True}}}}),
            ("ask.refusal: must be the name of a prompt", {"own_tools": {"ask": {**SET_LANGUAGE, "when": {"field": "language", "present": True}}}}),
            ("remaining: [0] must be", {"remaining": [{"task": "todo"}], "remaining_prompt": "todo"}),
            ("go together", {"remaining_prompt": "todo"}),
            ("agent_loop has no outcome 'askd'", {"ways": {"askd": "end"}}),
            ("most_turns_of: 'said' is a string", {"most_turns_of": "said"}))):
        name = f"wrong{count}"
        for prompt, text in PROMPTS.items():
            file = os.path.join(api.agents, name, "prompts", "en", prompt + ".md")
            os.makedirs(os.path.dirname(file), exist_ok=True)
            with open(file, "w") as out:
                out.write(text)
        ways = {"replied": "end", "again": "n", **parameters.pop("ways", {})}
        node = {"kind": "agent_loop", "turns": "turns", "into": "way", "calls": "calls", "visits": {"max": 9}, "on": ways, **parameters}
        api.write_agent(name, json.dumps({"agent": name, "state": STATE, "start": "n", "nodes": {"n": node}}))
        api.signal(signal.SIGHUP)
        problem = wait_until(lambda: [p.message for p in api.ask("ListAgents").problems if p.agent == name], f"no problem: {wanted}", 5 * SLOW)
        expect(wanted in " ".join(problem), f"{wanted!r} is not in {problem}")


finish()
