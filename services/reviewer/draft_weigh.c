/* Marks without a model. Facts: draft_facts.c. Completeness: the share of the words of the plan's points that the draft
 * has. Format: formal errors are counted. Logic cannot be judged by words: its mark is 0.5, which alone neither
 * approves nor rejects. */
#include "draft_priv.h"
#include "findings.h"

#include "words/nothing.h"

#include <string.h>

#define LETTERS_MIN    12  /* bytes of a sentence that makes a claim */
#define POINT_ENOUGH   0.5 /* coverage of a point that counts as found */
#define LOGIC_UNKNOWN  0.5
#define ISSUE(name)    RENGA__V1__DRAFT_ISSUE_TYPE__DRAFT_ISSUE_TYPE_##name
#define SEVERITY(name) RENGA__V1__ISSUE_SEVERITY__ISSUE_SEVERITY_##name
#define ACTION(name)   RENGA__V1__NEXT_ACTION__NEXT_ACTION_##name

/* ---- facts ------------------------------------------------------------------------------------------------------- */

bool draft_claims(const char *draft, const struct span *span, struct draft_line *line)
{
    const char *text = draft + span->begin;
    size_t length = span->end - span->begin;
    for (; line->known < span->begin; line->known++)
        if (draft[line->known] == '\n')
            line->begin = line->known + 1;
    char first = draft[line->begin];
    bool reference = span->begin >= line->references && memmem(text, length, "://", 3);
    return length >= LETTERS_MIN && first != '#' && first != '|' && !reference && !words_say_no_source(text, length);
}

/* ---- completeness ------------------------------------------------------------------------------------------------ */

static double share_of(const struct evidence *evidence, const struct evidence *sources, const char *point)
{
    struct coverage coverage;
    evidence_cover(evidence, sources, point, strlen(point), &coverage);
    return coverage.share;
}

static void add_missing(struct draft_reviewing *reviewing, const char *point)
{
    static const struct note missing = {.ja = "観点「%s」が扱われていません", .en = "Nothing is said about \"%s\""};
    struct thought *thought = &reviewing->thought;
    draft_add_issue(reviewing, ISSUE(COMPLETENESS), SEVERITY(MEDIUM), thought_compose(thought, &missing, point, NULL),
                    thought_text(thought, "", 0));
}

/* Whether the section "### point" only states that there is no source for the point. Its heading must not count as
 * coverage. */
static bool says_no_source(const char *draft, const char *point)
{
    size_t length = strlen(point);
    for (const char *at = draft; length && (at = strstr(at, point)); at += length) {
        const char *line = at + length + strspn(at + length, "\r\n");
        bool heading = at > draft + 1 && at[-1] == ' ' && at[-2] == '#' && line > at + length;
        if (heading && words_say_no_source(line, strcspn(line, "\r\n")))
            return true;
    }
    return false;
}

/* `lacking`: at least one point is in neither the draft nor the sources. */
static double weigh_points(struct draft_reviewing *reviewing, const struct evidence *draft,
                           const struct evidence *sources, bool *lacking)
{
    const Renga__V1__ResearchPlan *plan = reviewing->request->plan;
    double sum = 0;
    if (!plan || !plan->n_investigation_points)
        return 1; /* there are no points to cover */
    for (size_t i = 0; i < plan->n_investigation_points; i++) {
        const char *point = plan->investigation_points[i];
        bool empty = says_no_source(reviewing->request->draft, point);
        double share = empty ? 0 : share_of(draft, sources, point);
        sum += share;
        if (share >= POINT_ENOUGH)
            continue;
        add_missing(reviewing, point);
        *lacking |= empty || share_of(sources, sources, point) < POINT_ENOUGH;
    }
    return sum / (double)plan->n_investigation_points;
}

/* ---- format ------------------------------------------------------------------------------------------------------ */

static bool has_heading(const char *draft)
{
    return draft[0] == '#' || strstr(draft, "\n#");
}

size_t draft_references(const char *draft)
{
    static const char *const names[] = {"参考文献",   "出典",    "参考資料",    "情報源",
                                        "References", "Sources", "Bibliography"};
    size_t found = SIZE_MAX;
    for (const char *at = draft; at; at = strstr(at + 1, "\n#")) {
        const char *line = *at == '\n' ? at + 1 : at;
        size_t length = strcspn(line, "\n");
        for (size_t i = 0; *line == '#' && i < sizeof names / sizeof names[0]; i++)
            if (memmem(line, length, names[i], strlen(names[i])))
                found = (size_t)(line - draft);
    }
    return found;
}

static bool fences_are_closed(const char *draft)
{
    int fences = strncmp(draft, "```", 3) == 0;
    for (const char *at = draft; (at = strstr(at, "\n```")); at += 4)
        fences++;
    return fences % 2 == 0;
}

static double weigh_format(struct draft_reviewing *reviewing)
{
    static const struct note notes[] = {
        {.ja = "見出しがありません", .en = "There is no heading"},
        {.ja = "参考文献のセクションがありません", .en = "There is no section with references"},
        {.ja = "コードブロックが閉じられていません", .en = "A block of code is not closed"},
        {.ja = "リンク先のないリンクがあります", .en = "A link leads nowhere"},
    };
    const char *draft = reviewing->request->draft;
    const bool good[] = {has_heading(draft), draft_references(draft) != SIZE_MAX, fences_are_closed(draft),
                         !strstr(draft, "]()")};
    const size_t count = sizeof good / sizeof good[0];
    struct thought *thought = &reviewing->thought;
    size_t met = 0;
    for (size_t i = 0; i < count; i++) {
        met += good[i];
        if (!good[i])
            draft_add_issue(reviewing, ISSUE(FORMAT), SEVERITY(LOW), UNCONST(thought_say(thought, &notes[i])),
                            thought_text(thought, "", 0));
    }
    return (double)met / (double)count;
}

static Renga__V1__NextAction weigh(struct draft_reviewing *reviewing, struct arena *arena)
{
    const Renga__V1__ReviewDraftRequest *request = reviewing->request;
    struct evidence *sources = sources_weigh(arena, request->sources, request->n_sources);
    struct evidence *draft = text_weigh(arena, request->draft);
    bool lacking = request->n_sources == 0;
    reviewing->scores.logic = LOGIC_UNKNOWN;
    reviewing->scores.format = weigh_format(reviewing);
    if (!sources || !draft)
        return ACTION(WRITE); /* no memory for the evidence: no point is covered */
    reviewing->scores.completeness = weigh_points(reviewing, draft, sources, &lacking);
    return lacking ? ACTION(RESEARCH) : ACTION(WRITE);
}

Renga__V1__NextAction draft_weigh(struct draft_reviewing *reviewing)
{
    struct arena arena;
    arena_init(&arena, NULL, 0, WEIGHING_MEMORY_MAX);
    Renga__V1__NextAction wanted = weigh(reviewing, &arena);
    arena_fini(&arena);
    return wanted;
}
