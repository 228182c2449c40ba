/* The questions that a run waits for. The name of a question consists of the place that asked it and the node's own
 * key, so asking it again gives the same question. */
#include "keep.h"
#include "run_priv.h"

#include "base/json.h"
#include "base/json_schema.h"

#define SCHEMA_MEMORY ((size_t)8 << 20)
#define ANSWERED_MAX  4096 /* questions of a run that are known to have their answer */

void question_id(char id[ID_MAX], uint64_t seed, int64_t step, uint32_t node, uint32_t branch, const char *key)
{
    uint64_t numbers[] = {(uint64_t)step, node, branch};
    id_make_hashed(id, "q_", id_hash_text(id_hash(seed, numbers, sizeof numbers), key));
}

static void make_id(char id[ID_MAX], const char *prefix, const struct frame *frame, int64_t step,
                    const struct node *node, uint32_t branch, const char *key)
{
    uint64_t numbers[] = {(uint64_t)step, node->index, branch};
    id_make_hashed(id, prefix, id_hash_text(id_hash(frame_seed(frame), numbers, sizeof numbers), key));
}

static struct question *find(const struct due *due, const char *key)
{
    for (struct question *question = due->questions; question; question = question->next)
        if (strcmp(question->asked->key, key) == 0)
            return question;
    return NULL;
}

bool question_ask(struct due *due, const Response *response, int64_t now_ms)
{
    struct question **link = &due->questions;
    while (*link)
        link = &(*link)->next;
    for (size_t i = 0; i < response->n_interrupts; i++) {
        const Renga__V1__NodeInterrupt *asked = response->interrupts[i];
        if (find(due, asked->key))
            continue;
        struct question *question = need(arena_zalloc(due->frame->arena, sizeof *question));
        question->asked = asked;
        question->asked_ms = now_ms;
        make_id(question->id, "q_", due->frame, due->step, due->node, due->branch, asked->key);
        *link = question;
        link = &question->next;
    }
    return true;
}

bool run_has_answer(const struct run *run, const char *question_id)
{
    uint64_t hash = id_hash_text(ID_HASH, question_id);
    for (size_t i = 0; i < run->answered_count; i++)
        if (run->answered[i] == hash)
            return true;
    return false;
}

/* After ANSWERED_MAX the oldest are forgotten. */
void run_note_answered(struct run *run, uint64_t hash)
{
    if (run->answered_count == ANSWERED_MAX) {
        memmove(run->answered, run->answered + 1, (ANSWERED_MAX - 1) * sizeof *run->answered);
        run->answered_count--;
    }
    if (run->answered_count == run->answered_room) {
        size_t room = run->answered_room ? 2 * run->answered_room : 4;
        uint64_t *wider = need(arena_alloc(&run->arena, room * sizeof *wider));
        if (run->answered_count)
            memcpy(wider, run->answered, run->answered_count * sizeof *wider);
        run->answered = wider;
        run->answered_room = room;
    }
    run->answered[run->answered_count++] = hash;
}

bool question_asks_nothing(const struct due *due, const Response *response)
{
    for (size_t i = 0; i < response->n_interrupts; i++) {
        const struct question *question = find(due, response->interrupts[i]->key);
        if (!question || !question->answer)
            return false;
    }
    return true;
}

size_t question_open_count(const struct due *due)
{
    size_t count = 0;
    for (const struct question *question = due->questions; question; question = question->next)
        count += !question->answer;
    return count;
}

void question_each(struct frame *frame, struct interrupt_visit *visit)
{
    for (size_t i = 0; i < frame->after_count; i++)
        visit->came(visit, frame, frame->after[i], NULL, NULL, RENGA__V1__INTERRUPT_KIND__INTERRUPT_KIND_AFTER);
    for (struct due *due = frame->due; due; due = due->next) {
        if (due->stands_before && !due->has_leave && !frame->after_count)
            visit->came(visit, frame, due->node, due, NULL, RENGA__V1__INTERRUPT_KIND__INTERRUPT_KIND_BEFORE);
        for (struct question *question = due->questions; question && due->state == DUE_WAITING;
             question = question->next)
            if (!question->answer)
                visit->came(visit, frame, due->node, due, question, RENGA__V1__INTERRUPT_KIND__INTERRUPT_KIND_QUESTION);
        for (size_t i = 0; i < due->branch_count; i++)
            if (due->branches[i].frame)
                question_each(due->branches[i].frame, visit);
    }
}

Renga__V1__Interrupt *question_message(struct arena *arena, const struct frame *frame, const struct node *node,
                                       const struct due *due, const struct question *question,
                                       Renga__V1__InterruptKind kind)
{
    char id[ID_MAX];
    struct buffer path;
    Renga__V1__Interrupt *message = need(arena_alloc(arena, sizeof *message));
    renga__v1__interrupt__init(message);
    buffer_init(&path, PATH_MAX_BYTES);
    frame_path(frame, &path);
    message->path = need(arena_strdup(arena, buffer_text(&path)));
    buffer_fini(&path);
    message->kind = kind;
    message->node = need(arena_strdup(arena, node->name));
    message->branch = due ? (int32_t)due->branch : 0;
    if (question) {
        message->interrupt_id = need(arena_strdup(arena, question->id));
        message->key = need(arena_strdup(arena, question->asked->key));
        message->question = need(arena_strdup(arena, question->asked->question));
        message->payload_json = need(arena_strdup(arena, question->asked->payload_json));
        message->answer_schema_json = need(arena_strdup(arena, question->asked->answer_schema_json));
        message->asked_ms = question->asked_ms;
        return message;
    }
    bool before = kind == RENGA__V1__INTERRUPT_KIND__INTERRUPT_KIND_BEFORE;
    make_id(id, before ? "b_" : "a_", frame, frame->step, node, due ? due->branch : 0, "");
    message->interrupt_id = need(arena_strdup(arena, id));
    message->asked_ms = frame->thread->run->updated_ms;
    message->expires_ms = stand_expires_ms(frame->thread->run, message->asked_ms);
    return message;
}

/* NULL: it is no schema. */
static const struct json_schema *compile(struct arena *arena, const char *schema, struct status *why)
{
    cJSON *tree = json_parse(schema, strlen(schema), NULL, why);
    const struct json_schema *compiled = tree ? json_schema_compile(arena, tree, JSON_SCHEMA_PLAIN, why) : NULL;
    cJSON_Delete(tree);
    return compiled;
}

bool question_schema_is_good(const char *schema, struct status *st)
{
    struct arena arena;
    struct status why = {0};
    arena_init(&arena, NULL, 0, SCHEMA_MEMORY);
    bool good = compile(&arena, schema, &why) != NULL;
    arena_fini(&arena);
    return good || fail(st, INVALID_ARGUMENT, "the answer's schema is none: %s", why.text);
}

static bool fits(const struct json_schema *schema, const char *answer, struct status *st)
{
    struct status why = {0};
    cJSON *value = json_parse(answer, strlen(answer), NULL, &why);
    if (!value)
        return fail_field(st, "answer_json", "is not JSON: %s", why.text);
    bool good = !schema || json_schema_check(schema, value, NULL, &why);
    cJSON_Delete(value);
    return good || fail_field(st, "answer_json", "the answer does not fit its question: %s", why.text);
}

bool question_answers_fit(const struct given_answer *given, size_t count, struct status *st)
{
    struct arena arena;
    struct status why = {0};
    const struct json_schema *schema = NULL;
    bool good = true;
    arena_init(&arena, NULL, 0, SCHEMA_MEMORY);
    for (size_t i = 0; good && i < count; i++) {
        if (!i || strcmp(given[i].schema, given[i - 1].schema) != 0) {
            arena_reset(&arena);
            schema = *given[i].schema ? compile(&arena, given[i].schema, &why) : NULL;
        }
        good = *given[i].schema && !schema
                   ? fail_field(st, "answer_json", "the schema of its question is none: %s", why.text)
                   : fits(schema, given[i].answer, st);
    }
    arena_fini(&arena);
    return good;
}
