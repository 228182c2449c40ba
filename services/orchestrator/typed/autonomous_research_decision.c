/* Converts a person's decision to an update of the state, which ResumeRun applies. The graph reads the decision from
 * human_action and human_input; the history is human_decisions. If the decision replaces the choice of the supervisor,
 * the update is made as the node that follows the supervisor.
 *
 *      approve, advise     the run goes on                     edit      with another task_plan
 *      reject              before supervisor: it plans anew; before writer: to the researcher; the third time: the end
 *      stop                the end */
#include "autonomous_research.h"

#include "base/clock.h"
#include "base/sha256.h"
#include "base/text.h"
#include "json/writer.h"

#include <stdio.h>
#include <string.h>

#define ROUTE          "route_supervisor"
#define UPDATE_MAX     ((size_t)1 << 20) /* bytes, as ResumeUpdate.update_json */
#define TIMEOUT_MAX    ((size_t)32768)   /* bytes, as in InterruptTimeout */
#define INPUT_MAX      ((size_t)32768)   /* bytes of human_input */
#define OVERWRITES_MAX 5

/* The effect of a decision; the names are those of the state. */
struct decision {
    const char *action, *text;
    const Renga__V1__HumanEdit *edit;
    const char *outcome, *stop_reason; /* of the supervisor; NULL: the supervisor chooses */
    bool feedback;                     /* the researcher reads the text, too */
};

/* ---- the decision ------------------------------------------------------------------------------------------------ */

static struct decision decision_of_reject(const char *reason, const struct autonomous_wait *wait)
{
    struct decision decision = {.action = "reject", .text = reason};
    if (wait->rejections + 1 >= AUTONOMOUS_REJECTIONS_MAX) {
        decision.outcome = "end";
        decision.stop_reason = "rejected";
    } else if (strcmp(wait->node, "writer") == 0) {
        decision.outcome = "research";
        decision.feedback = true;
    }
    return decision;
}

static struct decision decision_of(const Renga__V1__ResumeResearchRequest *request, const struct autonomous_wait *wait)
{
    const Renga__V1__HumanDecision *asked = request->decision;
    bool said = request->maybe_human_input_case == RENGA__V1__RESUME_RESEARCH_REQUEST__MAYBE_HUMAN_INPUT_HUMAN_INPUT;
    switch (asked ? asked->decision_case : RENGA__V1__HUMAN_DECISION__DECISION__NOT_SET) {
    case RENGA__V1__HUMAN_DECISION__DECISION_APPROVE:
        return (struct decision){.action = "approve", .text = asked->approve->remark};
    case RENGA__V1__HUMAN_DECISION__DECISION_EDIT:
        return (struct decision){.action = "edit", .text = asked->edit->advice, .edit = asked->edit};
    case RENGA__V1__HUMAN_DECISION__DECISION_ADVISE:
        return (struct decision){.action = "advise", .text = asked->advise->text};
    case RENGA__V1__HUMAN_DECISION__DECISION_REJECT:
        return decision_of_reject(asked->reject->reason, wait);
    case RENGA__V1__HUMAN_DECISION__DECISION_STOP:
        return (struct decision){
            .action = "stop", .text = asked->stop->reason, .outcome = "end", .stop_reason = "stopped"};
    default:
        return (struct decision){.action = said && *request->human_input ? "advise" : "approve",
                                 .text = said ? request->human_input : ""};
    }
}

/* ---- as a change of the state ------------------------------------------------------------------------------------ */

static void decision_write_plan(struct json_writer *out, const Renga__V1__HumanEdit *edit, const cJSON *state)
{
    const cJSON *plan = cJSON_GetObjectItemCaseSensitive(state, "task_plan");
    const char *theme = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(state, "theme"));
    const char *text = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(plan, "plan_text"));
    json_write_object(out, "task_plan");
    json_write_string(out, "theme", theme ? theme : "");
    json_write_strings(out, "investigation_points", edit->investigation_points, edit->n_investigation_points);
    json_write_strings(out, "search_queries", edit->search_queries, edit->n_search_queries);
    json_write_string(out, "plan_text", text ? text : "");
    json_write_int(out, "created_ms", clock_wall_ns() / NS_PER_MS);
    json_write_end(out);
}

/* Writes a row of the history. `wait` is NULL for a wait that timed out. This row has no node, no name and no time;
 * the node and the time are in Run.resumptions. */
static void decision_write_row(struct json_writer *out, const struct decision *decision,
                               const struct autonomous_wait *wait, const char *request_id, const char *digest)
{
    json_write_array(out, "human_decisions");
    json_write_object(out, NULL);
    json_write_string(out, "action", decision->action);
    json_write_text(out, "text", decision->text,
                    text_cut(decision->text, strlen(decision->text), AUTONOMOUS_REMARK_MAX));
    if (wait) {
        json_write_string(out, "node", wait->node);
        json_write_string(out, "by", wait->by ? wait->by : "");
        json_write_int(out, "time_ms", clock_wall_ns() / NS_PER_MS);
        json_write_string(out, "run_id", wait->run_id);
        json_write_string(out, "interrupt_id", wait->interrupt_id);
        json_write_string(out, "request_id", request_id);
        json_write_string(out, "digest", digest);
    } else {
        json_write_bool(out, "timed_out", true);
    }
    json_write_end(out);
    json_write_end(out);
}

static void decision_overwrite(Renga__V1__ResumeUpdate *update, struct json_writer *out, const char *field,
                               const char *value)
{
    json_write_string(out, field, value);
    update->overwrite_fields[update->n_overwrite_fields++] = (char *)(uintptr_t)field;
}

/* The writer has not read earlier words of a person yet, so new words follow them. If both are too long, the new words
 * alone stay. A remark on an approval is only for the history. NULL: the arena is out of memory. */
static const char *decision_input(const struct decision *decision, const struct autonomous_wait *wait,
                                  struct arena *arena)
{
    const cJSON *field = cJSON_GetObjectItemCaseSensitive(wait->state, "human_input");
    const char *earlier = cJSON_IsString(field) ? field->valuestring : "";
    const char *text = strcmp(decision->action, "approve") == 0 ? "" : decision->text;
    if (!*earlier || !*text || strlen(earlier) + strlen(text) >= INPUT_MAX)
        return *text ? text : earlier;
    return arena_printf(arena, "%s\n%s", earlier, text);
}

static void decision_write_fields(Renga__V1__ResumeUpdate *update, struct json_writer *out,
                                  const struct decision *decision, const char *input)
{
    if (input)
        decision_overwrite(update, out, "human_input", input);
    decision_overwrite(update, out, "human_action", decision->outcome ? "" : decision->action);
    if (decision->feedback)
        decision_overwrite(update, out, "feedback", decision->text);
    if (decision->stop_reason)
        decision_overwrite(update, out, "stop_reason", decision->stop_reason);
    if (!decision->outcome)
        return;
    update->as_node = (char *)(uintptr_t)ROUTE;
    update->outcome = (char *)(uintptr_t)decision->outcome;
}

static Renga__V1__ResumeUpdate *decision_update(const struct decision *decision, const struct autonomous_wait *wait,
                                                const char *request_id, const char *digest, struct arena *arena)
{
    struct buffer text;
    struct json_writer out;
    Renga__V1__ResumeUpdate *update = arena_alloc(arena, sizeof *update);
    char **overwrites = arena_alloc(arena, OVERWRITES_MAX * sizeof *overwrites);
    if (!update || !overwrites)
        return NULL;
    renga__v1__resume_update__init(update);
    const char *input = wait ? decision_input(decision, wait, arena) : NULL;
    if (wait && !input)
        return NULL;
    update->overwrite_fields = overwrites;
    buffer_init(&text, wait ? UPDATE_MAX : TIMEOUT_MAX);
    json_writer_init(&out, &text);
    json_write_object(&out, NULL);
    decision_write_fields(update, &out, decision, input);
    if (decision->edit && wait) {
        decision_write_plan(&out, decision->edit, wait->state);
        overwrites[update->n_overwrite_fields++] = (char *)(uintptr_t) "task_plan";
    }
    decision_write_row(&out, decision, wait, request_id, digest);
    json_write_end(&out);
    update->update_json = json_writer_done(&out) ? arena_strdup(arena, buffer_text(&text)) : NULL;
    buffer_fini(&text);
    return update->update_json ? update : NULL;
}

Renga__V1__ResumeUpdate *autonomous_update(const Renga__V1__ResumeResearchRequest *request,
                                           const struct autonomous_wait *wait, struct arena *arena)
{
    char digest[2 * SHA256_SIZE + 1];
    struct decision decision = decision_of(request, wait);
    const char *request_id = request->options ? request->options->request_id : "";
    if (!autonomous_digest(request, digest, arena))
        return NULL;
    return decision_update(&decision, wait, request_id, digest, arena);
}

Renga__V1__InterruptTimeout *autonomous_timeout(const Renga__V1__AutonomousResearchRequest *request,
                                                struct arena *arena)
{
    bool stops = request->human_default == RENGA__V1__HUMAN_DEFAULT__HUMAN_DEFAULT_STOP;
    struct decision decision = {.action = stops ? "stop" : "approve",
                                .text = "",
                                .outcome = stops ? "end" : NULL,
                                .stop_reason = stops ? "no_answer" : NULL};
    Renga__V1__InterruptTimeout *timeout = arena_alloc(arena, sizeof *timeout);
    if (!timeout)
        return NULL;
    renga__v1__interrupt_timeout__init(timeout);
    timeout->after_ms = request->human_timeout_ms;
    timeout->then = RENGA__V1__INTERRUPT_DEFAULT__INTERRUPT_DEFAULT_RESUME;
    timeout->update = decision_update(&decision, NULL, "", "", arena);
    return timeout->update ? timeout : NULL;
}

/* ---- a request that may be a repetition -------------------------------------------------------------------------- */

bool autonomous_digest(const Renga__V1__ResumeResearchRequest *request, char digest[65], struct arena *arena)
{
    Renga__V1__ResumeResearchRequest decided = *request;
    decided.options = NULL;
    size_t size = renga__v1__resume_research_request__get_packed_size(&decided);
    uint8_t *bytes = arena_alloc(arena, size + 1);
    if (!bytes)
        return false;
    renga__v1__resume_research_request__pack(&decided, bytes);
    sha256_text_of(bytes, size, digest);
    return true;
}
