/* The answer as JSON: checks the requested format, independently of the provider's promises.
 *
 * A byte order mark before the JSON and a fence around it (```json ... ```) are accepted: the JSON inside becomes
 * structured_json. Prose around the JSON is not accepted: the right braces would be a guess. */
#include "answer.h"

#include "json/schema.h"

#include <string.h>

#define PROBLEMS_MAX (JSON_SCHEMA_PROBLEMS_MAX * (JSON_SCHEMA_PROBLEM_MAX + 1))

static const char SCHEMA_FIELD[] = "response_format.schema_json";
static const char BYTE_ORDER_MARK[] = "\xEF\xBB\xBF";
static const char FENCE[] = "```";

static bool has_schema(const Renga__V1__ResponseFormat *format)
{
    return format && format->kind == RENGA__V1__RESPONSE_FORMAT_KIND__RESPONSE_FORMAT_KIND_JSON_SCHEMA;
}

bool answer_wants_json(const struct answer *answer)
{
    const Renga__V1__ResponseFormat *format = answer->request->response_format;
    return has_schema(format) ||
           (format && format->kind == RENGA__V1__RESPONSE_FORMAT_KIND__RESPONSE_FORMAT_KIND_JSON_OBJECT);
}

bool answer_expect(struct answer *answer, struct status *st)
{
    struct status why = {0};
    const Renga__V1__ResponseFormat *format = answer->request->response_format;
    if (!has_schema(format))
        return true;
    cJSON *tree = json_parse(format->schema_json, strlen(format->schema_json), NULL, &why);
    if (!tree)
        return fail_field(st, SCHEMA_FIELD, "is not JSON: %s", why.text);
    answer->schema =
        json_schema_compile(answer->arena, tree, format->strict ? JSON_SCHEMA_STRICT : JSON_SCHEMA_PLAIN, &why);
    cJSON_Delete(tree);
    if (answer->schema)
        return true;
    return why.code == INVALID_ARGUMENT ? fail_field(st, SCHEMA_FIELD, "%s", why.text)
                                        : fail(st, why.code, "%s: %s", SCHEMA_FIELD, why.text);
}

/* ---- around the JSON --------------------------------------------------------------------------------------------- */

struct span {
    const char *bytes;
    size_t size;
};

static struct span answer_json_trimmed(struct span text)
{
    while (text.size && strchr(" \t\r\n", text.bytes[0])) {
        text.bytes++;
        text.size--;
    }
    while (text.size && strchr(" \t\r\n", text.bytes[text.size - 1]))
        text.size--;
    return text;
}

static struct span without_fences(struct span text)
{
    size_t fence = sizeof FENCE - 1;
    if (text.size < 2 * fence || memcmp(text.bytes, FENCE, fence) != 0 ||
        memcmp(text.bytes + text.size - fence, FENCE, fence) != 0)
        return text;
    const char *line = memchr(text.bytes, '\n', text.size - fence);
    if (!line)
        return text;
    const char *end = text.bytes + text.size - fence;
    return answer_json_trimmed((struct span){.bytes = line, .size = (size_t)(end - line)});
}

/* ---- the JSON ---------------------------------------------------------------------------------------------------- */

static bool fits_schema(const struct json_schema *schema, struct span json, struct buffer *problems, struct status *st)
{
    cJSON *tree = json_parse(json.bytes, json.size, NULL, st);
    bool good = tree && json_schema_check(schema, tree, problems, st);
    cJSON_Delete(tree);
    return good;
}

static bool is_object(struct span json, struct status *st)
{
    return json_check(json.bytes, json.size, NULL, st) &&
           (json.bytes[0] == '{' || fail(st, INVALID_ARGUMENT, "(the whole): must be an object"));
}

static bool answer_json_fits(const struct answer *answer, struct span json, struct buffer *problems, struct status *st)
{
    return answer->schema ? fits_schema(answer->schema, json, problems, st) : is_object(json, st);
}

bool answer_check_json(struct answer *answer, char **json, struct failure *failure)
{
    const struct answer_text *text = &answer->parts[ANSWER_TEXT];
    struct span all = {.bytes = text->bytes, .size = text->size};
    size_t mark = sizeof BYTE_ORDER_MARK - 1;
    if (all.size >= mark && memcmp(all.bytes, BYTE_ORDER_MARK, mark) == 0)
        all = (struct span){.bytes = all.bytes + mark, .size = all.size - mark};
    struct span inside = without_fences(answer_json_trimmed(all));
    struct status st = {0};
    struct buffer problems;
    buffer_init(&problems, PROBLEMS_MAX);
    bool good = answer_json_fits(answer, inside, &problems, &st);
    struct span sanitized = inside;
    if (!good && (sanitized.bytes = answer_sanitize(answer->arena, inside.bytes, &sanitized.size))) {
        inside = sanitized;
        status_clear(&st);
        buffer_clear(&problems);
        good = answer_json_fits(answer, inside, &problems, &st);
    }
    if (good) {
        *json = inside.bytes == text->bytes && inside.size == text->size
                    ? text->bytes
                    : arena_strndup(answer->arena, inside.bytes, inside.size);
        buffer_fini(&problems);
        return *json || fail(&failure->status, RESOURCE_EXHAUSTED, "the answer takes more memory than a call may have");
    }
    failure->problem = arena_strdup(answer->arena, problems.length ? buffer_text(&problems) : st.text);
    failure->raw_text = text->bytes;
    failure->raw_size = text->size;
    failure->mendable = failure->problem && st.code == INVALID_ARGUMENT;
    buffer_fini(&problems);
    /* The model's text stands only in the detail: this text is logged. */
    return fail(&failure->status, DATA_LOSS,
                "the model's answer is not the JSON that was asked for; the detail renga.v1.InvalidOutput shows it");
}
