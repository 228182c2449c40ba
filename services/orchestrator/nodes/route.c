/* Asks the planner for the next action of a piece of research: three rules first, then a model. */
#include "service_call.h"

#include "rpc/message_json.h"

#include "renga/v1/autonomous_research.pb-c.h"
#include "renga/v1/planner.pb-c.h"

enum {
    ROUTE_PLAN,
    ROUTE_PROGRESS,
    ROUTE_DRAFT,
    ROUTE_FEEDBACK,
    ROUTE_ITERATION,
    ROUTE_ITERATIONS_MAX,
    ROUTE_ENOUGH,
    ROUTE_HUMAN_INPUT,
    ROUTE_INTO,
    ROUTE_DECISION,
    ROUTE_MODEL_INTO,
    ROUTE_PROMPTING
};

static const struct node_parameter parameters[] = {
    [ROUTE_PLAN] = {"plan", READS_OBJECT, REQUIRED, "What is studied, an object (ResearchPlan)."},
    [ROUTE_PROGRESS] = {"progress", READS_OBJECT, REQUIRED,
                        "What there is by now, an object (ResearchProgress), as measure writes it."},
    [ROUTE_DRAFT] = {"draft", READS_STRING, OPTIONAL, "The draft, a string; empty: there is none."},
    [ROUTE_FEEDBACK] = {"feedback", READS_STRING, OPTIONAL,
                        "What the reviewer said of the draft, a string; empty: it was not reviewed, or approved."},
    [ROUTE_ITERATION] = {"iteration", READS_INTEGER, REQUIRED, "Steps that were made, an integer."},
    [ROUTE_ITERATIONS_MAX] = {"max_iterations", READS_INTEGER, OPTIONAL, "Most steps, an integer; 5 without it."},
    [ROUTE_ENOUGH] = {"min_data_count", READS_INTEGER, OPTIONAL,
                      "Sources that are enough to write from, an integer; 5 without it."},
    [ROUTE_HUMAN_INPUT] = {"human_input", READS_STRING, OPTIONAL, "What a person added, a string."},
    [ROUTE_INTO] = {"into", WRITES_STRING, OPTIONAL, "The choice in a word, a string: research, write, review or end."},
    [ROUTE_DECISION] = {"decision", WRITES_OBJECT, OPTIONAL,
                        "The choice with its reason, an object (ResearchDecision)."},
    [ROUTE_MODEL_INTO] = {"chosen_by", WRITES_STRING, OPTIONAL, "The model that chose, a string; empty: a rule did."},
    PROMPTING_ROWS(ROUTE_PROMPTING),
    {.name = NULL},
};
static const char *const outcomes[] = {"research", "write", "review", "end", NULL};

struct routing {
    struct service_call base; /* first */
    Renga__V1__RouteRequest request;
};

static const char *route_word(Renga__V1__NextAction action)
{
    switch (action) {
    case RENGA__V1__NEXT_ACTION__NEXT_ACTION_RESEARCH:
        return outcomes[0];
    case RENGA__V1__NEXT_ACTION__NEXT_ACTION_WRITE:
        return outcomes[1];
    case RENGA__V1__NEXT_ACTION__NEXT_ACTION_REVIEW:
        return outcomes[2];
    case RENGA__V1__NEXT_ACTION__NEXT_ACTION_END:
        return outcomes[3];
    default:
        return NULL;
    }
}

static void route_write(const struct routing *routing, const Renga__V1__RouteResponse *answer, struct json_writer *out)
{
    const struct task *task = routing->base.task;
    Renga__V1__ResearchDecision decision = RENGA__V1__RESEARCH_DECISION__INIT;
    const char *into = update_field(task, ROUTE_INTO), *told = update_field(task, ROUTE_DECISION);
    decision.next_action = answer->next_action;
    decision.reasoning = answer->reasoning;
    decision.progress = routing->request.progress;
    decision.iteration = routing->request.iteration;
    if (into)
        json_write_string(out, into, route_word(answer->next_action));
    if (told)
        message_write_json(out, told, &decision.base);
    if (update_field(task, ROUTE_MODEL_INTO))
        json_write_string(out, update_field(task, ROUTE_MODEL_INTO), answer->model);
}

static void route_chosen(const Renga__V1__RouteResponse *answer, void *data)
{
    struct routing *routing = ((struct rpc_client_call *)data)->owner;
    struct task *task = routing->base.task;
    struct status st = {0};
    struct update update;
    if (!answer) {
        service_call_failed(&routing->base);
        return;
    }
    if (!route_word(answer->next_action)) {
        fail(&st, DATA_LOSS, "the planner chose the action %d, which there is not", (int)answer->next_action);
        task_fail(task, &st);
        return;
    }
    update_begin(&update);
    route_write(routing, answer, &update.out);
    update.response.usage = answer->usage;
    update.response.degradations = answer->degradations;
    update.response.n_degradations = answer->n_degradations;
    update_finish(&update, task, route_word(answer->next_action));
}

static int32_t route_number(const struct routing *routing, size_t row)
{
    const cJSON *value = service_call_input(&routing->base, row);
    return cJSON_IsNumber(value) ? value->valueint : 0;
}

static bool route_write_request(struct routing *routing, struct status *st)
{
    struct service_call *base = &routing->base;
    Renga__V1__RouteRequest *request = &routing->request;
    renga__v1__route_request__init(request);
    request->has_draft = *service_call_text(base, ROUTE_DRAFT) != '\0';
    request->feedback = service_call_text(base, ROUTE_FEEDBACK);
    request->iteration = route_number(routing, ROUTE_ITERATION);
    request->max_iterations = route_number(routing, ROUTE_ITERATIONS_MAX);
    request->min_data_count = route_number(routing, ROUTE_ENOUGH);
    request->human_input = service_call_text(base, ROUTE_HUMAN_INPUT);
    service_call_prompt(base, ROUTE_PROMPTING);
    request->prompting = &base->prompting;
    request->origin = &base->origin;
    return service_call_message(base, ROUTE_PLAN, &renga__v1__research_plan__descriptor, &request->plan, st) &&
           service_call_message(base, ROUTE_PROGRESS, &renga__v1__research_progress__descriptor, &request->progress,
                                st);
}

static void route_start(struct task *task)
{
    struct routing *routing = task_data(task);
    struct status st = {0};
    bool good = service_call_open(&routing->base, task, PEER_PLANNER, &st) && route_write_request(routing, &st);
    service_call_close(&routing->base);
    if (good)
        renga__v1__planner__route(routing->base.peer, &routing->request, route_chosen, &routing->base.call);
    else
        task_fail(task, &st);
}

extern const struct node_kind route_kind;
const struct node_kind route_kind = {
    .name = "route",
    .help = "Has the planner choose the next action of a piece of research.",
    .parameters = parameters,
    .outcomes = outcomes,
    .size = sizeof(struct routing),
    .start = route_start,
    .cancel = service_call_cancel,
    .travels = true,
    .asks_models = true,
    .has_fallback = true,
};
