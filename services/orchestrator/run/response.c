/* Whether what a node answered keeps to the contract. */
#include "run_priv.h"

#include "base/json.h"

#define UPDATE_MAX     3145728 /* bytes, as RunNodeResponse.update_json */
#define SENDS_MAX      100000
#define SEND_MAX       262144 /* bytes, as NodeSend.input_json */
#define INTERRUPTS_MAX 64

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
    return !first || *text == first || fail(st, INVALID_ARGUMENT, "%s must be an object", what);
}

static bool check_sends(const struct due *due, const Response *response, struct status *st)
{
    if (response->n_sends > SENDS_MAX)
        return fail(st, INVALID_ARGUMENT, "%zu sends; at most %d are allowed", response->n_sends, SENDS_MAX);
    for (size_t i = 0; i < response->n_sends; i++) {
        const Renga__V1__NodeSend *send = response->sends[i];
        if (!graph_node(due->frame->graph, send->node))
            return fail(st, INVALID_ARGUMENT, "sends[%zu]: the graph '%s' has no node '%.64s'", i,
                        due->frame->graph->name, send->node);
        if (*send->input_json && !response_check_json("the input of a send", send->input_json, SEND_MAX, '{', st))
            return false;
    }
    return true;
}

static bool check_interrupts(const struct due *due, const Response *response, struct status *st)
{
    if (response->n_interrupts > INTERRUPTS_MAX)
        return fail(st, INVALID_ARGUMENT, "%zu questions; at most %d are allowed", response->n_interrupts,
                    INTERRUPTS_MAX);
    for (size_t i = 0; i < response->n_interrupts; i++) {
        const Renga__V1__NodeInterrupt *asked = response->interrupts[i];
        if (!*asked->key || strlen(asked->key) > GRAPH_NAME_MAX)
            return fail(st, INVALID_ARGUMENT, "interrupts[%zu]: a key has 1 to %d bytes", i, GRAPH_NAME_MAX);
        for (size_t j = 0; j < i; j++)
            if (strcmp(asked->key, response->interrupts[j]->key) == 0)
                return fail(st, INVALID_ARGUMENT, "two questions have the key '%s'", asked->key);
        if (*asked->payload_json &&
            !response_check_json("the payload of a question", asked->payload_json, SEND_MAX, 0, st))
            return false;
        if (*asked->answer_schema_json && !question_schema_fits(asked->answer_schema_json, NULL, st))
            return false;
    }
    return !question_asks_nothing(due, response) || /* it would wait for nobody */
           fail(st, INVALID_ARGUMENT, "node '%s' asks '%s' again, and was given the answer", due->node->name,
                response->interrupts[0]->key);
}

static bool check_jump(const struct due *due, const Response *response, struct status *st)
{
    const struct due *parent = due->frame->parent;
    if (!*response->goto_parent)
        return true;
    if (!parent || parent->node->kind->is_each)
        return fail(st, INVALID_ARGUMENT, "goto_parent '%.64s', but '%s' %s", response->goto_parent,
                    due->frame->graph->name, parent ? "is one of several branches" : "has no graph around it");
    if (response->n_sends)
        return fail(st, INVALID_ARGUMENT, "goto_parent together with sends");
    return graph_node(parent->frame->graph, response->goto_parent) ||
           fail(st, INVALID_ARGUMENT, "goto_parent: the graph '%s' has no node '%.64s'", parent->frame->graph->name,
                response->goto_parent);
}

static bool check_outcome(const struct due *due, const Response *response, struct status *st)
{
    const char *outcome = response->outcome;
    if (due->node->edge_count == 0 || *response->goto_parent || node_edge(due->node, *outcome ? outcome : "done"))
        return true;
    if (response->n_sends && !*outcome)
        return true;
    return fail(st, INVALID_ARGUMENT, "node '%s' ended with '%.64s', but has no arrow of that name", due->node->name,
                *outcome ? outcome : "done");
}

bool response_check(const struct due *due, const Response *response, struct status *st)
{
    if (response->n_interrupts)
        return check_interrupts(due, response, st);
    if (strlen(response->update_json) > UPDATE_MAX)
        return fail(st, INVALID_ARGUMENT, "an update of %zu bytes; at most %d are allowed",
                    strlen(response->update_json), UPDATE_MAX);
    return check_outcome(due, response, st) && check_jump(due, response, st) && check_sends(due, response, st);
}
