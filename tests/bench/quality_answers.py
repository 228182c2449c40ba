"""What the help desk makes of questions, measured by `renga eval`; and sets of questions in other forms.

A question of quality is {"question", "uri", "contains" or "answers", "lang"}, perhaps with "paragraph": the text that answers it, or
its number in a Markdown file. Without `uri`, or with null, nothing answers it; "near" says that something similar is there."""
import html
import json
import os
import random
import re
import shutil
import subprocess

SEED = 20261123
TAGS = re.compile(r"<[^>]*>")
SPACE = re.compile(r"\s")


def tight(text):
    return re.sub(r"\s+", "", text)


def answers_of(question):
    return question.get("answers") or ([question["contains"]] if question.get("contains") else [])


def language_of(text):
    for language, characters in (("ja", "[ぁ-ヿ]"), ("ko", "[가-힣]"), ("zh", "[一-鿿]")):
        if re.search(characters, text):
            return language
    return "en"


# ---- by renga eval ---------------------------------------------------------------------------------------------------


def write(questions, path):
    with open(path, "w", encoding="utf-8") as file:
        for question in questions:
            line = {"question": question["question"], "lang": question["lang"]}
            if question.get("uri"):
                line.update(answers=answers_of(question), file=question["uri"])
            else:
                line.update(found=False, near=bool(question.get("near")))
            file.write(json.dumps(line, ensure_ascii=False) + "\n")


def evaluate(folder, questions, flags, work):
    """The figures of a run in one process, whose knowledge base is in memory, as lines of a table."""
    write(questions, f"{work}/questions.jsonl")
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("RENGA_", "OPENAI_", "ANTHROPIC_", "AZURE_"))}
    environment["XDG_DATA_HOME"] = work
    done = subprocess.run([f"{os.environ['RENGA_BIN']}/renga", "eval", f"{work}/questions.jsonl", "--docs", folder, "--json",
                           "--tool_runner.store=memory:", *flags], env=environment, stdout=subprocess.PIPE, text=True)
    if done.returncode:
        raise SystemExit(f"renga eval ended with {done.returncode}")
    return json.loads(done.stdout.splitlines()[-1])


def print_figures(end):
    for one in end["figures"]:
        digits = 0 if one["value"] >= 100 else 3
        print(f"| {one['figure']} | {one['group']} | {one['count']} | {one['value']:.{digits}f} [{one['low']:.{digits}f}, "
              f"{one['high']:.{digits}f}] |")
    for one in end.get("against", {}).get("changes", []):
        test = f"{one['better']} better, {one['worse']} worse, p = {one['p']:.3f}" if "p" in one else ""
        print(f"| {one['figure']}, before and after | all | {one['count']} | {one['before']:.3f} → {one['after']:.3f} {test} |")


# ---- SQuAD -----------------------------------------------------------------------------------------------------------


def read_squad(path, folder):
    """A file of the form of SQuAD, JaQuAD, KorQuAD and XQuAD: each article becomes a file of `folder`."""
    with open(path, encoding="utf-8") as file:
        articles = json.load(file)["data"]
    questions = []
    for number, article in enumerate(articles):
        uri = re.sub(r"[^\w.-]", "_", article.get("title", ""))[:60] + f"-{number}.md"
        with open(f"{folder}/{uri}", "w", encoding="utf-8") as file:
            file.write(f"# {article.get('title', '').replace('_', ' ')}\n")
            for at, paragraph in enumerate(article["paragraphs"]):
                file.write("\n" + " ".join(paragraph["context"].split()) + "\n")
                questions += [squad_question(one, uri, at, paragraph["context"]) for one in paragraph["qas"]]
    return questions


def squad_question(one, uri, at, context):
    answers = list(dict.fromkeys(answer["text"].strip() for answer in one.get("answers", []) if answer["text"].strip()))
    question = {"question": one["question"].strip(), "lang": language_of(context)}
    if one.get("is_impossible") or not answers:
        return {**question, "near": True}
    return {**question, "uri": uri, "answers": answers, "paragraph": at}


# ---- near-misses -----------------------------------------------------------------------------------------------------


def places(text, is_html):
    """The text without white space (of HTML: without tags), and where each of its characters begins and ends in the source."""
    characters, spans, at = [], [], 0
    for piece in TAGS.finditer(text) if is_html else ():
        spell(text, at, piece.start(), True, characters, spans)
        at = piece.end()
    spell(text, at, len(text), is_html, characters, spans)
    return "".join(characters), spans


def spell(text, begin, end, is_html, characters, spans):
    for match in re.finditer(r"&#?\w+;|." if is_html else r".", text[begin:end], re.S):
        for character in html.unescape(match.group()) if is_html else match.group():
            if not SPACE.match(character):
                characters.append(character)
                spans.append((begin + match.start(), begin + match.end()))


def blocks(text):
    return [block for block in re.split(r"\n\s*\n", text) if block.strip() and not re.match(r"#+ [^\n]*$", block.strip())]


def paragraph_of(question, folder):
    """Without white space."""
    if isinstance(question.get("paragraph"), str):
        return tight(question["paragraph"])
    with open(f"{folder}/{question['uri']}", encoding="utf-8") as file:
        found = blocks(file.read())
    number, answers = question.get("paragraph"), [tight(answer) for answer in answers_of(question)]
    if isinstance(number, int) and number < len(found):
        found = [found[number]]
    return next((tight(block) for block in found if any(answer in tight(block) for answer in answers)), None)


def cut(path, paragraphs):
    """Removes all of these paragraphs from a file."""
    with open(path, encoding="utf-8", errors="surrogateescape") as file:
        text = file.read()
    plain, spans = places(text, path.endswith((".html", ".htm")))
    gone = set()
    for paragraph in paragraphs:
        at = plain.find(paragraph)
        while at >= 0:
            gone.update(range(at, at + len(paragraph)))
            at = plain.find(paragraph, at + 1)
    if not gone:
        return plain
    left = list(text)
    for index in gone:
        for position in range(*spans[index]):
            left[position] = ""
    with open(path, "w", encoding="utf-8", errors="surrogateescape") as file:
        file.write("".join(left))
    return "".join(character for index, character in enumerate(plain) if index not in gone)


def content_words(question):
    """Of languages with spaces, words of four letters; of others, runs of Han characters and Katakana."""
    return set(re.findall(r"[a-zà-ÿ0-9./-]{4,}|[一-鿿]{2,}|[ァ-ヶー]{2,}", question.lower()))


def is_said(question, texts):
    """Whether the right answer stands beside half of the question's words, in the 250 characters on both sides of it."""
    words = content_words(question["question"])
    for answer in (tight(answer).lower() for answer in answers_of(question)):
        for text in texts:
            at = text.find(answer)
            while at >= 0:
                around = text[max(0, at - 250):at + len(answer) + 250]
                if sum(word in around for word in words) * 2 >= len(words):
                    return True
                at = text.find(answer, at + 1)
    return False


def remove(folder, questions, share, target, part=None):
    """Copies `folder` to `target` without a seeded sample of the paragraphs that answer questions, and gives all questions, where
    those about such a paragraph are near-misses now. Left out are those that the rest still seems to answer. With `part`, the
    sample is one of disjoint ones, which together have all paragraphs."""
    shutil.copytree(folder, target, dirs_exist_ok=True)
    paragraphs = [paragraph_of(question, folder) if question.get("uri") else None for question in questions]
    known = sorted(set(paragraphs) - {None})
    chosen = set(random.Random(SEED).sample(known, int(len(known) * share)))
    if part is not None:
        chosen = set(random.Random(SEED).sample(known, len(known))[part::round(1 / share)])
    left = []
    for at, _, names in os.walk(target):
        for name in names:
            if name.endswith((".md", ".html", ".htm", ".txt", ".csv")):
                left.append(cut(os.path.join(at, name), chosen).lower())
    kept = []
    for question, paragraph in zip(questions, paragraphs, strict=True):
        if paragraph not in chosen:
            kept.append(question)
        elif not is_said(question, left):
            kept.append({"question": question["question"], "lang": question["lang"], "near": True, "removed": question["uri"]})
    return kept
