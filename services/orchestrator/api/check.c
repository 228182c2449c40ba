#include "check_priv.h"

#include "json/json.h"

#include <stdio.h>
#include <string.h>

#define SHOWN_MAX 64 /* bytes of a wrong value that the error repeats */

static const void *at(const ProtobufCMessage *request, size_t offset)
{
    return (const char *)request + offset;
}

static size_t check_count_at(const ProtobufCMessage *request, size_t offset)
{
    return *(const size_t *)at(request, offset);
}

static bool check_count(const char *field, size_t count, size_t max, struct status *st)
{
    return count <= max || fail_field(st, field, "has %zu entries; at most %zu are allowed", count, max);
}

/* ---- texts ------------------------------------------------------------------------------------------------------- */

static bool check_id(const char *field, const char *text, struct status *st)
{
    for (const char *c = text; *c; c++)
        if ((unsigned char)*c < 0x20 || *c == 0x7f)
            return fail_field(st, field, "has the control character 0x%02x at byte %zu; names have none",
                              (unsigned)(unsigned char)*c, (size_t)(c - text));
    return true;
}

static bool check_json(const char *field, const char *text, bool object, struct status *st)
{
    struct status reason = {0};
    if (!text[0])
        return true;
    if (!json_check(text, strlen(text), NULL, &reason))
        return fail_field(st, field, "is not JSON: %s", reason.text);
    return !object || text[strspn(text, " \t\r\n")] == '{' || fail_field(st, field, "must be a JSON object, {…}");
}

bool check_text(const char *field, const char *text, size_t max, enum text_form form, struct status *st)
{
    size_t length = strlen(text);
    if (length > max)
        return fail_field(st, field, "has %zu bytes; at most %zu are allowed", length, max);
    switch (form) {
    case TEXT_ID:
        return check_id(field, text, st);
    case TEXT_JSON:
    case TEXT_OBJECT:
        return check_json(field, text, form == TEXT_OBJECT, st);
    case TEXT_ANY:
        break;
    }
    return true;
}

static bool check_texts(const ProtobufCMessage *request, const struct text_rule *rule, struct status *st)
{
    char field[STATUS_FIELD_MAX];
    size_t count = check_count_at(request, rule->count_offset);
    char *const *texts = *(char *const *const *)at(request, rule->offset);
    if (!check_count(rule->field, count, rule->count_max, st))
        return false;
    for (size_t i = 0; i < count; i++) {
        snprintf(field, sizeof field, "%s[%zu]", rule->field, i);
        if (!texts[i][0])
            return fail_field(st, field, "is empty; leave it out");
        if (!check_text(field, texts[i], rule->max, rule->form, st))
            return false;
    }
    return true;
}

static bool check_text_rule(const ProtobufCMessage *request, const struct text_rule *rule, struct status *st)
{
    if (rule->count_max)
        return check_texts(request, rule, st);
    const char *text = *(const char *const *)at(request, rule->offset);
    if (rule->required && !text[0])
        return fail_field(st, rule->field, "is empty; it is required");
    return check_text(rule->field, text, rule->max, rule->form, st);
}

/* ---- numbers, enums, maps ---------------------------------------------------------------------------------------- */

static bool check_number(const ProtobufCMessage *request, const struct number_rule *rule, struct status *st)
{
    const void *place = at(request, rule->offset);
    int64_t value = rule->wide ? *(const int64_t *)place : *(const int32_t *)place;
    if (value >= rule->min && value <= rule->max)
        return true;
    if (rule->max == INT64_MAX)
        return fail_field(st, rule->field, "is %lld; it must be %lld or more", (long long)value, (long long)rule->min);
    return fail_field(st, rule->field, "is %lld; it must be within %lld and %lld", (long long)value,
                      (long long)rule->min, (long long)rule->max);
}

static bool check_choice(const char *field, const struct choice_rule *rule, int value, struct status *st)
{
    if (protobuf_c_enum_descriptor_get_value(rule->values, value) && (value || !rule->not_zero))
        return true;
    return fail_field(st, field, "is %d, which is no %s to ask for; %s is 1", value, rule->values->short_name,
                      protobuf_c_enum_descriptor_get_value(rule->values, 1)->name);
}

static bool check_choice_rule(const ProtobufCMessage *request, const struct choice_rule *rule, struct status *st)
{
    if (!rule->count_max)
        return check_choice(rule->field, rule, *(const int *)at(request, rule->offset), st);
    char field[STATUS_FIELD_MAX];
    size_t count = check_count_at(request, rule->count_offset);
    const int *values = *(const int *const *)at(request, rule->offset);
    if (!check_count(rule->field, count, rule->count_max, st))
        return false;
    for (size_t i = 0; i < count; i++) {
        snprintf(field, sizeof field, "%s[%zu]", rule->field, i);
        if (!check_choice(field, rule, values[i], st))
            return false;
    }
    return true;
}

/* Every entry that protoc-c makes of map<string, string>. */
struct map_entry {
    ProtobufCMessage base;
    const char *key, *value;
};

static bool check_map(const ProtobufCMessage *request, const struct map_rule *rule, struct status *st)
{
    size_t count = check_count_at(request, rule->count_offset);
    const struct map_entry *const *entries = *(const struct map_entry *const *const *)at(request, rule->offset);
    if (!check_count(rule->field, count, rule->count_max, st))
        return false;
    for (size_t i = 0; i < count; i++) {
        size_t key = strlen(entries[i]->key), value = strlen(entries[i]->value);
        if (!key)
            return fail_field(st, rule->field, "has an empty key; give it a name");
        if (key > rule->key_max)
            return fail_field(st, rule->field, "has a key of %zu bytes; at most %zu are allowed", key, rule->key_max);
        if (value > rule->value_max)
            return fail_field(st, rule->field, "has %zu bytes under '%.*s'; at most %zu are allowed", value, SHOWN_MAX,
                              entries[i]->key, rule->value_max);
    }
    return true;
}

/* ---- the whole --------------------------------------------------------------------------------------------------- */

static bool check_rules(const ProtobufCMessage *request, const struct request_rules *rules, struct status *st)
{
    for (const struct text_rule *rule = rules->texts; rule && rule->field; rule++)
        if (!check_text_rule(request, rule, st))
            return false;
    for (const struct number_rule *rule = rules->numbers; rule && rule->field; rule++)
        if (!check_number(request, rule, st))
            return false;
    for (const struct choice_rule *rule = rules->choices; rule && rule->field; rule++)
        if (!check_choice_rule(request, rule, st))
            return false;
    for (const struct map_rule *rule = rules->maps; rule && rule->field; rule++)
        if (!check_map(request, rule, st))
            return false;
    return !rules->more || rules->more(request, st);
}

bool check_request(const ProtobufCMessage *request, struct status *st)
{
    for (const struct request_rules *rules = request_rules; rules->type; rules++)
        if (rules->type == request->descriptor)
            return check_rules(request, rules, st);
    return true;
}
