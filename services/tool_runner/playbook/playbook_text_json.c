/* A playbook as JSON. The document is checked whole; each bullet then by itself. */
#include "playbook/playbook_text_priv.h"

#include "base/iso_time.h"
#include "json/json.h"
#include "json/writer.h"

#include <math.h>
#include <stdio.h>
#include <time.h>

#define JSON_DEPTH    8
#define TIME_MS_MAX   INT64_C(253402300799999) /* the end of the year 9999 */
#define TIME_TEXT_MAX 40

/* ---- times ------------------------------------------------------------------------------------------------------- */

static void playbook_write_time(struct json_writer *json, const char *key, int64_t ms)
{
    char text[TIME_TEXT_MAX];
    time_t seconds = (time_t)(ms / 1000);
    struct tm parts;
    if (ms <= 0 || ms > TIME_MS_MAX || !gmtime_r(&seconds, &parts)) {
        json_write_null(json, key);
        return;
    }
    size_t length = strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &parts);
    snprintf(text + length, sizeof text - length, ".%03dZ", (int)(ms % 1000));
    json_write_string(json, key, text);
}

static bool playbook_read_time(struct playbook_reading *reading, const cJSON *object, const char *name, int64_t *ms)
{
    const cJSON *value = cJSON_GetObjectItemCaseSensitive(object, name);
    struct iso_time time;
    if (!value || cJSON_IsNull(value))
        return true;
    const char *text = cJSON_IsString(value) ? value->valuestring : "";
    if (!iso_time_parse(text, &time) || time.kind != ISO_INSTANT || time.seconds < 0)
        return playbook_problem(
            reading, "%s is '%.60s'; it must be a time such as \"2026-01-31T09:30:15.123Z\", or null", name, text);
    *ms = time.seconds * 1000 + time.nanoseconds / 1000000;
    return true;
}

/* ---- reading ----------------------------------------------------------------------------------------------------- */

static bool playbook_read_string(struct playbook_reading *reading, const cJSON *object, const char *name, bool required,
                                 char **text)
{
    const cJSON *value = cJSON_GetObjectItemCaseSensitive(object, name);
    if ((!value || cJSON_IsNull(value)) && !required)
        return true;
    if (!value)
        return playbook_problem(reading, "%s is missing; it must be a string", name);
    if (!cJSON_IsString(value))
        return playbook_problem(reading, "%s is no string; it must be one", name);
    return (*text = arena_strdup(reading->arena, value->valuestring)) != NULL;
}

static bool playbook_read_number(struct playbook_reading *reading, const cJSON *object, const char *name,
                                 int32_t *count)
{
    const cJSON *value = cJSON_GetObjectItemCaseSensitive(object, name);
    if (!value || cJSON_IsNull(value))
        return true;
    double number = value->valuedouble;
    if (!cJSON_IsNumber(value) || !(number >= 0 && number <= PLAYBOOK_COUNT_MAX) || number > floor(number))
        return playbook_problem(reading, "%s is no count; it must be a whole number of 0 to %d", name,
                                PLAYBOOK_COUNT_MAX);
    *count = (int32_t)number;
    return true;
}

static void playbook_read_object(struct playbook_reading *reading, const cJSON *object)
{
    Renga__V1__Bullet *bullet = arena_alloc(reading->arena, sizeof *bullet);
    if (!bullet)
        return;
    renga__v1__bullet__init(bullet);
    if (!cJSON_IsObject(object))
        playbook_problem(reading, "the bullet is no object; it must be {\"id\", \"section\", \"content\", …}");
    else if (playbook_read_string(reading, object, "id", false, &bullet->id) &&
             playbook_read_string(reading, object, "section", false, &bullet->section) &&
             playbook_read_string(reading, object, "content", true, &bullet->content) &&
             playbook_read_string(reading, object, "source", false, &bullet->source) &&
             playbook_read_number(reading, object, "helpful", &bullet->helpful) &&
             playbook_read_number(reading, object, "harmful", &bullet->harmful) &&
             playbook_read_time(reading, object, "created_at", &bullet->created_ms) &&
             playbook_read_time(reading, object, "updated_at", &bullet->updated_ms))
        playbook_reading_add(reading, bullet);
}

bool playbook_json_read(struct playbook_reading *reading, const char *text, size_t length, struct status *st)
{
    const struct json_limits limits = {.depth = JSON_DEPTH, .bytes = PLAYBOOK_TEXT_MAX};
    struct status why = {.code = OK};
    cJSON *root = json_parse(text, length, &limits, &why);
    if (!root)
        return why.code == RESOURCE_EXHAUSTED ? fail(st, RESOURCE_EXHAUSTED, "%s", why.text)
                                              : fail_field(st, "text", "is no JSON that can be read: %s", why.text);
    const cJSON *bullets = cJSON_GetObjectItemCaseSensitive(root, "bullets"), *one;
    bool read = cJSON_IsObject(root) && cJSON_IsArray(bullets);
    if (read)
        cJSON_ArrayForEach(one, bullets)
        {
            reading->number++;
            playbook_read_object(reading, one);
        }
    cJSON_Delete(root);
    return read || fail_field(st, "text", "is no playbook; it must be an object with an array \"bullets\"");
}

/* ---- writing ----------------------------------------------------------------------------------------------------- */

static void playbook_write_object(struct json_writer *json, const Renga__V1__Bullet *bullet)
{
    json_write_object(json, NULL);
    json_write_string(json, "id", bullet->id);
    json_write_string(json, "section", bullet->section);
    json_write_string(json, "content", bullet->content);
    json_write_int(json, "helpful", bullet->helpful);
    json_write_int(json, "harmful", bullet->harmful);
    playbook_write_time(json, "created_at", bullet->created_ms);
    playbook_write_time(json, "updated_at", bullet->updated_ms);
    json_write_string(json, "source", bullet->source);
    json_write_end(json);
}

void playbook_json_write(struct buffer *out, const char *dataset, int64_t revision, Renga__V1__Bullet *const *bullets,
                         size_t count)
{
    struct json_writer json;
    json_writer_init(&json, out);
    json_write_object(&json, NULL);
    json_write_string(&json, "dataset", dataset);
    json_write_int(&json, "revision", revision);
    json_write_array(&json, "bullets");
    for (size_t i = 0; i < count; i++)
        playbook_write_object(&json, bullets[i]);
    json_write_end(&json);
    json_write_end(&json);
    buffer_put(out, '\n');
}
