/* A research plan without a model. Before anything is searched for, its points are those of any theme, and its queries
 * join the name in the theme with words that texts on such a point have: a query that repeats the whole theme finds the
 * same texts again. After a first search, its points are the titles of the sources that are about the theme, unlike
 * each other, and its queries join the name with the names that these sources have. */
#include "planner_priv.h"

#include "model_task/texts.h"
#include "words/proper.h"
#include "words/support.h"
#include "words/words.h"

#include <string.h>

#define THEME_NAME_MAX   ((size_t)96)  /* bytes of the name in a theme */
#define THEME_NAME_LEAST ((size_t)6)   /* bytes of the Japanese words before "of" that are a name */
#define POINTS_LEAST     3             /* titles; with fewer of them the points stay those of any theme */
#define POINTS_MOST      6             /* titles that become points */
#define SOURCES_LOOKED   200           /* sources that are looked at */
#define ABOUT_SHARE      0.5           /* of the best source's share of the theme: a source is about the theme */
#define ALIKE            0.6           /* share of a source that another one has: they say the same */
#define SUBJECT_MAX      ((size_t)240) /* bytes of the theme in a query */
#define MEMORY_MAX       ((size_t)32 << 20)

/* Points that fit all themes: the text of the point, and the words of its search query. */
static const struct {
    struct note point, words;
} angles[] = {
    {{.ja = "概要と背景", .en = "Overview and background"}, {.ja = "", .en = ""}},
    {{.ja = "現状と主な事実", .en = "Present state and main facts"},
     {.ja = "利用 人数 統計", .en = "users numbers statistics"}},
    {{.ja = "課題と論点", .en = "Problems and open questions"},
     {.ja = "課題 故障 反対", .en = "problem failure criticism"}},
    {{.ja = "費用と財源", .en = "Cost and funding"}, {.ja = "費用 予算 補助", .en = "cost budget funding"}},
    {{.ja = "効果と結果", .en = "Effects and results"}, {.ja = "効果 調査 結果", .en = "effect results study"}},
};
#define ANGLES (sizeof angles / sizeof angles[0])

/* Words of further queries. */
static const struct note more[] = {
    {.ja = "設備 技術 仕組み", .en = "equipment technology built"},
    {.ja = "合意 許可 計画", .en = "agreement permit decision"},
    {.ja = "職員 住民 話す", .en = "people staff said"},
};

struct text {
    const char *begin;
    size_t length;
};

/* ---- the name in a theme ----------------------------------------------------------------------------------------- */

/* The text in 「」 or in quotation marks. */
static struct text name_quoted(const char *theme)
{
    static const char *const marks[][2] = {{"「", "」"}, {"『", "』"}, {"\"", "\""}, {"“", "”"}};
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
        const char *begin = strstr(theme, marks[i][0]);
        const char *end = begin ? strstr(begin + strlen(marks[i][0]), marks[i][1]) : NULL;
        if (end && end > begin + strlen(marks[i][0]))
            return (struct text){begin + strlen(marks[i][0]), (size_t)(end - begin) - strlen(marks[i][0])};
    }
    return (struct text){theme, 0};
}

/* The words before the first の or における: 湯ノ原 of 湯ノ原の地熱発電所. */
static struct text name_before(const char *theme)
{
    static const char *const joints[] = {"における", "での", "の", "と", "を"};
    size_t best = 0;
    for (size_t i = 0; i < sizeof joints / sizeof *joints; i++) {
        const char *found = strstr(theme, joints[i]);
        size_t length = found ? (size_t)(found - theme) : 0;
        if (length >= THEME_NAME_LEAST && (!best || length < best))
            best = length;
    }
    return (struct text){theme, best};
}

/* The most distinctive part of a theme: a quotation, or a name; the theme itself if it has neither. */
const char *research_theme_name(struct model_task *task, const char *theme)
{
    struct proper_name names[PROPER_NAMES_MAX];
    bool japanese = strcmp(words_language(theme, strlen(theme)), "ja") == 0;
    struct text name = name_quoted(theme);
    if (!name.length && japanese)
        name = name_before(theme);
    if (!name.length && !japanese && proper_names(theme, strlen(theme), "", 0, 1, names))
        name = (struct text){theme + names[0].span.begin, names[0].span.end - names[0].span.begin};
    return name.length && name.length <= THEME_NAME_MAX ? model_task_printf(task, "%.*s", (int)name.length, name.begin)
                                                        : theme;
}

/* ---- queries ----------------------------------------------------------------------------------------------------- */

static struct texts fallback_room(struct model_task *task, size_t count)
{
    struct texts texts = {.list = model_task_alloc(task, count * sizeof(*texts.list))};
    return texts;
}

static bool fallback_has(const struct texts *texts, const char *text)
{
    for (size_t i = 0; i < texts->count; i++)
        if (strcmp(texts->list[i], text) == 0)
            return true;
    return false;
}

static void fallback_add_query(struct model_task *task, struct texts *queries, size_t most, const char *name,
                               const char *words)
{
    char *query = *words ? model_task_printf(task, "%s %s", name, words) : model_task_text(task, name, 0);
    if (queries->list && queries->count < most && !fallback_has(queries, query))
        queries->list[queries->count++] = query;
}

/* ---- sources ----------------------------------------------------------------------------------------------------- */

struct fallback_sources {
    struct arena *arena;
    Renga__V1__SearchResult *const *list;
    size_t count;
    struct passage *passages;
    struct evidence *all;
    double *shares; /* of the theme */
};

static double source_share(const struct fallback_sources *sources, size_t by, const char *text, size_t length)
{
    struct coverage coverage = {0};
    struct evidence *evidence = evidence_create(sources->arena, &sources->passages[by], 1);
    if (evidence)
        evidence_cover(evidence, sources->all, text, length, &coverage);
    return coverage.share;
}

static bool sources_read(struct fallback_sources *sources, const char *theme)
{
    sources->passages = arena_zalloc(sources->arena, (sources->count + 1) * sizeof *sources->passages);
    sources->shares = arena_zalloc(sources->arena, (sources->count + 1) * sizeof *sources->shares);
    if (!sources->passages || !sources->shares)
        return false;
    for (size_t i = 0; i < sources->count; i++)
        sources->passages[i] = (struct passage){.text = sources->list[i]->summary,
                                                .length = strlen(sources->list[i]->summary),
                                                .heading = sources->list[i]->title,
                                                .heading_length = strlen(sources->list[i]->title)};
    sources->all = evidence_create(sources->arena, sources->passages, sources->count);
    for (size_t i = 0; sources->all && i < sources->count; i++)
        sources->shares[i] = source_share(sources, i, theme, strlen(theme));
    return sources->all;
}

/* The untaken source with the largest share of the theme; `count`: no source is left. */
static size_t sources_best(const struct fallback_sources *sources, const bool *taken)
{
    size_t best = sources->count;
    for (size_t i = 0; i < sources->count; i++)
        if (!taken[i] && sources->list[i]->title[0] &&
            (best == sources->count || sources->shares[i] > sources->shares[best]))
            best = i;
    return best;
}

static bool source_is_alike(const struct fallback_sources *sources, size_t source, const size_t *chosen, size_t count)
{
    const struct passage *passage = &sources->passages[source];
    for (size_t i = 0; i < count; i++)
        if (source_share(sources, chosen[i], passage->text, passage->length) > ALIKE)
            return true;
    return false;
}

/* Sources that are about the theme and unlike each other, the nearest to it first. */
static size_t sources_choose(const struct fallback_sources *sources, size_t chosen[POINTS_MOST])
{
    bool taken[SOURCES_LOOKED] = {false};
    size_t count = 0, best;
    double least = 0;
    while (count < POINTS_MOST && (best = sources_best(sources, taken)) < sources->count) {
        taken[best] = true;
        least = count ? least : sources->shares[best] * ABOUT_SHARE;
        if (sources->shares[best] < least)
            break;
        if (!source_is_alike(sources, best, chosen, count))
            chosen[count++] = best;
    }
    return count;
}

/* A query for each chosen source, with its most frequent name that the theme does not have. */
static void sources_ask(struct model_task *task, const struct fallback_sources *sources, const size_t *chosen,
                        size_t count, const char *subject, size_t most, struct texts *queries)
{
    const char *name = research_theme_name(task, subject);
    fallback_add_query(task, queries, most, subject, "");
    for (size_t i = 0; i < sizeof more / sizeof *more; i++)
        fallback_add_query(task, queries, most, name, model_task_note_text(task, &more[i]));
    for (size_t i = 0; i < count; i++) {
        struct proper_name names[PROPER_NAMES_MAX];
        const struct passage *passage = &sources->passages[chosen[i]];
        size_t found = proper_names(passage->text, passage->length, subject, strlen(subject), 1, names);
        if (found)
            fallback_add_query(task, queries, most, name,
                               model_task_printf(task, "%.*s", (int)(names[0].span.end - names[0].span.begin),
                                                 passage->text + names[0].span.begin));
    }
}

/* False if the sources are too few. */
static bool fallback_from_sources(struct model_task *task, const Renga__V1__ResearchStyle *style, const char *subject,
                                  size_t most, struct texts *points, struct texts *queries)
{
    struct arena arena;
    struct fallback_sources sources = {.arena = &arena, .list = style->sources, .count = style->n_sources};
    size_t chosen[POINTS_MOST], count = 0;
    sources.count = sources.count < SOURCES_LOOKED ? sources.count : SOURCES_LOOKED;
    arena_init(&arena, NULL, 0, MEMORY_MAX);
    if (sources.count && sources_read(&sources, style->theme))
        count = sources_choose(&sources, chosen);
    if (count >= POINTS_LEAST && points->list) {
        for (size_t i = 0; i < count; i++)
            if (!fallback_has(points, sources.list[chosen[i]]->title))
                points->list[points->count++] = sources.list[chosen[i]]->title;
        sources_ask(task, &sources, chosen, count, subject, most, queries);
    }
    arena_fini(&arena);
    return count >= POINTS_LEAST;
}

void research_plan_fallback(struct model_task *task, const Renga__V1__ResearchStyle *style, size_t most,
                            struct texts *points, struct texts *queries)
{
    size_t blanks = strspn(style->theme, " \t\r\n");
    char *subject = model_task_text(task, style->theme + blanks, SUBJECT_MAX);
    subject[strcspn(subject, "\r\n")] = '\0';
    *points = fallback_room(task, ANGLES + POINTS_MOST);
    *queries = fallback_room(task, most);
    if (!fallback_from_sources(task, style, subject, most, points, queries)) {
        const char *name = research_theme_name(task, subject);
        for (size_t i = 0; i < ANGLES; i++) {
            if (points->list)
                points->list[points->count++] = UNCONST(model_task_note_text(task, &angles[i].point));
            fallback_add_query(task, queries, most, i ? name : subject, model_task_note_text(task, &angles[i].words));
        }
        for (size_t i = 0; i < sizeof more / sizeof *more; i++)
            fallback_add_query(task, queries, most, name, model_task_note_text(task, &more[i]));
    }
}
