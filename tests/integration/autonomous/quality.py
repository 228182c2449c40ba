#!/usr/bin/env python3
"""Autonomous research over four of the themes, without a model, with an honest one and with one that lies: no report has an
invented source, a planted falsehood, an open note or an address twice. tests/bench/research_quality has the figures of all 24
themes. Needs RENGA_BIN and RENGA_PROTO."""
import json
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from study import Study, expect  # noqa: E402
from checks import check, finish  # noqa: E402
from report_check import Pages, judge  # noqa: E402
from theme_model import Writer  # noqa: E402
from themes import load, place  # noqa: E402

THEMES = ("electric-ferries", "school-meals", "snow-cooling", "ondemand-bus")
HOW = {None: "without a model", "honest": "with an honest model", "liar": "with a model that invents a fifth"}
themes = load(THEMES)


@check("the judge of this test sees each planted falsehood and invented source in a draft that no product has checked")
def _():
    place(themes, 80)
    pages = Pages(themes)
    planted_in_all = 0
    for theme in themes:
        data = [{"url": document.address, "title": document.title, "summary": document.text} for document in theme.documents]
        planted = []
        verdict = judge(theme, pages, Writer(theme, json.dumps(data), "liar", planted).draft(), data, planted)
        expect(len(verdict.planted_published) == len(planted) and verdict.invented_sources, f"{theme.name}: {verdict}")
        honest = judge(theme, pages, Writer(theme, json.dumps(data), "honest", []).draft(), data)
        expect(not honest.problems and honest.verified == honest.sentences and not honest.parts_missing, f"{theme.name}: {honest}")
        planted_in_all += len(planted)
    return f"{planted_in_all} planted"


def no_problem(study, theme, outcome):
    for verdict in study.verdicts(theme, outcome):
        expect(not verdict.problems, f"{theme.name}: {verdict.problems}")
    expect(not outcome.approved or not outcome.verdict.problems, f"{theme.name} is approved with {outcome.verdict.problems}")
    expect(outcome.verdict.sentences and outcome.verdict.verified and not outcome.verdict.parts_missing,
           f"{theme.name}: {outcome.verdict}\n{outcome.output.get('current_draft')}"[:4000])


for how, told in HOW.items():
    study = Study(themes, how)

    @check(f"{told} no report has an invented source, a planted falsehood, an open note or an address twice")
    def _():
        outcomes = {theme.name: study.run(theme) for theme in themes}
        for theme in themes:
            no_problem(study, theme, outcomes[theme.name])
        if how == "liar":
            expect(sum(len(one.planted) for one in outcomes.values()) > 8, "too little was planted")
        return "; ".join(f"{name} {one.verdict.verified} of {one.verdict.sentences} verified" for name, one in outcomes.items())

    study.stop()
finish()
