/* The parts of requests and responses that all typed services share. */
#include "agent_run.h"

#include "base/text.h"

#include <stdio.h>
#include <string.h>

#define QUESTION_MAX    32768 /* bytes */
#define COLLECTIONS_MAX 16
#define COLLECTION_MAX  64 /* bytes */
#define REQUEST_ID_MAX  128
#define THREAD_ID_MAX   128
#define LANGUAGE_MAX    35
#define MODEL_MAX       128
#define LABELS_MAX      64
#define LABEL_KEY_MAX   64
#define LABEL_MAX       256

bool agent_check_question(const char *question, struct status *st)
{
    size_t length = strlen(question);
    if (length > QUESTION_MAX)
        return fail_field(st, "question", "has %zu bytes; at most %d are allowed", length, QUESTION_MAX);
    return !text_is_blank(question) || fail_field(st, "question", "is blank; ask something");
}

bool agent_check_collections(char *const *names, size_t count, struct status *st)
{
    if (count > COLLECTIONS_MAX)
        return fail_field(st, "collections", "has %zu entries; at most %d are allowed", count, COLLECTIONS_MAX);
    for (size_t i = 0; i < count; i++) {
        char field[STATUS_FIELD_MAX];
        size_t size = strlen(names[i]);
        snprintf(field, sizeof field, "collections[%zu]", i);
        if (!size || size > COLLECTION_MAX)
            return fail_field(st, field, "has %zu bytes; 1 to %d are allowed", size, COLLECTION_MAX);
    }
    return true;
}

bool agent_check_name(const char *field, const char *name, size_t most, struct status *st)
{
    if (strlen(name) > most)
        return fail_field(st, field, "has %zu bytes; at most %zu are allowed", strlen(name), most);
    for (const char *c = name; *c; c++)
        if ((unsigned char)*c < 0x20 || *c == 0x7f)
            return fail_field(st, field, "has the control character 0x%02x at byte %zu; names have none",
                              (unsigned)(unsigned char)*c, (size_t)(c - name));
    return true;
}

static bool check_language(const char *tag, struct status *st)
{
    static const char known[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-";
    size_t first = strcspn(tag, "-");
    if (!*tag)
        return true;
    if (strlen(tag) > LANGUAGE_MAX || strspn(tag, known) != strlen(tag) || first < 2 || first > 3)
        return fail_field(st, "options.language", "is '%.64s', which is no BCP 47 tag; such as \"ja\" or \"en-GB\"",
                          tag);
    return true;
}

static bool agent_options_check_labels(const Renga__V1__AgentOptions *options, struct status *st)
{
    if (options->n_labels > LABELS_MAX)
        return fail_field(st, "options.labels", "has %zu entries; at most %d are allowed", options->n_labels,
                          LABELS_MAX);
    for (size_t i = 0; i < options->n_labels; i++) {
        const Renga__V1__AgentOptions__LabelsEntry *label = options->labels[i];
        if (!label->key[0] || strlen(label->key) > LABEL_KEY_MAX || strlen(label->value) > LABEL_MAX)
            return fail_field(st, "options.labels",
                              "has a key of %zu and a value of %zu bytes; 1 to %d and at most %d are allowed",
                              strlen(label->key), strlen(label->value), LABEL_KEY_MAX, LABEL_MAX);
    }
    return true;
}

static bool agent_options_check_budget(const Renga__V1__Budget *budget, struct status *st)
{
    const int64_t parts[] = {
        budget->maybe_model_calls_case ? budget->model_calls : 0,
        budget->maybe_tokens_case ? budget->tokens : 0,
        budget->maybe_tool_calls_case ? budget->tool_calls : 0,
        budget->maybe_duration_ms_case ? budget->duration_ms : 0,
        budget->maybe_cost_micros_case ? budget->cost_micros : 0,
    };
    static const char *const names[] = {"model_calls", "tokens", "tool_calls", "duration_ms", "cost_micros"};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        char field[STATUS_FIELD_MAX];
        snprintf(field, sizeof field, "options.budget.%s", names[i]);
        if (parts[i] < 0)
            return fail_field(st, field, "is %lld; 0 is nothing at all, absent is no limit", (long long)parts[i]);
    }
    return true;
}

bool agent_options_check(const Renga__V1__AgentOptions *options, struct status *st)
{
    if (!options)
        return true;
    if (options->timeout_ms < 0)
        return fail_field(st, "options.timeout_ms", "is %lld; it must be 0 or more", (long long)options->timeout_ms);
    if (options->after_event_id < 0)
        return fail_field(st, "options.after_event_id", "is %lld; it must be 0 or more",
                          (long long)options->after_event_id);
    return agent_check_name("options.request_id", options->request_id, REQUEST_ID_MAX, st) &&
           agent_check_name("options.thread_id", options->thread_id, THREAD_ID_MAX, st) &&
           agent_check_name("options.model", options->model, MODEL_MAX, st) && check_language(options->language, st) &&
           agent_options_check_labels(options, st) &&
           (!options->budget || agent_options_check_budget(options->budget, st));
}

static bool agent_options_is_same(const Renga__V1__Degradation *a, const Renga__V1__Degradation *b)
{
    return a->kind == b->kind && a->status_code == b->status_code && strcmp(a->part, b->part) == 0 &&
           strcmp(a->reason, b->reason) == 0;
}

/* Removes duplicates: a degradation of several calls is reported once. */
static size_t unite(Renga__V1__Degradation **list, size_t count)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        size_t other = 0;
        while (other < kept && !agent_options_is_same(list[other], list[i]))
            other++;
        if (other == kept)
            list[kept++] = list[i];
    }
    return kept;
}

Renga__V1__AgentOutcome *agent_outcome(struct arena *arena, const Renga__V1__Run *run)
{
    Renga__V1__AgentOutcome *outcome = arena_alloc(arena, sizeof *outcome);
    if (!outcome)
        return NULL;
    renga__v1__agent_outcome__init(outcome);
    outcome->run_id = run->run_id;
    outcome->thread_id = run->thread_id;
    outcome->state = run->state;
    outcome->stop_reason = run->stop_reason;
    outcome->stop_text = run->stop_text;
    outcome->usage = run->usage;
    outcome->degradations = run->degradations;
    outcome->n_degradations = unite(outcome->degradations, run->n_degradations);
    outcome->interrupts = run->interrupts;
    outcome->n_interrupts = run->n_interrupts < 100 ? run->n_interrupts : 100;
    return outcome;
}
