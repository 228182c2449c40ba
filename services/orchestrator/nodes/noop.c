/* Has no effect: a node at which branches meet or part, and the measure of the cost of a step. */
#include "graph/node_kind.h"

static const struct node_parameter parameters[] = {{.name = NULL}};
static const char *const outcomes[] = {"done", NULL};

static void noop_start(struct task *task)
{
    static const Renga__V1__RunNodeResponse nothing = RENGA__V1__RUN_NODE_RESPONSE__INIT;
    task_finish(task, &nothing);
}

extern const struct node_kind noop_kind;
const struct node_kind noop_kind = {
    .name = "noop",
    .help = "Does nothing: branches meet or part here.",
    .parameters = parameters,
    .outcomes = outcomes,
    .start = noop_start,
    .is_pure = true,
};
