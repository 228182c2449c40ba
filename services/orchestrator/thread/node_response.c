/* Checks the response of a node against the contract. */
#include "node_response.h"
#include "frame.h"
#include "graph/graph.h"
#include "graph/node_kind.h"
#include "interrupt.h"
#include "thread.h"

#include "base/nearest.h"
#include "base/status.h"
#include "base/text.h"
#include "proto/usage.h"
#include "json/json.h"

#include <stdio.h>

#define UPDATE_MAX     3145728 /* bytes, as RunNodeResponse.update_json */
#define SENDS_MAX      100000
#define SEND_MAX       262144 /* bytes, as NodeSend.input_json */
#define INTERRUPTS_MAX 64
#define SHOWN_MAX      100 /* values, as RunNodeResponse.progress_json */

#define VALUE_SHOWN_MAX 64 /* bytes of a wrong value in an error */

bool response_check_json(const char *what, const char *text, size_t most, char first, struct status *st)
{
    struct status why = {0};
    size_t length = strlen(text);
    if (length > most)
        return fail(st, INVALID_ARGUMENT, "%s has %zu bytes; at most %zu are allowed", what, length, most);
    if (!json_check(text, length, NULL, &why))
        return fail(st, INVALID_ARGUMENT, "%s is not JSON: %s", what, why.text);
    while (strchr(" \t\r\n", *text))
        text++;
    length = strlen(text);
    size_t shown = text_cut(text, length, VALUE_SHOWN_MAX);
    return !first || *text == first ||
           fail(st, INVALID_ARGUMENT, "%s is %.*s%s; it must be a JSON object", what, (int)shown, text,
                shown < length ? "…" : "");
}

static bool node_response_check_node(const struct graph *graph, const char *what, const char *name, struct status *st)
{
    struct nearest nearest = nearest_to(name);
    if (graph_node(graph, name))
        return true;
    for (size_t i = 0; i < graph->node_count; i++)
        nearest_try(&nearest, graph->nodes[i].name);
    return fail(st, INVALID_ARGUMENT, "%s is '%.64s', which is no node of the graph '%s'; %s", what, name, graph->name,
                nearest_hint(&nearest).text);
}

static bool check_sends(const struct activation *activation, const Response *response, struct status *st)
{
    char what[48];
    if (response->n_sends > SENDS_MAX)
        return fail(st, INVALID_ARGUMENT, "sends has %zu nodes; at most %d are allowed", response->n_sends, SENDS_MAX);
    for (size_t i = 0; i < response->n_sends; i++) {
        const Renga__V1__NodeSend *send = response->sends[i];
        snprintf(what, sizeof what, "sends[%zu].node", i);
        if (!node_response_check_node(activation->frame->graph, what, send->node, st))
            return false;
        snprintf(what, sizeof what, "sends[%zu].input_json", i);
        if (*send->input_json && !response_check_json(what, send->input_json, SEND_MAX, '{', st))
            return false;
    }
    return true;
}

static bool check_interrupts(const struct activation *activation, const Response *response, struct status *st)
{
    char what[48];
    if (response->n_interrupts > INTERRUPTS_MAX)
        return fail(st, INVALID_ARGUMENT, "interrupts has %zu questions; at most %d are allowed",
                    response->n_interrupts, INTERRUPTS_MAX);
    for (size_t i = 0; i < response->n_interrupts; i++) {
        const Renga__V1__NodeInterrupt *asked = response->interrupts[i];
        if (!*asked->key || strlen(asked->key) > GRAPH_NAME_MAX)
            return fail(st, INVALID_ARGUMENT, "interrupts[%zu].key has %zu bytes; it must have 1 to %d", i,
                        strlen(asked->key), GRAPH_NAME_MAX);
        for (size_t j = 0; j < i; j++)
            if (strcmp(asked->key, response->interrupts[j]->key) == 0)
                return fail(st, INVALID_ARGUMENT,
                            "interrupts[%zu].key and interrupts[%zu].key are both '%s'; each question needs another "
                            "key",
                            j, i, asked->key);
        snprintf(what, sizeof what, "interrupts[%zu].payload_json", i);
        if (*asked->payload_json && !response_check_json(what, asked->payload_json, SEND_MAX, 0, st))
            return false;
        const char *schema = asked->answer_schema_json;
        bool again = i && strcmp(schema, response->interrupts[i - 1]->answer_schema_json) == 0;
        if (*schema && !again && !interrupt_schema_is_good(schema, st))
            return false;
    }
    return !interrupts_are_answered(activation, response) || /* it would wait without an open interrupt */
           fail(st, INVALID_ARGUMENT,
                "node '%s' asks '%s' again, and was given the answer; use that one, or ask under another key",
                activation->node->name, response->interrupts[0]->key);
}

static bool check_jump(const struct activation *activation, const Response *response, struct status *st)
{
    const struct activation *parent = activation->frame->parent;
    if (!*response->goto_parent)
        return true;
    if (!parent || parent->node->kind->is_each)
        return fail(st, INVALID_ARGUMENT,
                    "goto_parent is '%.64s', but the graph '%s' %s; only a node of a sub-graph may leave it",
                    response->goto_parent, activation->frame->graph->name,
                    parent ? "is one of several branches" : "has no graph around it");
    if (response->n_sends)
        return fail(st, INVALID_ARGUMENT, "goto_parent is '%.64s', and sends has %zu nodes; give one of the two",
                    response->goto_parent, response->n_sends);
    return node_response_check_node(parent->frame->graph, "goto_parent", response->goto_parent, st);
}

static bool check_outcome(const struct activation *activation, const Response *response, struct status *st)
{
    const char *outcome = response->outcome;
    if (activation->node->edge_count == 0 || *response->goto_parent ||
        node_edge(activation->node, *outcome ? outcome : "done"))
        return true;
    if (response->n_sends && !*outcome)
        return true;
    struct nearest nearest = nearest_to(*outcome ? outcome : "done");
    for (size_t i = 0; i < activation->node->edge_count; i++)
        nearest_try(&nearest, activation->node->edges[i].outcome);
    return fail(st, INVALID_ARGUMENT, "node '%s' ended with '%.64s', but has no edge of that name; %s",
                activation->node->name, *outcome ? outcome : "done", nearest_hint(&nearest).text);
}

static bool node_response_check_progress(const Response *response, struct status *st)
{
    char what[48];
    if (response->n_progress_json > SHOWN_MAX)
        return fail(st, INVALID_ARGUMENT, "progress_json has %zu values; at most %d are allowed",
                    response->n_progress_json, SHOWN_MAX);
    for (size_t i = 0; i < response->n_progress_json; i++) {
        snprintf(what, sizeof what, "progress_json[%zu]", i);
        if (!response_check_json(what, response->progress_json[i], PROGRESS_MAX, 0, st))
            return false;
    }
    return true;
}

/* A count below zero would be a budget that never ends. */
static bool check_usage(const Response *response, struct status *st)
{
    const char *field;
    int64_t count;
    if (!response->usage || usage_is_sane(response->usage, &field, &count))
        return true;
    return fail(st, INVALID_ARGUMENT, "usage.%s is %lld; a count is within 0 and %lld", field, (long long)count,
                (long long)USAGE_COUNT_MAX);
}

bool response_check(const struct activation *activation, const Response *response, struct status *st)
{
    bool live = !activation->frame->thread->replays; /* logs of releases that did not ask stay readable */
    if (live && (!check_usage(response, st) || !node_response_check_progress(response, st)))
        return false;
    if (response->n_interrupts)
        return check_interrupts(activation, response, st);
    if (strlen(response->update_json) > UPDATE_MAX)
        return fail(st, INVALID_ARGUMENT, "update_json has %zu bytes; at most %d are allowed",
                    strlen(response->update_json), UPDATE_MAX);
    return check_outcome(activation, response, st) && check_jump(activation, response, st) &&
           check_sends(activation, response, st);
}
