/* Search queries, before and after findings: the parts of the question, then the unanswered parts, and names that
 * are new in the findings. */
#include "extract.h"

#include "words/proper.h"
#include "json/json.h"

#include <string.h>

#define FINDINGS_MAX 64
#define PLAN_MOST    3   /* queries of a cycle */
#define NAMES_MOST   2   /* ... of these, with a name that was found */
#define NAME_LEAST   2   /* times that a name must have been found */
#define PART_KNOWN   0.6 /* of a part's words, in one finding: it is answered */
#define SHOWN_MAX    ((size_t)600)

struct findings {
    struct text queries[FINDINGS_MAX], summaries[FINDINGS_MAX];
    struct passage passages[FINDINGS_MAX];
    size_t query_count, passage_count;
    struct text all; /* all findings, one after the other */
};

static struct text findings_member(struct arena *arena, const cJSON *item, const char *name)
{
    const char *value = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(item, name));
    const char *copy = value ? arena_strdup(arena, value) : NULL;
    return copy ? text_trimmed(text_of(copy)) : (struct text){"", 0};
}

static void findings_read(const struct extract *extract, struct findings *findings)
{
    struct status ignored = {0};
    struct text found = text_trimmed(extract->findings);
    cJSON *list = found.length ? json_parse(found.bytes, found.length, NULL, &ignored) : NULL;
    const cJSON *item;
    memset(findings, 0, sizeof *findings);
    findings->all = (struct text){"", 0};
    cJSON_ArrayForEach(item, list)
    {
        struct text summary = findings_member(extract->arena, item, "summary_md");
        if (findings->query_count == FINDINGS_MAX)
            break;
        findings->summaries[findings->query_count] = summary;
        findings->queries[findings->query_count++] = findings_member(extract->arena, item, "query");
        if (!summary.length)
            continue;
        findings->passages[findings->passage_count++] =
            (struct passage){.text = summary.bytes, .length = summary.length};
        findings->all = text_joined(extract->arena, findings->all, text_of("\n\n"), summary);
    }
    cJSON_Delete(list);
}

static bool query_plan_was_asked(const struct findings *findings, const struct query_plan *plan, struct text query)
{
    for (size_t i = 0; i < findings->query_count; i++)
        if (text_equal(findings->queries[i], query))
            return true;
    for (size_t i = 0; i < plan->query_count; i++)
        if (text_equal(plan->queries[i], query))
            return true;
    return !query.length;
}

static void query_plan_add(const struct findings *findings, struct query_plan *plan, struct text query, size_t limit)
{
    if (plan->query_count < limit && !query_plan_was_asked(findings, plan, query))
        plan->queries[plan->query_count++] = query;
}

static bool query_plan_is_known(const struct evidence *evidence, struct text part)
{
    struct coverage coverage;
    if (!evidence)
        return false;
    evidence_cover(evidence, evidence, part.bytes, part.length, &coverage);
    return coverage.best >= PART_KNOWN;
}

/* It begins with the words that `renga research` has for gaps, which are then not printed twice. */
static struct text query_plan_gap(const struct extract *extract, struct text part)
{
    part.length = part.length < SHOWN_MAX ? part.length : 0;
    return extract->japanese ? text_joined(extract->arena, text_of("わかっていないこと: "), part, text_of(""))
                             : text_joined(extract->arena, text_of("Not known yet: "), part, text_of(""));
}

/* The subject of the query that led to the finding with the name. */
static struct text query_plan_subject(const struct extract *extract, const struct findings *findings, struct text name)
{
    struct text about = extract->asked;
    for (size_t i = 0; i < findings->query_count; i++)
        if (memmem(findings->summaries[i].bytes, findings->summaries[i].length, name.bytes, name.length)) {
            about = findings->queries[i];
            break;
        }
    about = extract_keywords(extract->arena, about, name);
    about.length = about.length < SHOWN_MAX ? about.length : 0;
    return about;
}

/* After the first cycle alone: names of names lead away from the question. */
static void query_plan_add_names(const struct extract *extract, const struct findings *findings,
                                 struct query_plan *plan, size_t limit)
{
    struct proper_name names[PROPER_NAMES_MAX];
    size_t count = proper_names(findings->all.bytes, findings->all.length, extract->asked.bytes, extract->asked.length,
                                NAME_LEAST, names);
    size_t most = plan->query_count + NAMES_MOST < limit ? plan->query_count + NAMES_MOST : limit;
    for (size_t i = 0; i < count; i++) {
        struct text name = {findings->all.bytes + names[i].span.begin, names[i].span.end - names[i].span.begin};
        struct text subject = query_plan_subject(extract, findings, name);
        query_plan_add(findings, plan, text_joined(extract->arena, name, text_of(" "), subject), most);
    }
}

void extract_query_plan(const struct extract *extract, size_t limit, struct query_plan *plan)
{
    struct findings findings;
    struct text parts[EXTRACT_PARTS_MAX];
    const struct text none = {NULL, 0};
    size_t count = extract_split(extract->arena, extract->asked, extract->japanese, EXTRACT_PARTS_MAX, parts);
    limit = limit < PLAN_MOST ? limit : PLAN_MOST;
    plan->query_count = plan->gap_count = 0;
    findings_read(extract, &findings);
    const struct evidence *evidence =
        findings.passage_count ? evidence_create(extract->arena, findings.passages, findings.passage_count) : NULL;
    for (size_t i = 0; i < count; i++) {
        if (query_plan_is_known(evidence, parts[i]))
            continue;
        if (findings.query_count)
            plan->gaps[plan->gap_count++] = query_plan_gap(extract, parts[i]);
        bool again = query_plan_was_asked(&findings, plan, parts[i]);
        query_plan_add(&findings, plan, again ? extract_keywords(extract->arena, parts[i], none) : parts[i], limit);
    }
    if (findings.passage_count && findings.query_count <= PLAN_MOST)
        query_plan_add_names(extract, &findings, plan, limit);
}
