/* Tells that a part of the run is less than it should be: a degradation of the run, with a text of the agent. */
#include "prompt.h"
#include "shape.h"

#include "base/text.h"

#define PART_MAX   ((size_t)1024) /* bytes, as Degradation.part */
#define REASON_MAX ((size_t)1024) /* bytes, as Degradation.reason */

enum { DEGRADE_PROMPT, DEGRADE_AS, DEGRADE_PART, DEGRADE_PART_NAME, DEGRADE_STATUS, DEGRADE_PICK };

static const struct node_parameter parameters[] = {
    [DEGRADE_PROMPT] = {"prompt", PARAMETER_PROMPT, REQUIRED,
                        "Why, one of the prompts: {field} stands for an input of the node."},
    [DEGRADE_AS] =
        {"as", PARAMETER_TEXT, OPTIONAL,
         "What happened to the part: \"skipped\" (the default), \"partial\", \"fallback\" or \"extractive\"."},
    [DEGRADE_PART] = {"part", READS_STRING, OPTIONAL, "The part, a string, such as the query; else part_name."},
    [DEGRADE_PART_NAME] = {"part_name", PARAMETER_TEXT, OPTIONAL,
                           "The part as people are told it, \"report\"; else the node's name."},
    [DEGRADE_STATUS] = {"status", PARAMETER_TEXT, OPTIONAL,
                        "The path of the gRPC status code of the failure behind it, \"failure.status_code\"."},
    [DEGRADE_PICK] = PICK_ROW,
    {.name = NULL},
};
static const char *const outcomes[] = {"told", NULL};
static const char *const as_words[] = {"skipped", "partial", "fallback", "extractive", NULL};
static const Renga__V1__DegradationKind kinds[] = {
    RENGA__V1__DEGRADATION_KIND__DEGRADATION_KIND_SKIPPED,
    RENGA__V1__DEGRADATION_KIND__DEGRADATION_KIND_PARTIAL,
    RENGA__V1__DEGRADATION_KIND__DEGRADATION_KIND_FALLBACK,
    RENGA__V1__DEGRADATION_KIND__DEGRADATION_KIND_EXTRACTIVE,
};

static bool degrade_check_status(const struct node *node, struct status *st)
{
    const char *text = node_argument(node, DEGRADE_STATUS)->text;
    cJSON *path = text ? cJSON_CreateString(text) : NULL;
    bool good = !path || shape_check(node, "status", path, st);
    cJSON_Delete(path);
    return good;
}

static int32_t degrade_status(const struct service_call *run)
{
    const char *text = node_argument(task_node(run->task), DEGRADE_STATUS)->text;
    cJSON *path = text ? cJSON_CreateString(text) : NULL, *status = path ? shape_make(run->inputs, path) : NULL;
    int32_t code = status && cJSON_IsNumber(status) ? (int32_t)status->valuedouble : 0;
    cJSON_Delete(path);
    cJSON_Delete(status);
    return code;
}

static bool degrade_check(const struct node *node, struct status *st)
{
    return word_check(node, DEGRADE_AS, as_words, st) >= 0 && degrade_check_status(node, st) &&
           pick_check(node, DEGRADE_PICK, st);
}

static char *degrade_shorten(struct task *task, const char *text, size_t most)
{
    size_t length = strlen(text);
    return arena_strndup(task_arena(task), text, length <= most ? length : text_cut(text, length, most));
}

static bool degrade_fill(struct task *task, Renga__V1__Degradation *degradation, struct status *st)
{
    const struct node *node = task_node(task);
    struct service_call run = {0};
    const char *reason = prompt_say(task, node_argument(node, DEGRADE_PROMPT)->text, DEGRADE_PICK, st);
    if (!reason || !service_call_inputs(&run, task, st)) {
        service_call_close(&run);
        return false;
    }
    const char *part = service_call_text(&run, DEGRADE_PART), *name = node_argument(node, DEGRADE_PART_NAME)->text;
    degradation->kind = kinds[word_check(node, DEGRADE_AS, as_words, st)];
    degradation->part = degrade_shorten(task, *part ? part : name ? name : node->name, PART_MAX);
    degradation->reason = degrade_shorten(task, reason, REASON_MAX);
    degradation->status_code = degrade_status(&run);
    service_call_close(&run);
    return (degradation->part && degradation->reason) ||
           fail(st, RESOURCE_EXHAUSTED, "the degradation takes more memory than an attempt may have");
}

static void degrade_start(struct task *task)
{
    Renga__V1__RunNodeResponse response = RENGA__V1__RUN_NODE_RESPONSE__INIT;
    Renga__V1__Degradation degradation = RENGA__V1__DEGRADATION__INIT, *list[] = {&degradation};
    struct status st = {0};
    if (!degrade_fill(task, &degradation, &st)) {
        task_fail(task, &st);
        return;
    }
    response.outcome = (char *)(uintptr_t)outcomes[0];
    response.degradations = list;
    response.n_degradations = 1;
    task_finish(task, &response);
}

extern const struct node_kind degrade_kind;
const struct node_kind degrade_kind = {
    .name = "degrade",
    .help = "Tells that a part of the run is less than it should be.",
    .parameters = parameters,
    .outcomes = outcomes,
    .names_inputs = true,
    .check = degrade_check,
    .start = degrade_start,
};
