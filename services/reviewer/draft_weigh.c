/* Marks without a model. Facts: draft_facts.c. Format: draft_form.c. Completeness: the share of the words of the plan's
 * points that the draft has; a point with half of its words is covered enough for a model to give it full marks. Logic
 * cannot be judged by words: its mark is 0.5, which alone neither approves nor rejects. */
#include "draft_priv.h"
#include "findings.h"

#include <string.h>

#define POINT_ENOUGH   0.5 /* coverage of a point that counts as found */
#define LOGIC_UNKNOWN  0.5
#define ISSUE(name)    RENGA__V1__DRAFT_ISSUE_TYPE__DRAFT_ISSUE_TYPE_##name
#define SEVERITY(name) RENGA__V1__ISSUE_SEVERITY__ISSUE_SEVERITY_##name
#define ACTION(name)   RENGA__V1__NEXT_ACTION__NEXT_ACTION_##name

/* ---- completeness ------------------------------------------------------------------------------------------------ */

static double draft_weigh_share_of(const struct evidence *evidence, const struct evidence *sources, const char *point)
{
    struct coverage coverage;
    evidence_cover(evidence, sources, point, strlen(point), &coverage);
    return coverage.share;
}

/* `lacking`: at least one point is in neither the draft nor the sources. */
static void weigh_points(struct draft_reviewing *reviewing, const struct evidence *draft,
                         const struct evidence *sources, bool *lacking)
{
    const Renga__V1__ResearchPlan *plan = reviewing->request->plan;
    double sum = 0, most = 0;
    if (!plan || !plan->n_investigation_points)
        return; /* there are no points to cover */
    for (size_t i = 0; i < plan->n_investigation_points; i++) {
        const char *point = plan->investigation_points[i];
        bool empty = draft_point_is_empty(reviewing->request->draft, point);
        double share = empty ? 0 : draft_weigh_share_of(draft, sources, point);
        sum += share;
        most += share < POINT_ENOUGH ? share / POINT_ENOUGH : 1;
        if (share >= POINT_ENOUGH)
            continue;
        static const struct note missing = {.ja = "観点「%s」が扱われていません", .en = "Nothing is said about \"%s\""};
        struct model_task *task = &reviewing->task;
        draft_add_issue(reviewing, ISSUE(COMPLETENESS), SEVERITY(MEDIUM),
                        model_task_compose(task, &missing, point, NULL), model_task_text(task, "", 0));
        *lacking |= empty || draft_weigh_share_of(sources, sources, point) < POINT_ENOUGH;
    }
    reviewing->weighed.completeness = sum / (double)plan->n_investigation_points;
    reviewing->completeness_most = most / (double)plan->n_investigation_points;
}

static void draft_weigh_run(struct draft_reviewing *reviewing, struct arena *arena)
{
    const Renga__V1__ReviewDraftRequest *request = reviewing->request;
    struct evidence *sources = sources_weigh(arena, request->sources, request->n_sources);
    struct evidence *draft = text_weigh(arena, request->draft);
    bool lacking = request->n_sources == 0;
    reviewing->wanted = ACTION(WRITE);
    if (!sources || !draft)
        return; /* no memory for the evidence: no point is covered */
    reviewing->weighed.completeness = reviewing->completeness_most = 1;
    weigh_points(reviewing, draft, sources, &lacking);
    reviewing->wanted = lacking ? ACTION(RESEARCH) : ACTION(WRITE);
}

void draft_weigh(struct draft_reviewing *reviewing)
{
    struct arena arena;
    renga__v1__draft_scores__init(&reviewing->weighed);
    reviewing->weighed.logic = LOGIC_UNKNOWN;
    reviewing->weighed.format = draft_form(reviewing);
    reviewing->completeness_most = 0;
    arena_init(&arena, NULL, 0, WEIGHING_MEMORY_MAX);
    draft_weigh_run(reviewing, &arena);
    arena_fini(&arena);
}
