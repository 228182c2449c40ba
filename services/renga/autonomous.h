/* Private to `renga research --autonomous`: a theme on its way to a report in rounds, and the decisions of a person. */
#ifndef RENGA_AUTONOMOUS_H
#define RENGA_AUTONOMOUS_H

#include "research.h"

#include "renga/v1/autonomous_research.pb-c.h"

#define AUTONOMOUS_POINTS_MAX  32                       /* as HumanEdit.investigation_points */
#define AUTONOMOUS_QUERIES_MAX 16                       /* as HumanEdit.search_queries */
#define AUTONOMOUS_TIMEOUT     "renga.human_timeout_ms" /* labels of the run, so that it can go on as it began */
#define AUTONOMOUS_DEFAULT     "renga.human_default"

/* All texts besides the report, in the language of the theme. */
struct autonomous_words {
    const char *planning, *searching, *writing, *reviewing; /* of the line that moves */
    const char *plan, *points, *queries, *sources;
    const char *actions[5];    /* by NextAction */
    const char *step, *fresh;  /* "step", "new" */
    const char *coverage;      /* before a percentage */
    const char *scores[5];     /* overall, facts, completeness, logic, format */
    const char *verdict[2];    /* not approved, approved */
    const char *stopped[10];   /* by ResearchStopReason */
    const char *steps[2];      /* behind numbers, [1] behind 1 */
    const char *before[3];     /* the question: before the supervisor, before the writer, before there is a plan */
    const char *prompt, *help; /* of the person's line */
    const char *waits, *go_on; /* in a pipe */
    const char *answered;      /* another answer came first */
    const char *until;         /* before a time */
    const char *defaults[3];   /* by HumanDefault */
};

const struct autonomous_words *autonomous_words(const struct research_words *words);

/* ---- autonomous_plan.c: a plan as a person changes it; texts are owned ------------------------------------------- */

struct autonomous_plan {
    char *points[AUTONOMOUS_POINTS_MAX], *queries[AUTONOMOUS_QUERIES_MAX];
    size_t point_count, query_count;
};

void autonomous_plan_copy(struct autonomous_plan *plan, const Renga__V1__ResearchPlan *from);
void autonomous_plan_fini(struct autonomous_plan *plan);
/* They change the queries, which are counted from 1. False: `st` says why, and the plan is as it was. */
bool autonomous_plan_add(struct autonomous_plan *plan, const char *query, struct status *st);
bool autonomous_plan_drop(struct autonomous_plan *plan, size_t number, struct status *st);
bool autonomous_plan_move(struct autonomous_plan *plan, size_t number, size_t to, struct status *st);
/* Lets the person change the plan in $VISUAL, $EDITOR or vi. False if that fails or the text is no plan: standard error
 * says why, and the plan is unchanged. */
bool autonomous_edit_plan(struct autonomous_plan *plan);
/* "[points]", a line each, "[queries]", a line each; '#' begins a comment. False: `st` names the line. */
bool autonomous_read_plan(const char *text, struct autonomous_plan *plan, struct status *st);

/* A decision, with memory for the chosen form. */
struct autonomous_decision {
    Renga__V1__HumanDecision decision;
    union {
        Renga__V1__HumanApproval approve;
        Renga__V1__HumanEdit edit;
        Renga__V1__HumanAdvice advise;
        Renga__V1__HumanRejection reject;
        Renga__V1__HumanStop stop;
    } form;
    struct autonomous_plan plan;
    char *text;
};

struct autonomous_view {
    struct live live;
    struct timer tick;
    int64_t began_ns;
    const char *now; /* the work under way */
    char tail[LIVE_TAIL];
    bool writing;
};

struct autonomous {
    struct command_call call;  /* first */
    struct research *research; /* options, labels, the run's name */
    ProtobufCService *service;
    struct reconnect reconnect;
    const struct autonomous_words *words;
    Renga__V1__AutonomousResearchRequest request;
    Renga__V1__ResumeResearchRequest answer; /* run_id "": no person has decided yet */
    Renga__V1__AgentOptions answer_how;
    char answer_id[RESEARCH_ID_SIZE], interrupt_id[RESEARCH_RUN_SIZE];
    char timeout_label[24], default_label[8];
    struct autonomous_decision decision;
    struct autonomous_view view;
    struct arena memory;
    const Renga__V1__AutonomousResearchResult *result; /* in `memory`; NULL before it came */
};

/* autonomous.c: studies the theme of the request until the research ends or waits, and gives the exit code. */
int autonomous_study(struct autonomous *autonomous);

/* ---- autonomous_view.c; in the loop of the call ------------------------------------------------------------------ */

void autonomous_view_begin(struct autonomous *autonomous);
void autonomous_view_event(struct autonomous *autonomous, const Renga__V1__AutonomousResearchEvent *event);
void autonomous_view_end(struct autonomous *autonomous);
/* The plan with numbered queries. */
void autonomous_show_plan(FILE *out, const struct autonomous *autonomous, const struct autonomous_plan *plan);
/* "Stopped: approved, 4 steps; overall 0.91 (…)" */
void autonomous_show_end(FILE *out, const struct autonomous *autonomous);

/* ---- autonomous_person.c ----------------------------------------------------------------------------------------- */

enum person_end { PERSON_DECIDED, PERSON_LEFT };

/* Shows the pending question of the run and reads the decision of the person at the terminal. PERSON_LEFT: Ctrl-C,
 * Ctrl-D. */
enum person_end autonomous_ask_person(struct autonomous *autonomous);
void autonomous_decision_fini(struct autonomous_decision *decision);

#endif
