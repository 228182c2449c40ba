/* Computes the score and the verdict from the marks of a model or of code. A model gives marks; it does not approve. */
#include "draft_priv.h"

#include "base/hash.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define MILLIONTHS       1000000L
#define APPROVED_OVERALL (8 * MILLIONTHS) /* of the sum of ten tenths */
#define APPROVED_FACTS   (9 * MILLIONTHS / 10)
#define ADDRESSES_MAX    500 /* of a draft, checked */
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
    Renga__V1__DraftIssue *issue = model_task_alloc(&reviewing->task, sizeof *issue);
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

bool draft_is_address(const char *at, size_t length)
{
    return (length > 7 && strncasecmp(at, "http://", 7) == 0) || (length > 8 && strncasecmp(at, "https://", 8) == 0);
}

const char *draft_address_in(const char *text, size_t length)
{
    const char *end = text + length;
    for (const char *at = text; (at = memmem(at, (size_t)(end - at), "://", 3)); at += 3)
        for (size_t scheme = 4; scheme <= 5; scheme++)
            if ((size_t)(at - text) >= scheme && draft_is_address(at - scheme, (size_t)(end - at) + scheme))
                return at - scheme;
    return NULL;
}

static bool draft_marks_is_plain(char c)
{
    return (unsigned char)c > ' ' && (unsigned char)c < 0x7f;
}

/* The length of an address: it ends before text that is not ASCII and before punctuation that ends a sentence. */
size_t draft_address_length(const char *at)
{
    size_t length = 0;
    while (length < ADDRESS_MAX && draft_marks_is_plain(at[length]) && !strchr(ADDRESS_ENDS, at[length]))
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

int draft_source_at(struct source_table *table, const char *address)
{
    return (int)*source_slot(table, address, source_length(address)) - 1;
}

/* Cuts ":9" and ", 10", the lines of a file, and punctuation from the end of a path. */
static size_t path_length(const char *path, size_t length)
{
    size_t end = length, digits;
    do {
        length = end;
        while (end && strchr(" \t\r" ADDRESS_TAIL, path[end - 1]))
            end--;
        for (digits = end; digits && strchr("0123456789-", path[digits - 1]);)
            digits--;
        if (digits && digits < end && strchr(":, ", path[digits - 1]))
            end = digits;
    } while (end < length);
    return end;
}

static int source_of_path(struct source_table *table, const char *path, size_t length)
{
    length = path_length(path, length);
    return length ? (int)*source_slot(table, path, length) - 1 : -1;
}

/* Sources may have paths for addresses: a word of the line, or its end behind a dash. */
static int source_of_word(struct source_table *table, const char *line, size_t length)
{
    static const char dash[] = "— ";
    const char *behind = memmem(line, length, dash, sizeof dash - 1);
    int source = -1;
    if (behind)
        source = source_of_path(table, behind + sizeof dash - 1, length - (size_t)(behind - line) - (sizeof dash - 1));
    for (size_t at = 0, end; at < length && source < 0; at = end + 1) {
        for (end = at; end < length && !strchr(ADDRESS_ENDS, line[end]);)
            end++;
        source = source_of_path(table, line + at, end - at);
    }
    return source;
}

int draft_source_of(struct source_table *table, const char *line, size_t length)
{
    const char *at = draft_address_in(line, length);
    return at ? (int)*source_slot(table, at, draft_address_length(at)) - 1 : source_of_word(table, line, length);
}

double draft_known_addresses(struct draft_reviewing *reviewing)
{
    static const struct note unknown = {.ja = "収集した情報源にないURLです: %s",
                                        .en = "This address is none of the sources: %s"};
    struct model_task *task = &reviewing->task;
    struct source_table sources = {0};
    int all = 0, known = 0;
    draft_sources_index(&sources, reviewing->request);
    const char *at = reviewing->request->draft, *end = at + strlen(at);
    while (all < ADDRESSES_MAX && (at = draft_address_in(at, (size_t)(end - at)))) {
        size_t length = draft_address_length(at);
        bool good = *source_slot(&sources, at, length);
        all++;
        known += good;
        if (!good) {
            char *address = model_task_printf(task, "%.*s", (int)length, at);
            draft_add_issue(reviewing, RENGA__V1__DRAFT_ISSUE_TYPE__DRAFT_ISSUE_TYPE_FACT_CHECK,
                            RENGA__V1__ISSUE_SEVERITY__ISSUE_SEVERITY_HIGH,
                            model_task_compose(task, &unknown, address, NULL),
                            model_task_text(task, address, LOCATION_MAX));
        }
        at += length > 4 ? length : 4;
    }
    return all ? (double)known / all : 1;
}

void draft_keep_found(struct draft_reviewing *reviewing)
{
    memcpy(reviewing->found, reviewing->issues, reviewing->review.n_issues * sizeof reviewing->found[0]);
    reviewing->found_count = reviewing->review.n_issues;
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
    struct model_task *task = &reviewing->task;
    struct buffer lines;
    buffer_init(&lines, 2 * FEEDBACK_MAX);
    for (size_t i = 0; i < reviewing->review.n_issues && lines.length < FEEDBACK_MAX / 2; i++)
        buffer_printf(&lines, "%s- %s", i ? "\n" : "", reviewing->issues[i]->description);
    char *text = lines.length ? model_task_text(task, buffer_text(&lines), FEEDBACK_MAX)
                              : UNCONST(model_task_note_text(task, &low));
    buffer_fini(&lines);
    return text;
}

/* Adds what code has found to the feedback of a model, which does not know it. */
static char *feedback_with_found(struct draft_reviewing *reviewing, char *feedback)
{
    struct model_task *task = &reviewing->task;
    struct buffer lines;
    buffer_init(&lines, 3 * FEEDBACK_MAX);
    buffer_print(&lines, feedback);
    for (size_t i = 0; i < reviewing->found_count && lines.length < FEEDBACK_MAX / 2; i++)
        if (reviewing->found[i]->severity > RENGA__V1__ISSUE_SEVERITY__ISSUE_SEVERITY_LOW)
            buffer_printf(&lines, "\n- %s", reviewing->found[i]->description);
    char *text = model_task_text(task, buffer_text(&lines), FEEDBACK_MAX);
    buffer_fini(&lines);
    return text;
}

/* A mark in millionths, rounded down; it is limited to 0 to 1, and NaN becomes 0. */
static long mark_kept(double mark)
{
    long kept = mark >= 1 ? MILLIONTHS : mark > 0 ? lround(mark * MILLIONTHS) : 0;
    return mark < 1 && (double)kept / MILLIONTHS > mark && kept ? kept - 1 : kept;
}

static bool facts_are_refuted(const struct draft_reviewing *reviewing)
{
    for (size_t i = 0; i < reviewing->review.n_issues; i++)
        if (reviewing->issues[i]->type == RENGA__V1__DRAFT_ISSUE_TYPE__DRAFT_ISSUE_TYPE_FACT_CHECK &&
            reviewing->issues[i]->severity == RENGA__V1__ISSUE_SEVERITY__ISSUE_SEVERITY_HIGH)
            return true;
    return false;
}

void draft_conclude(struct draft_reviewing *reviewing, Renga__V1__NextAction wanted, char *feedback)
{
    Renga__V1__DraftScores *scores = &reviewing->scores;
    Renga__V1__DraftReview *review = &reviewing->review;
    long facts = mark_kept(scores->fact_check), limit = mark_kept(reviewing->facts);
    long refuted = mark_kept(facts_are_refuted(reviewing) ? DRAFT_CONTRADICTED : 1);
    long completeness = mark_kept(scores->completeness), covered = mark_kept(reviewing->completeness_most);
    long logic = mark_kept(scores->logic);
    long format = mark_kept(scores->format), formed = mark_kept(reviewing->weighed.format);
    facts = facts < limit ? facts : limit;
    facts = facts < refuted ? facts : refuted;
    completeness = completeness < covered ? completeness : covered;
    format = format < formed ? format : formed;
    long sum = 4 * facts + 3 * completeness + 2 * logic + format; /* exact */
    scores->fact_check = (double)facts / MILLIONTHS;
    scores->completeness = (double)completeness / MILLIONTHS;
    scores->logic = (double)logic / MILLIONTHS;
    scores->format = (double)format / MILLIONTHS;
    review->scores = &reviewing->scores;
    review->issues = reviewing->issues;
    review->overall_score = (double)sum / (10 * MILLIONTHS);
    review->approved = sum >= APPROVED_OVERALL && facts >= APPROVED_FACTS;
    review->suggested_action = review->approved ? RENGA__V1__NEXT_ACTION__NEXT_ACTION_END : wanted;
    if (review->approved)
        review->feedback = model_task_text(&reviewing->task, "", 0);
    else
        review->feedback = *feedback ? feedback_with_found(reviewing, feedback) : feedback_from_issues(reviewing);
}
