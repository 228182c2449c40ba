"""Models of OpenAI's protocol that know the themes: `honest` writes the five parts with sentences of the sources that it is shown,
`liar` invents a fifth of its sentences, figures and sources. Both give each draft full marks: what is wrong is for code to find.

    ThemeModel.begin(themes, "liar")
    Suite(llm_gateway=GATEWAY)
    ThemeModel.planted["electric-ferries"]   # [{"sentence", "figures", "how"}]"""
import collections
import json
import os
import random
import re
import sys
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "lib"))
from themes import plain, words  # noqa: E402
from web import Handler, completion, serve  # noqa: E402

INVENTED = 0.2
FAKE = ["https://invented.example/study", "https://www.nowhere.example/x?y=1"]
WHOLE = {"en": ["The moon base Zorblax was opened by Doctor Smith in 2093.", "Experts of Gizmondo agree that penguins enjoy opera in winter."],
         "ja": ["月面基地ゾルブラクスは2093年に鈴木氏が開設しました。", "ギズモンド社の調査では大半の顧客が紅茶を選びました。"]}
SUMMARY_MIN, SUMMARY_MAX = 200, 300  # characters
PER_POINT = 3
SEED = os.environ.get("RENGA_SEED", "20261123")


def split(text):
    text = re.sub(r"\b(Dr)\. ", r"\1.~", text)
    return [one.strip().replace(".~", ". ") for one in re.split(r"(?<=。)|(?<=[.!?])\s+|\n", text) if len(one.strip()) > 12]


def shown_sources(text):
    """Lists of objects with an address in the prompt, as JSON or as the lines of the specification."""
    found, decoder = {}, json.JSONDecoder()
    for at in (match.start() for match in re.finditer(r"\[\s*\{", text)):
        try:
            value, _ = decoder.raw_decode(text[at:])
        except ValueError:
            continue
        for one in value:
            address = one.get("url") or one.get("uri")
            if address:
                said = " ".join(one[key] for key in ("summary", "text", "snippet", "content", "page") if isinstance(one.get(key), str))
                found.setdefault(address, said)
    for match in re.finditer(r"URL: (\S+)\n(?:要約|Summary): (.*)", text):
        found.setdefault(match.group(1), match.group(2))
    return found


class Writer:
    def __init__(self, theme, text, how, planted):
        self.theme, self.how, self.planted = theme, how, planted
        self.sources = shown_sources(text)
        self.numbers = {address: number for number, address in enumerate(self.sources, 1)}
        self.chance = random.Random(f"{SEED} {theme.name} {len(text)}")
        self.pairs = [(sentence, address) for address, said in self.sources.items() for sentence in split(said)]

    def best(self, about, count, used):
        wanted = set(words(about))
        ranked = sorted((pair for pair in self.pairs if pair[0] not in used),
                        key=lambda pair: -len(wanted & set(words(pair[0]))) / (8 + len(words(pair[0]))))
        return ranked[:count]

    def corrupt(self, sentence):
        """Another figure, another name, or made up: what no source carries."""
        ways = ["whole", "name", "theme"] + ["figure"] * 3 * bool(re.search(r"\d", sentence))
        way = self.chance.choice(ways)
        if way == "figure":
            found = self.chance.choice(list(re.finditer(r"\d+", sentence)))
            false = str(int(found.group()) * 7 + 13)
            sentence = sentence[:found.start()] + false + sentence[found.end():]
        elif way == "name":
            sentence = ("According to Professor Quibble, " if self.theme.language == "en" else "クイブル社によると") + sentence
        else:
            sentence = self.chance.choice(WHOLE[self.theme.language]) if way == "whole" else self.chance.choice(self.theme.falsehoods)[0]
        self.planted.append({"how": way, "sentence": sentence, "figures": re.findall(r"\d[\d,.万億]*\d|\d", plain(sentence)) if way in ("figure", "theme") else []})
        return sentence

    def written(self, sentence, address):
        number = self.numbers[address]
        if self.how == "liar" and self.chance.random() < INVENTED:
            sentence = self.corrupt(sentence)
            if self.chance.random() < 0.3:  # its own source
                number = len(self.sources) + 1 + self.chance.randrange(len(FAKE))
        end = sentence[-1] if sentence[-1] in ".。!?" else ""
        return f"{sentence[:len(sentence) - len(end)]} [^{number}]{end}" if self.theme.language == "en" else f"{sentence.rstrip('。')}[^{number}]。"

    def draft(self):
        blank = " " if self.theme.language == "en" else ""
        by_point = [(point, self.best(point.name + " " + point.query, PER_POINT, ())) for point in self.theme.points]
        summary, length = [], 0
        for _, pairs in by_point:
            if pairs and length < SUMMARY_MIN and length + len(pairs[0][0]) <= SUMMARY_MAX:
                summary.append(self.written(*pairs[0]))
                length += len(pairs[0][0])
        findings = [f"- {self.written(*pairs[0])}" for _, pairs in by_point if pairs]
        analysis = [f"### {point.name}\n\n" + blank.join(self.written(*pair) for pair in pairs) for point, pairs in by_point]
        references = [f"[^{number}]: {address}" for address, number in self.numbers.items()]
        if self.how == "liar":
            references += [f"[^{len(self.sources) + 1 + n}]: {address}" for n, address in enumerate(FAKE)]
        return "\n\n".join([f"# {self.theme.text}", "## Executive Summary", blank.join(summary), "## Key Findings", "\n".join(findings),
                            "## Detailed Analysis", *analysis, "## References", "\n".join(references)])


class ThemeModel(Handler):
    themes, how, planted, kinds, lock = [], "honest", {}, collections.Counter(), threading.Lock()

    @classmethod
    def begin(cls, themes, how):
        cls.themes, cls.how, cls.planted, cls.kinds = themes, how, {}, collections.Counter()

    def do_POST(self):
        asked = self.asked()
        text = "\n".join(turn["content"] or "" for turn in asked["messages"])
        schema = json.dumps(asked.get("response_format", {}))
        kind = next((kind for kind, word in (("plan", "investigation_points"), ("route", "next_action"), ("review", "fact_check"), ("improve", "improved_queries"))
                     if word in schema), "write")
        theme = next((theme for theme in self.themes if theme.text in text), None)
        answer = getattr(self, kind)(theme, text)
        answer = answer if isinstance(answer, str) else json.dumps(answer, ensure_ascii=False)
        with self.lock:
            self.kinds[kind] += 1
        usage = {"prompt_tokens": len(text) // 4, "completion_tokens": len(answer) // 4}
        self.reply(completion({"role": "assistant", "content": answer}, usage={**usage, "total_tokens": sum(usage.values())}))

    def plan(self, theme, _):
        return {"theme": theme.text, "investigation_points": [point.name for point in theme.points], "search_queries": [point.query for point in theme.points],
                "plan_text": theme.text}

    def route(self, _, text):
        return {"next_action": "write" if re.search(r"<feedback>\s*\S(?!/feedback)", text) else "end", "reasoning": "as the script says"}

    def improve(self, _, text):
        queries = re.search(r"<queries>\s*(\[.*?\])\s*</queries>", text, re.S)
        return {"improved_queries": json.loads(queries.group(1)) if queries else []}

    def review(self, _, __):
        return {"scores": dict.fromkeys(("fact_check", "completeness", "logic", "format"), 1.0), "feedback": "", "suggested_action": "write", "issues": []}

    def write(self, theme, text):
        if theme is None:
            return "I cannot help with that."
        with self.lock:
            planted = self.planted.setdefault(theme.name, [])
        draft = Writer(theme, text, self.how, planted).draft()
        return "Here is the report:\n\n```markdown\n" + draft + "\n```\nShall I go on?" if self.how == "liar" else draft


GATEWAY = [f"--llm_gateway.upstream=http://127.0.0.1:{serve(ThemeModel).server_port}/v1", "--llm_gateway.provider=openai",
           "--llm_gateway.key=k", "--llm_gateway.models=scripted"]
