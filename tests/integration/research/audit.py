#!/usr/bin/env python3
"""Audit of citations over 200 reports: half of them without a model, half with one that invents a fifth of its sentences and
its sources. Each published citation has words that stand in its source; nothing invented is published."""
import json
import os
import random
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "orchestrator"))

from harness import api, check, equal, expect, finish, message, succeeded
from services import hit, said, services

api.flags = services.flags()
api.start()

REPORTS = int(os.environ.get("RENGA_REPORTS", "100"))  # with a model, and as many without
HITS, QUERIES, INVENTED = 5, 3, 0.2
DOCS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "deploy", "samples", "docs")
SEED = os.environ.get("RENGA_SEED", "20261123")


def paragraphs(language):
    found = []
    folder = os.path.join(DOCS, language)
    for name in sorted(os.listdir(folder)):
        if not name.endswith(".md"):
            continue
        heading = ""
        for number, line in enumerate(open(os.path.join(folder, name), encoding="utf-8"), 1):
            line = line.strip()
            if line.startswith("#"):
                heading = line.lstrip("# ")
            elif len(line) > 40 and not line.startswith(("|", "`", "<", "-", "*", ">")):
                found.append(hit(line, uri=f"{language}/{name}", line=number, title=name, heading_path=[heading]))
    return found


CORPUS = {language: paragraphs(language) for language in ("en", "ja")}
QUESTION = {"en": "What do the manuals say about it?", "ja": "手順書には何と書かれていますか。"}
WHOLE = {"en": ["The moon base Zorblax was opened by Doctor Smith in 2093.", "Experts agree that penguins enjoy opera in winter.",
                "According to a survey by Gizmondo, most customers prefer tea."],
         "ja": ["月面基地ゾルブラクスは2093年に鈴木氏が開設しました。", "専門家によるとペンギンは冬のオペラを好みます。",
                "ギズモンド社の調査では大半の顧客が紅茶を選びました。"]}
FAKE = ["https://fake.example/a", "https://invented.example/paper.pdf", "http://www.nowhere.example/x?y=1"]


def sentences(text, language):
    return [one.strip() for one in re.split(r"(?<=[。])|(?<=[.!?])\s+", text) if len(one.strip()) > 12]


def invent(sentence, language, chance):
    """A sentence that its source does not carry: made up, with another number, another name, or denied."""
    ways = ["whole", "name"]
    if re.search(r"\d", sentence):
        ways.append("number")
    way = chance.choice(ways)
    if way == "number":
        return re.sub(r"\d+", lambda m: str(int(m.group()) * 7 + 13), sentence, count=1)
    if way == "name":
        return ("According to Professor Quibble, " + sentence) if language == "en" else ("クイブル社によると" + sentence)
    return chance.choice(WHOLE[language])


def dress(sentence, chance):
    """Sources of the model's own: marks, links, addresses."""
    way = chance.randrange(8)
    if way == 0:
        return sentence + " [%d]" % chance.randrange(1, 40)
    if way == 1:
        return f"[{sentence}]({chance.choice(FAKE)})"
    if way == 2:
        return f"{sentence} ({chance.choice(FAKE)})"
    return sentence


def corrupted(texts, language, invented, chance):
    lines = []
    for text in texts:
        for sentence in sentences(text, language):
            if chance.random() < INVENTED:
                made = invent(sentence, language, chance)
                invented.append(made)
                lines.append(dress(made, chance))
            else:
                lines.append(dress(sentence, chance))
    return lines


class Report:
    def __init__(self, number):
        self.number, self.language, self.invented = number, ("en", "ja")[number % 2], []
        self.hits = {f"q{n}": self.chance(n).sample(CORPUS[self.language], HITS) for n in range(QUERIES)}

    def chance(self, *of):
        """The same whatever runs side by side."""
        return random.Random(f"{SEED} {self.number} {of}")

    def plan(self, request, context):
        wanted = [] if request.queries.findings else list(self.hits)
        return message("PlanResponse")(queries={"queries": wanted}, usage={"model_calls": 1})

    def search(self, request, context):
        return message("SearchResponse")(hits=self.hits[request.query])

    def chat(self, request, context):
        asked = request.messages[-1].content
        if "<notes>" in asked:
            notes = json.loads(asked.split("<notes>\n")[1].split("\n</notes>")[0])
            parts = []
            for note in notes:
                lines = corrupted([re.sub(r"^- ", "", line) for line in note["summary"].split("\n")], self.language, self.invented, self.chance("report", note["query"]))
                parts.append("## %s\n\n%s" % (note["query"], "\n".join("- " + line for line in lines)))
            return said("\n\n".join(parts) + f"\n\n## References\n\n1. [Invented paper]({FAKE[0]})\n2. Smith, J. (2021)\n")
        results = json.loads(asked.split("<results>\n")[1].split("\n</results>")[0])
        return said("\n".join("- " + line for line in corrupted([one["text"] for one in results], self.language, self.invented, self.chance("note", results[0]["text"]))))


FIGURES = {"reports": 0, "citations": 0, "invented": 0, "written": 0, "dropped": 0}
squeeze = re.compile(r"\s+")


def bare(text):
    return squeeze.sub("", re.sub(r" ?\[\d+\]", "", text)).rstrip(".。")


def count_dropped(run):
    """What the run tells of sentences without a source."""
    for degradation in run.degradations:
        told = re.match(r"of (\d+) sentences (\d+) have no source|(\d+)文のうち(\d+)文", degradation.reason)
        if told:
            FIGURES["written"] += int(told.group(1) or told.group(3))
            FIGURES["dropped"] += int(told.group(2) or told.group(4))


def audit(report, result, name):
    sources = {}
    for one in [one for found in report.hits.values() for one in found]:
        sources.setdefault(one["uri"], []).append(one)
    text = result["report_md"]
    body, _, references = text.partition("## 参考文献" if report.language == "ja" else "## References")
    for citation in result["citations"]:
        source = next((one for one in sources.get(citation["uri"], []) if citation["quote"] in one["snippet"]), None)
        expect(source, f"{name}: no source has {citation}")
        expect(citation["sentence"] in body, f"{name}: the report does not have {citation['sentence']!r}")
        expect(f"[{citation['reference_number']}]" in citation["sentence"], f"{name}: no mark in {citation['sentence']!r}")
        line = next(one for one in references.split("\n") if one.startswith(f"{citation['reference_number']}. "))
        expect(citation["uri"].replace("_", "\\_") in line, f"{name}: {line!r} is not {citation['uri']}")
        numbers = set(re.findall(r"\d+", re.sub(r"^\d+\. | ?\[\d+\]", "", citation["sentence"])))
        expect(numbers <= set(re.findall(r"\d+", citation["quote"])), f"{name}: {citation['sentence']!r} has numbers that are not in {citation['quote']!r}")
    cited = {citation["sentence"] for citation in result["citations"]}
    for line in body.split("\n"):
        if line and not line.startswith("#"):
            expect(any(sentence in line or line.lstrip("- ") in sentence for sentence in cited), f"{name}: uncited: {line!r}")
    for fake in FAKE + ["Smith", "Quibble", "クイブル", "Zorblax", "ゾルブラクス", "Gizmondo", "ギズモンド"]:
        expect(fake not in text, f"{name}: {fake} is published")
    published = [one for one in report.invented if bare(one) in squeeze.sub("", re.sub(r" ?\[\d+\]", "", body))]
    expect(not published, f"{name}: published: {published}")
    FIGURES["reports"] += 1
    FIGURES["citations"] += len(result["citations"])
    FIGURES["invented"] += len(report.invented)


def play(number, chat=None):
    report = Report(number)
    language = report.language
    for key, behaviour in {"Planner/Plan": report.plan, "ToolRunner/Search": report.search, "LlmGateway/Chat": chat or report.chat,
                           "ToolRunner/SaveNote": lambda r, c: message("SaveNoteResponse")()}.items():
        services.on(key, behaviour)
    run = api.start_run("deep_research", {"question": QUESTION[language]}, configuration_json=json.dumps({"language": language}))
    count_dropped(run)
    return report, succeeded(run)


@check(f"of {REPORTS} reports by a model that invents a fifth of its sentences, nothing invented is published")
def _():
    for number in range(REPORTS):
        report, result = play(number)
        audit(report, result, f"report {number}")
    return f"{FIGURES}"


def embedded(request, context):
    answer = said("")
    answer.finish.answered_by.provider = "extractive"
    return answer


@check(f"of {REPORTS} reports without a model, each sentence is one of its source")
def _():
    words = {}
    for number in range(REPORTS):
        report = Report(number)
        language = report.language
        # Queries are taken from the hits, so that something answers them.
        report.hits = {sentences(found[0]["snippet"], language)[0][:120] if sentences(found[0]["snippet"], language) else key: found
                       for key, found in report.hits.items()}
        for key, behaviour in {"Planner/Plan": report.plan, "ToolRunner/Search": report.search, "LlmGateway/Chat": embedded,
                               "ToolRunner/SaveNote": lambda r, c: message("SaveNoteResponse")()}.items():
            services.on(key, behaviour)
        result = succeeded(api.start_run("deep_research", {"question": QUESTION[language]}, configuration_json=json.dumps({"language": language})))
        expect(result["citations"], f"report {number} has no citation: {result['report_md']}")
        audit(report, result, f"report {number} without a model")
    return f"{FIGURES}"


finish()
