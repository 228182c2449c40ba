/* Records how a task was done: a trajectory, as the JSON of trajectory_json.h. It has FAILURE if the node is told a
 * failure, or if the answer is blank. */
#include "input_job.h"
#include "prompt.h"
#include "trajectory_json.h"
#include "when.h"

#include "base/clock.h"
#include "base/text.h"
#include "graph/agents.h"
#include "json/json.h"

#include <string.h>

#define STEPS_LISTED_MAX 32 /* of a document */
#define BLANK_ANSWER     "the answer is empty"

enum {
    TRAJECTORY_QUERY,
    TRAJECTORY_DATASET,
    TRAJECTORY_ANSWER,
    TRAJECTORY_STEPS,
    TRAJECTORY_IDS,
    TRAJECTORY_FAILURE,
    TRAJECTORY_INTO,
    TRAJECTORY_PICK
};

static const struct node_parameter parameters[] = {
    [TRAJECTORY_QUERY] = {"query", READS_STRING, REQUIRED, "The task, a string."},
    [TRAJECTORY_DATASET] = {"dataset", READS_STRING, REQUIRED, "The name of the data set, a string."},
    [TRAJECTORY_ANSWER] = {"answer", READS_STRING, OPTIONAL, "The answer, a string. Left out for a task that failed."},
    [TRAJECTORY_STEPS] =
        {"steps", PARAMETER_JSON, OPTIONAL,
         "What was done, a list of prompts: {\"prompt\": PROMPT, \"when\": CONDITION}; without \"when\" always."},
    [TRAJECTORY_IDS] = {"ids", READS_STRINGS, OPTIONAL, "The bullets that were used, a string[]."},
    [TRAJECTORY_FAILURE] = {"failure", READS_OBJECT, OPTIONAL,
                            "An object with \"code\" and \"message\", as error_into gets it: the task failed."},
    [TRAJECTORY_INTO] = {"into", WRITES_OBJECT, REQUIRED, "The trajectory, an object."},
    [TRAJECTORY_PICK] = PICK_ROW,
    {.name = NULL},
};
static const char *const outcomes[] = {"recorded", NULL};

struct listed_step {
    const struct json_condition *when; /* NULL: always */
    const char *prompt;
};

struct listed_steps {
    size_t count;
    struct listed_step list[];
};

/* ---- the document ------------------------------------------------------------------------------------------------ */

static bool trajectory_check(const struct node *node, struct status *st)
{
    if (!node_argument(node, TRAJECTORY_ANSWER)->field == !node_argument(node, TRAJECTORY_FAILURE)->field)
        return fail_field(st, "answer", "a trajectory has either an \"answer\" or a \"failure\"");
    return pick_check(node, TRAJECTORY_PICK, st);
}

static bool prepare_step(const struct node *node, struct arena *arena, const cJSON *item, struct listed_steps *steps,
                         struct status *st)
{
    struct status why = {0};
    struct listed_step *step = &steps->list[steps->count];
    const cJSON *when = cJSON_GetObjectItemCaseSensitive(item, "when");
    const char *prompt = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(item, "prompt"));
    if (!prompt || cJSON_GetArraySize(item) != (when ? 2 : 1))
        return fail_field(st, "steps", "[%zu] must be {\"prompt\": PROMPT, \"when\": CONDITION}", steps->count);
    if (!agent_prompt(node->graph->agent, prompt, "en"))
        return fail_field(st, "steps", "[%zu]: there is no prompt '%.64s' with an English text", steps->count, prompt);
    step->when = when ? when_compile(node, arena, when, &why) : NULL;
    if (when && !step->when)
        return why.code == RESOURCE_EXHAUSTED ? fail(st, why.code, "%s", why.text)
                                              : fail_field(st, "steps", "[%zu].when: %s", steps->count, why.text);
    step->prompt = arena_strdup(arena, prompt);
    steps->count++;
    return step->prompt || fail(st, RESOURCE_EXHAUSTED, "no memory for the steps of a node");
}

static const void *trajectory_prepare(const struct node *node, struct arena *arena, struct status *st)
{
    const char *text = node_argument(node, TRAJECTORY_STEPS)->text;
    cJSON *listed = text ? json_parse(text, strlen(text), NULL, st) : NULL;
    const cJSON *item;
    int count = cJSON_GetArraySize(listed);
    bool fits = !text || (cJSON_IsArray(listed) && count <= STEPS_LISTED_MAX);
    struct listed_steps *steps =
        arena_zalloc(arena, sizeof *steps + (size_t)(fits ? count : 0) * sizeof(struct listed_step));
    if (!steps) {
        cJSON_Delete(listed);
        fail(st, RESOURCE_EXHAUSTED, "no memory for the steps of a node");
        return NULL;
    }
    bool good = fits || fail_field(st, "steps", "must be a list of at most %d prompts", STEPS_LISTED_MAX);
    cJSON_ArrayForEach(item, listed) good = good && prepare_step(node, arena, item, steps, st);
    cJSON_Delete(listed);
    return good ? steps : NULL;
}

/* ---- the record -------------------------------------------------------------------------------------------------- */

static char *record_text(const struct input_job *job, const char *text, size_t most)
{
    size_t length = strlen(text);
    char *copy =
        arena_strndup(task_arena(job->base.task), text, length <= most ? length : text_cut(text, length, most));
    return copy ? copy : (char *)(uintptr_t) "";
}

static void record_failure(const struct input_job *job, Renga__V1__Trajectory *made)
{
    const cJSON *failure = service_call_input(&job->base, TRAJECTORY_FAILURE);
    const char *code = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(failure, "code"));
    const char *message = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(failure, "message"));
    bool blank = !node_argument(task_node(job->base.task), TRAJECTORY_FAILURE)->field;
    char *text = arena_printf(task_arena(job->base.task), "%s: %s", code && !blank ? code : "DATA_LOSS",
                              blank     ? BLANK_ANSWER
                              : message ? message
                                        : "no reason is known");
    made->status = RENGA__V1__TRAJECTORY_STATUS__TRAJECTORY_STATUS_FAILURE;
    made->maybe_error_message_case = RENGA__V1__TRAJECTORY__MAYBE_ERROR_MESSAGE_ERROR_MESSAGE;
    made->error_message = record_text(job, text ? text : "no memory for the reason", TRAJECTORY_ERROR_MAX);
}

static bool record_ids(const struct input_job *job, Renga__V1__Trajectory *made, struct status *st)
{
    if (!service_call_texts(&job->base, TRAJECTORY_IDS, &made->used_bullet_ids, &made->n_used_bullet_ids, st))
        return false;
    if (made->n_used_bullet_ids > TRAJECTORY_IDS_MAX)
        made->n_used_bullet_ids = TRAJECTORY_IDS_MAX;
    return true;
}

/* Fills the prompts of the steps that took place. The inputs become the values of the prompts, so this comes last. */
static bool record_steps(struct input_job *job, Renga__V1__Trajectory *made, struct status *st)
{
    struct task *task = job->base.task;
    const struct listed_steps *steps = task_node(task)->prepared;
    bool holds[STEPS_LISTED_MAX];
    made->reasoning_steps = arena_alloc(task_arena(task), (steps->count + 1) * sizeof *made->reasoning_steps);
    if (!made->reasoning_steps)
        return fail(st, RESOURCE_EXHAUSTED, "no memory for the steps");
    for (size_t i = 0; i < steps->count; i++)
        holds[i] = !steps->list[i].when || json_condition_holds(steps->list[i].when, job->base.inputs);
    if (!prompt_values(job->base.inputs, task_node(task), TRAJECTORY_PICK, job->base.language, st))
        return false;
    for (size_t i = 0; i < steps->count; i++) {
        struct status why = {0};
        const char *text =
            holds[i] ? prompt_fill(task, steps->list[i].prompt, job->base.inputs, job->base.language, &why) : NULL;
        if (holds[i]) /* a faulty text of a step is no fault of the task */
            made->reasoning_steps[made->n_reasoning_steps++] =
                record_text(job, text ? text : why.text, TRAJECTORY_STEP_MAX);
    }
    return true;
}

static bool trajectory_run(struct input_job *job, struct status *st)
{
    Renga__V1__Trajectory made = RENGA__V1__TRAJECTORY__INIT;
    const char *answer = service_call_text(&job->base, TRAJECTORY_ANSWER);
    made.query = record_text(job, service_call_text(&job->base, TRAJECTORY_QUERY), TRAJECTORY_QUERY_MAX);
    made.dataset = record_text(job, service_call_text(&job->base, TRAJECTORY_DATASET), TRAJECTORY_DATASET_MAX);
    made.created_ms = clock_wall_ns() / NS_PER_MS;
    made.status = RENGA__V1__TRAJECTORY_STATUS__TRAJECTORY_STATUS_SUCCESS;
    if (text_is_blank(answer))
        record_failure(job, &made);
    else
        made.generated_answer = record_text(job, answer, TRAJECTORY_ANSWER_MAX);
    if (!record_ids(job, &made, st) || !record_steps(job, &made, st))
        return false;
    trajectory_write_json(&job->update.out, update_field(job->base.task, TRAJECTORY_INTO), &made);
    return true;
}

static const char *trajectory_finish(struct input_job *job, struct update *update)
{
    return outcomes[0];
}

static void trajectory_start(struct task *task)
{
    input_job_start(task_data(task), task, trajectory_run, trajectory_finish);
}

extern const struct node_kind trajectory_kind;
const struct node_kind trajectory_kind = {
    .name = "trajectory",
    .help = "Records how a task was done.",
    .parameters = parameters,
    .outcomes = outcomes,
    .check = trajectory_check,
    .prepare = trajectory_prepare,
    .size = sizeof(struct input_job),
    .start = trajectory_start,
    .cancel = input_job_cancel,
};
