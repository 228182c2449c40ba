"""The 24 themes of tests/data/themes, twelve in Japanese and twelve in English, with the documents of a small web about them.

A file has a line for the theme, for each point of investigation (its name, a query, the words that a sentence about it has)
and for each planted falsehood (a sentence, its figure), and then documents, each with its address, date and title:

    page         the summary of a search is its whole text
    thin         the summary is its first line; only the page has the facts
    contradicts  a figure that another source has differently
    hostile      a text that gives orders to its reader
    aside        the words of the theme, about something else

    for theme in load():
        theme.points[0].keys, theme.documents[0].text"""
import functools
import glob
import math
import os
import re
import unicodedata
from dataclasses import dataclass, field

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "data", "themes")
KINDS = ("page", "thin", "contradicts", "hostile", "aside")
RESULTS_MAX = 20
DUPLICATED = ("page", "thin", "contradicts")  # the first document of these kinds is found at a second address, too


@dataclass
class Point:
    name: str
    query: str
    keys: list


@dataclass
class Document:
    kind: str
    place: str  # host and path
    date: str
    title: str
    lines: list
    address: str = ""
    other_address: str = ""  # the same page, otherwise written

    @property
    def text(self):
        return "\n".join(self.lines)

    @property
    def summary(self):
        return self.lines[0] if self.kind == "thin" else self.text


@dataclass
class Theme:
    name: str
    language: str
    text: str = ""
    points: list = field(default_factory=list)
    falsehoods: list = field(default_factory=list)  # (sentence, figure)
    documents: list = field(default_factory=list)


def plain(text):
    """For comparing: one form of each character, no markup, one blank."""
    return re.sub(r"\s+", " ", unicodedata.normalize("NFKC", text)).strip()


def read(path):
    language, name = path.split(os.sep)[-2], os.path.basename(path)[:-4]
    theme = Theme(name, language)
    with open(path, encoding="utf-8") as file:
        for line in filter(None, map(str.rstrip, file)):
            key, colon, value = line.partition(": ")
            parts = [part.strip() for part in value.split(" | ")]
            if key == "theme":
                theme.text = value
            elif key == "point":
                theme.points.append(Point(parts[0], parts[1], [key.strip() for key in parts[2].split(";")]))
            elif key == "false":
                theme.falsehoods.append((parts[0], parts[1]))
            elif key in KINDS and colon:
                theme.documents.append(Document(key, parts[0], parts[1], parts[2], []))
            else:
                theme.documents[-1].lines.append(line)
    return theme


def load(names=None):
    """In the order of their files, languages in turn; those of the names alone, where there are names."""
    by_language = [[read(path) for path in sorted(glob.glob(f"{FOLDER}/{language}/*.txt"))] for language in ("en", "ja")]
    return [theme for pair in zip(*by_language) for theme in pair if not names or theme.name in names]


def place(themes, port):
    """Gives each document its addresses. Pages are read at our own port; what contradicts, gives orders or strays is told
    by its summary alone."""
    for theme in themes:
        seen = set()
        for document in theme.documents:
            if document.kind in ("page", "thin"):
                document.address = f"http://127.0.0.1:{port}/{document.place}"
                other = f"HTTP://127.0.0.1:{port}/{document.place}/?utm_source=feed&utm_medium=rss#top"
            else:
                document.address = f"https://{document.place}"
                other = f"https://www.{document.place}/?utm_campaign=autumn"
            document.other_address = other if document.kind in DUPLICATED and document.kind not in seen else ""
            seen.add(document.kind)


# ---- finding them ---------------------------------------------------------------------------------------------------


def words(text):
    """Words of Latin letters and digits, and pairs of neighbouring characters of other scripts."""
    found = []
    for run in re.findall(r"[a-z0-9]+|[^\x00-\x7f\s、。「」]+", plain(text).lower()):
        found += [run] if run[0] <= "\x7f" else [run[i:i + 2] for i in range(max(1, len(run) - 1))]
    return found


class Shelf:
    """Documents as a search engine has them: found by the words of their whole text (BM25), told by their summary."""

    def __init__(self, themes):
        self.entries = []
        for theme in themes:
            for document in theme.documents:
                for address in filter(None, (document.address, document.other_address)):
                    self.entries.append({"id": address, "title": document.title, "url": address, "lang": theme.language,
                                         "content": document.summary, "updated": f"{document.date}T00:00:00Z",
                                         "words": words(document.title) * 2 + words(document.text)})
        self.average = sum(len(entry["words"]) for entry in self.entries) / len(self.entries)
        self.holding = {}
        for entry in self.entries:
            for word in set(entry["words"]):
                self.holding.setdefault(word, []).append(entry)
        self.by_words = functools.cache(self.search)

    def search(self, query, keep=None):
        scores = {}
        for word in set(words(query)):
            holding = self.holding.get(word, [])
            rarity = math.log(1 + (len(self.entries) - len(holding) + 0.5) / (len(holding) + 0.5))
            for entry in holding:
                often = entry["words"].count(word)
                weight = rarity * often * 2.2 / (often + 1.2 * (0.25 + 0.75 * len(entry["words"]) / self.average))
                scores[entry["id"]] = scores.get(entry["id"], 0) + weight
        by_id = {entry["id"]: entry for entry in self.entries}
        best = sorted(scores.items(), key=lambda pair: (-pair[1], pair[0]))[:RESULTS_MAX]
        return [(score, by_id[name]) for name, score in best if score > 0.3]
