/* Ends the graph with a failure of the document's own: a status code, a reason for programs, a text for people. */
#include "prompt.h"

#include <string.h>

#define REASON_MAX 63 /* bytes, as google.rpc.ErrorInfo.reason */

enum { FAIL_CODE, FAIL_REASON, FAIL_PROMPT, FAIL_PICK };

static const struct node_parameter parameters[] = {
    [FAIL_CODE] = {"code", PARAMETER_TEXT, REQUIRED,
                   "The gRPC status code that the run fails with, \"RESOURCE_EXHAUSTED\"."},
    [FAIL_REASON] = {"reason", PARAMETER_TEXT, OPTIONAL,
                     "The cause as a constant, \"LOOP_LIMIT\": callers get it as google.rpc.ErrorInfo.reason."},
    [FAIL_PROMPT] = {"prompt", PARAMETER_PROMPT, REQUIRED,
                     "The text of the error, one of the prompts: {field} stands for an input of the node."},
    [FAIL_PICK] = PICK_ROW,
    {.name = NULL},
};
static const char *const outcomes[] = {NULL};

static bool fail_check(const struct node *node, struct status *st)
{
    static const char known[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
    const char *code = node_argument(node, FAIL_CODE)->text, *reason = node_argument(node, FAIL_REASON)->text;
    if (status_code_parse(code) <= OK)
        return fail_field(st, "code",
                          "is '%.64s'; it must be the name of a gRPC status code of an error, such as "
                          "FAILED_PRECONDITION",
                          code);
    if (reason && (!*reason || strlen(reason) > REASON_MAX || reason[strspn(reason, known)]))
        return fail_field(st, "reason", "is '%.64s'; it must have 1 to %d of A-Z, 0-9 and '_', such as LOOP_LIMIT",
                          reason, REASON_MAX);
    return pick_check(node, FAIL_PICK, st);
}

static void fail_start(struct task *task)
{
    struct status st = {0};
    const struct node *node = task_node(task);
    const char *reason = node_argument(node, FAIL_REASON)->text,
               *text = prompt_say(task, node_argument(node, FAIL_PROMPT)->text, FAIL_PICK, &st);
    if (!text) {
        task_fail(task, &st);
        return;
    }
    fail(&st, (enum status_code)status_code_parse(node_argument(node, FAIL_CODE)->text), "%s", text);
    task_fail_with(task, &st, reason ? reason : "");
}

extern const struct node_kind fail_kind;
const struct node_kind fail_kind = {
    .name = "fail",
    .help = "Ends the graph with a failure; no error node of it takes over.",
    .parameters = parameters,
    .outcomes = outcomes,
    .names_inputs = true,
    .check = fail_check,
    .start = fail_start,
    .ends_graph = true,
};
