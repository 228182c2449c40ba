/* Requests to autonomous research: checked, and written as the initial fields of a run. */
#include "autonomous_research.h"

#include "base/text.h"
#include "json/writer.h"

#include <stdio.h>
#include <string.h>

#define ITERATIONS_DEFAULT 5
#define RESULTS_DEFAULT    5
#define DATA_DEFAULT       5
#define ADVICE_MAX         32768 /* bytes */
#define QUERIES_MAX        16
#define POINTS_MAX         32
#define LINE_MAX_BYTES     1024
#define INPUT_BYTES_MAX    262144 /* JSON may escape a byte of text as six bytes */

/* ---- Research ---------------------------------------------------------------------------------------------------- */

static bool autonomous_check_timeout(const Renga__V1__AutonomousResearchRequest *request, struct status *st)
{
    if (request->human_timeout_ms && !request->human_intervention)
        return fail_field(st, "human_timeout_ms", "is %lld, but goes with human_intervention, which is not set",
                          (long long)request->human_timeout_ms);
    return !request->human_default || request->human_timeout_ms ||
           fail_field(st, "human_default", "is %d, but goes with human_timeout_ms, which is 0",
                      (int)request->human_default);
}

bool autonomous_check(const Renga__V1__AutonomousResearchRequest *request, struct status *st)
{
    return agent_request_check(&request->base, request->options, st) && autonomous_check_timeout(request, st);
}

char *autonomous_input(const Renga__V1__AutonomousResearchRequest *request, struct arena *arena)
{
    struct buffer text;
    struct json_writer out;
    int32_t results = request->max_results_per_query, data = request->min_data_count;
    buffer_init(&text, INPUT_BYTES_MAX);
    json_writer_init(&out, &text);
    json_write_object(&out, NULL);
    json_write_string(&out, "theme", request->theme);
    json_write_int(&out, "max_iterations", request->max_iterations ? request->max_iterations : ITERATIONS_DEFAULT);
    json_write_int(&out, "max_results_per_query", results ? results : RESULTS_DEFAULT);
    json_write_int(&out, "min_data_count", data ? data : DATA_DEFAULT);
    json_write_bool(&out, "human_input_required", request->human_intervention);
    agent_write_sources(&out, request->sources, request->n_sources);
    json_write_strings(&out, "collections", request->collections, request->n_collections);
    json_write_end(&out);
    char *copy = json_writer_done(&out) ? arena_strdup(arena, buffer_text(&text)) : NULL;
    buffer_fini(&text);
    return copy;
}

/* ---- Resume ------------------------------------------------------------------------------------------------------ */

static bool autonomous_check_text(const char *field, const char *text, size_t most, bool needed, struct status *st)
{
    if (strlen(text) > most)
        return fail_field(st, field, "has %zu bytes; at most %zu are allowed", strlen(text), most);
    return !needed || !text_is_blank(text) || fail_field(st, field, "is blank; it is required");
}

static bool autonomous_check_lines(const char *list, char *const *lines, size_t count, size_t most, struct status *st)
{
    if (count > most)
        return fail_field(st, list, "has %zu entries; at most %zu are allowed", count, most);
    for (size_t i = 0; i < count; i++) {
        char field[STATUS_FIELD_MAX];
        snprintf(field, sizeof field, "%s[%zu]", list, i);
        if (!autonomous_check_text(field, lines[i], LINE_MAX_BYTES, true, st))
            return false;
    }
    return true;
}

static bool autonomous_check_edit(const Renga__V1__HumanEdit *edit, struct status *st)
{
    if (!edit->n_search_queries)
        return fail_field(st, "decision.edit.search_queries", "is empty; at least 1 is required");
    return autonomous_check_lines("decision.edit.search_queries", edit->search_queries, edit->n_search_queries,
                                  QUERIES_MAX, st) &&
           autonomous_check_lines("decision.edit.investigation_points", edit->investigation_points,
                                  edit->n_investigation_points, POINTS_MAX, st) &&
           autonomous_check_text("decision.edit.advice", edit->advice, ADVICE_MAX, false, st);
}

static bool autonomous_check_decision(const Renga__V1__HumanDecision *decision, struct status *st)
{
    switch (decision->decision_case) {
    case RENGA__V1__HUMAN_DECISION__DECISION_APPROVE:
        return autonomous_check_text("decision.approve.remark", decision->approve->remark, AUTONOMOUS_REMARK_MAX, false,
                                     st);
    case RENGA__V1__HUMAN_DECISION__DECISION_EDIT:
        return autonomous_check_edit(decision->edit, st);
    case RENGA__V1__HUMAN_DECISION__DECISION_ADVISE:
        return autonomous_check_text("decision.advise.text", decision->advise->text, ADVICE_MAX, true, st);
    case RENGA__V1__HUMAN_DECISION__DECISION_REJECT:
        return autonomous_check_text("decision.reject.reason", decision->reject->reason, ADVICE_MAX, true, st);
    case RENGA__V1__HUMAN_DECISION__DECISION_STOP:
        return autonomous_check_text("decision.stop.reason", decision->stop->reason, AUTONOMOUS_REMARK_MAX, false, st);
    default:
        return fail_field(st, "decision", "has no member; approve, edit, advise, reject or stop is required");
    }
}

bool autonomous_check_resume(const Renga__V1__ResumeResearchRequest *request, struct status *st)
{
    bool said = request->maybe_human_input_case == RENGA__V1__RESUME_RESEARCH_REQUEST__MAYBE_HUMAN_INPUT_HUMAN_INPUT;
    const Renga__V1__AgentOptions *options = request->options;
    if (said && request->decision)
        return fail_field(st, "human_input", "does not go together with decision; give one or the other");
    if (options && *options->thread_id)
        return fail_field(st, "options.thread_id", "is '%.128s'; leave it empty, the thread is that of the run",
                          options->thread_id);
    return agent_request_check(&request->base, options, st) &&
           (!said || autonomous_check_text("human_input", request->human_input, ADVICE_MAX, false, st)) &&
           (!request->decision || autonomous_check_decision(request->decision, st));
}
