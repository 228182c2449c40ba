/* The rules of the contract for each request, row by row. */
#include "check_priv.h"

#include "renga/v1/orchestrator.pb-c.h"

#include <stdio.h>
#include <string.h>

#define REQUEST_ID_MAX    128
#define NAME_MAX_BYTES    64 /* of agents, versions, runs, checkpoints, interrupts, nodes, fields, outcomes */
#define THREAD_ID_MAX     128
#define STATE_JSON_MAX    3145728
#define CONFIGURATION_MAX 262144
#define ANSWER_MAX        262144
#define ANSWERS_MAX       1000
#define RESUME_JSON_MAX   ((size_t)1 << 20)
#define TIMEOUT_JSON_MAX  32768
#define INTERRUPT_MAX_MS  (INT64_C(365) * 24 * 3600 * 1000)
#define FIELDS_MAX        1000
#define PAGE_MAX          500
#define TOKEN_MAX         256
#define PATH_MAX_BYTES    1024
#define REASON_MAX        1024
#define HEARTBEAT_MIN_MS  1000
#define RECURSION_MAX     1000000
#define CONCURRENCY_MAX   100000
#define CHECKPOINTS_MAX   1000000

#define OF(Type, name) offsetof(Renga__V1__##Type, name)
#define TEXT(Type, name, most, is)                                                                                     \
    {                                                                                                                  \
        .field = #name, .offset = OF(Type, name), .max = (most), .form = (is)                                          \
    }
#define NEEDED(Type, name, most)                                                                                       \
    {                                                                                                                  \
        .field = #name, .offset = OF(Type, name), .max = (most), .form = TEXT_ID, .required = true                     \
    }
#define TEXTS(Type, name, most_of_them, most)                                                                          \
    {                                                                                                                  \
        .field = #name, .offset = OF(Type, name), .count_offset = OF(Type, n_##name), .count_max = (most_of_them),     \
        .max = (most), .form = TEXT_ID                                                                                 \
    }
#define NUMBER(Type, name, low, high)                                                                                  \
    {                                                                                                                  \
        .field = #name, .offset = OF(Type, name), .wide = false, .min = (low), .max = (high)                           \
    }
#define TIME(Type, name, low)                                                                                          \
    {                                                                                                                  \
        .field = #name, .offset = OF(Type, name), .wide = true, .min = (low), .max = INT64_MAX                         \
    }
#define CHOICES(Type, name, most_of_them, descriptor)                                                                  \
    {                                                                                                                  \
        .field = #name, .values = (descriptor), .offset = OF(Type, name), .count_offset = OF(Type, n_##name),          \
        .count_max = (most_of_them), .not_zero = true                                                                  \
    }
#define MAP(Type, name, most_of_them, key, value)                                                                      \
    {                                                                                                                  \
        .field = #name, .offset = OF(Type, name), .count_offset = OF(Type, n_##name), .count_max = (most_of_them),     \
        .key_max = (key), .value_max = (value)                                                                         \
    }
#define RULES(Type, kind) static const struct kind##_rule Type##_##kind##s[]

/* ---- starting and going on --------------------------------------------------------------------------------------- */

static bool check_rules_budget(const Renga__V1__Budget *budget, struct status *st)
{
    if (!budget)
        return true;
    if (budget->maybe_model_calls_case && budget->model_calls < 0)
        return fail_field(st, "budget.model_calls", "is %lld; 0 is nothing at all, absent is no limit",
                          (long long)budget->model_calls);
    if (budget->maybe_tokens_case && budget->tokens < 0)
        return fail_field(st, "budget.tokens", "is %lld; 0 is nothing at all, absent is no limit",
                          (long long)budget->tokens);
    if (budget->maybe_tool_calls_case && budget->tool_calls < 0)
        return fail_field(st, "budget.tool_calls", "is %lld; 0 is nothing at all, absent is no limit",
                          (long long)budget->tool_calls);
    if (budget->maybe_duration_ms_case && budget->duration_ms < 0)
        return fail_field(st, "budget.duration_ms", "is %lld; 0 is nothing at all, absent is no limit",
                          (long long)budget->duration_ms);
    if (budget->maybe_cost_micros_case && budget->cost_micros < 0)
        return fail_field(st, "budget.cost_micros", "is %lld; 0 is nothing at all, absent is no limit",
                          (long long)budget->cost_micros);
    return true;
}

static bool check_retention(const Renga__V1__Retention *retention, struct status *st)
{
    if (!retention)
        return true;
    if (retention->ttl_ms < -1)
        return fail_field(st, "retention.ttl_ms", "is %lld; -1 is never", (long long)retention->ttl_ms);
    if (retention->max_age_ms < -1)
        return fail_field(st, "retention.max_age_ms", "is %lld; -1 is for ever", (long long)retention->max_age_ms);
    return (retention->max_checkpoints >= -1 && retention->max_checkpoints <= CHECKPOINTS_MAX) ||
           fail_field(st, "retention.max_checkpoints", "is %d; it must be within -1 (all) and %d",
                      retention->max_checkpoints, CHECKPOINTS_MAX);
}

static bool check_update_fields(const char *name, char *const *fields, size_t count, struct status *st)
{
    char field[STATUS_FIELD_MAX];
    if (count > FIELDS_MAX)
        return fail_field(st, name, "has %zu entries; at most %d are allowed", count, FIELDS_MAX);
    for (size_t i = 0; i < count; i++) {
        snprintf(field, sizeof field, "%s[%zu]", name, i);
        if (!fields[i][0])
            return fail_field(st, field, "is empty; leave it out");
        if (!check_text(field, fields[i], NAME_MAX_BYTES, TEXT_ID, st))
            return false;
    }
    return true;
}

/* Its fields are named without their path: update.outcome, also of interrupt_timeout. */
static bool check_resume_update(const Renga__V1__ResumeUpdate *update, size_t json_max, struct status *st)
{
    if (!update)
        return true;
    if (update->outcome[0] && !update->as_node[0])
        return fail_field(st, "update.outcome", "is '%.64s', but goes with as_node, which is empty", update->outcome);
    return check_text("update.as_node", update->as_node, NAME_MAX_BYTES, TEXT_ID, st) &&
           check_text("update.outcome", update->outcome, NAME_MAX_BYTES, TEXT_ID, st) &&
           check_text("update.update_json", update->update_json, json_max, TEXT_OBJECT, st) &&
           check_update_fields("update.overwrite_fields", update->overwrite_fields, update->n_overwrite_fields, st) &&
           check_update_fields("update.clear_fields", update->clear_fields, update->n_clear_fields, st);
}

static bool check_rules_interrupt_timeout(const Renga__V1__InterruptTimeout *limit, struct status *st)
{
    if (!limit)
        return true;
    if (limit->after_ms < 1 || limit->after_ms > INTERRUPT_MAX_MS)
        return fail_field(st, "interrupt_timeout.after_ms", "is %lld; it must be within 1 and %lld",
                          (long long)limit->after_ms, (long long)INTERRUPT_MAX_MS);
    if (!protobuf_c_enum_descriptor_get_value(&renga__v1__interrupt_default__descriptor, (int)limit->then))
        return fail_field(st, "interrupt_timeout.then", "is %d; 1 (RESUME) and 2 (CANCEL) are allowed",
                          (int)limit->then);
    if (limit->update && limit->then == RENGA__V1__INTERRUPT_DEFAULT__INTERRUPT_DEFAULT_CANCEL)
        return fail_field(st, "interrupt_timeout.update", "goes with RESUME; leave it out");
    return check_resume_update(limit->update, TIMEOUT_JSON_MAX, st);
}

RULES(StartRunRequest, text) = {
    TEXT(StartRunRequest, request_id, REQUEST_ID_MAX, TEXT_ID),
    NEEDED(StartRunRequest, agent, NAME_MAX_BYTES),
    TEXT(StartRunRequest, graph_version, NAME_MAX_BYTES, TEXT_ID),
    TEXT(StartRunRequest, thread_id, THREAD_ID_MAX, TEXT_ID),
    TEXT(StartRunRequest, input_json, STATE_JSON_MAX, TEXT_OBJECT),
    TEXT(StartRunRequest, configuration_json, CONFIGURATION_MAX, TEXT_OBJECT),
    TEXT(StartRunRequest, checkpoint_id, NAME_MAX_BYTES, TEXT_ID),
    TEXTS(StartRunRequest, interrupt_before, 64, PATH_MAX_BYTES),
    TEXTS(StartRunRequest, interrupt_after, 64, PATH_MAX_BYTES),
    {0},
};
RULES(StartRunRequest, number) = {
    TIME(StartRunRequest, timeout_ms, 0),
    TIME(StartRunRequest, idle_timeout_ms, 0),
    NUMBER(StartRunRequest, recursion_limit, 0, RECURSION_MAX),
    NUMBER(StartRunRequest, max_concurrency, 0, CONCURRENCY_MAX),
    {0},
};
RULES(StartRunRequest, choice) = {
    {.field = "on_busy", .values = &renga__v1__on_busy__descriptor, .offset = OF(StartRunRequest, on_busy)},
    {.field = "durability", .values = &renga__v1__durability__descriptor, .offset = OF(StartRunRequest, durability)},
    {0},
};
RULES(StartRunRequest, map) = {MAP(StartRunRequest, labels, 64, 64, 256), {0}};

static bool check_start(const ProtobufCMessage *message, struct status *st)
{
    const Renga__V1__StartRunRequest *request = (const Renga__V1__StartRunRequest *)message;
    if (request->checkpoint_id[0] && !request->thread_id[0])
        return fail_field(st, "thread_id", "is empty; checkpoint_id needs the thread it is of");
    return check_rules_budget(request->budget, st) && check_retention(request->retention, st) &&
           check_rules_interrupt_timeout(request->interrupt_timeout, st);
}

RULES(ResumeRunRequest, text) = {
    TEXT(ResumeRunRequest, request_id, REQUEST_ID_MAX, TEXT_ID),
    TEXT(ResumeRunRequest, run_id, NAME_MAX_BYTES, TEXT_ID),
    TEXT(ResumeRunRequest, thread_id, THREAD_ID_MAX, TEXT_ID),
    TEXT(ResumeRunRequest, expected_checkpoint_id, NAME_MAX_BYTES, TEXT_ID),
    {0},
};
RULES(ResumeRunRequest, number) = {
    NUMBER(ResumeRunRequest, recursion_limit, 0, RECURSION_MAX),
    TIME(ResumeRunRequest, timeout_ms, 0),
    {0},
};

static bool check_answer(const char *field, const char *json, struct status *st)
{
    if (!json[0])
        return fail_field(st, field, "is empty; an answer is a JSON value, be it null or \"\"");
    return check_text(field, json, ANSWER_MAX, TEXT_JSON, st);
}

static bool check_answer_at(const Renga__V1__ResumeRunRequest *request, size_t i, struct status *st)
{
    char id[STATUS_FIELD_MAX], json[STATUS_FIELD_MAX];
    const Renga__V1__InterruptAnswer *answer = request->answers[i];
    snprintf(id, sizeof id, "answers[%zu].interrupt_id", i);
    snprintf(json, sizeof json, "answers[%zu].answer_json", i);
    if (!answer->interrupt_id[0])
        return fail_field(st, id, "is empty; it is required");
    for (size_t other = 0; other < i; other++)
        if (strcmp(request->answers[other]->interrupt_id, answer->interrupt_id) == 0)
            return fail_field(st, id, "is that of answers[%zu] too; answer each question once", other);
    return check_text(id, answer->interrupt_id, NAME_MAX_BYTES, TEXT_ID, st) &&
           check_answer(json, answer->answer_json, st);
}

static bool check_resume(const ProtobufCMessage *message, struct status *st)
{
    const Renga__V1__ResumeRunRequest *request = (const Renga__V1__ResumeRunRequest *)message;
    bool bare = request->maybe_answer_json_case == RENGA__V1__RESUME_RUN_REQUEST__MAYBE_ANSWER_JSON_ANSWER_JSON;
    if (!request->run_id[0] && !request->thread_id[0])
        return fail_field(st, "run_id", "is empty, and so is thread_id; one of them is required");
    if (bare && request->n_answers)
        return fail_field(st, "answer_json", "does not go together with answers; give one or the other");
    if (request->n_answers > ANSWERS_MAX)
        return fail_field(st, "answers", "has %zu entries; at most %d are allowed", request->n_answers, ANSWERS_MAX);
    for (size_t i = 0; i < request->n_answers; i++)
        if (!check_answer_at(request, i, st))
            return false;
    return (!bare || check_answer("answer_json", request->answer_json, st)) &&
           check_rules_budget(request->budget, st) && check_resume_update(request->update, RESUME_JSON_MAX, st);
}

RULES(CancelRunRequest, text) = {
    NEEDED(CancelRunRequest, run_id, NAME_MAX_BYTES),
    TEXT(CancelRunRequest, reason, REASON_MAX, TEXT_ANY),
    {0},
};

RULES(MigrateRunRequest, text) = {
    NEEDED(MigrateRunRequest, run_id, NAME_MAX_BYTES),
    TEXT(MigrateRunRequest, graph_version, NAME_MAX_BYTES, TEXT_ID),
    {0},
};
RULES(MigrateRunRequest, map) = {MAP(MigrateRunRequest, renamed_nodes, 100, 2 * 64 + 1, 64), {0}};

/* ---- looking ----------------------------------------------------------------------------------------------------- */

RULES(WatchRunRequest, text) = {NEEDED(WatchRunRequest, run_id, NAME_MAX_BYTES), {0}};
RULES(WatchRunRequest, number) = {
    TIME(WatchRunRequest, after_event_id, -1),
    TIME(WatchRunRequest, heartbeat_ms, 0),
    {0},
};
RULES(WatchRunRequest, choice) = {CHOICES(WatchRunRequest, kinds, 32, &renga__v1__run_event_kind__descriptor), {0}};

static bool check_watch(const ProtobufCMessage *message, struct status *st)
{
    int64_t heartbeat_ms = ((const Renga__V1__WatchRunRequest *)message)->heartbeat_ms;
    return !heartbeat_ms || heartbeat_ms >= HEARTBEAT_MIN_MS ||
           fail_field(st, "heartbeat_ms", "is %lld; it must be %d or more, or 0 for 15,000", (long long)heartbeat_ms,
                      HEARTBEAT_MIN_MS);
}

RULES(GetRunRequest, text) = {NEEDED(GetRunRequest, run_id, NAME_MAX_BYTES), {0}};

RULES(ListRunsRequest, text) = {
    TEXT(ListRunsRequest, agent, NAME_MAX_BYTES, TEXT_ID),
    TEXT(ListRunsRequest, thread_id, THREAD_ID_MAX, TEXT_ID),
    TEXT(ListRunsRequest, page_token, TOKEN_MAX, TEXT_ID),
    {0},
};
RULES(ListRunsRequest, number) = {
    TIME(ListRunsRequest, created_from_ms, 0),
    TIME(ListRunsRequest, created_to_ms, 0),
    NUMBER(ListRunsRequest, page_size, 0, PAGE_MAX),
    {0},
};
RULES(ListRunsRequest, choice) = {
    CHOICES(ListRunsRequest, states, 8, &renga__v1__run_state__descriptor),
    CHOICES(ListRunsRequest, stop_reasons, 32, &renga__v1__stop_reason__descriptor),
    {0},
};
RULES(ListRunsRequest, map) = {MAP(ListRunsRequest, labels, 16, 64, 256), {0}};

RULES(DescribeAgentRequest, text) = {
    NEEDED(DescribeAgentRequest, agent, NAME_MAX_BYTES),
    TEXT(DescribeAgentRequest, graph_version, NAME_MAX_BYTES, TEXT_ID),
    {0},
};

/* ---- state and threads ------------------------------------------------------------------------------------------- */

RULES(GetStateRequest, text) = {
    NEEDED(GetStateRequest, thread_id, THREAD_ID_MAX),
    TEXT(GetStateRequest, checkpoint_id, NAME_MAX_BYTES, TEXT_ID),
    TEXT(GetStateRequest, path, PATH_MAX_BYTES, TEXT_ID),
    TEXTS(GetStateRequest, fields, FIELDS_MAX, NAME_MAX_BYTES),
    {0},
};

RULES(UpdateStateRequest, text) = {
    TEXT(UpdateStateRequest, request_id, REQUEST_ID_MAX, TEXT_ID),
    NEEDED(UpdateStateRequest, thread_id, THREAD_ID_MAX),
    TEXT(UpdateStateRequest, checkpoint_id, NAME_MAX_BYTES, TEXT_ID),
    TEXT(UpdateStateRequest, expected_checkpoint_id, NAME_MAX_BYTES, TEXT_ID),
    TEXT(UpdateStateRequest, as_node, NAME_MAX_BYTES, TEXT_ID),
    TEXT(UpdateStateRequest, outcome, NAME_MAX_BYTES, TEXT_ID),
    TEXT(UpdateStateRequest, update_json, STATE_JSON_MAX, TEXT_OBJECT),
    TEXTS(UpdateStateRequest, overwrite_fields, FIELDS_MAX, NAME_MAX_BYTES),
    TEXTS(UpdateStateRequest, clear_fields, FIELDS_MAX, NAME_MAX_BYTES),
    {0},
};

static bool check_update(const ProtobufCMessage *message, struct status *st)
{
    const Renga__V1__UpdateStateRequest *request = (const Renga__V1__UpdateStateRequest *)message;
    return !request->outcome[0] || request->as_node[0] ||
           fail_field(st, "outcome", "is '%.64s', but goes with as_node, which is empty", request->outcome);
}

RULES(ListCheckpointsRequest, text) = {
    NEEDED(ListCheckpointsRequest, thread_id, THREAD_ID_MAX),
    TEXT(ListCheckpointsRequest, run_id, NAME_MAX_BYTES, TEXT_ID),
    TEXT(ListCheckpointsRequest, path, PATH_MAX_BYTES, TEXT_ID),
    TEXT(ListCheckpointsRequest, ancestors_of, NAME_MAX_BYTES, TEXT_ID),
    TEXT(ListCheckpointsRequest, page_token, TOKEN_MAX, TEXT_ID),
    {0},
};
RULES(ListCheckpointsRequest, number) = {NUMBER(ListCheckpointsRequest, page_size, 0, PAGE_MAX), {0}};

RULES(ForkThreadRequest, text) = {
    TEXT(ForkThreadRequest, request_id, REQUEST_ID_MAX, TEXT_ID),
    NEEDED(ForkThreadRequest, thread_id, THREAD_ID_MAX),
    TEXT(ForkThreadRequest, checkpoint_id, NAME_MAX_BYTES, TEXT_ID),
    TEXT(ForkThreadRequest, new_thread_id, THREAD_ID_MAX, TEXT_ID),
    {0},
};

RULES(CopyThreadRequest, text) = {
    TEXT(CopyThreadRequest, request_id, REQUEST_ID_MAX, TEXT_ID),
    NEEDED(CopyThreadRequest, thread_id, THREAD_ID_MAX),
    TEXT(CopyThreadRequest, new_thread_id, THREAD_ID_MAX, TEXT_ID),
    {0},
};

RULES(DeleteThreadRequest, text) = {NEEDED(DeleteThreadRequest, thread_id, THREAD_ID_MAX), {0}};

RULES(ListThreadsRequest, text) = {
    TEXT(ListThreadsRequest, agent, NAME_MAX_BYTES, TEXT_ID),
    TEXT(ListThreadsRequest, page_token, TOKEN_MAX, TEXT_ID),
    {0},
};
RULES(ListThreadsRequest, number) = {
    TIME(ListThreadsRequest, updated_from_ms, 0),
    TIME(ListThreadsRequest, updated_to_ms, 0),
    NUMBER(ListThreadsRequest, page_size, 0, PAGE_MAX),
    {0},
};
RULES(ListThreadsRequest, choice) = {CHOICES(ListThreadsRequest, states, 8, &renga__v1__run_state__descriptor), {0}};
RULES(ListThreadsRequest, map) = {MAP(ListThreadsRequest, labels, 16, 64, 256), {0}};

/* ---- all of them ------------------------------------------------------------------------------------------------- */

const struct request_rules request_rules[] = {
    {&renga__v1__start_run_request__descriptor, StartRunRequest_texts, StartRunRequest_numbers, StartRunRequest_choices,
     StartRunRequest_maps, check_start},
    {&renga__v1__resume_run_request__descriptor, ResumeRunRequest_texts, ResumeRunRequest_numbers, NULL, NULL,
     check_resume},
    {&renga__v1__cancel_run_request__descriptor, CancelRunRequest_texts, NULL, NULL, NULL, NULL},
    {&renga__v1__migrate_run_request__descriptor, MigrateRunRequest_texts, NULL, NULL, MigrateRunRequest_maps, NULL},
    {&renga__v1__watch_run_request__descriptor, WatchRunRequest_texts, WatchRunRequest_numbers, WatchRunRequest_choices,
     NULL, check_watch},
    {&renga__v1__get_run_request__descriptor, GetRunRequest_texts, NULL, NULL, NULL, NULL},
    {&renga__v1__list_runs_request__descriptor, ListRunsRequest_texts, ListRunsRequest_numbers, ListRunsRequest_choices,
     ListRunsRequest_maps, NULL},
    {&renga__v1__describe_agent_request__descriptor, DescribeAgentRequest_texts, NULL, NULL, NULL, NULL},
    {&renga__v1__get_state_request__descriptor, GetStateRequest_texts, NULL, NULL, NULL, NULL},
    {&renga__v1__update_state_request__descriptor, UpdateStateRequest_texts, NULL, NULL, NULL, check_update},
    {&renga__v1__list_checkpoints_request__descriptor, ListCheckpointsRequest_texts, ListCheckpointsRequest_numbers,
     NULL, NULL, NULL},
    {&renga__v1__fork_thread_request__descriptor, ForkThreadRequest_texts, NULL, NULL, NULL, NULL},
    {&renga__v1__copy_thread_request__descriptor, CopyThreadRequest_texts, NULL, NULL, NULL, NULL},
    {&renga__v1__delete_thread_request__descriptor, DeleteThreadRequest_texts, NULL, NULL, NULL, NULL},
    {&renga__v1__list_threads_request__descriptor, ListThreadsRequest_texts, ListThreadsRequest_numbers,
     ListThreadsRequest_choices, ListThreadsRequest_maps, NULL},
    {0},
};
