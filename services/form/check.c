/* Checks a form's message field by field. */
#include "form/form_priv.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

#define FIELDS_BYTES ((size_t)1 << 20)

void form_path(char path[STATUS_FIELD_MAX], const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(path, STATUS_FIELD_MAX, format, arguments);
    va_end(arguments);
}

static size_t form_check_bytes(const Renga__V1__SessionForm *message)
{
    return renga__v1__session_form__get_packed_size(message);
}

/* An id names a thing in prompts and logs: it is required, and has no control characters. */
enum check_need { CHECK_OPTIONAL, CHECK_REQUIRED, CHECK_ID };

/* A text of a message and its bounds. */
struct check_text {
    const char *name, *text;
    size_t max;
    enum check_need need;
};

static bool form_check_id(const char *name, const char *text, struct status *st)
{
    for (const char *c = text; *c; c++)
        if ((unsigned char)*c < 0x20 || *c == 0x7f)
            return fail_field(st, name, "has the control character 0x%02x at byte %zu; ids have no control characters",
                              (unsigned)(unsigned char)*c, (size_t)(c - text));
    return true;
}

static bool form_check_texts(const char *path, const struct check_text *texts, size_t count, struct status *st)
{
    char name[STATUS_FIELD_MAX];
    for (size_t i = 0; i < count; i++) {
        size_t length = strlen(texts[i].text);
        form_path(name, "%s.%s", path, texts[i].name);
        if (texts[i].need && length == 0)
            return fail_field(st, name, "is required");
        if (length > texts[i].max)
            return fail_field(st, name, "must be at most %zu bytes, not %zu", texts[i].max, length);
        if (!text_is_clean(texts[i].text, length))
            return fail_field(st, name, "must be UTF-8");
        if (texts[i].need == CHECK_ID && !form_check_id(name, texts[i].text, st))
            return false;
        if (texts[i].need && text_is_blank(texts[i].text))
            return fail_field(st, name, "is blank; give it at least one visible character");
    }
    return true;
}

/* ---- duplicates -------------------------------------------------------------------------------------------------- */

struct check_key {
    const char *outer, *key;
    size_t index;
};

static int form_check_key_compare(const void *one, const void *other)
{
    const struct check_key *a = one, *b = other;
    int order = strcmp(a->outer, b->outer);
    return order != 0 ? order : strcmp(a->key, b->key);
}

/* The later of two equal keys, or NULL; the list is sorted. */
static const struct check_key *form_check_duplicate(struct check_key *keys, size_t count)
{
    qsort(keys, count, sizeof(*keys), form_check_key_compare);
    for (size_t i = 1; i < count; i++) {
        if (form_check_key_compare(&keys[i - 1], &keys[i]) == 0)
            return keys[i - 1].index > keys[i].index ? &keys[i - 1] : &keys[i];
    }
    return NULL;
}

static bool form_check_field_ids(const Renga__V1__SessionForm *message, struct status *st)
{
    struct check_key keys[FORM_FIELDS_MAX];
    for (int id = 0; id < 2; id++) {
        for (size_t i = 0; i < message->n_fields; i++)
            keys[i] = (struct check_key){
                .outer = "", .key = id ? message->fields[i]->id : message->fields[i]->field_id, .index = i};
        const struct check_key *twice = form_check_duplicate(keys, message->n_fields);
        char name[STATUS_FIELD_MAX];
        if (twice) {
            form_path(name, "form.fields[%zu].%s", twice->index, id ? "id" : "field_id");
            return fail_field(st, name, "'%.128s' is the %s of another field; each must be unique", twice->key,
                              id ? "id" : "field_id");
        }
    }
    return true;
}

/* ---- facts ------------------------------------------------------------------------------------------------------- */

static bool form_check_fact(const Renga__V1__SessionForm *message, size_t i, struct status *st)
{
    const Renga__V1__FactDefinition *fact = message->facts[i];
    const struct check_text texts[] = {
        {"id", fact->id, 128, CHECK_ID},
        {"form_field_id", fact->form_field_id, 128, CHECK_ID},
        {"fact_key", fact->fact_key, 128, CHECK_ID},
        {"fact", fact->fact, 2048, CHECK_REQUIRED},
        {"done_criteria", fact->done_criteria, 4096, CHECK_OPTIONAL},
        {"questioning_hints", fact->questioning_hints, 4096, CHECK_OPTIONAL},
    };
    char path[STATUS_FIELD_MAX], name[STATUS_FIELD_MAX];
    form_path(path, "form.facts[%zu]", i);
    if (!form_check_texts(path, texts, sizeof(texts) / sizeof(*texts), st))
        return false;
    for (size_t field = 0; field < message->n_fields; field++) {
        if (strcmp(message->fields[field]->id, fact->form_field_id) == 0)
            return true;
    }
    form_path(name, "%s.form_field_id", path);
    return fail_field(st, name, "no field has the id '%s'; it must be the `id` of one of form.fields",
                      fact->form_field_id);
}

static bool form_check_facts(const Renga__V1__SessionForm *message, struct status *st)
{
    struct check_key keys[FORM_FACTS_MAX];
    if (message->n_facts > FORM_FACTS_MAX)
        return fail_field(st, "form.facts", "must be at most %d, not %zu", FORM_FACTS_MAX, message->n_facts);
    for (size_t i = 0; i < message->n_facts; i++) {
        if (!form_check_fact(message, i, st))
            return false;
        keys[i] = (struct check_key){
            .outer = message->facts[i]->form_field_id, .key = message->facts[i]->fact_key, .index = i};
    }
    const struct check_key *twice = form_check_duplicate(keys, message->n_facts);
    char name[STATUS_FIELD_MAX];
    if (twice) {
        form_path(name, "form.facts[%zu].fact_key", twice->index);
        return fail_field(st, name, "'%.128s' is the key of another fact of this field; each must be unique",
                          twice->key);
    }
    for (size_t i = 0; i < message->n_facts; i++)
        keys[i] = (struct check_key){.outer = "", .key = message->facts[i]->id, .index = i};
    twice = form_check_duplicate(keys, message->n_facts);
    if (twice) {
        form_path(name, "form.facts[%zu].id", twice->index);
        return fail_field(st, name, "'%.128s' is the id of another fact; each must be unique", twice->key);
    }
    return true;
}

/* ---- fields ------------------------------------------------------------------------------------------------------ */

static bool form_check_choice(const char *path, const Renga__V1__FieldChoice *choice, size_t i, struct status *st)
{
    char name[STATUS_FIELD_MAX];
    const struct check_text texts[] = {{"value", choice->value, 256, CHECK_REQUIRED},
                                       {"label", choice->label, 512, CHECK_OPTIONAL}};
    form_path(name, "%s.choices[%zu]", path, i);
    if (!form_check_texts(name, texts, 2, st))
        return false;
    if (choice->n_also > 16)
        return fail_field(st, name, "has %zu other words in `also`; at most 16 are allowed", choice->n_also);
    for (size_t also = 0; also < choice->n_also; also++) {
        const struct check_text text = {"also", choice->also[also], 256, CHECK_REQUIRED};
        if (!form_check_texts(name, &text, 1, st))
            return false;
    }
    return true;
}

static bool form_check_choices(const char *path, const Renga__V1__FormField *field, struct status *st)
{
    struct check_key keys[FORM_FIELDS_MAX];
    char name[STATUS_FIELD_MAX];
    bool chooses = field->type == FORM_TYPE(CHOICE) || field->type == FORM_TYPE(CHOICES);
    form_path(name, "%s.choices", path);
    if (!chooses && field->n_choices > 0)
        return fail_field(st, name, "must be empty: only fields of the types CHOICE and CHOICES have choices");
    if (chooses && (field->n_choices == 0 || field->n_choices > FORM_FIELDS_MAX))
        return fail_field(st, name, "must be 1 to %d choices, not %zu", FORM_FIELDS_MAX, field->n_choices);
    for (size_t i = 0; i < field->n_choices; i++) {
        if (!form_check_choice(path, field->choices[i], i, st))
            return false;
        keys[i] = (struct check_key){.outer = "", .key = field->choices[i]->value, .index = i};
    }
    const struct check_key *twice = form_check_duplicate(keys, field->n_choices);
    if (!twice)
        return true;
    form_path(name, "%s.choices[%zu].value", path, twice->index);
    return fail_field(st, name, "'%.128s' is the value of another choice; each must be unique", twice->key);
}

bool form_check_field(const Renga__V1__FormField *field, size_t i, struct status *st)
{
    char path[STATUS_FIELD_MAX], name[STATUS_FIELD_MAX];
    const struct check_text texts[] = {
        {"id", field->id, 128, CHECK_ID},
        {"field_id", field->field_id, 128, CHECK_ID},
        {"label", field->label, 512, CHECK_REQUIRED},
        {"intent", field->intent, 4096, CHECK_OPTIONAL},
        {"criteria", field->criteria, 4096, CHECK_OPTIONAL},
        {"done_condition", field->done_condition, 4096, CHECK_OPTIONAL},
        {"only_if_json", field->only_if_json, 4096, CHECK_OPTIONAL},
        {"prefilled", field->prefilled, FORM_VALUE_MAX, CHECK_OPTIONAL},
    };
    form_path(path, "form.fields[%zu]", i);
    if (!form_check_texts(path, texts, sizeof(texts) / sizeof(*texts), st))
        return false;
    if ((unsigned)field->type > FORM_TYPE(YES_NO)) {
        form_path(name, "%s.type", path);
        return fail_field(st, name, "must be 0 to %d, not %d", (int)FORM_TYPE(YES_NO), (int)field->type);
    }
    return form_check_choices(path, field, st);
}

bool form_check(const Renga__V1__SessionForm *message, struct status *st)
{
    const struct check_text title = {"title", message->title, 512, CHECK_OPTIONAL};
    if (form_check_bytes(message) > FIELDS_BYTES)
        return fail_field(st, "form", "must be at most %zu bytes in all, not %zu", FIELDS_BYTES,
                          form_check_bytes(message));
    if (message->n_fields == 0)
        return fail_field(st, "form.fields",
                          "must have at least one field, or form.schema_json the fields as a schema");
    if (message->n_fields > FORM_FIELDS_MAX)
        return fail_field(st, "form.fields", "must be at most %d fields, not %zu", FORM_FIELDS_MAX, message->n_fields);
    if (!form_check_texts("form", &title, 1, st))
        return false;
    for (size_t i = 0; i < message->n_fields; i++) {
        if (!form_check_field(message->fields[i], i, st) || !form_check_limits(message->fields[i], i, st))
            return false;
    }
    return form_check_field_ids(message, st) && form_check_facts(message, st);
}
