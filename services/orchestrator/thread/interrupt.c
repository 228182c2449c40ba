/* The interrupts that a run waits for. The name of an interrupt consists of the place that asked for it and the node's
 * own key, so asking again gives the same interrupt. */
#include "interrupt.h"
#include "frame.h"
#include "log/ids.h"
#include "memory.h"
#include "run.h"
#include "thread.h"

#include "base/arena.h"
#include "base/buffer.h"
#include "base/status.h"
#include "json/json.h"
#include "json/schema.h"

#define SCHEMA_MEMORY ((size_t)8 << 20)
#define ANSWERED_MAX  4096 /* interrupts of a run that are known to have their answer */

void interrupt_make_id(char id[ID_MAX], uint64_t seed, int64_t step, uint32_t node, uint32_t branch, const char *key)
{
    uint64_t numbers[] = {(uint64_t)step, node, branch};
    id_make_hashed(id, "q_", id_hash_text(id_hash(seed, numbers, sizeof numbers), key));
}

static void interrupt_make_frame_id(char id[ID_MAX], const char *prefix, const struct frame *frame, int64_t step,
                                    const struct node *node, uint32_t branch, const char *key)
{
    uint64_t numbers[] = {(uint64_t)step, node->index, branch};
    id_make_hashed(id, prefix, id_hash_text(id_hash(frame_seed(frame), numbers, sizeof numbers), key));
}

static struct interrupt *interrupt_of_key(const struct activation *activation, const char *key)
{
    for (struct interrupt *interrupt = activation->interrupts; interrupt; interrupt = interrupt->next)
        if (strcmp(interrupt->asked->key, key) == 0)
            return interrupt;
    return NULL;
}

bool interrupts_add(struct activation *activation, const Response *response, int64_t now_ms)
{
    struct interrupt **link = &activation->interrupts;
    while (*link)
        link = &(*link)->next;
    for (size_t i = 0; i < response->n_interrupts; i++) {
        const Renga__V1__NodeInterrupt *asked = response->interrupts[i];
        if (interrupt_of_key(activation, asked->key))
            continue;
        struct interrupt *interrupt = xnonnull(arena_zalloc(activation->frame->arena, sizeof *interrupt));
        interrupt->asked = asked;
        interrupt->asked_ms = now_ms;
        interrupt_make_frame_id(interrupt->id, "q_", activation->frame, activation->step, activation->node,
                                activation->branch, asked->key);
        *link = interrupt;
        link = &interrupt->next;
    }
    return true;
}

bool run_has_answer(const struct run *run, const char *interrupt_id)
{
    uint64_t hash = id_hash_text(ID_HASH, interrupt_id);
    for (size_t i = 0; i < run->answered_count; i++)
        if (run->answered[i] == hash)
            return true;
    return false;
}

/* After ANSWERED_MAX the oldest are dropped. */
void run_note_answered(struct run *run, uint64_t hash)
{
    if (run->answered_count == ANSWERED_MAX) {
        memmove(run->answered, run->answered + 1, (ANSWERED_MAX - 1) * sizeof *run->answered);
        run->answered_count--;
    }
    if (run->answered_count == run->answered_room) {
        size_t room = run->answered_room ? 2 * run->answered_room : 4;
        uint64_t *wider = xnonnull(arena_alloc(&run->arena, room * sizeof *wider));
        if (run->answered_count)
            memcpy(wider, run->answered, run->answered_count * sizeof *wider);
        run->answered = wider;
        run->answered_room = room;
    }
    run->answered[run->answered_count++] = hash;
}

bool interrupts_are_answered(const struct activation *activation, const Response *response)
{
    for (size_t i = 0; i < response->n_interrupts; i++) {
        const struct interrupt *interrupt = interrupt_of_key(activation, response->interrupts[i]->key);
        if (!interrupt || !interrupt->answer)
            return false;
    }
    return true;
}

size_t interrupts_open_count(const struct activation *activation)
{
    size_t count = 0;
    for (const struct interrupt *interrupt = activation->interrupts; interrupt; interrupt = interrupt->next)
        count += !interrupt->answer;
    return count;
}

void interrupts_each(struct frame *frame, struct interrupt_visit *visit)
{
    for (size_t i = 0; i < frame->after_count; i++)
        visit->came(visit, frame, frame->after[i], NULL, NULL, RENGA__V1__INTERRUPT_KIND__INTERRUPT_KIND_AFTER);
    for (struct activation *activation = frame->activations; activation; activation = activation->next) {
        if (activation->pauses_before && !activation->released && !frame->after_count)
            visit->came(visit, frame, activation->node, activation, NULL,
                        RENGA__V1__INTERRUPT_KIND__INTERRUPT_KIND_BEFORE);
        for (struct interrupt *interrupt = activation->interrupts; interrupt && activation->state == ACTIVATION_WAITING;
             interrupt = interrupt->next)
            if (!interrupt->answer)
                visit->came(visit, frame, activation->node, activation, interrupt,
                            RENGA__V1__INTERRUPT_KIND__INTERRUPT_KIND_QUESTION);
        for (size_t i = 0; i < activation->branch_count; i++)
            if (activation->branches[i].frame)
                interrupts_each(activation->branches[i].frame, visit);
    }
}

Renga__V1__Interrupt *interrupt_message(struct arena *arena, const struct frame *frame, const struct node *node,
                                        const struct activation *activation, const struct interrupt *interrupt,
                                        Renga__V1__InterruptKind kind)
{
    char id[ID_MAX];
    struct buffer path;
    Renga__V1__Interrupt *message = xnonnull(arena_alloc(arena, sizeof *message));
    renga__v1__interrupt__init(message);
    buffer_init(&path, PATH_MAX_BYTES);
    frame_path(frame, &path);
    message->path = xnonnull(arena_strdup(arena, buffer_text(&path)));
    buffer_fini(&path);
    message->kind = kind;
    message->node = xnonnull(arena_strdup(arena, node->name));
    message->branch = activation ? (int32_t)activation->branch : 0;
    if (interrupt) {
        message->interrupt_id = xnonnull(arena_strdup(arena, interrupt->id));
        message->key = xnonnull(arena_strdup(arena, interrupt->asked->key));
        message->question = xnonnull(arena_strdup(arena, interrupt->asked->question));
        message->payload_json = xnonnull(arena_strdup(arena, interrupt->asked->payload_json));
        message->answer_schema_json = xnonnull(arena_strdup(arena, interrupt->asked->answer_schema_json));
        message->asked_ms = interrupt->asked_ms;
        return message;
    }
    bool before = kind == RENGA__V1__INTERRUPT_KIND__INTERRUPT_KIND_BEFORE;
    interrupt_make_frame_id(id, before ? "b_" : "a_", frame, frame->step, node, activation ? activation->branch : 0,
                            "");
    message->interrupt_id = xnonnull(arena_strdup(arena, id));
    message->asked_ms = frame->thread->run->updated_ms;
    message->expires_ms = run_pause_expires_ms(frame->thread->run, message->asked_ms);
    return message;
}

/* NULL: it is no schema. */
static const struct json_schema *interrupt_compile(struct arena *arena, const char *schema, struct status *why)
{
    cJSON *tree = json_parse(schema, strlen(schema), NULL, why);
    const struct json_schema *compiled = tree ? json_schema_compile(arena, tree, JSON_SCHEMA_PLAIN, why) : NULL;
    cJSON_Delete(tree);
    return compiled;
}

bool interrupt_schema_is_good(const char *schema, struct status *st)
{
    struct arena arena;
    struct status why = {0};
    arena_init(&arena, NULL, 0, SCHEMA_MEMORY);
    bool good = interrupt_compile(&arena, schema, &why) != NULL;
    arena_fini(&arena);
    return good || fail(st, INVALID_ARGUMENT, "the answer's schema is none: %s", why.text);
}

static bool interrupt_fits(const struct json_schema *schema, const char *answer, struct status *st)
{
    struct status why = {0};
    cJSON *value = json_parse(answer, strlen(answer), NULL, &why);
    if (!value)
        return fail_field(st, "answer_json", "is not JSON: %s", why.text);
    bool good = !schema || json_schema_check(schema, value, NULL, &why);
    cJSON_Delete(value);
    return good || fail_field(st, "answer_json", "the answer does not fit its question: %s", why.text);
}

bool interrupt_answers_fit(const struct given_answer *given, size_t count, struct status *st)
{
    struct arena arena;
    struct status why = {0};
    const struct json_schema *schema = NULL;
    bool good = true;
    arena_init(&arena, NULL, 0, SCHEMA_MEMORY);
    for (size_t i = 0; good && i < count; i++) {
        if (!i || strcmp(given[i].schema, given[i - 1].schema) != 0) {
            arena_reset(&arena);
            schema = *given[i].schema ? interrupt_compile(&arena, given[i].schema, &why) : NULL;
        }
        good = *given[i].schema && !schema
                   ? fail_field(st, "answer_json", "the schema of its question is none: %s", why.text)
                   : interrupt_fits(schema, given[i].answer, st);
    }
    arena_fini(&arena);
    return good;
}
