/* A round of tools: the calls of a turn go to the tool-runner, and each result becomes a turn behind it. A tool that
 * fails is a result, not an error: the model reads the failure, and may do better.
 *
 *      round_open, round_add ... ---> RunTools ---> round_take ---> round_turn, round_results, round_degradations
 *
 * Embedded in the data of a task; all memory is the task's. */
#ifndef RENGA_ORCHESTRATOR_TOOL_ROUND_H
#define RENGA_ORCHESTRATOR_TOOL_ROUND_H

#include "service_call.h"

#include "renga/v1/tool_runner.pb-c.h"

#define ROUND_CALLS_MAX        128 /* as RunToolsRequest.calls */
#define ROUND_DEGRADATIONS_MAX 32  /* as RunNodeResponse.degradations */

/* The rows that a kind has whose nodes run tools, from `row` on. */
#define ROUND_ROWS(first)                                                                                              \
    [(first)] = {"tools", PARAMETER_JSON, OPTIONAL, "Names of the tools that may be run; all else."},                  \
    [(first) + 1] = {"tool_timeout", PARAMETER_DURATION, OPTIONAL, "How long one tool may run; else its own limit."},  \
    [(first) + 2] = {"output_max", PARAMETER_INTEGER, OPTIONAL,                                                        \
                     "Most bytes of all results together, 32768 where it is not said: each gets an equal share."}
/* `may_be_none`: an empty list of tools is allowed. */
bool round_check(const struct node *node, size_t first, bool may_be_none, struct status *st);

struct tool_round {
    Renga__V1__RunToolsRequest request; /* n_calls 0: there are no calls to run */
    Renga__V1__ToolResult **results;    /* of its calls, in their order */

    /* Private. */
    struct service_call *call;
    size_t row, share; /* share: bytes of a result */
    Renga__V1__ToolCall *calls[ROUND_CALLS_MAX];
};

/* For at most `count` calls. Before the inputs are closed. */
bool round_open(struct tool_round *round, struct service_call *call, size_t first_row, size_t count, struct status *st);
bool round_add(struct tool_round *round, Renga__V1__ToolCall *call, struct status *st);

/* DATA_LOSS if there are more or fewer results than calls. The answer must live as long as the round. */
bool round_take(struct tool_round *round, const Renga__V1__RunToolsResponse *answer, struct status *st);

/* The turn of a result; NULL if the task has no more memory. */
Renga__V1__ChatMessage *round_turn(struct tool_round *round, size_t i, struct status *st);
/* Adds an object of the round (SubtaskToolResults) to the list that is being written. */
bool round_results(struct tool_round *round, struct json_writer *out, struct status *st);
/* Adds the degradations of failed tools to those in the list already: room for ROUND_DEGRADATIONS_MAX. */
void round_degradations(struct tool_round *round, Renga__V1__Degradation **list, size_t *count);

#endif
