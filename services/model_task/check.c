#include "model_task/check.h"

#include "base/text.h"
#include "json/json.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define MODEL_MAX        128
#define TEMPLATE_MAX     ((size_t)65536)
#define VARIABLES_MAX    ((size_t)262144)
#define LANGUAGE_MAX     35
#define LANGUAGE_LETTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
#define LABELS_MAX       16

/* ---- texts ------------------------------------------------------------------------------------------------------- */

bool text_fits(struct status *st, const char *field, const char *text, size_t max)
{
    size_t length = strlen(text);
    return length <= max || fail_field(st, field, "has %zu bytes; at most %zu are allowed", length, max);
}

bool text_is_given(struct status *st, const char *field, const char *text, size_t max)
{
    if (!text_fits(st, field, text, max))
        return false;
    return !text_is_blank(text) || fail_field(st, field, "is %s; say something", *text ? "blank" : "empty");
}

/* ---- numbers and lists ------------------------------------------------------------------------------------------- */

bool count_fits(struct status *st, const char *field, size_t count, size_t max)
{
    return count <= max || fail_field(st, field, "has %zu elements; at most %zu are allowed", count, max);
}

bool number_fits(struct status *st, const char *field, int32_t number, int32_t max)
{
    return (number >= 0 && number <= max) ||
           fail_field(st, field, "is %d; it must be 0 (the default) or within 1 and %d", number, max);
}

bool share_fits(struct status *st, const char *field, double share)
{
    return (isfinite(share) && share >= 0 && share <= 1) ||
           fail_field(st, field, "is %g; it must be within 0 and 1", share);
}

const char *path_of(const char *list, size_t index, const char *field)
{
    static _Thread_local char path[STATUS_FIELD_MAX];
    snprintf(path, sizeof path, "%s[%zu]%s%s", list, index, *field ? "." : "", field);
    return path;
}

const char *field_in(const char *parent, const char *field)
{
    static _Thread_local char path[STATUS_FIELD_MAX];
    snprintf(path, sizeof path, "%s.%s", parent, field);
    return path;
}

bool texts_fit(struct status *st, const char *field, char *const *texts, size_t count, size_t count_max, size_t max)
{
    if (!count_fits(st, field, count, count_max))
        return false;
    for (size_t i = 0; i < count; i++)
        if (!text_is_given(st, path_of(field, i, ""), texts[i], max))
            return false;
    return true;
}

/* ---- how to think ------------------------------------------------------------------------------------------------ */

/* A BCP 47 tag as far as its letters go: "ja", "en-GB", "zh-Hant-TW". */
static bool check_is_language(const char *tag)
{
    size_t first = strspn(tag, LANGUAGE_LETTERS);
    if (first < 2 || first > 8)
        return false;
    for (tag += first; *tag;) {
        size_t part = *tag == '-' ? strspn(tag + 1, LANGUAGE_LETTERS "0123456789") : 0;
        if (part < 1 || part > 8)
            return false;
        tag += part + 1;
    }
    return true;
}

static bool check_terms(const Renga__V1__Prompting *prompting, struct status *st)
{
    double temperature = prompting->temperature;
    if (prompting->max_output_tokens < 0)
        return fail_field(st, "prompting.max_output_tokens", "is %d; it must be 0 (the route's own limit) or more",
                          prompting->max_output_tokens);
    if (prompting->max_model_calls < 0)
        return fail_field(st, "prompting.max_model_calls", "is %d; it must be 0 (3 calls) or more",
                          prompting->max_model_calls);
    if (prompting->without_model && prompting->model_required)
        return fail_field(st, "prompting.without_model",
                          "is true, and so is model_required; at most one of them can be");
    if (prompting->maybe_temperature_case && !(isfinite(temperature) && temperature >= 0 && temperature <= 2))
        return fail_field(st, "prompting.temperature", "is %g; it must be within 0 and 2", temperature);
    return true;
}

bool check_prompting(const Renga__V1__Prompting *prompting, struct status *st)
{
    static const char language[] = "prompting.language";
    if (!prompting)
        return true;
    return text_fits(st, "prompting.model", prompting->model, MODEL_MAX) &&
           text_fits(st, "prompting.system_template", prompting->system_template, TEMPLATE_MAX) &&
           text_fits(st, "prompting.user_template", prompting->user_template, TEMPLATE_MAX) &&
           text_fits(st, "prompting.variables_json", prompting->variables_json, VARIABLES_MAX) &&
           text_fits(st, language, prompting->language, LANGUAGE_MAX) &&
           (!prompting->language[0] || check_is_language(prompting->language) ||
            fail_field(st, language, "is \"%s\"; it must be a BCP 47 tag, such as \"ja\" or \"en-GB\"",
                       prompting->language)) &&
           check_terms(prompting, st);
}

bool check_origin_of(const Renga__V1__CallOrigin *origin, struct status *st)
{
    if (!origin)
        return true;
    for (size_t i = 0; i < origin->n_labels; i++)
        if (!text_fits(st, "origin.labels", origin->labels[i]->key, 64) ||
            !text_fits(st, "origin.labels", origin->labels[i]->value, 256))
            return false;
    return count_fits(st, "origin.labels", origin->n_labels, LABELS_MAX) &&
           text_fits(st, "origin.run_id", origin->run_id, 64) &&
           text_fits(st, "origin.thread_id", origin->thread_id, 128) &&
           text_fits(st, "origin.agent", origin->agent, 64) && text_fits(st, "origin.node", origin->node, 256);
}
