/* A review of a draft without a server, for the tests of drafts. */
#ifndef RENGA_TEST_DRAFT_REVIEW_H
#define RENGA_TEST_DRAFT_REVIEW_H

#include "draft_priv.h"
#include "rpc/call.h"

#include "unit.h"

#include <math.h>

#define HIGH       RENGA__V1__ISSUE_SEVERITY__ISSUE_SEVERITY_HIGH
#define FACT_CHECK RENGA__V1__DRAFT_ISSUE_TYPE__DRAFT_ISSUE_TYPE_FACT_CHECK
#define TEXT(text) ((char *)(uintptr_t)(text))

static struct rpc_call call;
static struct draft_reviewing reviewing;
static Renga__V1__ReviewDraftRequest request;

static void review_begin(void)
{
    memset(&call, 0, sizeof call);
    arena_init(&call.arena, NULL, 0, (size_t)16 << 20);
    memset(&reviewing, 0, sizeof reviewing);
    reviewing.task.call = &call;
    reviewing.request = &request;
    renga__v1__draft_review__init(&reviewing.review);
    renga__v1__draft_scores__init(&reviewing.scores);
}

static void review_end(void)
{
    arena_fini(&call.arena);
}

static bool is_mark(double mark)
{
    return mark >= 0 && mark <= 1;
}

static void assert_reproduces(int round)
{
    const Renga__V1__DraftReview *review = &reviewing.review;
    const Renga__V1__DraftScores *scores = review->scores;
    double sum = 0.4 * scores->fact_check + 0.3 * scores->completeness + 0.2 * scores->logic + 0.1 * scores->format;
    bool good = review->overall_score >= 0.8 && scores->fact_check >= 0.9; /* exact */
    bool marks = is_mark(scores->fact_check) && is_mark(scores->completeness) && is_mark(scores->logic) &&
                 is_mark(scores->format);
    if (!marks || fabs(review->overall_score - sum) > 1e-9 || review->approved != good)
        fail_msg("round %d: %g %g %g %g make %g, approved %d", round, scores->fact_check, scores->completeness,
                 scores->logic, scores->format, review->overall_score, review->approved);
    if (review->approved != (review->suggested_action == RENGA__V1__NEXT_ACTION__NEXT_ACTION_END) ||
        review->approved == (review->feedback[0] != '\0'))
        fail_msg("round %d: the next action or the feedback does not follow", round);
}

/* All a model can do: the best marks, and no issue. */
static void review_with_praise(void)
{
    review_begin();
    draft_facts_check(&reviewing);
    draft_weigh(&reviewing);
    draft_keep_found(&reviewing);
    draft_restart(&reviewing);
    reviewing.scores.fact_check = reviewing.scores.completeness = reviewing.scores.logic = reviewing.scores.format = 1;
    draft_conclude(&reviewing, RENGA__V1__NEXT_ACTION__NEXT_ACTION_WRITE, TEXT(""));
}

#endif
