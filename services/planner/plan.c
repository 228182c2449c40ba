/* Plan: chooses the style of the request, and sends its response. */
#include "planner_priv.h"

#include "model_task/check.h"

#include <string.h>

static const struct plan_style *const styles[] = {&subtask_style, &query_style, &field_style, &research_style};

static const struct plan_style *plan_style_of(const Renga__V1__PlanRequest *request, struct status *st)
{
    for (size_t i = 0; i < sizeof styles / sizeof styles[0]; i++)
        if (styles[i]->style == request->style_case)
            return styles[i];
    fail_field(st, "style", "is not chosen; set one of subtasks, queries, fields and research");
    return NULL;
}

static bool plan_check(const struct plan_style *style, const Renga__V1__PlanRequest *request, struct status *st)
{
    return check_model_request(&request->base, request->prompting, st) && (!style->check || style->check(request, st));
}

void plan_reply(struct model_task *task)
{
    struct planning *planning = (struct planning *)task;
    Renga__V1__PlanResponse *response = &planning->response;
    response->usage = &task->usage;
    response->model = UNCONST(task->model);
    response->degradations = task->degradations;
    response->n_degradations = task->degradation_count;
    planning->reply(response, task->call);
}

void plan_begin(struct planner *planner, struct rpc_call *call, const Renga__V1__PlanRequest *request,
                Renga__V1__PlanResponse_Closure reply)
{
    struct status st = {0};
    const struct plan_style *style = plan_style_of(request, &st);
    if (!style || !plan_check(style, request, &st)) {
        rpc_fail(call, &st);
        return;
    }
    struct planning *planning = model_task_create(call, sizeof *planning);
    if (!planning)
        return;
    planning->request = request;
    planning->reply = reply;
    renga__v1__plan_response__init(&planning->response);
    model_task_init(&planning->task, &style->kind, &planner->client, call, request->prompting, request->origin,
                    style->about(request));
    model_task_start(&planning->task);
}
