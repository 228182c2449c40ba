/* Answers a question with sentences of the sources: those that cover most of it and are unlike each other. No model is
 * asked. If the sentences do not answer the question, no field is written. */
#include "cite_sources.h"
#include "input_job.h"

#include "words/sentences.h"
#include "words/tokens.h"
#include "words/words.h"

#include <string.h>

#define DIGEST_SENTENCES 8
#define DIGEST_TOKENS    512
#define DIGEST_ASKED_MAX ((size_t)4096)  /* bytes of a question that are looked at */
#define DIGEST_BYTES_MAX ((size_t)32768) /* of all sentences; then their tokens bound them */
#define DIGEST_LEAST     0.35            /* of the best sentence's score */
#define DIGEST_NOVELTY   0.5

enum { DIGEST_ABOUT, DIGEST_OF, DIGEST_INTO, DIGEST_MOST, DIGEST_TOKENS_OF };

static const struct node_parameter parameters[] = {
    [DIGEST_ABOUT] = {"about", READS_STRING, REQUIRED, "The question or query, a string."},
    [DIGEST_OF] = {"of", READS_OBJECTS, REQUIRED,
                   "What was found, an object[]: hits as search writes them, tries as run_tools does, or objects that "
                   "contain them."},
    [DIGEST_INTO] = {"into", WRITES_STRING, REQUIRED, "The sentences, as a list in Markdown, a string."},
    [DIGEST_MOST] = {"most", PARAMETER_INTEGER, OPTIONAL, "Most sentences, 1 to 16; 8 without it."},
    [DIGEST_TOKENS_OF] = {"tokens_of", READS_INTEGER, OPTIONAL,
                          "An integer, one of the inputs, that says how many tokens they may have; else 512."},
    {.name = NULL},
};
static const char *const outcomes[] = {"digested", "nothing", NULL};

static bool digest_check(const struct node *node, struct status *st)
{
    if (node_argument(node, DIGEST_MOST)->number > CHOSEN_MAX)
        return fail_field(st, "most", "must be 1 to %d sentences", CHOSEN_MAX);
    return true;
}

struct digesting {
    struct input_job base; /* first */
    bool found;
};

/* ---- the sentences ----------------------------------------------------------------------------------------------- */

/* A row of a table without its bars at both ends. */
static void digest_trim_row(const char **text, size_t *length)
{
    if (!*length || **text != '|')
        return;
    while (*length && strchr("| \t", **text)) {
        ++*text;
        --*length;
    }
    while (*length && strchr("| \t\r\n", (*text)[*length - 1]))
        --*length;
}

/* Prints a single line: a blank replaces white space, but a line's end behind a Japanese character is dropped. */
static void digest_print_line(struct buffer *out, const char *text, size_t length)
{
    for (size_t at = 0; at < length;) {
        size_t end = at;
        bool ends_line = false;
        for (; end < length && strchr(" \t\r\n", text[end]); end++)
            ends_line |= text[end] == '\n';
        bool after_latin = at > 0 && (unsigned char)text[at - 1] < 0x80;
        if (end == at)
            buffer_put(out, text[at++]);
        else if (after_latin || !ends_line)
            buffer_put(out, ' ');
        at = end > at ? end : at;
    }
}

static bool digest_stands_before(const struct chosen *a, const struct chosen *b)
{
    return a->passage != b->passage ? a->passage < b->passage : a->span.begin < b->span.begin;
}

/* As they stand in the sources. */
static void digest_sort(struct chosen *chosen, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        struct chosen next = chosen[i];
        size_t at = i;
        for (; at > 0 && digest_stands_before(&next, &chosen[at - 1]); at--)
            chosen[at] = chosen[at - 1];
        chosen[at] = next;
    }
}

/* "The steps are:" says nothing without its list. Such a sentence is left out, if others remain. */
static size_t digest_without_leads(const struct cite_sources *sources, struct chosen *chosen, size_t count)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        const struct span *span = &chosen[i].span;
        if (!sentences_announce(sources->passages[chosen[i].passage].text + span->begin, span->end - span->begin))
            chosen[kept++] = chosen[i];
    }
    return kept ? kept : count;
}

/* The best ones that fit; a sentence that does not is passed over. */
static size_t digest_within_tokens(const struct cite_sources *sources, struct chosen *chosen, size_t count,
                                   int64_t tokens)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        const char *text = sources->passages[chosen[i].passage].text + chosen[i].span.begin;
        int64_t cost = tokens_of_text(text, chosen[i].span.end - chosen[i].span.begin) + 2; /* with its mark */
        if (cost > tokens)
            continue;
        tokens -= cost;
        chosen[kept++] = chosen[i];
    }
    return kept;
}

static uint32_t digest_item_number(const struct cite_sources *sources, const struct chosen *one, size_t *behind)
{
    const char *text = sources->passages[one->passage].text + one->span.begin;
    return sentences_item_number(text, one->span.end - one->span.begin, behind);
}

/* The bytes of a list item's number that stands alone: "1." without a 2 says nothing. 0: it has none, or the item
 * before or behind it was chosen, too. */
static size_t digest_lone_number(const struct cite_sources *sources, const struct chosen *chosen, size_t count,
                                 size_t index)
{
    size_t behind, other;
    uint32_t number = digest_item_number(sources, &chosen[index], &behind);
    for (size_t i = 0; number && i < count; i++) {
        uint32_t near =
            chosen[i].passage == chosen[index].passage ? digest_item_number(sources, &chosen[i], &other) : 0;
        if (near && (near == number + 1 || near + 1 == number))
            return 0;
    }
    return behind;
}

static void digest_write(const struct cite_sources *sources, const struct chosen *chosen, size_t count,
                         struct buffer *out)
{
    for (size_t i = 0; i < count; i++) {
        const char *text = sources->passages[chosen[i].passage].text + chosen[i].span.begin;
        size_t length = chosen[i].span.end - chosen[i].span.begin;
        size_t lone = digest_lone_number(sources, chosen, count, i);
        text += lone;
        length -= lone;
        digest_trim_row(&text, &length);
        buffer_print(out, i ? "\n- " : "- ");
        digest_print_line(out, text, length);
    }
}

static size_t digest_choose(const struct service_call *run, const struct cite_sources *sources,
                            const struct evidence *evidence, struct chosen chosen[CHOSEN_MAX])
{
    const char *about = service_call_text(run, DIGEST_ABOUT);
    const cJSON *tokens = service_call_input(run, DIGEST_TOKENS_OF);
    int64_t most = node_argument(task_node(run->task), DIGEST_MOST)->number;
    size_t length = strlen(about) < DIGEST_ASKED_MAX ? strlen(about) : DIGEST_ASKED_MAX;
    bool japanese = strcmp(words_language(about, length), "ja") == 0;
    struct choice_terms terms = {.sentences_max = most ? (size_t)most : DIGEST_SENTENCES,
                                 .bytes_max = DIGEST_BYTES_MAX,
                                 .least = DIGEST_LEAST,
                                 .novelty = DIGEST_NOVELTY};
    size_t count = evidence_choose(evidence, about, length, &terms, chosen);
    if (evidence_answers(evidence, about, length, chosen, count) < (japanese ? ANSWER_ENOUGH_JAPANESE : ANSWER_ENOUGH))
        return 0;
    count = digest_without_leads(sources, chosen, count);
    count = digest_within_tokens(sources, chosen, count,
                                 cJSON_IsNumber(tokens) && tokens->valuedouble > 0 ? (int64_t)tokens->valuedouble
                                                                                   : DIGEST_TOKENS);
    digest_sort(chosen, count);
    return count;
}

/* ---- the node ---------------------------------------------------------------------------------------------------- */

static bool digest_run(struct input_job *job, struct status *st)
{
    struct digesting *digesting = CONTAINER_OF(job, struct digesting, base);
    struct arena *arena = task_arena(job->base.task);
    struct cite_sources *sources = arena_zalloc(arena, sizeof *sources);
    struct evidence *evidence = NULL;
    struct chosen chosen[CHOSEN_MAX];
    struct buffer text;
    if (sources) {
        sources->arena = arena;
        cite_sources_gather(sources, service_call_input(&job->base, DIGEST_OF));
        evidence = sources->no_memory ? NULL : evidence_create(arena, sources->passages, sources->count);
    }
    if (!evidence)
        return fail(st, RESOURCE_EXHAUSTED, "no memory for the sources");
    size_t count = digest_choose(&job->base, sources, evidence, chosen);
    buffer_init(&text, 2 * DIGEST_BYTES_MAX);
    digest_write(sources, chosen, count, &text);
    digesting->found = count > 0;
    if (count)
        json_write_string(&job->update.out, update_field(job->base.task, DIGEST_INTO), buffer_text(&text));
    buffer_fini(&text);
    return true;
}

static const char *digest_finish(struct input_job *job, struct update *update)
{
    return outcomes[CONTAINER_OF(job, struct digesting, base)->found ? 0 : 1];
}

static void digest_start(struct task *task)
{
    struct digesting *digesting = task_data(task);
    input_job_start(&digesting->base, task, digest_run, digest_finish);
}

extern const struct node_kind digest_kind;
const struct node_kind digest_kind = {
    .name = "digest",
    .help = "Answers with sentences of what was found; no model is asked.",
    .parameters = parameters,
    .outcomes = outcomes,
    .check = digest_check,
    .size = sizeof(struct digesting),
    .start = digest_start,
    .cancel = input_job_cancel,
};
