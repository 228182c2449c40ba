#!/usr/bin/python3
"""Two sets of questions over documents of Debian, in English and Japanese.

  debian      its FAQ and the Debian Reference: apt-get install debian-faq debian-faq-ja debian-reference-en debian-reference-ja
  handbooks   the Administrator's Handbook, the Developer's Reference, the installation guide, the policy and the New
              Maintainers' Guide: debian-handbook developers-reference developers-reference-ja installation-guide-amd64
              debian-policy debian-policy-ja maint-guide maint-guide-ja

The texts are read where the packages put them, or where the same were unpacked with `dpkg-deb -x` in a folder of your own;
here are only questions, and where the paragraph and the answer stand in them. Chapters in LEFT_OUT are not indexed: what
is asked about them is not answered by the others.

A reference is a pair of numbers, begin and length, in the characters of the page without its tags and white space;
"check" is the beginning of the SHA-256 of the paragraph, so that another edition is noticed and not measured.

  tests/bench/quality_debian.py PREFIX URI "first words of the paragraph" "the answer"     prints a reference"""
import glob
import hashlib
import html
import json
import os
import re
import shutil
import sys

LEFT_OUT = ("ref-ch04", "ref-ch08", "ref-ch11", "contributing", "redistributing")
GUIDES = {"handbook-en": "doc/debian-handbook/html/en-US", "handbook-ja": "doc/debian-handbook/html/ja-JP",
          "devref-en": "developers-reference", "devref-ja": "developers-reference/ja",
          "install-en": "doc/installation-guide-amd64/en", "install-ja": "doc/installation-guide-amd64/ja",
          "policy-en": "doc/debian-policy/policy.html", "policy-ja": "doc/debian-policy/ja/policy.html",
          "maint-en": "doc/maint-guide/html", "maint-ja": "doc/maint-guide-ja/html"}
NO_TEXT = ("index", "genindex", "search", "ix01")
HERE = os.path.dirname(os.path.abspath(__file__))


def tight(text):
    return re.sub(r"\s+", "", text)


def pages(prefix, name="debian"):
    """{uri: path} of what is indexed."""
    if name == "handbooks":
        found = {f"{guide}-{os.path.basename(path)}": path for guide, folder in GUIDES.items()
                 for path in glob.glob(f"{prefix}/usr/share/{folder}/*.html")}
        return {uri: path for uri, path in found.items() if not os.path.basename(path).startswith(NO_TEXT)}
    found = {"ref-" + os.path.basename(path): path for path in glob.glob(f"{prefix}/usr/share/debian-reference/ch*.html")}
    for path in glob.glob(f"{prefix}/usr/share/doc/debian/FAQ/*.en.html") + glob.glob(f"{prefix}/usr/share/doc/debian/FAQ/ja/*.ja.html"):
        found[os.path.basename(path)] = path
    return {uri: path for uri, path in found.items() if not uri.startswith(LEFT_OUT + ("index",))}


def page_text(path):
    with open(path, encoding="utf-8") as file:
        return tight(html.unescape(re.sub(r"<[^>]*>", "", file.read())))


def check_of(text):
    return hashlib.sha256(text.encode()).hexdigest()[:8]


def fill(folder, prefix, name):
    """Copies what is indexed into `folder` and gives the questions, with texts where references stood."""
    found = pages(prefix, name)
    wanted = [f"{guide}-" for guide in GUIDES] if name == "handbooks" else ["ref-", "basic-defs.ja.html"]
    if not all(any(uri.startswith(one) for uri in found) for one in wanted):
        raise SystemExit(f"the documents are not there; their packages:\n{__doc__.split('  tests/')[0]}")
    for uri, path in found.items():
        shutil.copy(path, f"{folder}/{uri}")
    texts, questions = {}, []
    with open(f"{HERE}/quality_data/{name}.jsonl", encoding="utf-8") as file:
        lines = [json.loads(line) for line in file]
    for question in lines:
        if "uri" in question:
            text = texts.setdefault(question["uri"], page_text(found[question["uri"]]))
            (begin, length), (answer, answer_length) = question["paragraph"], question["answer"]
            question["paragraph"] = text[begin:begin + length]
            question["contains"] = text[answer:answer + answer_length]
            if check_of(question["paragraph"]) != question["check"]:
                raise SystemExit(f"{question['uri']}: another edition than that of Debian 12: {question['question']}")
        questions.append(question)
    return questions


def reference(path, paragraph, answer):
    """`paragraph` in full."""
    text, paragraph, answer = page_text(path), tight(paragraph), tight(answer)
    begin = text.index(paragraph)
    return {"paragraph": [begin, len(paragraph)], "answer": [text.index(answer, begin), len(answer)], "check": check_of(paragraph)}


if __name__ == "__main__":
    if len(sys.argv) != 5:
        raise SystemExit(__doc__)
    page = {**pages(sys.argv[1]), **pages(sys.argv[1], "handbooks")}[sys.argv[2]]
    whole = page_text(page)
    first = whole.index(tight(sys.argv[3]))
    print(json.dumps(reference(page, whole[first:whole.index(tight(sys.argv[4]), first) + len(tight(sys.argv[4]))], sys.argv[4])))
