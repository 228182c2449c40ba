/* Readers that are called as callers reach them: a process of all five services, asked by the names of methods and of
 * agents. It is started with the first call. Its model answers as a row says, or is the gateway's own `extractive`.
 *
 *      {"a question", call_method, .sets = HOSTILE_TEXT, .with = METHOD("Planner.Plan",
 * "{\"subtasks\":{\"question\":\"@\"}}")},
 *
 * JSON carries no bytes: documents without content get the text, or "Port 1 is open." if the text is the request.
 * The request of a row must be accepted (OK) under one attack at least: else the row would measure a refusal. */
#ifndef RENGA_UNIT_CALLS_H
#define RENGA_UNIT_CALLS_H

#include "doubling.h"

struct method_form {
    const char *method; /* "Planner.Plan" */
    const char
        *request; /* as JSON: the value "@" becomes the text, "#" a number of the call. NULL: the text is the request */
    bool answers; /* the text is the model's answer, and the request as it stands */
};
#define FORM(type, ...)                                                                                                \
    &(const struct type)                                                                                               \
    {                                                                                                                  \
        __VA_ARGS__                                                                                                    \
    }
#define METHOD(method, request) FORM(method_form, method, request, false)
#define ANSWER(method, request) FORM(method_form, method, request, true)
void call_method(struct input *in);

/* A run of one node, which is waited for; then its thread is deleted. The node is "n"; there is a prompt "p", which
 * shows the field "t". */
struct graph_form {
    const char *state; /* the members of "state" */
    const char *node;  /* the members of the node */
    const char *start; /* the input; as a request */
};
#define GRAPH(state, node, start) FORM(graph_form, state, node, start)
void call_graph(struct input *in);

/* Ends the process if it was started. */
void calls_end(void);

#endif
