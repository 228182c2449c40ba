#include "trajectory_json.h"

#include "base/iso_time.h"
#include "json/json.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#define SHOWN_MAX 48 /* bytes of a wrong value in an error */

static const char *const status_words[] = {
    [RENGA__V1__TRAJECTORY_STATUS__TRAJECTORY_STATUS_SUCCESS] = "success",
    [RENGA__V1__TRAJECTORY_STATUS__TRAJECTORY_STATUS_FAILURE] = "failure",
};

/* ---- write ------------------------------------------------------------------------------------------------------- */

static void write_time(struct json_writer *out, const char *key, int64_t ms)
{
    char text[40], fraction[8] = "";
    struct tm day;
    time_t seconds = (time_t)(ms / 1000);
    gmtime_r(&seconds, &day);
    if (ms % 1000)
        snprintf(fraction, sizeof fraction, ".%03d", (int)(ms % 1000));
    snprintf(text, sizeof text, "%04d-%02d-%02dT%02d:%02d:%02d%sZ", (day.tm_year + 1900) % 10000, day.tm_mon + 1,
             day.tm_mday, day.tm_hour, day.tm_min, day.tm_sec, fraction);
    json_write_string(out, key, text);
}

void trajectory_write_json(struct json_writer *out, const char *key, const Renga__V1__Trajectory *trajectory)
{
    bool failed = trajectory->maybe_error_message_case == RENGA__V1__TRAJECTORY__MAYBE_ERROR_MESSAGE_ERROR_MESSAGE;
    json_write_object(out, key);
    json_write_string(out, "query", trajectory->query);
    json_write_string(out, "dataset", trajectory->dataset);
    json_write_string(out, "generated_answer", trajectory->generated_answer);
    json_write_strings(out, "reasoning_steps", trajectory->reasoning_steps, trajectory->n_reasoning_steps);
    json_write_strings(out, "used_bullet_ids", trajectory->used_bullet_ids, trajectory->n_used_bullet_ids);
    json_write_string(out, "status", status_words[trajectory->status]);
    json_write_string(out, "error_message", failed ? trajectory->error_message : NULL);
    write_time(out, "created_at", trajectory->created_ms);
    json_write_end(out);
}

/* ---- read -------------------------------------------------------------------------------------------------------- */

struct trajectory_reading {
    const cJSON *object;
    struct arena *arena;
    struct status *st;
};

/* A value as an error shows it: "5, a number". */
static const char *trajectory_json_shown(const cJSON *value, char text[SHOWN_MAX + 32])
{
    if (!value)
        return "missing";
    if (cJSON_IsNull(value))
        return "null";
    if (cJSON_IsBool(value))
        return cJSON_IsTrue(value) ? "true, a boolean" : "false, a boolean";
    if (cJSON_IsNumber(value))
        snprintf(text, SHOWN_MAX + 32, "%.17g, a number", value->valuedouble);
    else if (cJSON_IsString(value))
        snprintf(text, SHOWN_MAX + 32, "'%.*s', a string", SHOWN_MAX, value->valuestring);
    else
        return cJSON_IsArray(value) ? "a list" : "an object";
    return text;
}

static bool refuse_type(struct trajectory_reading *in, const char *field, const cJSON *value, const char *right)
{
    char text[SHOWN_MAX + 32];
    return fail_field(in->st, field, "is %s; it must be %s", trajectory_json_shown(value, text), right);
}

static char *trajectory_json_read_text(struct trajectory_reading *in, const char *field, const cJSON *value,
                                       size_t most)
{
    if (!cJSON_IsString(value)) {
        refuse_type(in, field, value, "a string");
        return NULL;
    }
    size_t size = strlen(value->valuestring);
    char *copy = NULL;
    if (size > most)
        fail_field(in->st, field, "has %zu bytes; at most %zu are allowed", size, most);
    else if (!(copy = arena_strdup(in->arena, value->valuestring)))
        fail(in->st, RESOURCE_EXHAUSTED, "no memory for the trajectory");
    return copy;
}

static bool read_member(struct trajectory_reading *in, const char *field, size_t most, char **text)
{
    *text = trajectory_json_read_text(in, field, cJSON_GetObjectItemCaseSensitive(in->object, field), most);
    return *text != NULL;
}

static bool trajectory_json_read_texts(struct trajectory_reading *in, const char *field, size_t count_max,
                                       size_t bytes_max, char ***texts, size_t *count)
{
    const cJSON *list = cJSON_GetObjectItemCaseSensitive(in->object, field), *item;
    char place[STATUS_FIELD_MAX];
    if (!cJSON_IsArray(list))
        return refuse_type(in, field, list, "a list of strings");
    size_t size = (size_t)cJSON_GetArraySize(list);
    if (size > count_max)
        return fail_field(in->st, field, "has %zu items; at most %zu are allowed", size, count_max);
    *texts = arena_alloc(in->arena, (size + 1) * sizeof **texts);
    if (!*texts)
        return fail(in->st, RESOURCE_EXHAUSTED, "no memory for the trajectory");
    cJSON_ArrayForEach(item, list)
    {
        snprintf(place, sizeof place, "%s[%zu]", field, *count);
        (*texts)[*count] = trajectory_json_read_text(in, place, item, bytes_max);
        if (!(*texts)[(*count)++])
            return false;
    }
    return true;
}

static bool trajectory_json_read_status(struct trajectory_reading *in, Renga__V1__TrajectoryStatus *status)
{
    const cJSON *value = cJSON_GetObjectItemCaseSensitive(in->object, "status");
    const char *word = cJSON_GetStringValue(value);
    for (size_t i = RENGA__V1__TRAJECTORY_STATUS__TRAJECTORY_STATUS_SUCCESS;
         word && i < sizeof status_words / sizeof *status_words; i++)
        if (strcmp(word, status_words[i]) == 0) {
            *status = (Renga__V1__TrajectoryStatus)i;
            return true;
        }
    return refuse_type(in, "status", value, "\"success\" or \"failure\"");
}

static bool trajectory_json_read_error(struct trajectory_reading *in, Renga__V1__Trajectory *trajectory)
{
    const cJSON *value = cJSON_GetObjectItemCaseSensitive(in->object, "error_message");
    if (!value || cJSON_IsNull(value))
        return true;
    if (!cJSON_IsString(value))
        return refuse_type(in, "error_message", value, "a string or null");
    trajectory->maybe_error_message_case = RENGA__V1__TRAJECTORY__MAYBE_ERROR_MESSAGE_ERROR_MESSAGE;
    return read_member(in, "error_message", TRAJECTORY_ERROR_MAX, &trajectory->error_message);
}

static bool trajectory_json_read_time(struct trajectory_reading *in, int64_t *ms)
{
    const cJSON *value = cJSON_GetObjectItemCaseSensitive(in->object, "created_at");
    struct iso_time time;
    if (!value)
        return true;
    bool good = cJSON_IsString(value) && iso_time_parse(value->valuestring, &time) &&
                (time.kind == ISO_LOCAL || time.kind == ISO_INSTANT) && time.seconds >= 0 &&
                time.seconds <= TRAJECTORY_TIME_MAX / 1000;
    if (good)
        *ms = time.seconds * 1000 + time.nanoseconds / 1000000;
    return good ||
           refuse_type(in, "created_at", value, "a date with a time since 1970, such as \"2025-01-15T10:30:00Z\"");
}

Renga__V1__Trajectory *trajectory_read_json(const cJSON *value, struct arena *arena, struct status *st)
{
    struct trajectory_reading in = {.object = value, .arena = arena, .st = st};
    Renga__V1__Trajectory *made = arena_alloc(arena, sizeof *made);
    if (!cJSON_IsObject(value)) {
        refuse_type(&in, "trajectory", value, "an object");
        return NULL;
    }
    if (!made) {
        fail(st, RESOURCE_EXHAUSTED, "no memory for the trajectory");
        return NULL;
    }
    renga__v1__trajectory__init(made);
    bool good = read_member(&in, "query", TRAJECTORY_QUERY_MAX, &made->query) &&
                read_member(&in, "dataset", TRAJECTORY_DATASET_MAX, &made->dataset) &&
                read_member(&in, "generated_answer", TRAJECTORY_ANSWER_MAX, &made->generated_answer) &&
                trajectory_json_read_texts(&in, "reasoning_steps", TRAJECTORY_STEPS_MAX, TRAJECTORY_STEP_MAX,
                                           &made->reasoning_steps, &made->n_reasoning_steps) &&
                trajectory_json_read_texts(&in, "used_bullet_ids", TRAJECTORY_IDS_MAX, TRAJECTORY_ID_MAX,
                                           &made->used_bullet_ids, &made->n_used_bullet_ids) &&
                trajectory_json_read_status(&in, &made->status) && trajectory_json_read_error(&in, made) &&
                trajectory_json_read_time(&in, &made->created_ms);
    return good ? made : NULL;
}

Renga__V1__Trajectory *trajectory_parse_json(const char *text, size_t size, struct arena *arena, struct status *st)
{
    cJSON *value = json_parse(text, size, NULL, st);
    Renga__V1__Trajectory *made = value ? trajectory_read_json(value, arena, st) : NULL;
    cJSON_Delete(value);
    return made;
}
