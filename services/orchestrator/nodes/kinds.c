/* All kinds of nodes. A new kind is a file with its entry, and a line here. */
#include "graph/node_kind.h"

#include <string.h>

extern const struct node_kind noop_kind, set_kind, ask_kind, each_kind, graph_kind, remote_kind, chat_kind;
extern const struct node_kind plan_kind, select_tools_kind, run_tools_kind, reflect_kind, search_kind, say_kind;
extern const struct node_kind survey_kind, cite_kind, review_kind, agent_loop_kind, progress_kind, note_kind;
extern const struct node_kind choose_kind, fail_kind, locate_kind, degrade_kind;
extern const struct node_kind digest_kind, sections_kind, report_kind;
extern const struct node_kind route_kind, improve_kind, measure_kind, merge_kind, call_tool_kind, thin_kind;
extern const struct node_kind take_kind, grade_kind, shorten_kind;
extern const struct node_kind reflection_kind, operations_kind, change_playbook_kind, bullets_kind;
extern const struct node_kind playbook_kind, trajectory_kind;
extern const struct node_kind form_open_kind, form_plan_kind, form_hear_kind, form_take_kind, form_next_kind;

const struct node_kind *const node_kinds[] = {
    &noop_kind,
    &set_kind,
    &ask_kind,
    &each_kind,
    &graph_kind,
    &remote_kind,
    &chat_kind,
    &plan_kind,
    &select_tools_kind,
    &run_tools_kind,
    &reflect_kind,
    &search_kind,
    &say_kind,
    &survey_kind,
    &cite_kind,
    &review_kind,
    &agent_loop_kind,
    &progress_kind,
    &note_kind,
    &choose_kind,
    &fail_kind,
    &locate_kind,
    &form_open_kind,
    &form_plan_kind,
    &form_hear_kind,
    &form_take_kind,
    &form_next_kind,
    &degrade_kind,
    &digest_kind,
    &sections_kind,
    &route_kind,
    &improve_kind,
    &measure_kind,
    &merge_kind,
    &report_kind,
    &call_tool_kind,
    &thin_kind,
    &take_kind,
    &grade_kind,
    &shorten_kind,
    &reflection_kind,
    &operations_kind,
    &change_playbook_kind,
    &bullets_kind,
    &playbook_kind,
    &trajectory_kind,
    NULL,
};

const struct node_kind *node_kind_find(const char *name)
{
    for (const struct node_kind *const *kind = node_kinds; *kind; kind++)
        if (strcmp((*kind)->name, name) == 0)
            return *kind;
    return NULL;
}
