#!/usr/bin/env python3
"""Documents of agents as an operator meets them: what is wrong is told by file and line, what is good beside it runs,
and SIGHUP reads them again."""
import json
import os
import signal

from harness import SLOW, api, agent, check, equal, expect, finish, nodes, refused, remote, succeeded, wait_until

HEAD = '"agent": "%s",\n"state": {"s": {"type": "string"}, "l": {"type": "string[]", "reduce": "append"}},\n"start": "n",\n'


def with_nodes(text, more=""):
    return "{" + HEAD + '"nodes": {\n' + text + "}" + more + "}"


WRONG = {  # of each kind: the document, the line, what the message says
    "an unknown key": (with_nodes('"n": {"kind": "noop",\n"tiemout": "3s"}'), 6, "did you mean 'timeout'?"),
    "an unknown kind": (with_nodes('"n": {\n"kind": "nop"}'), 6, "did you mean 'noop'?"),
    "an unknown field": (with_nodes('"n": {"kind": "noop",\n"inputs": ["q"]}'), 6, "there is no field 'q'"),
    "an unknown target": (with_nodes('"answer": {"kind": "noop"}, "n": {"kind": "noop",\n"on": {"done": "anwser"}}'), 6,
                          "did you mean 'answer'?"),
    "a missing edge": (with_nodes('"n": {"kind": "noop",\n"on": {"failed": "end"}}'), 6, "no edge for the outcome 'done'"),
    "an unreachable node": (with_nodes('"n": {"kind": "noop"},\n"m": {"kind": "noop"}'), 6, "'m' is never reached"),
    "an endless cycle": (with_nodes('"n": {"kind": "noop", "on": {"done": "m"}},\n"m": {"kind": "noop", "on": {"done": "n"}}'),
                         5, "goes round without an end"),
    "a wrong type": (with_nodes('"n": {"kind": "set",\n"values": {"s": 1}}'), 6, "'s' must be a string"),
    "a duplicate key": (with_nodes('"n": {"kind": "noop",\n"kind": "noop"}'), 6, "kind"),
    "bad JSON": (with_nodes('"n": {"kind": "noop",\n}}}'), 6, ""),
    "a wrong address": (with_nodes('"n": {"kind": "remote",\n"address": "here"}'), 6, 'must be "host:port"'),
    "an unknown sub-graph": (with_nodes('"n": {"kind": "graph",\n"graph": "g"}'), 6, "there is no sub-graph 'g'"),
    "an undeclared reducer": ('{"agent": "%s",\n"state": {\n"s": {"type": "string", "reduce": "append"}}, "start": "n", '
                              '"nodes": {"n": {"kind": "noop"}}}', 3, "append needs a list"),
    "a document of 10 MB": ('{"agent": "%s", "description": "' + "x" * (10 << 20) + '"}', 0, "1048576"),
}
for name, (text, _, _) in WRONG.items():
    folder = name.replace(" ", "_")
    api.write_agent(folder, text.replace("%s", folder))
api.write_agent("good", json.dumps({"agent": "good", "description": "Adds.", "start": "a", "nodes": {"a": remote("b"), "b": remote()},
                                    "state": {"n": {"type": "integer", "reduce": "sum"}}}))
for path in ("only_prompts/prompts/en", "in_yaml", ".hidden", "lost+found"):
    os.makedirs(os.path.join(api.agents, path))
for path in ("in_yaml/graph.yaml", "graph.json", "notes.txt"):
    with open(os.path.join(api.agents, path), "w") as file:
        file.write("agent: in_yaml")
api.flags = ("--no-orchestrator.shipped_agents",)
api.start()
listed = api.ask("ListAgents")
problems = {problem.agent: problem for problem in listed.problems}

for name, (_, line, part) in WRONG.items():
    @check(f"{name} is told with file and line")
    def _():
        problem = problems.get(name.replace(" ", "_"))
        expect(problem, "there is no such problem")
        equal((problem.file, problem.line), ("graph.json", line), f"the place of '{problem.message}'")
        expect(part in problem.message, f"the message is: {problem.message}")


@check("folders without a graph.json, other forms of it, and one beside the folders are told; other files are nobody's fault")
def _():
    others = {(p.agent, p.file): p.message for p in listed.problems if p.agent.replace("_", " ") not in WRONG}
    equal(set(others), {("only_prompts", "graph.json"), ("in_yaml", "graph.yaml"), ("", "graph.json")}, "what is told")
    expect("is not there" in others["only_prompts", "graph.json"] and "named graph.json" in others["in_yaml", "graph.yaml"] and
           "folder of its own" in others["", "graph.json"], f"{others}")


@check("a problem has its line and its column")
def _():
    equal((problems["a_wrong_address"].line, problems["a_wrong_address"].column), (6, 1), "the place")


@check("a good agent beside them is loaded, and runs")
def _():
    equal([(known.name, known.description) for known in listed.agents], [("good", "Adds.")], "the agents")
    nodes.on("good", a={"n": 1}, b={"n": 2})
    equal(succeeded(api.start_run("good"))["n"], 3, "n")


@check("an agent that could not be loaded says why when it is started")
def _():
    text = refused("NOT_FOUND", lambda: api.start_run("an_unknown_kind"))
    expect("did you mean 'noop'?" in text, f"the text is {text}")
    expect("'good'" in refused("NOT_FOUND", lambda: api.start_run("goood")), "the nearest name is not told")


@check("an agent is described: documents, drawings, schemas, versions")
def _():
    answer = api.ask("DescribeAgent", agent="good")
    graph = answer.graphs[0]
    expect(graph.mermaid.startswith("flowchart") and "a" in graph.mermaid, f"the drawing is {graph.mermaid}")
    equal(json.loads(graph.document_json)["agent"], "good", "the document")
    equal(json.loads(graph.state_schema_json)["properties"]["n"]["type"], "integer", "the type of n")
    for schema in (graph.input_schema_json, graph.output_schema_json):
        expect("n" in json.loads(schema)["properties"], f"the schema is {schema}")
    equal([(v.graph_version, v.current) for v in answer.versions], [(answer.agent.graph_version, True)], "the versions")
    refused("NOT_FOUND", lambda: api.ask("DescribeAgent", agent="good", graph_version="0" * 64))


@check("SIGHUP takes up a mended document and leaves an agent as it was where its document is spoilt")
def _():
    agent("an_unknown_kind", {"start": "n", "nodes": {"n": {"kind": "noop"}}})
    succeeded(api.start_run("an_unknown_kind"))
    api.write_agent("good", '{"agent": "good",\n "start": ')
    api.signal(signal.SIGHUP)
    wait_until(lambda: any(p.agent == "good" and p.line == 2 for p in api.ask("ListAgents").problems), "told", 5 * SLOW)
    succeeded(api.start_run("good"))


@check("a run stays with the version it began with")
def _():
    def document(target):
        return {"start": "a", "state": {"log": {"type": "string[]", "reduce": "append"}},
                "nodes": {"a": remote(target), target: remote()}}
    agent("versions", document("old"))
    nodes.on("versions", a=lambda call: call.sleep(0.4) and {"log": ["a"]} or None, old={"log": ["old"]}, new={"log": ["new"]})
    first = api.start_run("versions", {}, wait=False)
    wait_until(lambda: nodes.count("versions", "a"), "it begins")
    agent("versions", document("new"))
    equal(succeeded(api.start_run("versions"))["log"], ["a", "new"], "the log of a new run")
    equal(succeeded(api.stopped(first))["log"], ["a", "old"], "the log of the old run")


finish()
