/* Private to services/planner: an instance, and the styles of plans. */
#ifndef RENGA_PLANNER_PRIV_H
#define RENGA_PLANNER_PRIV_H

#include "model_task/model_task.h"

#include "renga/v1/planner.pb-c.h"

#define QUERY_MAX        ((size_t)1024) /* bytes of a search query, as in the whole contract */
#define POINT_MAX        ((size_t)1024)
#define UNCONST(pointer) ((void *)(uintptr_t)(pointer)) /* protobuf-c has no const, and never writes to it */

struct planner {
    Renga__V1__Planner_Service base; /* first */
    struct model_client client;
};

extern const struct option planner_options[];
extern const struct prompt planner_prompts[]; /* made of the files in prompts/ */

/* ---- plan.c: Plan -------------------------------------------------------------------------------------------------*/

/* A plan in progress. Each style fills in its own member of the union. */
struct planning {
    struct model_task task; /* first */
    const Renga__V1__PlanRequest *request;
    Renga__V1__PlanResponse_Closure reply;
    Renga__V1__PlanResponse response;
    union {
        Renga__V1__SubtaskPlan subtasks;
        Renga__V1__QueryPlan queries;
        Renga__V1__FieldPlan fields;
        Renga__V1__ResearchPlan research;
    };
};

/* To add a style: a file with a const entry, a row in plan.c, and prompts. */
struct plan_style {
    Renga__V1__PlanRequest__StyleCase style;
    struct model_task_kind kind; /* its reply is plan_reply */
    /* The rules of several fields; may be NULL. */
    bool (*check)(const Renga__V1__PlanRequest *request, struct status *st);
    /* The text that decides the language of the plan. */
    const char *(*about)(const Renga__V1__PlanRequest *request);
};

extern const struct plan_style subtask_style, query_style, field_style, research_style;

void plan_begin(struct planner *planner, struct rpc_call *call, const Renga__V1__PlanRequest *request,
                Renga__V1__PlanResponse_Closure reply);
void plan_reply(struct model_task *task);

/* ---- other methods, in their own files ----------------------------------------------------------------------------*/

void improve_begin(struct planner *planner, struct rpc_call *call, const Renga__V1__ImproveQueriesRequest *request,
                   Renga__V1__ImproveQueriesResponse_Closure reply);
void route_begin(struct planner *planner, struct rpc_call *call, const Renga__V1__RouteRequest *request,
                 Renga__V1__RouteResponse_Closure reply);

/* research_fallback.c: points and at most `most` queries without a model: those of any theme, or of the sources that a
 * first search has found. */
struct texts;
void research_plan_fallback(struct model_task *task, const Renga__V1__ResearchStyle *style, size_t most,
                            struct texts *points, struct texts *queries);

/* The most distinctive part of a theme: a quotation, or a name; the theme itself if it has neither. */
const char *research_theme_name(struct model_task *task, const char *theme);

#endif
