#!/usr/bin/env python3
"""Plans of four kinds, better queries, and the choice of the next action."""
import json

from minds import degraded, equal, expect, full, in_both_ways, refuse, refused, say, upstream, wait_until, word

QUESTION = "How do I reset my password, and what does E-1024 mean?"
FORM = {"fields": [{"id": "1", "field_id": "name", "label": "Name", "intent": "their name", "required": True, "sort_order": 2},
                   {"id": "2", "field_id": "age", "label": "Age", "sort_order": 1},
                   {"id": "3", "field_id": "job", "label": "Job", "required": True, "sort_order": 3}],
        "facts": [{"id": "f", "form_field_id": "3", "fact_key": "since", "fact": "since when"}]}
PLAN = {"theme": "Heat pumps", "investigation_points": ["cost"], "search_queries": ["heat pump cost"]}


def body(minds, check):
    @check("a question is split by the model, in a strict schema, with rules and fences in its prompts")
    def _():
        upstream.will(say({"subtasks": ["  How is a password reset? ", "", "What is E-1024?", "what is e-1024?"]}))
        answer = full(minds.planner("Plan", subtasks={"question": QUESTION, "tools": ["search_documents: finds"]}))
        equal(list(answer.subtasks.subtasks), ["How is a password reset?", "What is E-1024?"], "the plan")
        turns, format = upstream.turns(), upstream.asked[-1]["response_format"]["json_schema"]
        expect(f"<question>\n{QUESTION}\n</question>" in turns["user"], turns["user"])
        expect("- search_documents: finds" in turns["user"] and "At most 8 subtasks" in turns["system"], turns)
        expect("in English" in turns["system"], turns["system"])
        equal((format["strict"], list(format["schema"]["properties"])), (True, ["subtasks"]), "the schema")
        equal(minds.thoughts("planner", "subtasks", "model") >= 1, True, "that it is counted")

    @check("a Japanese question is asked about in Japanese, and a request may say otherwise")
    def _():
        upstream.will(say({"subtasks": ["パスワードの再設定方法"]}))
        full(minds.planner("Plan", subtasks={"question": "パスワードを再設定するには？"}))
        expect("サブタスクは日本語で" in upstream.turns()["system"], upstream.turns())
        full(minds.planner("Plan", subtasks={"question": "パスワードを再設定するには？"}, prompting={"model": "m", "language": "en-GB"}))
        expect("in English" in upstream.turns()["system"], upstream.turns())
        full(minds.planner("Plan", subtasks={"question": "x"}, prompting={"model": "m", "language": "fr"}))
        expect('tag "fr"' in upstream.turns()["system"], upstream.turns())

    @check("a long answer of a model is read by a worker thread")
    def _():
        before = minds.jobs("planner")
        upstream.will(say({"subtasks": ["Q" * 20_000]}))
        full(minds.planner("Plan", subtasks={"question": QUESTION}))
        gateways = 1 if minds.way == "in one process" else 0  # it reads the answer before the planner does
        wait_until(lambda: minds.jobs("planner") - before == gateways + 1, "no worker has read it")  # counted after the reply

    @check("a plan has at most as many subtasks as were wanted, and may be empty")
    def _():
        upstream.will(say({"subtasks": [f"part {n}" for n in range(9)]}))
        equal(len(full(minds.planner("Plan", subtasks={"question": "x", "max_subtasks": 2})).subtasks.subtasks), 2)
        upstream.will(say({"subtasks": []}))
        answer = full(minds.planner("Plan", subtasks={"question": "Thanks!"}))
        equal((answer.WhichOneof("plan"), list(answer.subtasks.subtasks)), ("subtasks", []))

    @check("without a usable answer the question is kept whole, and the plan says so in its language")
    def _():
        upstream.will(refuse(500))
        answer = degraded(minds.planner("Plan", subtasks={"question": QUESTION}), 14)
        equal(list(answer.subtasks.subtasks), [QUESTION])
        expect("kept whole" in answer.degradations[0].reason, answer.degradations[0].reason)
        answer = degraded(minds.planner("Plan", subtasks={"question": "何？"}))
        expect("一つのサブタスク" in answer.degradations[0].reason, answer.degradations[0].reason)
        equal(answer.degradations[0].part, "plan")
        equal(minds.thoughts("planner", "subtasks", "simple") >= 2, True, "that it is counted")

    @check("queries close gaps, and what was asked is not asked again")
    def _():
        upstream.will(say({"queries": ["heat pump cost", "heat pump subsidy 2026"], "gaps": ["subsidies"], "reasoning": "r"}))
        answer = full(minds.planner("Plan", queries={"question": "Do heat pumps pay?",
                                                     "findings": [{"query": "Heat pump cost", "summary_md": "They cost."}]}))
        equal((list(answer.queries.queries), list(answer.queries.gaps), answer.queries.reasoning),
              (["heat pump subsidy 2026"], ["subsidies"], "r"))
        expect('"summary_md":"They cost."' in upstream.turns()["user"], upstream.turns())
        upstream.will(refuse(500))
        equal(list(degraded(minds.planner("Plan", queries={"question": "q"})).queries.queries), ["q"])
        findings = [{"query": "q", "summary_md": "s"}]
        equal(list(degraded(minds.planner("Plan", queries={"question": "q", "findings": findings})).queries.queries), [])

    @check("an interview's plan is a permutation of the form, whatever the model writes")
    def _():
        upstream.will(say({"fields": [{"field_id": name, "label": "hacked", "intent": "why " + name, "required": False}
                                      for name in ("job", "password", "job", "name")]}))
        plan = full(minds.planner("Plan", fields={"form": FORM, "known_json": '{"country": "JP"}'})).fields.fields
        equal([(f.field_id, f.label, f.intent, f.required) for f in plan],
              [("job", "Job", "why job", True), ("name", "Name", "their name", True), ("age", "Age", "Find out: Age", False)])
        expect('"country": "JP"' in upstream.turns()["user"] and "since when" in upstream.turns()["user"], upstream.turns())
        upstream.will(refuse(500))
        plan = degraded(minds.planner("Plan", fields={"form": FORM})).fields.fields
        equal([f.field_id for f in plan], ["age", "name", "job"], "the form's own order")

    @check("a theme becomes a plan for research, with what any theme has where no model answers")
    def _():
        upstream.will(say({"theme": "else", "investigation_points": ["cost"], "search_queries": ["a", "b"], "plan_text": "p"}))
        plan = full(minds.planner("Plan", research={"theme": "Heat pumps", "max_queries": 1, "human_input": "in Japan"})).research
        equal((plan.theme, list(plan.search_queries), plan.plan_text), ("Heat pumps", ["a"], "p"))
        expect(plan.created_ms > 1600000000000 and "in Japan" in upstream.turns()["user"], plan)
        upstream.will(refuse(500))
        plan = degraded(minds.planner("Plan", research={"theme": "生成AIの動向", "max_queries": 2})).research
        equal((len(plan.search_queries), plan.search_queries[0]), (2, "生成AIの動向"))
        expect("概要と背景" in plan.investigation_points and "生成AIの動向" in plan.plan_text, plan)

    @check("without a model the queries join the name in the theme with words of a point, and points are those of the sources")
    def _():
        upstream.will(refuse(500))
        theme = "Electric ferries on the Lauder strait"
        plan = degraded(minds.planner("Plan", research={"theme": theme})).research
        equal(list(plan.search_queries)[:2], [theme, "Lauder users numbers statistics"])
        plan = degraded(minds.planner("Plan", research={"theme": "湯ノ原の地熱発電所"})).research
        equal(plan.search_queries[3], "湯ノ原 費用 予算 補助")
        sources = [{"title": "The fleet", "summary": "Three electric ferries cross the Lauder strait. They were built in Skellholm."},
                   {"title": "The cost", "summary": "The electric ferries on the Lauder strait cost 312 million crowns. The state of Norrland paid."},
                   {"title": "A copy", "summary": "The electric ferries on the Lauder strait cost 312 million crowns. The state of Norrland paid."},
                   {"title": "Cleaner", "summary": "The Lauder electric ferries on the strait save 26,000 tonnes of carbon dioxide."},
                   {"title": "A cheese", "summary": "A hard cheese of goat's milk ripens for eight months in caves."}]
        plan = degraded(minds.planner("Plan", research={"theme": theme, "sources": sources})).research
        equal(len({"The cost", "A copy"} & set(plan.investigation_points)), 1)
        expect({"The fleet", "Cleaner"} <= set(plan.investigation_points) and "A cheese" not in plan.investigation_points, plan)
        few = degraded(minds.planner("Plan", research={"theme": theme, "sources": sources[:1]})).research
        expect("Cost and funding" in few.investigation_points, few)

    @check("queries are improved one for one, and without feedback no model is asked")
    def _():
        upstream.will(say({"improved_queries": ["heat pump cost 2026", " "]}))
        answer = full(minds.planner("ImproveQueries", base_queries=["heat pump cost", "b"], feedback="recent figures are missing"))
        equal(list(answer.queries), ["heat pump cost 2026", "b"])
        upstream.will(refuse(500))
        answer = minds.planner("ImproveQueries", base_queries=["a", "b"])
        equal((list(answer.queries), len(answer.degradations), len(upstream.asked)), (["a", "b"], 0, 0))
        answer = degraded(minds.planner("ImproveQueries", base_queries=["費用"], feedback="最新の情報が不足"))
        expect(answer.queries[0].startswith("費用 最新 20"), answer.queries)
        equal(list(degraded(minds.planner("ImproveQueries", base_queries=["a"], feedback="dull")).queries), ["a"])
        feedback = '- Nothing is said about "Noise and smell"\n- No source supports this: The pier cost 9 crowns.\n- The marks are low.'
        better = degraded(minds.planner("ImproveQueries", base_queries=["a", "b", "c"], theme="The ferries of Lauder", feedback=feedback)).queries
        equal(list(better), ["Lauder Noise and smell", "Lauder The pier cost 9 crowns.", "c"])
        better = degraded(minds.planner("ImproveQueries", base_queries=["a", "b"], theme="湯ノ原の地熱発電所", feedback="- 観点「住民の関わり」が扱われていません")).queries
        equal(list(better), ["湯ノ原 住民の関わり", "b"])
        refused("INVALID_ARGUMENT", lambda: minds.planner("ImproveQueries", feedback="x"), "base_queries")

    @check("three rules choose the next action before any model")
    def _():
        upstream.will(refuse(500))

        def route(**fields):
            answer = minds.planner("Route", plan=PLAN, **fields)
            expect(answer.reasoning and not answer.degradations, answer)
            return word("NextAction", answer.next_action).removeprefix("NEXT_ACTION_")
        equal(route(iteration=5, progress={"data_count": 0}), "END")
        equal(route(iteration=1, progress={"data_count": 4}), "RESEARCH")
        equal(route(), "RESEARCH")
        equal(route(iteration=1, progress={"data_count": 5}), "WRITE")
        equal(route(iteration=3, max_iterations=9, min_data_count=2, progress={"data_count": 2}), "WRITE")
        equal(len(upstream.asked), 0, "requests to the model")
        equal(minds.thoughts("planner", "route", "rule") >= 5, True, "that they are counted")

    @check("a model chooses where the rules do not, and a draft ends the run where none can")
    def _():
        given = {"plan": PLAN, "progress": {"data_count": 9, "coverage": 0.5}, "has_draft": True, "feedback": "thin"}
        upstream.will(say({"next_action": "research", "reasoning": "thin"}))
        answer = full(minds.planner("Route", **given))
        equal((word("NextAction", answer.next_action), answer.reasoning), ("NEXT_ACTION_RESEARCH", "thin"))
        expect('"coverage":0.5' in upstream.turns()["user"], upstream.turns())
        upstream.will(say({"next_action": "review", "reasoning": "x"}))  # not among the choices, also after repair
        answer = degraded(minds.planner("Route", **given), 15, calls=2)
        equal(word("NextAction", answer.next_action), "NEXT_ACTION_END")

    @check("a request that is wrong is refused by its field, and no model is asked")
    def _():
        upstream.will(say({"subtasks": ["x"]}))
        broken = json.loads(json.dumps(FORM))
        broken["facts"][0]["form_field_id"] = "9"
        double = {"fields": [FORM["fields"][0], {**FORM["fields"][1], "field_id": "name"}]}
        for field, given in (("style", {}), ("subtasks.question", {"subtasks": {}}),
                             ("subtasks.question", {"subtasks": {"question": " \n\u3000\t"}}),
                             ("subtasks.question", {"subtasks": {"question": "x" * (1 << 20)}}),
                             ("subtasks.max_subtasks", {"subtasks": {"question": "x", "max_subtasks": 33}}),
                             ("subtasks.tools[1]", {"subtasks": {"question": "x", "tools": ["a", " "]}}),
                             ("feedback", {"subtasks": {"question": "x"}, "feedback": "x" * 65537}),
                             ("queries.max_queries", {"queries": {"question": "x", "max_queries": 4}}),
                             ("queries.findings[0].query", {"queries": {"question": "x", "findings": [{}]}}),
                             ("fields.form", {"fields": {}}), ("fields.form.facts[0].form_field_id", {"fields": {"form": broken}}),
                             ("fields.form.fields[1].field_id", {"fields": {"form": double}}),
                             ("fields.known_json", {"fields": {"form": FORM, "known_json": "[1]"}}),
                             ("research.theme", {"research": {"theme": ""}}),
                             ("origin.run_id", {"subtasks": {"question": "x"}, "origin": {"run_id": "r" * 65}})):
            refused("INVALID_ARGUMENT", lambda: minds.planner("Plan", **given), field)
        refused("INVALID_ARGUMENT", lambda: minds.planner("Route"), "plan")
        refused("INVALID_ARGUMENT", lambda: minds.planner("Route", plan=PLAN, progress={"coverage": float("nan")}), "progress.coverage")
        invalid = b"\x0a\x04\x0a\x02\xff\xfe"  # subtasks.question, not UTF-8
        refused("INVALID_ARGUMENT", lambda: minds.call("Planner", "Plan", 10, invalid).result())
        equal(len(upstream.asked), 0, "requests to the model")


in_both_ways(body)
