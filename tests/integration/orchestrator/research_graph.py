"""An agent deep_research of the test: the fields and the progress that the typed service rests on, and nodes that the test
serves, so that what is planned, found and written is a function for each.

    script(write=lambda call: shows({"report_md": "…"}, {"text": "…"}))
"""
import json

from harness import nodes, remote, reply

QUESTION = "How long are backups kept?"
QUERIES = ["backups kept", "backup retention", "backup start"]


def note(place, summary="Backups are kept for 30 days."):
    return {"step_no": place, "query": QUERIES[place - 1], "summary_md": summary,
            "sources": [{"uri": "backup.md", "title": "Backup", "source": "documents"}]}


REPORT = "## Report\n\nBackups are kept for 30 days.\n"
CITATION = {"sentence_number": 1, "sentence": "Backups are kept for 30 days.", "reference_number": 1, "uri": "backup.md",
            "title": "Backup", "line_from": 3, "line_to": 3, "quote": "They are kept for 30 days."}


def shows(update, *shown):
    return reply(update, progress_json=[json.dumps(one) for one in shown])


def plan(call):
    return shows({"plan": {"queries": QUERIES}, "queries": QUERIES, "cycle": 1},
                 {"queries": QUERIES, "reasoning": "three sides of it", "cycle": 1})


def search(call):
    shown = [{"cycle": 1, "query": QUERIES[0], "result_count": 5}, {"cycle": 1, "query": QUERIES[1]},
             {"cycle": 1, "query": QUERIES[2], "status_code": 4, "message": "the search took longer than 20 s"}]
    return shows({"searches": shown, "empty_queries": [QUERIES[1]]}, *shown)


def take_notes(call):
    notes = [note(1)]
    return shows({"notes": notes}, *notes)


def write(call):
    return shows({"report_md": REPORT, "citations": [CITATION], "gaps": ["why 30 days"]}, {"text": REPORT[:12]}, {"text": REPORT[12:]})


def answer(call):
    asked = call.state["follow_up"]
    return reply({"report_md": f"{asked}: {len(call.state['notes'])} notes of {call.state['question']}", "citations": [CITATION]})


STATE = {"question": "string", "follow_up": "string", "max_cycles": "integer", "summary_tokens": "integer", "sources": "string[]",
         "collections": "string[]", "cycle": "integer", "queries": "string[]", "plan": "object", "searches": "object[]",
         "notes": "object[]", "gaps": "string[]", "empty_queries": "string[]", "report_md": "string", "citations": "object[]"}
GRAPH = {"state": {name: {"type": kind} for name, kind in STATE.items()}, "start": "which", "nodes": {
    "which": {"kind": "choose", "cases": [{"when": {"not": {"field": "follow_up", "equals": ""}}, "outcome": "asked"}], "else": "study",
              "on": {"asked": "answer", "study": "plan"}},
    "plan": remote("search"), "search": remote("take_notes"), "take_notes": remote("write"), "write": remote(), "answer": remote()}}


def script(**behaviours):
    nodes.calls.clear()
    nodes.on("deep_research", **{"plan": plan, "search": search, "take_notes": take_notes, "write": write, "answer": answer, **behaviours})
