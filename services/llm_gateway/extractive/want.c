/* The requested task, by the form of the answer. */
#include "extract.h"
#include "json/json.h"

#include <string.h>

#define PROPERTIES_MAX 3 /* of a form */

static const struct {
    enum extract_want want;
    const char *list; /* the property with the elements; NULL: no list */
    const char *properties[PROPERTIES_MAX];
} forms[] = {
    {WANT_SPLIT, "subtasks", {"subtasks"}},
    {WANT_JUDGEMENT, NULL, {"is_completed", "advice"}},
    {WANT_QUERY_PLAN, "queries", {"queries", "gaps", "reasoning"}},
    {WANT_QUERIES, "queries", {"queries"}},
};
#define FORMS (sizeof forms / sizeof forms[0])

static const cJSON *property(const cJSON *schema, const char *name)
{
    return cJSON_GetObjectItemCaseSensitive(cJSON_GetObjectItemCaseSensitive(schema, "properties"), name);
}

static bool is_of_form(size_t form, const char *name)
{
    for (size_t i = 0; i < PROPERTIES_MAX && forms[form].properties[i]; i++)
        if (strcmp(forms[form].properties[i], name) == 0)
            return true;
    return false;
}

/* The schema has all properties of the form, and requires no others. */
static bool want_fits(size_t form, const cJSON *schema)
{
    const cJSON *name;
    for (size_t i = 0; i < PROPERTIES_MAX && forms[form].properties[i]; i++)
        if (!property(schema, forms[form].properties[i]))
            return false;
    cJSON_ArrayForEach(name, cJSON_GetObjectItemCaseSensitive(schema, "required"))
    {
        if (!cJSON_IsString(name) || !is_of_form(form, name->valuestring))
            return false;
    }
    return true;
}

static size_t limit_of(const cJSON *list)
{
    const cJSON *most = cJSON_GetObjectItemCaseSensitive(list, "maxItems");
    if (!cJSON_IsNumber(most) || most->valuedouble >= EXTRACT_PARTS_MAX)
        return EXTRACT_PARTS_MAX;
    return most->valuedouble < 1 ? 1 : (size_t)most->valuedouble;
}

static bool find_form(const char *schema_json, enum extract_want *want, size_t *limit)
{
    struct status ignored = {0};
    cJSON *schema = json_parse(schema_json, strlen(schema_json), NULL, &ignored);
    size_t form = 0;
    while (form < FORMS && !want_fits(form, schema))
        form++;
    if (form < FORMS) {
        *want = forms[form].want;
        *limit = forms[form].list ? limit_of(property(schema, forms[form].list)) : 0;
    }
    cJSON_Delete(schema);
    return form < FORMS;
}

bool extract_want(const struct extract *extract, enum extract_want *want, size_t *limit, struct failure *failure)
{
    const Renga__V1__ResponseFormat *format = extract->request->response_format;
    *want = WANT_REPLY;
    *limit = 0;
    if (!format || format->kind == RENGA__V1__RESPONSE_FORMAT_KIND__RESPONSE_FORMAT_KIND_UNSPECIFIED ||
        format->kind == RENGA__V1__RESPONSE_FORMAT_KIND__RESPONSE_FORMAT_KIND_TEXT)
        return true;
    if (format->kind == RENGA__V1__RESPONSE_FORMAT_KIND__RESPONSE_FORMAT_KIND_JSON_SCHEMA &&
        find_form(format->schema_json, want, limit))
        return true;
    failure->reason = FAILURE_NO_MODEL;
    return fail(
        &failure->status, FAILED_PRECONDITION,
        "the extractive provider fills objects with subtasks, with is_completed and advice, or with queries, and "
        "no others such as '%.64s'; ask a language model for it",
        format->name[0] ? format->name : "any JSON object");
}
