/* Finds for each sentence of an answer the words of the tools' results that carry it. Code makes citations, never a
 * model: a source that was not retrieved cannot appear. */
#include "service_call.h"

#include "base/text.h"
#include "rpc/message_json.h"
#include "words/sentences.h"
#include "words/support.h"

#include "renga/v1/citation.pb-c.h"
#include "renga/v1/tool_runner.pb-c.h"

#include <stdio.h>
#include <string.h>

#define PASSAGES_MAX       2048           /* of which sentences are looked for */
#define CITATIONS_MAX      1000           /* as AgentResult.citations */
#define SENTENCE_SHOWN_MAX ((size_t)4096) /* bytes, as Citation.sentence */
#define QUOTE_MAX          ((size_t)4096) /* bytes, as Citation.quote */
#define HEADINGS_MAX       ((size_t)4096) /* bytes of a title and its headings, beyond any that may be */
#define TOOL_SCHEME        "tool:"        /* the place of what a tool said that does not search */

enum { CITE_ANSWER, CITE_RESULTS, CITE_INTO };

static const struct node_parameter parameters[] = {
    [CITE_ANSWER] = {.name = "answer",
                     .type = PARAMETER_FIELD,
                     .required = true,
                     .help = "The text whose sentences need sources, a string."},
    [CITE_RESULTS] = {.name = "results",
                      .type = PARAMETER_FIELD,
                      .required = true,
                      .help = "What was found, an object[]: hits as search writes them, tries as run_tools does, or "
                              "whatever contains them."},
    [CITE_INTO] = {.name = "into",
                   .type = PARAMETER_FIELD,
                   .required = true,
                   .help = "The citations, an object[] (Citation)."},
    {.name = NULL},
};
static const char *const outcomes[] = {"cited", "unsupported", NULL};

static bool check(const struct node *node, struct status *st)
{
    return input_check(node, CITE_ANSWER, FIELD_STRING, false, st) &&
           input_check(node, CITE_RESULTS, FIELD_OBJECT, true, st) &&
           output_check(node, CITE_INTO, FIELD_OBJECT, true, st);
}

/* ---- what was found ---------------------------------------------------------------------------------------------- */

struct sources {
    struct arena *arena;
    struct passage passages[PASSAGES_MAX];
    const Renga__V1__SearchHit *hits[PASSAGES_MAX];
    size_t count;
    bool no_memory;
};

static bool is_known(const struct sources *sources, const Renga__V1__SearchHit *hit)
{
    for (size_t i = 0; i < sources->count; i++) {
        const Renga__V1__SearchHit *other = sources->hits[i];
        if (other->line_from == hit->line_from && strcmp(other->uri, hit->uri) == 0 &&
            strcmp(other->collection, hit->collection) == 0 && strcmp(other->snippet, hit->snippet) == 0)
            return true;
    }
    return false;
}

static char *headings(const Renga__V1__SearchHit *hit, struct arena *arena)
{
    struct buffer text;
    buffer_init(&text, HEADINGS_MAX);
    buffer_print(&text, hit->title);
    for (size_t i = 0; i < hit->n_heading_path; i++)
        buffer_printf(&text, "%s%s", text.length ? " " : "", hit->heading_path[i]);
    char *copy = arena_strndup(arena, buffer_text(&text), text.length);
    buffer_fini(&text);
    return copy;
}

static void add_source(struct sources *sources, const Renga__V1__SearchHit *hit)
{
    if (!hit->snippet[0] || sources->count == PASSAGES_MAX || is_known(sources, hit))
        return;
    char *heading = headings(hit, sources->arena);
    sources->no_memory |= !heading;
    if (!heading)
        return;
    sources->passages[sources->count] = (struct passage){
        .text = hit->snippet, .length = strlen(hit->snippet), .heading = heading, .heading_length = strlen(heading)};
    sources->hits[sources->count++] = hit;
}

static void add_hit(struct sources *sources, const cJSON *item)
{
    struct status why = {0};
    const ProtobufCMessage *hit = message_read_json(&renga__v1__search_hit__descriptor, item, sources->arena, &why);
    if (hit)
        add_source(sources, (const Renga__V1__SearchHit *)hit);
    sources->no_memory |= why.code == RESOURCE_EXHAUSTED;
}

/* A tool that does not search is a source, too: what it said can be told apart from what nobody said. */
static void add_tool(struct sources *sources, const char *name, const char *text)
{
    Renga__V1__SearchHit *hit = arena_alloc(sources->arena, sizeof *hit);
    sources->no_memory |= !hit;
    if (!hit)
        return;
    renga__v1__search_hit__init(hit);
    hit->uri = arena_printf(sources->arena, TOOL_SCHEME "%s", name);
    hit->title = arena_strdup(sources->arena, name);
    hit->snippet = arena_strdup(sources->arena, text);
    sources->no_memory |= !hit->uri || !hit->title || !hit->snippet;
    if (!sources->no_memory)
        add_source(sources, hit);
}

/* Whatever its form: hits have a snippet, results of tools that failed are no source. */
static void gather(struct sources *sources, const cJSON *item)
{
    const char *text = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(item, "text"));
    const char *name = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(item, "tool_name"));
    if (sources->no_memory)
        return;
    if (cJSON_IsString(cJSON_GetObjectItemCaseSensitive(item, "snippet"))) {
        add_hit(sources, item);
        return;
    }
    if (name && text && *text && !cJSON_GetObjectItemCaseSensitive(item, "status_code"))
        add_tool(sources, name, text);
    for (const cJSON *inner = cJSON_IsObject(item) || cJSON_IsArray(item) ? item->child : NULL; inner;
         inner = inner->next)
        gather(sources, inner);
}

/* ---- the citations ----------------------------------------------------------------------------------------------- */

static int32_t lines_in(const char *text, size_t length)
{
    int32_t lines = 0;
    for (size_t i = 0; i < length; i++)
        lines += text[i] == '\n';
    return lines;
}

/* The lines of the span, where the snippet stands as in the file; else those of the whole hit. */
static void set_lines(Renga__V1__Citation *citation, const Renga__V1__SearchHit *hit, const struct span *quote)
{
    citation->line_from = hit->line_from;
    citation->line_to = hit->line_to;
    if (!hit->line_from || lines_in(hit->snippet, strlen(hit->snippet)) > hit->line_to - hit->line_from)
        return;
    citation->line_from = hit->line_from + lines_in(hit->snippet, quote->begin);
    citation->line_to = citation->line_from + lines_in(hit->snippet + quote->begin, quote->end - quote->begin);
}

static char *cut(struct arena *arena, const char *text, size_t length, size_t most)
{
    return arena_strndup(arena, text, text_cut(text, length, most));
}

struct text {
    const char *bytes;
    struct span sentence;
    int32_t number;
};

static bool write_citation(struct json_writer *out, const struct sources *sources, const struct text *text,
                           const struct support *support)
{
    Renga__V1__Citation citation = RENGA__V1__CITATION__INIT;
    const Renga__V1__SearchHit *hit = sources->hits[support->passage];
    const struct span *quote = &support->quote;
    citation.sentence_number = text->number;
    citation.sentence = cut(sources->arena, text->bytes + text->sentence.begin,
                            text->sentence.end - text->sentence.begin, SENTENCE_SHOWN_MAX);
    citation.uri = hit->uri;
    citation.title = hit->title;
    citation.heading_path = hit->heading_path;
    citation.n_heading_path = hit->n_heading_path;
    citation.quote = cut(sources->arena, hit->snippet + quote->begin, quote->end - quote->begin, QUOTE_MAX);
    set_lines(&citation, hit, quote);
    if (!citation.sentence || !citation.quote)
        return false;
    message_write_json(out, NULL, &citation.base);
    return true;
}

struct count {
    int32_t sentences, cited;
};

static bool cite(struct json_writer *out, const struct sources *sources, const char *answer, struct count *count,
                 struct status *st)
{
    struct sentence_reader reader;
    struct support support;
    struct text text = {.bytes = answer};
    struct evidence *evidence = evidence_create(sources->arena, sources->passages, sources->count);
    bool good = evidence;
    sentences_begin(&reader, answer, strlen(answer));
    while (good && sentences_next(&reader, &text.sentence)) {
        text.number = ++count->sentences;
        if (count->cited < CITATIONS_MAX &&
            support_find(evidence, answer + text.sentence.begin, text.sentence.end - text.sentence.begin,
                         SUPPORT_ENOUGH, &support)) {
            good = write_citation(out, sources, &text, &support);
            count->cited++;
        }
    }
    return good || fail(st, RESOURCE_EXHAUSTED, "no memory for the citations");
}

/* ---- the node ---------------------------------------------------------------------------------------------------- */

/* In the language of the run: where some sentences have no source. */
static void note_unsupported(struct update *update, const struct service_call *run, const struct count *count,
                             Renga__V1__Degradation *degradation, Renga__V1__Degradation **list, char reason[128])
{
    int32_t missing = count->sentences - count->cited;
    if (!count->cited || !missing)
        return;
    snprintf(reason, 128,
             strcmp(run->language, "ja") == 0 ? "%d文のうち%d文には出典が見つからない"
                                              : "of %d sentences %d have no source",
             (int)count->sentences, (int)missing);
    renga__v1__degradation__init(degradation);
    degradation->part = (char *)(uintptr_t)task_node(run->task)->name;
    degradation->kind = RENGA__V1__DEGRADATION_KIND__DEGRADATION_KIND_PARTIAL;
    degradation->reason = reason;
    list[0] = degradation;
    update->response.degradations = list;
    update->response.n_degradations = 1;
}

static void finish(const struct service_call *run, struct update *update, const struct count *count)
{
    Renga__V1__Degradation degradation, *list[1];
    char reason[128];
    json_write_end(&update->out);
    note_unsupported(update, run, count, &degradation, list, reason);
    update_finish(update, run->task, outcomes[count->cited ? 0 : 1]);
}

/* NULL with `st` filled. */
static struct sources *read_sources(const struct service_call *run, struct status *st)
{
    struct sources *sources = arena_zalloc(task_arena(run->task), sizeof *sources);
    if (sources) {
        sources->arena = task_arena(run->task);
        gather(sources, service_call_input(run, CITE_RESULTS));
        if (!sources->no_memory)
            return sources;
    }
    fail(st, RESOURCE_EXHAUSTED, "no memory for the sources");
    return NULL;
}

static void start(struct task *task)
{
    struct service_call *run = task_data(task);
    struct status st = {0};
    struct update update;
    struct count count = {0};
    struct sources *sources = service_call_inputs(run, task, &st) ? read_sources(run, &st) : NULL;
    const char *answer = sources ? service_call_text(run, CITE_ANSWER) : "";
    service_call_close(run);
    update_begin(&update);
    json_write_array(&update.out, update_field(task, CITE_INTO));
    if (sources && cite(&update.out, sources, answer, &count, &st)) {
        finish(run, &update, &count);
        return;
    }
    buffer_fini(&update.text);
    task_fail(task, &st);
}

extern const struct node_kind cite_kind;
const struct node_kind cite_kind = {
    .name = "cite",
    .help = "Finds the sources that carry the sentences of an answer.",
    .parameters = parameters,
    .outcomes = outcomes,
    .check = check,
    .size = sizeof(struct service_call),
    .start = start,
};
