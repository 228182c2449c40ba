/* Finds for each sentence of an answer the words of the tools' results that carry it. Code makes citations, never a
 * model: a source that was not retrieved cannot appear. With "text" the answer is also rewritten: see cite_text.h. */
#include "cite_text.h"
#include "input_job.h"
#include "progress.h"

#include "graph/agents.h"
#include "rpc/message_json.h"
#include "words/sentences.h"

#include "renga/v1/tool_runner.pb-c.h"

#include <stdio.h>
#include <string.h>

#define KEPT_LOOKS  64  /* sentences of an answer that are compared */
#define KEPT_ENOUGH 0.5 /* coverage of a sentence that is kept */

enum {
    CITE_ANSWER,
    CITE_RESULTS,
    CITE_INTO,
    CITE_TEXT,
    CITE_UNSUPPORTED,
    CITE_MARK_PROMPT,
    CITE_REFERENCES,
    CITE_USED,
    CITE_FOOTNOTES,
    CITE_SHOW,
    CITE_KEEPS,
    CITE_KEEPS_TEXT,
    CITE_KEEPS_FLAG,
};

static const struct node_parameter parameters[] = {
    [CITE_ANSWER] = {"answer", READS_STRING, REQUIRED, "The text whose sentences need sources, a string."},
    [CITE_RESULTS] = {"results", READS_OBJECTS, REQUIRED,
                      "What was found, an object[]: hits as search writes them, tries as run_tools does, or whatever "
                      "contains them."},
    [CITE_INTO] = {"into", WRITES_OBJECTS, REQUIRED, "The citations, an object[] (Citation)."},
    [CITE_TEXT] = {"text", WRITES_STRING, OPTIONAL,
                   "A string that gets the answer as it was checked: without links, addresses and lists of references "
                   "that a model has written, and without sentences that no source carries."},
    [CITE_UNSUPPORTED] =
        {"unsupported", PARAMETER_TEXT, OPTIONAL,
         "With \"text\": what becomes of a sentence without a source, \"drop\" (the default), \"mark\" or \"keep\"."},
    [CITE_MARK_PROMPT] = {"mark", PARAMETER_PROMPT, OPTIONAL,
                          "With \"mark\": the words behind such a sentence, one of the prompts."},
    [CITE_REFERENCES] = {"references", PARAMETER_PROMPT, OPTIONAL,
                         "With \"text\": the heading of a list of references, one of the prompts. Sentences then have "
                         "marks such as [1]."},
    [CITE_USED] = {"used", WRITES_OBJECTS, OPTIONAL,
                   "The sources that carry sentences, each document once, an object[] (NoteSource)."},
    [CITE_FOOTNOTES] = {"footnotes", PARAMETER_BOOLEAN, OPTIONAL,
                        "With \"references\": true for marks such as [^1], and references that define them."},
    [CITE_SHOW] =
        {"show", PARAMETER_BOOLEAN, OPTIONAL,
         "With \"text\": true shows the text to the watchers of the run, piece by piece, each as {\"text\": …}."},
    [CITE_KEEPS] = {"keeps", READS_OBJECTS, OPTIONAL,
                    "With \"text\": an object[] of answers that this one is made of. If the checked text keeps none of "
                    "the sentences of one of them, the outcome is \"unsupported\"."},
    [CITE_KEEPS_TEXT] = {"keeps_text", PARAMETER_TEXT, OPTIONAL, "With \"keeps\": the member that is the answer."},
    [CITE_KEEPS_FLAG] = {"keeps_flag", PARAMETER_TEXT, OPTIONAL,
                         "With \"keeps\": the member that is true if the answer counts."},
    {.name = NULL},
};
static const char *const outcomes[] = {"cited", "unsupported", NULL};
static const char *const unsupported_words[] = {"drop", "mark", "keep", NULL};
static const enum cite_unsupported unsupported_ways[] = {CITE_DROP, CITE_MARK, CITE_KEEP};

static bool cite_check(const struct node *node, struct status *st)
{
    int way = word_check(node, CITE_UNSUPPORTED, unsupported_words, st);
    bool mark = way == 1, text = node_argument(node, CITE_TEXT)->field;
    for (size_t row = CITE_UNSUPPORTED; row <= CITE_REFERENCES && !text; row++)
        if (node_argument(node, row)->text)
            return fail_field(st, parameters[row].name, "is for an answer that is rewritten; add \"text\"");
    if (node_argument(node, CITE_FOOTNOTES)->flag && !node_argument(node, CITE_REFERENCES)->text)
        return fail_field(st, "footnotes", "are defined in the list of references; add \"references\"");
    bool keeps = node_argument(node, CITE_KEEPS)->field;
    if (keeps && !text)
        return fail_field(st, "keeps", "is for an answer that is rewritten; add \"text\"");
    if (keeps != (node_argument(node, CITE_KEEPS_TEXT)->text != NULL) ||
        keeps != (node_argument(node, CITE_KEEPS_FLAG)->text != NULL))
        return fail_field(st, "keeps", "\"keeps_text\" and \"keeps_flag\" go together; add the others");
    if (node_argument(node, CITE_SHOW)->flag && !text)
        return fail_field(st, "show", "is for an answer that is rewritten; add \"text\"");
    if (way >= 0 && mark != (node_argument(node, CITE_MARK_PROMPT)->text != NULL))
        return fail_field(st, "mark", "and \"unsupported\": \"mark\" go together; add the other");
    return way >= 0;
}

/* ---- the citations ----------------------------------------------------------------------------------------------- */

struct count {
    int32_t sentences, cited;
};

struct citing {
    struct input_job base; /* first */
    struct cite_sources *sources;
    struct evidence *evidence;
    struct count count;
    bool drops_answer; /* the text keeps nothing of an answer that it is made of */
    char **shown;      /* pieces of the text */
    size_t shown_count;
};

/* The answer as it stands. */
static bool cite_as_it_is(struct citing *citing)
{
    struct sentence_reader reader;
    struct support support;
    const char *answer = service_call_text(&citing->base.base, CITE_ANSWER);
    struct cite_sentence text = {.text = answer};
    bool good = true;
    sentences_begin(&reader, answer, strlen(answer));
    while (good && sentences_next(&reader, &text.span)) {
        text.number = ++citing->count.sentences;
        if (citing->count.cited < CITED_MAX &&
            support_find(citing->evidence, answer + text.span.begin, text.span.end - text.span.begin, SUPPORT_ENOUGH,
                         &support)) {
            good = cite_write_citation(&citing->base.update.out, citing->sources, &text, &support);
            citing->count.cited++;
        }
    }
    return good;
}

/* ---- the answer, rewritten --------------------------------------------------------------------------------------- */

static const char *cite_prompt_of(const struct service_call *run, size_t row)
{
    const struct node *node = task_node(run->task);
    const char *name = node_argument(node, row)->text;
    return name ? agent_prompt(node->graph->agent, name, run->language) : NULL;
}

/* The heading is the document's in Japanese and English, or if the answer has no heading of its own. In other languages
 * it is the heading that the model wrote. */
static void write_references(struct cite_text *cite, const struct service_call *run, const char *answer,
                             struct cited_span own)
{
    const char *heading = cite_prompt_of(run, CITE_REFERENCES);
    bool ours = strcmp(run->language, "ja") == 0 || strcmp(run->language, "en") == 0 || own.end == own.begin;
    if (heading)
        cite_text_write_references(cite, ours ? heading : answer + own.begin,
                                   ours ? strcspn(heading, "\n") : own.end - own.begin);
}

static void write_used(struct citing *citing, const struct cite_text *cite)
{
    struct json_writer *out = &citing->base.update.out;
    bool done[CITE_SOURCES_MAX] = {false};
    if (!update_field(citing->base.base.task, CITE_USED))
        return;
    json_write_array(out, update_field(citing->base.base.task, CITE_USED));
    for (size_t i = 0; i < cite->cited_count; i++) {
        Renga__V1__NoteSource source = RENGA__V1__NOTE_SOURCE__INIT;
        const Renga__V1__SearchHit *hit = citing->sources->hits[cite->cited[i].support.passage];
        if (done[cite->cited[i].support.passage])
            continue;
        done[cite->cited[i].support.passage] = true;
        source.uri = hit->uri;
        source.title = hit->title;
        source.source = hit->source;
        message_write_json(out, NULL, &source.base);
    }
    json_write_end(out);
}

/* A text that is too long to be shown is not shown: the run does not depend on it. */
static bool cite_show(struct citing *citing, const char *text)
{
    struct arena *arena = task_arena(citing->base.base.task);
    citing->shown = arena_alloc(arena, PROGRESS_PIECES_MAX * sizeof *citing->shown);
    if (citing->shown && !progress_pieces(arena, text, citing->shown, &citing->shown_count))
        citing->shown_count = 0;
    return citing->shown;
}

/* Whether the text keeps a sentence of the answer, or most of its words with its numbers. */
static bool cite_keeps_one(const struct evidence *text, const char *answer)
{
    struct sentence_reader reader;
    struct span span;
    struct support support;
    sentences_begin(&reader, answer, strlen(answer));
    for (int looked = 0; looked < KEPT_LOOKS && sentences_next(&reader, &span); looked++)
        if (support_find(text, answer + span.begin, span.end - span.begin, KEPT_ENOUGH, &support))
            return true;
    return false;
}

/* Whether the text has a heading or a question alone, and no other sentence. */
static bool cite_only_asks(struct cite_text *cite)
{
    struct sentence_reader reader;
    struct span span;
    const char *text = buffer_text(&cite->out);
    sentences_begin(&reader, text, cite->out.length);
    while (sentences_next(&reader, &span))
        if (text[span.begin] != '#' && !cite_is_question(text + span.begin, span.end - span.begin))
            return false;
    return true;
}

/* The text as it stands, with blanks in place of questions: a question keeps no answer. NULL: no memory. */
static char *cite_without_questions(struct citing *citing, struct cite_text *cite)
{
    struct sentence_reader reader;
    struct span span;
    char *text = arena_strndup(citing->sources->arena, buffer_text(&cite->out), cite->out.length);
    if (!text)
        return NULL;
    sentences_begin(&reader, buffer_text(&cite->out), cite->out.length);
    while (sentences_next(&reader, &span))
        if (cite_is_question(text + span.begin, span.end - span.begin))
            memset(text + span.begin, ' ', span.end - span.begin);
    return text;
}

/* False: no memory. */
static bool cite_compare_kept(struct citing *citing, struct cite_text *cite)
{
    const struct node *node = task_node(citing->base.base.task);
    const cJSON *list = service_call_input(&citing->base.base, CITE_KEEPS), *item;
    const char *text = cite_without_questions(citing, cite);
    struct passage *passage = arena_zalloc(citing->sources->arena, sizeof *passage);
    if (!text || !passage)
        return false;
    *passage = (struct passage){.text = text, .length = cite->out.length};
    struct evidence *evidence = evidence_create(citing->sources->arena, passage, 1);
    cJSON_ArrayForEach(item, list)
    {
        const char *member = node_argument(node, CITE_KEEPS_TEXT)->text;
        const char *answer = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(item, member));
        bool counts = cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(item, node_argument(node, CITE_KEEPS_FLAG)->text));
        citing->drops_answer |= evidence && counts && answer && !cite_keeps_one(evidence, answer);
    }
    return evidence;
}

static bool rewrite(struct citing *citing, struct cite_text *cite)
{
    struct service_call *run = &citing->base.base;
    struct json_writer *out = &citing->base.update.out;
    struct cited_span own;
    struct status ignored = {0};
    const char *answer = service_call_text(run, CITE_ANSWER), *clean = cite_clean(citing->sources, answer, &own);
    const char *mark = cite_prompt_of(run, CITE_MARK_PROMPT);
    cite->sources = citing->sources;
    cite->evidence = citing->evidence;
    cite->unsupported =
        unsupported_ways[word_check(task_node(run->task), CITE_UNSUPPORTED, unsupported_words, &ignored)];
    cite->mark = mark ? arena_strndup(citing->sources->arena, mark, strcspn(mark, "\n")) : NULL;
    cite->has_references = node_argument(task_node(run->task), CITE_REFERENCES)->text;
    cite->footnotes = node_argument(task_node(run->task), CITE_FOOTNOTES)->flag;
    cite->cited = arena_alloc(citing->sources->arena, CITED_MAX * sizeof *cite->cited);
    if (!clean || !cite->cited || (mark && !cite->mark))
        return false;
    cite_text_write(cite, clean);
    if (node_argument(task_node(run->task), CITE_KEEPS)->field && !cite_compare_kept(citing, cite))
        return false;
    if (citing->drops_answer || (cite->unsupported == CITE_DROP && cite_only_asks(cite)))
        cite->cited_count = 0; /* a question that the sources have is no answer */
    citing->count = (struct count){cite->sentences, (int32_t)cite->cited_count};
    bool good = cite_text_write_citations(out, cite);
    json_write_end(out);
    write_references(cite, run, answer, own);
    if (cite->cited_count && !cite->out.failed)
        json_write_string(out, update_field(run->task, CITE_TEXT), buffer_text(&cite->out));
    write_used(citing, cite);
    if (good && cite->cited_count && node_argument(task_node(run->task), CITE_SHOW)->flag)
        good = cite_show(citing, buffer_text(&cite->out));
    return good && !cite->out.failed;
}

/* ---- the node ---------------------------------------------------------------------------------------------------- */

/* False: no memory. */
static bool cite_read_sources(struct citing *citing)
{
    struct arena *arena = task_arena(citing->base.base.task);
    citing->sources = arena_zalloc(arena, sizeof *citing->sources);
    if (!citing->sources)
        return false;
    citing->sources->arena = arena;
    cite_sources_gather(citing->sources, service_call_input(&citing->base.base, CITE_RESULTS));
    if (!citing->sources->no_memory)
        citing->evidence = evidence_create(arena, citing->sources->passages, citing->sources->count);
    return citing->evidence;
}

static bool citing_run(struct input_job *job, struct status *st)
{
    struct citing *citing = CONTAINER_OF(job, struct citing, base);
    struct json_writer *out = &job->update.out;
    bool text = node_argument(task_node(job->base.task), CITE_TEXT)->field;
    struct cite_text *cite = text ? arena_zalloc(task_arena(job->base.task), sizeof *cite) : NULL;
    bool good = (cite || !text) && cite_read_sources(citing);
    json_write_array(out, update_field(job->base.task, CITE_INTO));
    if (cite) {
        buffer_init(&cite->out, CITED_TEXT_MAX);
        good = good && rewrite(citing, cite);
        buffer_fini(&cite->out);
    } else {
        good = good && cite_as_it_is(citing);
        json_write_end(out);
    }
    return good || fail(st, RESOURCE_EXHAUSTED, "no memory for the citations");
}

/* If some sentences have a source and others do not, adds a degradation in the language of the run. */
static const char *citing_finish(struct input_job *job, struct update *update)
{
    const struct citing *citing = CONTAINER_OF(job, struct citing, base);
    const struct count *count = &citing->count;
    const struct node *node = task_node(job->base.task);
    const char *way = node_argument(node, CITE_UNSUPPORTED)->text;
    bool dropped = node_argument(node, CITE_TEXT)->field && (!way || strcmp(way, "drop") == 0);
    bool japanese = strcmp(job->base.language, "ja") == 0;
    int32_t missing = count->sentences - count->cited;
    char reason[128];
    update->response.progress_json = citing->shown;
    update->response.n_progress_json = citing->shown_count;
    if (count->cited && missing) {
        if (japanese)
            snprintf(reason, sizeof reason, "%d文のうち%d文には出典が見つからない%s", (int)count->sentences,
                     (int)missing, dropped ? "ため除いた" : "");
        else
            snprintf(reason, sizeof reason, "of %d sentences %d have no source%s", (int)count->sentences, (int)missing,
                     dropped ? " and were left out" : "");
        input_job_degrade_part(job, update, RENGA__V1__DEGRADATION_KIND__DEGRADATION_KIND_PARTIAL,
                               japanese ? "出典" : "sources", reason);
    }
    return outcomes[count->cited ? 0 : 1];
}

static void cite_start(struct task *task)
{
    struct citing *citing = task_data(task);
    input_job_start(&citing->base, task, citing_run, citing_finish);
}

extern const struct node_kind cite_kind;
const struct node_kind cite_kind = {
    .name = "cite",
    .help = "Finds the sources that carry the sentences of an answer, and holds the answer to them.",
    .parameters = parameters,
    .outcomes = outcomes,
    .check = cite_check,
    .size = sizeof(struct citing),
    .start = cite_start,
    .cancel = input_job_cancel,
};
