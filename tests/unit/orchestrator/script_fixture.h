/* Kinds of nodes with tasks that the test ends itself: "script", and "model", which asks models. Include it after
 * unit.h, once in a program: it brings the table of kinds. */
#ifndef RENGA_SCRIPT_FIXTURE_H
#define RENGA_SCRIPT_FIXTURE_H

#include "agent_fixture.h"
#include "graph/node_kind.h"
#include "loop/loop.h"

#include <stdio.h>

#define SCRIPT_CALLS_MAX 200000

struct script_call {
    struct task *task; /* NULL: ended */
    struct loop *loop; /* in which it runs */
    const char *node;
    char path[128];
    int branch, attempt, requests;
    int64_t token;
    char state[512], key[64];
    size_t answers;
    char answer[2][64];
    bool cancelled;
};

static struct script_call *script_calls;
static size_t script_count, script_live, script_peak;
/* What a task does when it begins; NULL: nothing, the test ends it. */
static void (*script_begins)(struct script_call *call);

static void script_start(struct task *task)
{
    if (!script_calls)
        script_calls = calloc(SCRIPT_CALLS_MAX, sizeof *script_calls);
    assert_true(script_count < SCRIPT_CALLS_MAX);
    const Renga__V1__RunNodeRequest *request = task_request(task);
    struct script_call *call = &script_calls[script_count++];
    *call = (struct script_call){.task = task, .loop = task_loop(task), .node = task_node(task)->name};
    snprintf(call->path, sizeof call->path, "%s", request->position->path);
    snprintf(call->state, sizeof call->state, "%s", request->state_json);
    snprintf(call->key, sizeof call->key, "%s", request->idempotency_key);
    call->branch = request->position->branch;
    call->attempt = request->attempt;
    call->requests = request->model_requests;
    call->token = request->fencing_token;
    call->answers = request->n_answers;
    for (size_t i = 0; i < request->n_answers && i < 2; i++)
        snprintf(call->answer[i], sizeof call->answer[i], "%s=%s", request->answers[i]->key,
                 request->answers[i]->answer_json);
    *(struct script_call **)task_data(task) = call;
    script_live++;
    script_peak = script_live > script_peak ? script_live : script_peak;
    if (script_begins)
        script_begins(call);
}

static void script_end(struct script_call *call)
{
    call->task = NULL;
    script_live--;
}

static bool script_lingers; /* cancelled tasks do not end by themselves */

static void script_cancel(struct task *task)
{
    struct script_call *call = *(struct script_call **)task_data(task);
    struct status st = {.code = CANCELLED};
    call->cancelled = true;
    if (script_lingers)
        return;
    script_end(call);
    task_fail(task, &st);
}

static const struct node_parameter script_parameters[] = {{.name = NULL}};
static const struct node_kind script_kind = {.name = "script",
                                             .help = "Does what the test says.",
                                             .parameters = script_parameters,
                                             .size = sizeof(struct script_call *),
                                             .start = script_start,
                                             .cancel = script_cancel,
                                             .travels = true};
static const struct node_kind model_kind = {.name = "model",
                                            .help = "Asks a model as the test says.",
                                            .parameters = script_parameters,
                                            .size = sizeof(struct script_call *),
                                            .start = script_start,
                                            .cancel = script_cancel,
                                            .travels = true,
                                            .asks_models = true,
                                            .has_fallback = true};
extern const struct node_kind noop_kind, set_kind, ask_kind, each_kind, graph_kind, choose_kind, fail_kind;
extern const struct node_kind merge_kind, measure_kind, thin_kind, take_kind, grade_kind, shorten_kind, reflection_kind;
const struct node_kind *const node_kinds[] = {
    &noop_kind, &set_kind,    &ask_kind,     &each_kind,       &graph_kind,   &choose_kind,
    &fail_kind, &script_kind, &model_kind,   &merge_kind,      &measure_kind, &thin_kind,
    &take_kind, &grade_kind,  &shorten_kind, &reflection_kind, NULL,
};
const struct node_kind *node_kind_find(const char *name)
{
    for (const struct node_kind *const *kind = node_kinds; *kind; kind++)
        if (strcmp((*kind)->name, name) == 0)
            return *kind;
    return NULL;
}

/* The newest call of a node (and path, and branch) that has not ended. */
static inline struct script_call *script_find(const char *node, const char *path, int branch)
{
    for (size_t i = script_count; i-- > 0;) {
        struct script_call *call = &script_calls[i];
        if (call->task && strcmp(call->node, node) == 0 && (!path || strcmp(call->path, path) == 0) &&
            (branch < 0 || call->branch == branch))
            return call;
    }
    return NULL;
}

static inline size_t script_runs(const char *node)
{
    size_t count = 0;
    for (size_t i = 0; i < script_count; i++)
        count += strcmp(script_calls[i].node, node) == 0;
    return count;
}

static inline void script_respond(struct script_call *call, const Renga__V1__RunNodeResponse *response)
{
    struct task *task = call->task;
    script_end(call);
    task_finish(task, response);
}

static inline void script_write(struct script_call *call, const char *outcome, const char *update)
{
    Renga__V1__RunNodeResponse response = RENGA__V1__RUN_NODE_RESPONSE__INIT;
    response.outcome = (char *)(uintptr_t)outcome;
    response.update_json = (char *)(uintptr_t)update;
    script_respond(call, &response);
}

static inline void script_break(struct script_call *call, enum status_code code, const char *text)
{
    struct status st = {0};
    struct task *task = call->task;
    fail(&st, code, "%s", text);
    script_end(call);
    task_fail(task, &st);
}

static inline void script_ask(struct script_call *call, const char *const *keys, size_t count)
{
    Renga__V1__RunNodeResponse response = RENGA__V1__RUN_NODE_RESPONSE__INIT;
    Renga__V1__NodeInterrupt interrupts[8], *list[8];
    for (size_t i = 0; i < count; i++) {
        renga__v1__node_interrupt__init(&interrupts[i]);
        interrupts[i].key = (char *)(uintptr_t)keys[i];
        interrupts[i].question = (char *)(uintptr_t) "What?";
        list[i] = &interrupts[i];
    }
    response.interrupts = list;
    response.n_interrupts = count;
    script_respond(call, &response);
}

/* Cancels what is at work; what begins elsewhere meanwhile goes on. */
static inline void script_end_all(void)
{
    for (size_t i = 0; i < script_count; i++) {
        struct script_call *call = &script_calls[i];
        struct status st = {.code = CANCELLED};
        struct task *task = call->task;
        if (!task)
            continue;
        script_end(call);
        loop_enter(call->loop);
        task_fail(task, &st);
        loop_leave(call->loop);
    }
}

#endif
