#!/usr/bin/env python3
"""Agents of ACE share sub-graphs and prompts, each with a copy, since an agent is one folder: the copies are the same."""
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "lib"))
from checks import check, expect, finish  # noqa: E402

AGENTS = os.path.join(HERE, "..", "..", "..", "services", "orchestrator", "agents")
NAMES = ("ace_generator", "ace_reflector", "ace_curator", "ace_adapt", "ace_feedback")
SHARED = {"reflect": ("ace_reflector", "ace_adapt", "ace_feedback"), "curate": ("ace_curator", "ace_adapt", "ace_feedback")}


def equal(got, wanted, what):
    expect(got == wanted, f"{what} differs")


def graph(agent, name):
    """The text of a sub-graph."""
    with open(os.path.join(AGENTS, agent, "graph.json")) as file:
        found = re.search(rf'^    "{name}": {{\n.*?^    }},\n', file.read().split('\n  "graphs": {\n')[1], re.M | re.S)
    expect(found, f"{agent} has no graph {name}")
    return found.group(0)


def prompts(agent):
    folder = os.path.join(AGENTS, agent, "prompts")
    found = {}
    for language in sorted(os.listdir(folder)):
        for name in sorted(os.listdir(os.path.join(folder, language))):
            with open(os.path.join(folder, language, name)) as file:
                found[f"{language}/{name}"] = file.read()
    return found


@check("the graphs reflect and curate are the same in each agent that has them")
def _():
    for name, agents in SHARED.items():
        for agent in agents[1:]:
            equal(graph(agent, name), graph(agents[0], name), f"{name} of {agent}")


@check("prompts of one name are the same in each agent that learns, and in both languages")
def _():
    told, own = {}, {"en/no_model.md", "ja/no_model.md"}  # the generator's says something else
    for agent in NAMES:
        found = prompts(agent)
        equal({name[3:] for name in found if name.startswith("en/")}, {name[3:] for name in found if name.startswith("ja/")}, f"the languages of {agent}")
        for name, text in found.items():
            if agent != "ace_generator" or name not in own:
                equal(text, told.setdefault(name, text), f"{name} of {agent}")


finish()
