#include "tool_round.h"

#include "base/text.h"
#include "tool_results.h"

#include <string.h>

#define OUTPUT_DEFAULT 32768          /* bytes */
#define OUTPUT_MOST    524288         /* bytes: a state keeps them for every try */
#define SHARE_LEAST    256            /* bytes of a result */
#define MESSAGE_MAX    ((size_t)1024) /* bytes, as ToolResult.message */
#define AROUND_MAX     ((size_t)2048) /* bytes of a turn beside the text of its tool */
#define CUT_MARK       "\n\n[…]"

enum { ROW_TOOLS, ROW_TIMEOUT, ROW_OUTPUT };

bool round_check(const struct node *node, size_t first, bool may_be_none, struct status *st)
{
    int64_t most = node_argument(node, first + ROW_OUTPUT)->number;
    if (most > OUTPUT_MOST)
        return fail_field(st, "output_max", "is %lld; at most %d are kept", (long long)most, OUTPUT_MOST);
    return may_be_none || names_check(node, first + ROW_TOOLS, st);
}

static bool tool_round_no_memory(struct status *st)
{
    return fail(st, RESOURCE_EXHAUSTED, "no memory for the calls of tools");
}

/* ---- the calls --------------------------------------------------------------------------------------------------- */

bool round_open(struct tool_round *round, struct service_call *call, size_t first_row, size_t count, struct status *st)
{
    const Renga__V1__RunNodeRequest *told = task_request(call->task);
    Renga__V1__RunToolsRequest *request = &round->request;
    int64_t most = node_argument(task_node(call->task), first_row + ROW_OUTPUT)->number;
    round->call = call;
    round->row = first_row;
    round->share = (size_t)(most ? most : OUTPUT_DEFAULT) / (count ? count : 1);
    round->share = round->share > SHARE_LEAST ? round->share : SHARE_LEAST;
    renga__v1__run_tools_request__init(request);
    request->idempotency_key = told->idempotency_key;
    request->attempt = told->attempt;
    request->fencing_token = told->fencing_token;
    request->origin = &call->origin;
    request->calls = arena_alloc(task_arena(call->task), ROUND_CALLS_MAX * sizeof(*request->calls));
    return (request->calls || tool_round_no_memory(st)) &&
           names_read(call, first_row + ROW_TOOLS, &request->allowed_tools, &request->n_allowed_tools, st);
}

bool round_add(struct tool_round *round, Renga__V1__ToolCall *call, struct status *st)
{
    const struct task *task = round->call->task;
    Renga__V1__ToolInvocation *invocation = arena_alloc(task_arena(round->call->task), sizeof *invocation);
    if (!invocation)
        return tool_round_no_memory(st);
    if (round->request.n_calls == ROUND_CALLS_MAX)
        return fail(st, INVALID_ARGUMENT, "a turn calls more than %d tools", ROUND_CALLS_MAX);
    renga__v1__tool_invocation__init(invocation);
    invocation->call = call;
    invocation->timeout_ms = node_argument(task_node(task), round->row + ROW_TIMEOUT)->number;
    invocation->output_max_bytes = (int32_t)round->share;
    round->calls[round->request.n_calls] = call;
    round->request.calls[round->request.n_calls++] = invocation;
    return true;
}

/* ---- the results ------------------------------------------------------------------------------------------------- */

bool round_take(struct tool_round *round, const Renga__V1__RunToolsResponse *answer, struct status *st)
{
    if (answer->n_results != round->request.n_calls)
        return fail(st, DATA_LOSS, "the tool-runner gave %zu results for %zu calls", answer->n_results,
                    round->request.n_calls);
    round->results = answer->results;
    return true;
}

Renga__V1__ChatMessage *round_turn(struct tool_round *round, size_t i, struct status *st)
{
    struct buffer text;
    struct arena *arena = task_arena(round->call->task);
    const Renga__V1__ToolResult *result = round->results[i];
    Renga__V1__ChatMessage *turn = arena_alloc(arena, sizeof *turn);
    size_t length = strlen(result->text), most = text_cut(result->text, length, round->share);
    buffer_init(&text, round->share + AROUND_MAX);
    if (result->status_code != OK)
        buffer_printf(&text, "%s: %.*s%s", status_code_name(result->status_code),
                      (int)text_cut(result->message, strlen(result->message), MESSAGE_MAX), result->message,
                      most ? "\n" : "");
    buffer_append(&text, result->text, most);
    if (most < length || result->truncated)
        buffer_print(&text, CUT_MARK);
    char *content = arena_strdup(arena, buffer_text(&text));
    buffer_fini(&text);
    if (!turn || !content) {
        tool_round_no_memory(st);
        return NULL;
    }
    renga__v1__chat_message__init(turn);
    turn->role = RENGA__V1__CHAT_ROLE__CHAT_ROLE_TOOL;
    turn->tool_call_id = round->calls[i]->id;
    turn->tool_failed = result->status_code != OK;
    turn->tool_found_nothing = result->found_nothing;
    turn->content = content;
    return turn;
}

bool round_results(struct tool_round *round, struct json_writer *out, struct status *st)
{
    return tool_results_write(out, round->calls, round->results, round->request.n_calls, round->share,
                              task_arena(round->call->task), st);
}

void round_degradations(struct tool_round *round, Renga__V1__Degradation **list, size_t *count)
{
    for (size_t i = 0; i < round->request.n_calls && *count < ROUND_DEGRADATIONS_MAX; i++) {
        const Renga__V1__ToolResult *result = round->results[i];
        Renga__V1__Degradation *degradation =
            result->status_code == OK ? NULL : arena_alloc(task_arena(round->call->task), sizeof *degradation);
        if (!degradation)
            continue;
        renga__v1__degradation__init(degradation);
        degradation->part = result->name;
        degradation->kind = RENGA__V1__DEGRADATION_KIND__DEGRADATION_KIND_PARTIAL;
        degradation->reason = result->message;
        degradation->status_code = result->status_code;
        list[(*count)++] = degradation;
    }
}
