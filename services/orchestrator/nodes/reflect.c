/* Asks the reviewer to judge a try at a subtask, and to advise how to do better. */
#include "service_call.h"

#include "tool_results.h"

#include "renga/v1/reviewer.pb-c.h"

enum {
    REFLECT_QUESTION,
    REFLECT_PLAN,
    REFLECT_SUBTASK,
    REFLECT_RESULTS,
    REFLECT_ANSWER,
    REFLECT_CITATIONS,
    REFLECT_INTO,
    REFLECT_COMPLETED,
    REFLECT_ADVICE,
    REFLECT_COUNT,
    REFLECT_PROMPTING
};

static const struct node_parameter parameters[] = {
    [REFLECT_QUESTION] = {"question", READS_STRING, REQUIRED, "What the person asked, a string."},
    [REFLECT_PLAN] = {"plan", READS_STRINGS, OPTIONAL, "All subtasks, a string[]."},
    [REFLECT_SUBTASK] = {"subtask", READS_STRING, REQUIRED, "The subtask in hand, a string."},
    [REFLECT_RESULTS] = {"results", READS_OBJECTS, OPTIONAL,
                         "What tools found, as run_tools writes it: an object for each try; the last one counts."},
    [REFLECT_ANSWER] = {"answer", READS_STRING, REQUIRED, "What is judged, a string."},
    [REFLECT_CITATIONS] = {"citations", READS_OBJECTS, OPTIONAL,
                           "Where its sentences are supported, as cite writes it: an object[]."},
    [REFLECT_INTO] = {"into", WRITES_OBJECTS, REQUIRED,
                      "The list of judgements, an object[] that appends; those of earlier tries are told."},
    [REFLECT_COMPLETED] = {"completed", WRITES_BOOLEAN, OPTIONAL, "Gets whether it is done, a boolean."},
    [REFLECT_ADVICE] = {"advice", WRITES_STRING, OPTIONAL, "Gets the advice, a string."},
    [REFLECT_COUNT] = {"count", WRITES_INTEGER, OPTIONAL,
                       "Counts the tries: an integer that sums, and gets a 1 each time."},
    PROMPTING_ROWS(REFLECT_PROMPTING),
    {.name = NULL},
};
static const char *const outcomes[] = {"completed", "again", NULL};

struct reflect {
    struct service_call base; /* first */
    Renga__V1__ReflectRequest request;
    Renga__V1__SubtaskPlan plan;
};

/* ---- the question ------------------------------------------------------------------------------------------------ */

#define EARLIER_MAX 16  /* as ReflectRequest.earlier_advice */
#define CITED_MAX   256 /* as ReflectRequest.citations */

static bool add_earlier(struct reflect *reflect, struct status *st)
{
    Renga__V1__ReflectRequest *request = &reflect->request;
    Renga__V1__ReflectionResult **earlier;
    size_t count = 0;
    if (!service_call_messages(&reflect->base, REFLECT_INTO, &renga__v1__reflection_result__descriptor, &earlier,
                               &count, st))
        return false;
    size_t first = count > EARLIER_MAX ? count - EARLIER_MAX : 0;
    request->earlier_advice =
        arena_alloc(task_arena(reflect->base.task), EARLIER_MAX * sizeof(*request->earlier_advice));
    if (!request->earlier_advice)
        return fail(st, RESOURCE_EXHAUSTED, "no memory for the advice of earlier tries");
    for (size_t i = first; i < count; i++)
        if (earlier[i]->advice[0])
            request->earlier_advice[request->n_earlier_advice++] = earlier[i]->advice;
    request->challenge_count = (int32_t)count + 1;
    return true;
}

static bool reflect_write_request(struct reflect *reflect, struct status *st)
{
    Renga__V1__ReflectRequest *request = &reflect->request;
    renga__v1__reflect_request__init(request);
    renga__v1__subtask_plan__init(&reflect->plan);
    request->question = service_call_text(&reflect->base, REFLECT_QUESTION);
    request->subtask = service_call_text(&reflect->base, REFLECT_SUBTASK);
    request->answer = service_call_text(&reflect->base, REFLECT_ANSWER);
    if (!service_call_texts(&reflect->base, REFLECT_PLAN, &reflect->plan.subtasks, &reflect->plan.n_subtasks, st) ||
        !service_call_messages(&reflect->base, REFLECT_CITATIONS, &renga__v1__citation__descriptor, &request->citations,
                               &request->n_citations, st) ||
        !tool_results_of_try(service_call_input(&reflect->base, REFLECT_RESULTS), task_arena(reflect->base.task),
                             &request->tool_results, &request->n_tool_results, st) ||
        !add_earlier(reflect, st))
        return false;
    if (request->n_citations > CITED_MAX)
        request->n_citations = CITED_MAX;
    if (reflect->plan.n_subtasks)
        request->plan = &reflect->plan;
    service_call_prompt(&reflect->base, REFLECT_PROMPTING);
    request->prompting = &reflect->base.prompting;
    request->origin = &reflect->base.origin;
    return true;
}

/* ---- the judgement ----------------------------------------------------------------------------------------------- */

static void write_judgement(struct update *update, const struct task *task, const Renga__V1__ReflectionResult *judged)
{
    const char *completed = update_field(task, REFLECT_COMPLETED), *advice = update_field(task, REFLECT_ADVICE);
    const char *count = update_field(task, REFLECT_COUNT);
    json_write_array(&update->out, update_field(task, REFLECT_INTO));
    json_write_object(&update->out, NULL);
    json_write_string(&update->out, "advice", judged->advice);
    json_write_bool(&update->out, "is_completed", judged->is_completed);
    json_write_end(&update->out);
    json_write_end(&update->out);
    if (completed)
        json_write_bool(&update->out, completed, judged->is_completed);
    if (advice)
        json_write_string(&update->out, advice, judged->advice);
    if (count)
        json_write_int(&update->out, count, 1);
}

static void reflect_reflected(const Renga__V1__ReflectResponse *answer, void *data)
{
    struct reflect *reflect = ((struct rpc_client_call *)data)->owner;
    struct status st = {0};
    struct update update;
    if (!answer) {
        service_call_failed(&reflect->base);
        return;
    }
    if (!answer->reflection) {
        fail(&st, DATA_LOSS, "the reviewer gave no judgement");
        task_fail(reflect->base.task, &st);
        return;
    }
    update_begin(&update);
    write_judgement(&update, reflect->base.task, answer->reflection);
    update.response.usage = answer->usage;
    update.response.degradations = answer->degradations;
    update.response.n_degradations = answer->n_degradations;
    update_finish(&update, reflect->base.task, outcomes[answer->reflection->is_completed ? 0 : 1]);
}

static void reflect_start(struct task *task)
{
    struct reflect *reflect = task_data(task);
    struct status st = {0};
    bool good = service_call_open(&reflect->base, task, PEER_REVIEWER, &st) && reflect_write_request(reflect, &st);
    service_call_close(&reflect->base);
    if (good)
        renga__v1__reviewer__reflect(reflect->base.peer, &reflect->request, reflect_reflected, &reflect->base.call);
    else
        task_fail(task, &st);
}

extern const struct node_kind reflect_kind;
const struct node_kind reflect_kind = {
    .name = "reflect",
    .help = "Has the reviewer judge one try at a subtask.",
    .parameters = parameters,
    .outcomes = outcomes,
    .size = sizeof(struct reflect),
    .start = reflect_start,
    .cancel = service_call_cancel,
    .travels = true,
    .asks_models = true,
    .has_fallback = true,
};
