#!/usr/bin/env python3
"""Reflection, reviews of answers, reviews of drafts."""
from minds import degraded, equal, expect, full, in_both_ways, refuse, refused, say, upstream, word

TEXT = "[1] manual/reset.md:3-4 | Accounts > Passwords\nA password is reset under Settings > Security. The link is valid for 30 minutes."
HIT = {"uri": "manual/reset.md", "line_from": 3, "line_to": 4, "heading_path": ["Accounts", "Passwords"],
       "snippet": "A password is reset under Settings > Security. The link is valid for 30 minutes."}
FOUND = [{"name": "search_documents", "text": TEXT, "hits": [HIT]},
         {"name": "fetch_page", "status_code": 4, "message": "took longer than 10 s"}]
SUBTASK = {"question": "How do I reset my password?", "subtask": "How is a password reset?", "tool_results": FOUND}
FIELD = {"id": "3", "field_id": "job", "label": "Occupation", "required": True, "criteria": "a concrete one"}
FACTS = [{"id": "a", "form_field_id": "3", "fact_key": "title", "fact": "the title of the occupation"},
         {"id": "b", "form_field_id": "3", "fact_key": "since", "fact": "the year since when"}]
SOURCES = [{"title": "Heat pumps", "url": "https://example.org/pumps",
            "summary": "Heat pumps cost between 8,000 and 15,000 euros. They use a third of the energy of a gas boiler."}]
PRICE, ENERGY = "Heat pumps cost between 8,000 and 15,000 euros.", "They use a third of the energy of a gas boiler."
DRAFT = f"""# Heat pumps

## Executive Summary
{PRICE} {ENERGY} {PRICE} {ENERGY} {PRICE}

## Key Findings
- {PRICE}
- {ENERGY[:-1]} [^1].
- {PRICE}

## Detailed Analysis

### cost of heat pumps
{PRICE} {ENERGY}

## References
[^1]: https://example.org/pumps
"""
PLAN = {"theme": "Heat pumps", "investigation_points": ["cost of heat pumps"]}


def marks(fact_check, completeness, logic, format, action="write", issues=(), feedback="f"):
    return {"scores": {"fact_check": fact_check, "completeness": completeness, "logic": logic, "format": format},
            "feedback": feedback, "suggested_action": action, "issues": list(issues)}


def issue(type, severity, description="d"):
    return {"type": type, "severity": severity, "description": description, "location": "Cost"}


def body(minds, check):
    @check("a model reflects on an answer, and sees what was found, what failed and what was advised")
    def _():
        upstream.will(say({"advice": " Name the menu. ", "is_completed": False}))
        answer = full(minds.reviewer("Reflect", answer="In the settings.", challenge_count=2, earlier_advice=["Look at accounts."],
                                     plan={"subtasks": ["How is a password reset?", "What is E-1024?"]}, **SUBTASK))
        equal((answer.reflection.advice, answer.reflection.is_completed), ("Name the menu.", False))
        asked = upstream.turns()["user"]
        for part in (f"<results>\n{TEXT}\n</results>", "- fetch_page: DEADLINE_EXCEEDED took longer", "- Look at accounts.",
                     "<answer>\nIn the settings.\n</answer>", "this is try 2", "- What is E-1024?"):
            expect(part in asked, (part, asked))
        upstream.will(say({"advice": "", "is_completed": True}))
        equal(full(minds.reviewer("Reflect", answer="Under Settings > Security.", **SUBTASK)).reflection.is_completed, True)

    @check("an answer that only repeats the question is not complete, although a model says so")
    def _():
        upstream.will(say({"advice": "", "is_completed": True}))
        echo = full(minds.reviewer("Reflect", answer="A password is reset.", **SUBTASK)).reflection
        equal((echo.is_completed, "repeats the question" in echo.advice), (False, True))

    @check("a sentence about something else is not complete if a number is asked for, although a model says so")
    def _():
        asked = {**SUBTASK, "subtask": "For how many minutes is the link valid?"}
        upstream.will(say({"advice": "", "is_completed": True}))
        beside = full(minds.reviewer("Reflect", answer="A password is reset under Settings > Security.", **asked)).reflection
        equal((beside.is_completed, "number or the date" in beside.advice), (False, True))
        upstream.will(say({"advice": "", "is_completed": True}))
        equal(full(minds.reviewer("Reflect", answer="The link is valid for 30 minutes.", **asked)).reflection.is_completed, True)

    @check("an empty answer is not complete, and no model is asked; a rejection always advises")
    def _():
        upstream.will(say({"advice": "", "is_completed": False}))
        answer = minds.reviewer("Reflect", answer=" \n\u3000", **SUBTASK)
        equal((answer.reflection.is_completed, bool(answer.reflection.advice), len(answer.degradations), len(upstream.asked)),
              (False, True, 0, 0))
        expect(full(minds.reviewer("Reflect", answer="x", **SUBTASK)).reflection.advice, "no advice")

    @check("without a model what stands in the documents and covers the subtask is complete, and nothing else is")
    def _():
        upstream.will(refuse(500))

        def reflect(answer, **fields):
            return degraded(minds.reviewer("Reflect", answer=answer, **{**SUBTASK, **fields}), 14).reflection
        equal(reflect("A password is reset under Settings > Security.").is_completed, True)
        invented = reflect("A password is reset by calling the king of Denmark twice.")
        equal((invented.is_completed, "what the tools found" in invented.advice), (False, True))
        beside = reflect("The link is valid for 30 minutes.")
        equal((beside.is_completed, "reset" in beside.advice), (False, True), "an answer to something else")
        swapped = reflect("A password is reset under Settings > Billing.")
        equal((swapped.is_completed, "Billing" in swapped.advice), (False, True), "another name")
        equal(reflect("Settings > Security").is_completed, True, "a short answer")
        equal(reflect("A password is reset.").is_completed, False, "an echo")
        equal(reflect("A password is reset under Settings > Security.", tool_results=[]).is_completed, False, "without evidence")
        ja = {"question": "パスワードの再設定方法は？", "subtask": "パスワードの再設定方法",
              "tool_results": [{"name": "s", "hits": [{"uri": "a.md", "snippet": "パスワードの再設定は設定画面のセキュリティから行います。方法は二つあります。"}]}]}
        equal(reflect("パスワードの再設定は設定画面のセキュリティから行います。方法は二つあります。", **ja).is_completed, True, "in Japanese")
        equal("ツールの結果" in reflect("王様に電話してください。", **ja).advice, True, "advice in Japanese")

    @check("a field passes only when every fact is known, and facts it does not have are not taken")
    def _():
        def review(passed, missing, extracted, value, **fields):
            upstream.will(say({"passed": passed, "feedback": "", "missing_facts": missing, "field_value": value,
                               "extracted_facts": [{"fact_key": k, "value": v} for k, v in extracted]}))
            return full(minds.reviewer("ReviewAnswer", field=FIELD, facts=FACTS, conversation_summary="Person: I am a nurse.", **fields)).review
        whole = review(True, [], [("title", "nurse"), ("since", "2019"), ("iban", "x")], "nurse")
        equal((whole.passed, list(whole.extracted_facts), list(whole.missing_facts), whole.field_value),
              (True, ["title: nurse", "since: 2019"], [], "nurse"))
        half = review(True, [], [("title", "nurse")], "nurse")
        equal((half.passed, list(half.missing_facts)), (False, ["since"]))
        expect("since" in half.feedback, half.feedback)
        known = review(True, [], [("title", "nurse")], "nurse", known_facts=["since: 2019", "iban: y"])
        equal((known.passed, list(known.extracted_facts)), (True, ["title: nurse", "since: 2019"]))
        vague = review(True, ["since", "iban"], [("title", "nurse"), ("since", "a while")], "nurse")
        equal((vague.passed, list(vague.missing_facts)), (False, ["since"]), "a fact the model calls both known and missing")
        equal(review(True, [], [("title", "n"), ("since", "s")], None).passed, False, "a required field without a value")
        equal(review(False, [], [("title", "n"), ("since", "s")], "x").passed, False, "criteria that are not met")

    @check("without a model a fact is known where the last answer has its words")
    def _():
        upstream.will(refuse(500))
        review = degraded(minds.reviewer("ReviewAnswer", field=FIELD, facts=FACTS, known_facts=["since: 2019"],
                                         conversation_summary="Interviewer: What do you do?\nPerson: The title of my occupation is nurse.")).review
        equal((review.passed, review.field_value, list(review.missing_facts)), (True, "The title of my occupation is nurse.", []))
        review = degraded(minds.reviewer("ReviewAnswer", field=FIELD, facts=FACTS, conversation_summary="回答者：看護師です")).review
        equal((review.passed, review.field_value, list(review.missing_facts)), (False, "看護師です", ["title", "since"]))

    @check("sum and verdict come from the marks by code, and issues stand worst first")
    def _():
        def review(answer, draft=DRAFT, calls=1, **fields):
            upstream.will(say(answer))
            fields = {"sources": SOURCES, "plan": PLAN, **fields}
            return full(minds.reviewer("ReviewDraft", draft=draft, **fields), calls).review
        good = review(marks(0.9, 0.8, 0.8, 0.4))
        equal((good.approved, round(good.overall_score, 6), word("NextAction", good.suggested_action), good.feedback),
              (True, 0.8, "NEXT_ACTION_END", ""))
        equal(review(marks(0.89, 1, 1, 1)).approved, False, "facts below 0.9")
        equal(review(marks(0.9, 0.79, 0.8, 0.4)).approved, False, "a sum below 0.8")
        bad = review(marks(0.5, 0.5, 1, 1, "research", [issue("format", "low"), issue("logic", "high", "worst"), issue("logic", "high", "next")]))
        equal(([i.description for i in bad.issues], word("NextAction", bad.suggested_action), bad.feedback),
              (["worst", "next", "d"], "NEXT_ACTION_RESEARCH", "f"))
        equal(review(marks(0.9, 0, 0.9, 1), plan=None).scores.completeness, 1.0, "completeness without a plan")
        equal(review(marks(1, 1, 1, 1, issues=[issue("fact_check", "high")])).approved, False, "a high issue of facts")
        bounded = review(marks(1, 1, 1, 1), draft=f"# Heat pumps\n\n{PRICE}\n", plan={**PLAN, "investigation_points": ["noise in Sweden"]})
        expect(bounded.scores.format < 0.5 and bounded.scores.completeness == 0, bounded.scores)
        expect("noise in Sweden" in bounded.feedback, bounded.feedback)
        expect("Heat pumps cost" in upstream.turns()["user"] and "- cost of heat pumps" not in upstream.turns()["user"], upstream.turns())

    @check("an address that no source has cannot pass, whatever the marks are")
    def _():
        upstream.will(say(marks(1, 1, 1, 1)))
        review = full(minds.reviewer("ReviewDraft", draft=DRAFT + "2. https://invented.example/x.\n", sources=SOURCES, plan=PLAN)).review
        equal((review.approved, review.scores.fact_check, review.issues[0].location), (False, 0.5, "https://invented.example/x"))
        equal(word("IssueSeverity", review.issues[0].severity), "ISSUE_SEVERITY_HIGH")

    @check("a false number cannot pass, whatever the marks are: code compares it with its source, and shows the source")
    def _():
        page = "Heat pumps cost between 8,000 and 15,000 euros."
        sources = [*SOURCES, {"title": "Boilers", "url": "https://example.org/boilers", "summary": "A gas boiler costs 9,000 euros."}]
        cited = [{"sentence_number": 3, "sentence": page, "reference_number": 1, "uri": SOURCES[0]["url"], "title": "Heat pumps", "quote": page}]
        noted = f"# Heat pumps\n\n## Cost\n{page[:-1]} [^1].\n\n## References\n[^1]: Heat pumps — {SOURCES[0]['url']}\n"

        def review(draft, **fields):
            upstream.will(say(marks(1, 1, 1, 1)))
            return full(minds.reviewer("ReviewDraft", draft=draft, **{"sources": sources, "plan": PLAN, **fields})).review
        for what, draft, fields in (("citations", DRAFT, {"citations": cited}), ("notes", noted, {}), ("sources", DRAFT, {})):
            equal((review(draft, **fields).approved, review(draft, **fields).scores.fact_check), (True, 1.0), f"a true draft with {what}")
            for false in ("7,000", "9,000", "8,000,000"):  # 9,000 is another source's
                bad = review(draft.replace("8,000", false), **fields)
                issue = bad.issues[0]
                equal((bad.approved, bad.scores.fact_check <= 0.5, word("DraftIssueType", issue.type), word("IssueSeverity", issue.severity), issue.location),
                      (False, True, "DRAFT_ISSUE_TYPE_FACT_CHECK", "ISSUE_SEVERITY_HIGH", "sentence 3"), f"{false} with {what}")
                expect("[1] Heat pumps" in issue.description and page in issue.description, issue.description)
                equal(round(bad.overall_score, 7), round(0.4 * bad.scores.fact_check + 0.5 + 0.1 * bad.scores.format, 7), "the sum")
        invented = review(DRAFT.replace("They use", "Sweden has 77 kings. They use"))
        equal((invented.approved, word("IssueSeverity", invented.issues[0].severity)), (False, "ISSUE_SEVERITY_HIGH"), "a number of no source")
        linked = review(DRAFT.replace("They use", "A heat pump costs 77 euros (https://example.org/pumps). They use"))
        equal((linked.approved, "77 euros" in linked.issues[0].description), (False, True), "a claim with an address")
        many = DRAFT.replace("They use", f"{page} " * 420 + "Heat pumps cost 5 euros. They use")
        equal(review(many).approved, False, "a false number behind all claims that are compared")

    @check("marks beyond 0 and 1 are shown to the model once more, and paid for")
    def _():
        upstream.will(say(marks(90, 80, 80, 40)), say(marks(0.9, 0.8, 0.8, 0.4)))
        equal(full(minds.reviewer("ReviewDraft", draft=DRAFT, sources=SOURCES, plan=PLAN), calls=2).review.approved, True)
        turns = upstream.asked[-1]["messages"]
        equal([turn["role"] for turn in turns], ["system", "user", "assistant", "user"])
        expect("scores.fact_check: must be a number from 0 to 1" in turns[-1]["content"], turns[-1])
        upstream.will(say(marks(90, 80, 80, 40)))
        degraded(minds.reviewer("ReviewDraft", draft=DRAFT, sources=SOURCES, plan=PLAN), 15, calls=2)

    @check("without a model a draft is judged by coverage, citations and form")
    def _():
        upstream.will(refuse(500))

        def review(draft, **fields):
            return degraded(minds.reviewer("ReviewDraft", draft=draft, **{"sources": SOURCES, "plan": PLAN, **fields}), 14).review
        good = review(DRAFT)
        equal((good.approved, good.scores.fact_check, good.scores.format), (True, 1.0, 1.0))
        noted = DRAFT.replace("[^1]", "[^7]").replace("euros.", "euros [^7].").replace("boiler.", "boiler.[^7][^note-12]")
        expect(review(noted).scores.fact_check < 1, "[^note-12] is not defined")
        noted += "[^note-12]: https://example.org/pumps\n"
        equal(review(noted).scores.fact_check, 1.0, "the number of a note is no figure")
        for false in ("euros [^ 7].", "euros [7.", "euros [].", "euros, 7 [^7]."):
            mark = review(noted.replace("euros [^7].", false)).scores.fact_check
            expect(mark <= 0.5 if "7" in false else mark == 1.0, f"{false}: {mark}")
        invented = review(DRAFT.replace("They use a third", "The king of Denmark owns seventeen of them. They use a third"))
        equal((invented.approved, "king of Denmark" in invented.feedback), (False, True))
        equal(word("NextAction", invented.suggested_action), "NEXT_ACTION_WRITE")
        lacking = review(DRAFT, plan={"theme": "t", "investigation_points": ["noise regulation in Sweden"]})
        equal((lacking.approved, word("NextAction", lacking.suggested_action)), (False, "NEXT_ACTION_RESEARCH"))
        point = "noise regulation in Sweden"
        honest = review(f"{DRAFT}\n### {point}\n\nNo source was found for this point.\n", plan={"theme": "t", "investigation_points": [point]})
        equal((honest.approved, honest.scores.fact_check, honest.scores.completeness, word("NextAction", honest.suggested_action)),
              (False, 1.0, 0.0, "NEXT_ACTION_RESEARCH"), "a section that says that it has no source claims nothing and covers nothing")
        equal(review(DRAFT, sources=[]).approved, False, "without sources")
        expect(review("plain words without any form at all [x]()").scores.format < 0.25, "no form")
        long = review(DRAFT.replace(f"{PRICE} {ENERGY} {PRICE} {ENERGY} {PRICE}", PRICE))
        expect("The summary has 47 characters" in " ".join(issue.description for issue in long.issues), long.issues)

    @check("an address in a draft is that of a source up to the punctuation behind it")
    def _():
        upstream.will(refuse(500))
        urls = ["https://a.example/x/", "https://b.example/y (archive)", "https://c.example/z?"]

        def unknown(address):
            review = degraded(minds.reviewer("ReviewDraft", draft=f"See {address} for it.", sources=[{"url": url} for url in urls]), 14).review
            return [issue.location for issue in review.issues if issue.location.startswith("http")]
        for address in ("https://a.example/x.", "https://a.example/x/", "https://b.example/y", "https://c.example/z?!"):
            equal(unknown(address), [], address)
        for address in ("https://a.example/", "https://a.example/xy", "https://b.example", "https://c.example/z/a"):
            equal(unknown(address), [address.rstrip("/")], address)

    @check("a request that is wrong is refused by its field, and no model is asked")
    def _():
        upstream.will(say({}))
        for field, given in (("question", {"subtask": "x"}), ("subtask", {"question": "x", "subtask": " "}),
                             ("answer", {**SUBTASK, "answer": "x" * 65537}), ("challenge_count", {**SUBTASK, "challenge_count": -1})):
            refused("INVALID_ARGUMENT", lambda: minds.reviewer("Reflect", **given), field)
        for field, given in (("field", {}), ("conversation_summary", {"field": FIELD}),
                             ("facts[0].form_field_id", {"field": FIELD, "facts": [{**FACTS[0], "form_field_id": "7"}]})):
            refused("INVALID_ARGUMENT", lambda: minds.reviewer("ReviewAnswer", **given), field)
        refused("INVALID_ARGUMENT", lambda: minds.reviewer("ReviewDraft", draft="\n"), "draft")
        refused("INVALID_ARGUMENT", lambda: minds.reviewer("ReviewDraft", draft="x", sources=[{"title": "t"}]), "sources[0].url")
        equal(len(upstream.asked), 0, "requests to the model")


in_both_ways(body)
