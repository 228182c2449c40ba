#!/usr/bin/python3
"""The set of questions over the documents of Debian: its FAQ and the Debian Reference, in English and Japanese.

The texts are read where the packages put them (apt-get install debian-faq debian-faq-ja debian-reference-en
debian-reference-ja, or the same unpacked with `dpkg-deb -x` in a folder of your own); here are only questions, and
where the paragraph and the answer stand in them. Chapters in LEFT_OUT are not indexed: what is asked about them is not
answered by the others.

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
HERE = os.path.dirname(os.path.abspath(__file__))


def tight(text):
    return re.sub(r"\s+", "", text)


def pages(prefix):
    """{uri: path} of what is indexed."""
    found = {"ref-" + os.path.basename(path): path for path in glob.glob(f"{prefix}/usr/share/debian-reference/ch*.html")}
    for path in glob.glob(f"{prefix}/usr/share/doc/debian/FAQ/*.en.html") + glob.glob(f"{prefix}/usr/share/doc/debian/FAQ/ja/*.ja.html"):
        found[os.path.basename(path)] = path
    return {uri: path for uri, path in found.items() if not uri.startswith(LEFT_OUT + ("index",))}


def page_text(path):
    with open(path, encoding="utf-8") as file:
        return tight(html.unescape(re.sub(r"<[^>]*>", "", file.read())))


def check_of(text):
    return hashlib.sha256(text.encode()).hexdigest()[:8]


def fill(folder, prefix):
    """Copies what is indexed into `folder` and gives the questions, with texts where references stood."""
    found = pages(prefix)
    if not any(uri.startswith("ref-") for uri in found) or "basic-defs.ja.html" not in found:
        raise SystemExit("the documents are not there: apt-get install debian-faq debian-faq-ja debian-reference-en debian-reference-ja")
    for uri, path in found.items():
        shutil.copy(path, f"{folder}/{uri}")
    texts, questions = {}, []
    with open(f"{HERE}/quality_data/debian.jsonl", encoding="utf-8") as file:
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
    page = pages(sys.argv[1])[sys.argv[2]]
    whole = page_text(page)
    first = whole.index(tight(sys.argv[3]))
    print(json.dumps(reference(page, whole[first:whole.index(tight(sys.argv[4]), first) + len(tight(sys.argv[4]))], sys.argv[4])))
