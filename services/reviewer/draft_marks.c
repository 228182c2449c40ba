/* Computes the score and the verdict from the marks of a model or of code. A model gives marks; it does not approve. */
#include "draft_priv.h"

#include "base/hash.h"
#include "base/text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define APPROVED_OVERALL 0.8
#define APPROVED_FACTS   0.9
#define ROUNDING         1e-9 /* for rounding errors in 0.4 × 0.9 + … */
#define ADDRESSES_MAX    500  /* of a draft, checked */
#define ADDRESS_MAX      ((size_t)2048)
#define FEEDBACK_MAX     ((size_t)65536)
#define ADDRESS_ENDS     " \t\r\n<>\"'`()[]{}|\\^"
#define ADDRESS_TAIL     ".,;:!?*_/" /* ends a sentence */

/* ---- issues ------------------------------------------------------------------------------------------------------ */

/* Keeps the issues sorted, the worst first; issues of equal severity keep their order. */
void draft_add_issue(struct draft_reviewing *reviewing, Renga__V1__DraftIssueType type,
                     Renga__V1__IssueSeverity severity, char *description, char *location)
{
    Renga__V1__DraftReview *review = &reviewing->review;
    size_t at = review->n_issues;
    Renga__V1__DraftIssue *issue = thought_alloc(&reviewing->thought, sizeof *issue);
    while (at && reviewing->issues[at - 1]->severity < severity)
        at--;
    if (!issue || at == DRAFT_ISSUES_MAX)
        return;
    renga__v1__draft_issue__init(issue);
    issue->type = type;
    issue->severity = severity;
    issue->description = description;
    issue->location = location;
    size_t kept = review->n_issues < DRAFT_ISSUES_MAX ? review->n_issues : DRAFT_ISSUES_MAX - 1;
    memmove(&reviewing->issues[at + 1], &reviewing->issues[at], (kept - at) * sizeof reviewing->issues[0]);
    reviewing->issues[at] = issue;
    review->n_issues = kept + 1;
}

/* ---- addresses --------------------------------------------------------------------------------------------------- */

static bool is_address(const char *at)
{
    return strncmp(at, "http://", 7) == 0 || strncmp(at, "https://", 8) == 0;
}

static const char *next_address(const char *text)
{
    for (const char *at = text; (at = strstr(at, "http")); at += 4)
        if (is_address(at))
            return at;
    return NULL;
}

static bool is_plain(char c)
{
    return (unsigned char)c > ' ' && (unsigned char)c < 0x7f;
}

/* The length of an address: it ends before text that is not ASCII and before punctuation that ends a sentence. */
static size_t address_length(const char *at)
{
    size_t length = 0;
    while (length < ADDRESS_MAX && is_plain(at[length]) && !strchr(ADDRESS_ENDS, at[length]))
        length++;
    while (length && strchr(ADDRESS_TAIL, at[length - 1]))
        length--;
    return length;
}

/* The length of a source's URL as it appears in a draft: up to the first byte that ends an address, without punctuation
 * at its end. 0: no address in a draft can be equal to the URL. */
static size_t source_length(const char *url)
{
    size_t length = strcspn(url, ADDRESS_ENDS);
    bool whole = url[length] == '\0';
    while (whole && length && strchr(ADDRESS_TAIL, url[length - 1]))
        length--;
    return length;
}

/* The slot of the source with this address, or a free one. */
static uint16_t *source_slot(struct source_table *table, const char *address, size_t length)
{
    for (size_t at = hash_bytes(address, length);; at++) {
        uint16_t *slot = &table->slots[at % SOURCE_SLOTS];
        const char *url = *slot ? table->request->sources[*slot - 1]->url : NULL;
        if (!url || (strncmp(url, address, length) == 0 && source_length(url) == length))
            return slot;
    }
}

void draft_sources_index(struct source_table *table, const Renga__V1__ReviewDraftRequest *request)
{
    table->request = request;
    for (size_t i = 0; i < request->n_sources; i++) {
        const char *url = request->sources[i]->url;
        *source_slot(table, url, source_length(url)) = (uint16_t)(i + 1);
    }
}

int draft_source_of(struct source_table *table, const char *line, size_t length)
{
    const char *end = line + length, *at = line;
    while ((at = memmem(at, (size_t)(end - at), "http", 4)) && !is_address(at))
        at += 4;
    return at ? (int)*source_slot(table, at, address_length(at)) - 1 : -1;
}

double draft_known_addresses(struct draft_reviewing *reviewing)
{
    static const struct note unknown = {.ja = "収集した情報源にないURLです: %s",
                                        .en = "This address is none of the sources: %s"};
    struct thought *thought = &reviewing->thought;
    struct source_table sources = {0};
    int all = 0, known = 0;
    draft_sources_index(&sources, reviewing->request);
    for (const char *at = reviewing->request->draft; all < ADDRESSES_MAX && (at = next_address(at));) {
        size_t length = address_length(at);
        bool good = *source_slot(&sources, at, length);
        all++;
        known += good;
        if (!good) {
            char *address = thought_printf(thought, "%.*s", (int)length, at);
            draft_add_issue(reviewing, RENGA__V1__DRAFT_ISSUE_TYPE__DRAFT_ISSUE_TYPE_FACT_CHECK,
                            RENGA__V1__ISSUE_SEVERITY__ISSUE_SEVERITY_HIGH,
                            thought_compose(thought, &unknown, address, NULL),
                            thought_text(thought, address, LOCATION_MAX));
        }
        at += length > 4 ? length : 4;
    }
    return all ? (double)known / all : 1;
}

void draft_restart(struct draft_reviewing *reviewing)
{
    memcpy(reviewing->issues, reviewing->found, reviewing->found_count * sizeof reviewing->found[0]);
    reviewing->review.n_issues = reviewing->found_count;
}

/* ---- the verdict ------------------------------------------------------------------------------------------------- */

static char *feedback_from_issues(struct draft_reviewing *reviewing)
{
    static const struct note low = {
        .ja = "評価が基準に達していません。事実の裏付け、網羅性、論理、形式を見直してください。",
        .en = "The marks are too low: look again at facts, coverage, logic and format."};
    struct thought *thought = &reviewing->thought;
    struct buffer lines;
    buffer_init(&lines, 2 * FEEDBACK_MAX);
    for (size_t i = 0; i < reviewing->review.n_issues && lines.length < FEEDBACK_MAX / 2; i++)
        buffer_printf(&lines, "%s- %s", i ? "\n" : "", reviewing->issues[i]->description);
    char *text =
        lines.length ? thought_text(thought, buffer_text(&lines), FEEDBACK_MAX) : UNCONST(thought_say(thought, &low));
    buffer_fini(&lines);
    return text;
}

/* Limits a mark to 0 to 1; NaN becomes 0. */
static double mark_kept(double mark)
{
    return mark >= 0 ? fmin(mark, 1) : 0;
}

void draft_conclude(struct draft_reviewing *reviewing, Renga__V1__NextAction wanted, char *feedback)
{
    Renga__V1__DraftScores *scores = &reviewing->scores;
    Renga__V1__DraftReview *review = &reviewing->review;
    scores->fact_check = mark_kept(fmin(mark_kept(scores->fact_check), mark_kept(reviewing->facts)));
    scores->completeness = mark_kept(scores->completeness);
    scores->logic = mark_kept(scores->logic);
    scores->format = mark_kept(scores->format);
    review->scores = &reviewing->scores;
    review->issues = reviewing->issues;
    review->overall_score =
        0.4 * scores->fact_check + 0.3 * scores->completeness + 0.2 * scores->logic + 0.1 * scores->format;
    review->approved =
        review->overall_score >= APPROVED_OVERALL - ROUNDING && scores->fact_check >= APPROVED_FACTS - ROUNDING;
    review->suggested_action = review->approved ? RENGA__V1__NEXT_ACTION__NEXT_ACTION_END : wanted;
    if (review->approved)
        review->feedback = thought_text(&reviewing->thought, "", 0);
    else
        review->feedback = *feedback ? feedback : feedback_from_issues(reviewing);
}
