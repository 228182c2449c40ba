/* Marks without a model. Facts: the part of the sentences that stand in a source or have a citation. Completeness: how
 * far the draft has the words of the plan's points. Format: what can be counted. Logic cannot be weighed by words: its
 * mark is the middle, and neither approves nor rejects by itself. */
#include "draft_priv.h"
#include "findings.h"

#include "words/nothing.h"

#include <string.h>

#define SENTENCES_MAX  400 /* of a draft, weighed: the loop waits for it, some 100 ms at most */
#define LETTERS_MIN    12  /* bytes of a sentence that claims something */
#define NOTE_MAX       16  /* bytes of a note's name */
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
    return length >= LETTERS_MIN && first != '#' && first != '|' && !memmem(text, length, "://", 3) &&
           !words_say_no_source(text, length);
}

static bool is_cited(const Renga__V1__ReviewDraftRequest *request, int number)
{
    for (size_t i = 0; i < request->n_citations; i++)
        if (request->citations[i]->sentence_number == number && request->citations[i]->quote[0])
            return true;
    return false;
}

static void add_unsupported(struct draft_reviewing *reviewing, const struct span *span, int number)
{
    static const struct note unsupported = {.ja = "情報源に裏付けがありません: %s",
                                            .en = "No source supports this: %s"};
    static const struct note where = {.ja = "%s番目の文", .en = "sentence %s"};
    struct thought *thought = &reviewing->thought;
    const char *sentence =
        thought_printf(thought, "%.*s", (int)(span->end - span->begin), reviewing->request->draft + span->begin);
    draft_add_issue(reviewing, ISSUE(FACT_CHECK), SEVERITY(MEDIUM),
                    thought_compose(thought, &unsupported, sentence, NULL),
                    thought_compose(thought, &where, thought_printf(thought, "%d", number), NULL));
}

/* Length of a note such as "[^1]" at the beginning of the text; 0: there is no note. */
static size_t note_length(const char *text, size_t length)
{
    size_t at = 2;
    if (length < 4 || memcmp(text, "[^", 2) != 0)
        return 0;
    while (at < length && at < 2 + NOTE_MAX && (unsigned char)text[at] > ' ' && text[at] != ']')
        at++;
    return at > 2 && at < length && text[at] == ']' ? at + 1 : 0;
}

/* The sentence without its notes and the blank before each: a note's number is no figure. NULL: out of memory. */
static const char *draft_without_notes(struct thought *thought, const char *text, size_t *length)
{
    if (!memmem(text, *length, "[^", 2))
        return text;
    char *bare = thought_alloc(thought, *length + 1);
    size_t kept = 0;
    for (size_t at = 0, note; bare && at < *length; at += note ? note : 1) {
        note = note_length(text + at, *length - at);
        if (note && kept && bare[kept - 1] == ' ')
            kept--;
        else if (!note)
            bare[kept++] = text[at];
    }
    *length = kept;
    return bare;
}

static bool is_supported(struct draft_reviewing *reviewing, const struct evidence *sources, const struct span *span)
{
    struct support support;
    size_t length = span->end - span->begin;
    const char *bare = draft_without_notes(&reviewing->thought, reviewing->request->draft + span->begin, &length);
    return bare && support_find(sources, bare, length, SUPPORT_ENOUGH, &support);
}

static double weigh_facts(struct draft_reviewing *reviewing, const struct evidence *sources)
{
    const Renga__V1__ReviewDraftRequest *request = reviewing->request;
    struct sentence_reader reader;
    struct draft_line line = {0};
    struct span span;
    int number = 0, all = 0, good = 0;
    sentences_begin(&reader, request->draft, strlen(request->draft));
    while (all < SENTENCES_MAX && sentences_next(&reader, &span)) {
        number++;
        if (!draft_claims(request->draft, &span, &line))
            continue;
        all++;
        bool supported = is_cited(request, number) || is_supported(reviewing, sources, &span);
        good += supported;
        if (!supported)
            add_unsupported(reviewing, &span, number);
    }
    return all ? (double)good / all : 0;
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

/* Whether the section "### point" says that no source speaks of it: its heading alone covers nothing. */
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

/* `lacking`: a point that is not in the draft is not in the sources either. */
static double weigh_points(struct draft_reviewing *reviewing, const struct evidence *draft,
                           const struct evidence *sources, bool *lacking)
{
    const Renga__V1__ResearchPlan *plan = reviewing->request->plan;
    double sum = 0;
    if (!plan || !plan->n_investigation_points)
        return 1; /* nothing has to be covered */
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

static bool has_references(const char *draft)
{
    static const char *const names[] = {"参考文献",   "出典",    "参考資料",    "情報源",
                                        "References", "Sources", "Bibliography"};
    for (const char *at = draft; at; at = strstr(at + 1, "\n#")) {
        const char *line = *at == '\n' ? at + 1 : at;
        size_t length = strcspn(line, "\n");
        for (size_t i = 0; *line == '#' && i < sizeof names / sizeof names[0]; i++)
            if (memmem(line, length, names[i], strlen(names[i])))
                return true;
    }
    return false;
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
    const bool good[] = {has_heading(draft), has_references(draft), fences_are_closed(draft), !strstr(draft, "]()")};
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
    double known = draft_known_addresses(reviewing);
    reviewing->scores.logic = LOGIC_UNKNOWN;
    reviewing->scores.format = weigh_format(reviewing);
    if (!sources || !draft)
        return ACTION(WRITE); /* no memory to find support in: nothing is supported */
    reviewing->scores.fact_check = weigh_facts(reviewing, sources) * known;
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
