/* Asks the planner for a plan, in any of its four styles. */
#include "service_call.h"

#include "base/text.h"
#include "rpc/message_json.h"

#include "renga/v1/planner.pb-c.h"

#include <string.h>

#define SUMMARY_MAX ((size_t)16384) /* bytes, as QueryFindings.summary_md */

enum {
    PLAN_STYLE,
    PLAN_ABOUT,
    PLAN_INTO,
    PLAN_MOST,
    PLAN_FINDINGS,
    PLAN_KNOWN,
    PLAN_ADDED,
    PLAN_FEEDBACK,
    PLAN_SOURCES,
    PLAN_BY,
    PLAN_EXTRACTIVE,
    PLAN_PROMPTING
};

static const struct node_parameter parameters[] = {
    [PLAN_STYLE] = {"style", PARAMETER_TEXT, REQUIRED,
                    "\"subtasks\" of a question, \"queries\" for a question, \"fields\" of a form in the order of "
                    "asking, or \"research\" about a theme."},
    [PLAN_ABOUT] = {"about", READS_FIELD, REQUIRED,
                    "The question or the theme, a string; the form, an object (SessionForm)."},
    [PLAN_INTO] = {"into", PARAMETER_FIELD, REQUIRED,
                   "Where the plan goes: string[] of subtasks or queries, an object of queries with their gaps "
                   "(QueryPlan), object[] of fields (PlannedField), an object of research (ResearchPlan)."},
    [PLAN_MOST] = {"most", PARAMETER_INTEGER, OPTIONAL, "Most subtasks or queries that are wanted."},
    [PLAN_FINDINGS] = {"findings", READS_OBJECTS, OPTIONAL,
                       "With queries: what earlier ones found, an object[] (QueryFindings)."},
    [PLAN_KNOWN] = {"known", READS_OBJECT, OPTIONAL,
                    "With fields: what is known and need not be asked, an object of strings."},
    [PLAN_ADDED] = {"human_input", READS_STRING, OPTIONAL, "With research: what a person added, a string."},
    [PLAN_FEEDBACK] = {"feedback", READS_STRING, OPTIONAL, "What was wrong with an earlier plan, a string."},
    [PLAN_SOURCES] = {"sources", READS_OBJECTS, OPTIONAL,
                      "With research: what a first search found, an object[] (SearchResult)."},
    [PLAN_BY] = {"planned_by", WRITES_STRING, OPTIONAL, "The model that planned, a string; empty: no model did."},
    [PLAN_EXTRACTIVE] = {"extractive", PARAMETER_BOOLEAN, OPTIONAL,
                         "True: the gateway's extractive provider plans, whatever model the run has. The plan is empty "
                         "if the gateway has no route to it. The document tells the degradation."},
    PROMPTING_ROWS(PLAN_PROMPTING),
    {.name = NULL},
};
#define PLAN_EMBEDDED "extractive" /* the route of the provider that is no model */
static const char *const outcomes[] = {"planned", "empty", NULL};

struct plan {
    struct service_call base; /* first */
    Renga__V1__PlanRequest request;
    union {
        Renga__V1__SubtaskStyle subtasks;
        Renga__V1__QueryStyle queries;
        Renga__V1__FieldStyle fields;
        Renga__V1__ResearchStyle research;
    } style;
};

/* ---- the styles -------------------------------------------------------------------------------------------------- */

static int32_t plan_most_of(const struct plan *plan)
{
    return (int32_t)node_argument(task_node(plan->base.task), PLAN_MOST)->number;
}

static bool ask_subtasks(struct plan *plan, struct status *st)
{
    Renga__V1__SubtaskStyle *style = plan->request.subtasks = &plan->style.subtasks;
    renga__v1__subtask_style__init(style);
    plan->request.style_case = RENGA__V1__PLAN_REQUEST__STYLE_SUBTASKS;
    style->question = service_call_text(&plan->base, PLAN_ABOUT);
    style->max_subtasks = plan_most_of(plan);
    return true;
}

static bool ask_queries(struct plan *plan, struct status *st)
{
    Renga__V1__QueryStyle *style = plan->request.queries = &plan->style.queries;
    renga__v1__query_style__init(style);
    plan->request.style_case = RENGA__V1__PLAN_REQUEST__STYLE_QUERIES;
    style->question = service_call_text(&plan->base, PLAN_ABOUT);
    style->max_queries = plan_most_of(plan);
    if (!service_call_messages(&plan->base, PLAN_FINDINGS, &renga__v1__query_findings__descriptor, &style->findings,
                               &style->n_findings, st))
        return false;
    for (size_t i = 0; i < style->n_findings; i++) {
        char *summary = style->findings[i]->summary_md;
        if (strlen(summary) > SUMMARY_MAX)
            summary[text_cut(summary, strlen(summary), SUMMARY_MAX)] = '\0';
    }
    return true;
}

static bool ask_fields(struct plan *plan, struct status *st)
{
    Renga__V1__FieldStyle *style = plan->request.fields = &plan->style.fields;
    renga__v1__field_style__init(style);
    plan->request.style_case = RENGA__V1__PLAN_REQUEST__STYLE_FIELDS;
    char *known = service_call_json(&plan->base, PLAN_KNOWN);
    style->known_json = known;
    return service_call_message(&plan->base, PLAN_ABOUT, &renga__v1__session_form__descriptor, &style->form, st);
}

static bool ask_research(struct plan *plan, struct status *st)
{
    Renga__V1__ResearchStyle *style = plan->request.research = &plan->style.research;
    renga__v1__research_style__init(style);
    plan->request.style_case = RENGA__V1__PLAN_REQUEST__STYLE_RESEARCH;
    style->theme = service_call_text(&plan->base, PLAN_ABOUT);
    style->max_queries = plan_most_of(plan);
    style->human_input = service_call_text(&plan->base, PLAN_ADDED);
    return service_call_messages(&plan->base, PLAN_SOURCES, &renga__v1__search_result__descriptor, &style->sources,
                                 &style->n_sources, st);
}

static bool plan_write_texts(struct json_writer *out, const char *into, char *const *texts, size_t count)
{
    json_write_strings(out, into, texts, count);
    return count > 0;
}

/* They return false if the plan is empty. */
static bool write_subtasks(struct json_writer *out, const struct field *into, const Renga__V1__PlanResponse *answer)
{
    return answer->plan_case == RENGA__V1__PLAN_RESPONSE__PLAN_SUBTASKS &&
           plan_write_texts(out, into->name, answer->subtasks->subtasks, answer->subtasks->n_subtasks);
}

static bool write_queries(struct json_writer *out, const struct field *into, const Renga__V1__PlanResponse *answer)
{
    if (answer->plan_case != RENGA__V1__PLAN_RESPONSE__PLAN_QUERIES)
        return false;
    if (into->list)
        return plan_write_texts(out, into->name, answer->queries->queries, answer->queries->n_queries);
    message_write_json(out, into->name, &answer->queries->base);
    return answer->queries->n_queries > 0;
}

static bool write_fields(struct json_writer *out, const struct field *into, const Renga__V1__PlanResponse *answer)
{
    if (answer->plan_case != RENGA__V1__PLAN_RESPONSE__PLAN_FIELDS)
        return false;
    json_write_array(out, into->name);
    for (size_t i = 0; i < answer->fields->n_fields; i++)
        message_write_json(out, NULL, &answer->fields->fields[i]->base);
    json_write_end(out);
    return answer->fields->n_fields > 0;
}

static bool write_research(struct json_writer *out, const struct field *into, const Renga__V1__PlanResponse *answer)
{
    if (answer->plan_case != RENGA__V1__PLAN_RESPONSE__PLAN_RESEARCH)
        return false;
    message_write_json(out, into->name, &answer->research->base);
    return answer->research->n_search_queries > 0;
}

static const char *const style_words[] = {"subtasks", "queries", "fields", "research", NULL};
static const struct style {
    enum field_type about, into;
    bool list; /* of `into` */
    bool (*ask)(struct plan *plan, struct status *st);
    bool (*write)(struct json_writer *out, const struct field *into, const Renga__V1__PlanResponse *answer);
} styles[] = {
    {FIELD_STRING, FIELD_STRING, true, ask_subtasks, write_subtasks},
    {FIELD_STRING, FIELD_STRING, true, ask_queries, write_queries},
    {FIELD_OBJECT, FIELD_OBJECT, true, ask_fields, write_fields},
    {FIELD_STRING, FIELD_OBJECT, false, ask_research, write_research},
};

static const struct style *plan_node_style_of(const struct node *node, struct status *st)
{
    int index = word_check(node, PLAN_STYLE, style_words, st);
    return index < 0 ? NULL : &styles[index];
}

static bool plan_node_check(const struct node *node, struct status *st)
{
    const struct style *style = plan_node_style_of(node, st);
    const struct field *into = node_argument(node, PLAN_INTO)->field;
    bool whole = style && style->ask == ask_queries && !into->list && into->type == FIELD_OBJECT;
    return style && field_type_check(node, PLAN_ABOUT, style->about, false, st) &&
           (whole || field_type_check(node, PLAN_INTO, style->into, style->list, st));
}

/* ---- the call ---------------------------------------------------------------------------------------------------- */

static void plan_planned(const Renga__V1__PlanResponse *answer, void *data)
{
    struct plan *plan = ((struct rpc_client_call *)data)->owner;
    struct task *task = plan->base.task;
    struct status ignored = {0};
    struct update update;
    bool extractive = node_argument(task_node(task), PLAN_EXTRACTIVE)->flag;
    bool has_no_route = !answer && extractive && plan->base.call.status.code == NOT_FOUND;
    if (!answer && !has_no_route) {
        service_call_failed(&plan->base);
        return;
    }
    update_begin(&update);
    if (has_no_route) {
        update_finish(&update, task, outcomes[1]);
        return;
    }
    bool any = plan_node_style_of(task_node(task), &ignored)
                   ->write(&update.out, node_argument(task_node(task), PLAN_INTO)->field, answer);
    if (update_field(task, PLAN_BY))
        json_write_string(&update.out, update_field(task, PLAN_BY), answer->model);
    update.response.usage = answer->usage;
    update.response.degradations = answer->degradations;
    update.response.n_degradations = extractive ? 0 : answer->n_degradations;
    update_finish(&update, task, outcomes[any ? 0 : 1]);
}

static bool plan_write_request(struct plan *plan, struct status *st)
{
    const struct style *style = plan_node_style_of(task_node(plan->base.task), st);
    renga__v1__plan_request__init(&plan->request);
    if (!style || !style->ask(plan, st))
        return false;
    service_call_prompt(&plan->base, PLAN_PROMPTING);
    if (node_argument(task_node(plan->base.task), PLAN_EXTRACTIVE)->flag)
        plan->base.prompting.model = (char *)(uintptr_t)PLAN_EMBEDDED;
    plan->request.prompting = &plan->base.prompting;
    plan->request.feedback = service_call_text(&plan->base, PLAN_FEEDBACK);
    plan->request.origin = &plan->base.origin;
    return true;
}

static void plan_start(struct task *task)
{
    struct plan *plan = task_data(task);
    struct status st = {0};
    bool good = service_call_open(&plan->base, task, PEER_PLANNER, &st) && plan_write_request(plan, &st);
    service_call_close(&plan->base);
    if (good)
        renga__v1__planner__plan(plan->base.peer, &plan->request, plan_planned, &plan->base.call);
    else
        task_fail(task, &st);
}

extern const struct node_kind plan_kind;
const struct node_kind plan_kind = {
    .name = "plan",
    .help = "Has the planner make a plan.",
    .parameters = parameters,
    .outcomes = outcomes,
    .check = plan_node_check,
    .size = sizeof(struct plan),
    .start = plan_start,
    .cancel = service_call_cancel,
    .travels = true,
    .asks_models = true,
    .has_fallback = true,
};
