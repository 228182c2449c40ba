/* Private to agent_loop*.c: a visit of a node that lets a model work with tools.
 *
 *      agent_loop.c        the kind: its parameters, and the requests of a visit, in sequence
 *      agent_loop_turns.c  the conversation before the model is asked: pending calls, number of turns
 *      agent_loop_end.c    the model's answer: calls of the node's own tools, remaining tasks, the write */
#ifndef RENGA_ORCHESTRATOR_AGENT_LOOP_H
#define RENGA_ORCHESTRATOR_AGENT_LOOP_H

#include "own_tools.h"
#include "prompt.h"
#include "remaining.h"
#include "tool_ask.h"
#include "tool_offer.h"
#include "tool_round.h"
#include "turns.h"

#include "renga/v1/llm_gateway.pb-c.h"

#define UNCONST(text) ((char *)(uintptr_t)(text))

/* Rows of the kind's table. */
enum {
    LOOP_PROMPT,
    LOOP_SYSTEM,
    LOOP_TURNS,
    LOOP_INTO,
    LOOP_FOUND,
    LOOP_ASK,
    LOOP_MOST,
    LOOP_MOST_OF,
    LOOP_ARGUMENTS,
    LOOP_MODEL,
    LOOP_TOKENS,
    LOOP_PICK,
    LOOP_HISTORY,
    LOOP_OWN_TOOLS,
    LOOP_REMAINING,
    LOOP_REMAINING_PROMPT,
    LOOP_CALLS,
    LOOP_ROUND
};

#define LOOP_REPLIED  "replied"
#define LOOP_AGAIN    "again"
#define LOOP_LIMIT    "limit"
#define LOOP_NO_MODEL "no_model"
#define LOOP_UNUSABLE "unusable"

/* Names of turns, in the state alone: a reminder of the remaining tasks; the result of a call that ended a visit. */
#define LOOP_REMINDER "reminder"
#define LOOP_ENDED    "ended"

#define LOOP_EMBEDDED "extractive" /* AnsweredBy.provider of answers without a model */

/* The node's part of the document, read once: node->prepared. */
struct loop_plan {
    const struct own_tools *tools;
    const struct remaining *remaining;
    bool has_limit, has_no_model, has_unusable; /* edges that the document has */
    bool no_runner;                             /* "tools": [] */
};

/* A call that has its result. */
struct loop_call {
    const char *name, *arguments, *result, *error; /* error: "" if it did not fail */
    struct loop_call *next;
};

struct agent_loop {
    struct service_call base; /* first */
    const struct loop_plan *plan;
    struct turns turns;                   /* the conversation, without the rules */
    size_t old_turns;                     /* of them those that stand in the state already */
    struct turns history;                 /* that stands before it */
    char *rules;                          /* NULL: no rules */
    const Renga__V1__ChatMessage *caller; /* the turn with the calls to answer; NULL: no turn */
    struct loop_call *calls, **calls_end; /* that were answered in this visit */
    struct tool_asks asks;
    struct tool_round round;
    struct tool_offer offer;
    Renga__V1__ToolDefinition *own[OWN_TOOLS_MAX];
    int64_t had;                          /* turns of the model since the question */
    bool last;                            /* it must answer */
    bool over;                            /* it has had all turns that it may have */
    bool unfit;                           /* its prompt is longer than a prompt may be */
    const char *results[ROUND_CALLS_MAX]; /* of the caller's own tools that the node was left for; NULL: no results */
    Renga__V1__ChatRequest request;
    Renga__V1__ToolChoice choice;
    Renga__V1__ListModelsRequest models;
};

/* ---- agent_loop_turns.c ------------------------------------------------------------------------------------------ */

/* Reads everything that is needed of the inputs. */
bool loop_read(struct agent_loop *talk, struct status *st);
/* True if all calls of the model's last turns were refused, STUCK_TURNS turns in a row. */
bool loop_is_stuck(const struct agent_loop *talk);
/* Pending calls: which go to the tool-runner or to a person. */
bool loop_sort_calls(struct agent_loop *talk, struct status *st);
/* Their turns, in the order of the calls. After the tool-runner's results are there. */
bool loop_answer_calls(struct agent_loop *talk, struct status *st);
bool loop_is_question(const struct agent_loop *talk, const Renga__V1__ToolCall *call);

/* Adds the turn of a call that has its result, and notes it for "calls". `error` is NULL if it did not fail. */
bool loop_add_result(struct agent_loop *talk, const Renga__V1__ToolCall *call, const char *result, const char *error,
                     struct status *st);

/* The request to the gateway, without its tools. */
bool loop_write_request(struct agent_loop *talk, struct status *st);

/* ---- agent_loop_end.c -------------------------------------------------------------------------------------------- */

void loop_answered(const Renga__V1__ChatResponse *answer, void *data);
/* Ends with this outcome, and with a degradation if `reason` is given. It writes no other field. */
void loop_end_with(struct agent_loop *talk, const char *outcome, Renga__V1__DegradationKind kind, const char *reason);
void loop_end_without_model(struct agent_loop *talk);
Renga__V1__Usage loop_tools_spent(const struct agent_loop *talk);

#endif
