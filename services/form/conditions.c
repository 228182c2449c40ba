/* Checks conditions of fields: they use known fields, can hold, and form no cycle. */
#include "form/form_priv.h"

#include <string.h>

static unsigned condition_type(const Renga__V1__FormField *field)
{
    switch (field->type) {
    case FORM_TYPE(NUMBER):
        return JSON_CONDITION_NUMBER;
    case FORM_TYPE(YES_NO):
        return JSON_CONDITION_BOOLEAN;
    case FORM_TYPE(CHOICES):
        return JSON_CONDITION_LIST;
    default:
        return JSON_CONDITION_TEXT;
    }
}

static const char *condition_type_name(unsigned type)
{
    return type == JSON_CONDITION_NUMBER    ? "a number"
           : type == JSON_CONDITION_BOOLEAN ? "true or false"
           : type == JSON_CONDITION_LIST    ? "a list of texts"
                                            : "a text";
}

static bool has_choice(const Renga__V1__FormField *field, const char *value)
{
    for (size_t i = 0; i < field->n_choices; i++) {
        if (strcmp(field->choices[i]->value, value) == 0)
            return true;
    }
    return false;
}

static bool condition_check_use(const struct form *form, size_t field, const struct json_condition_use *use,
                                const char *name, struct status *st)
{
    int other = form_find(form, use->path);
    if (other < 0)
        return fail_field(st, name, "'%s' is no field_id of the form", use->path);
    if ((size_t)other == field)
        return fail_field(st, name, "the field '%s' must not wait for itself", use->path);
    const Renga__V1__FormField *asked = form->message->fields[other];
    unsigned type = condition_type(asked);
    if (!(use->types & type))
        return fail_field(st, name, "'%s' of '%s' can never hold: its values are %s", use->test, use->path,
                          condition_type_name(type));
    for (size_t i = 0; asked->type == FORM_TYPE(CHOICE) && i < use->text_count; i++) {
        if (!has_choice(asked, use->texts[i]))
            return fail_field(st, name, "'%.128s' is no choice's value of the field '%s'", use->texts[i], use->path);
    }
    return true;
}

static bool condition_open(struct arena *arena, struct form *form, size_t i, struct status *st)
{
    const char *text = form->message->fields[i]->only_if_json;
    char name[STATUS_FIELD_MAX];
    struct status wrong = {0};
    if (!text[0])
        return true;
    form_path(name, "form.fields[%zu].only_if_json", i);
    cJSON *tree = json_parse(text, strlen(text), NULL, &wrong);
    if (tree)
        form->conditions[i] = json_condition_compile(arena, tree, &wrong);
    cJSON_Delete(tree);
    if (!form->conditions[i])
        return wrong.code == RESOURCE_EXHAUSTED ? fail(st, wrong.code, "%s", wrong.text)
                                                : fail_field(st, name, "%s", wrong.text);
    size_t count;
    const struct json_condition_use *uses = json_condition_uses(form->conditions[i], &count);
    for (size_t use = 0; use < count; use++) {
        if (!condition_check_use(form, i, &uses[use], name, st))
            return false;
    }
    return true;
}

/* ---- cycles ------------------------------------------------------------------------------------------------------ */

enum { UNSEEN, ON_THE_WAY, SEEN };

/* Follows the conditions from a field; false if they form a cycle. */
static bool condition_walk(const struct form *form, size_t i, uint8_t *states, struct status *st)
{
    size_t count = 0;
    const struct json_condition_use *uses = NULL;
    states[i] = ON_THE_WAY;
    if (form->conditions[i])
        uses = json_condition_uses(form->conditions[i], &count);
    for (size_t use = 0; use < count; use++) {
        int other = form_find(form, uses[use].path);
        char name[STATUS_FIELD_MAX];
        if (states[other] == ON_THE_WAY) {
            form_path(name, "form.fields[%zu].only_if_json", i);
            return fail_field(st, name, "waits for '%s', which waits for '%s' in turn: a circle", uses[use].path,
                              form->message->fields[i]->field_id);
        }
        if (states[other] == UNSEEN && !condition_walk(form, (size_t)other, states, st))
            return false;
    }
    states[i] = SEEN;
    return true;
}

bool form_open_conditions(struct arena *arena, struct form *form, struct status *st)
{
    uint8_t states[FORM_FIELDS_MAX] = {UNSEEN};
    size_t count = form->message->n_fields;
    form->conditions = arena_zalloc(arena, count * sizeof(*form->conditions));
    if (!form->conditions)
        return fail(st, RESOURCE_EXHAUSTED, "out of memory for the conditions of the form");
    for (size_t i = 0; i < count; i++) {
        if (!condition_open(arena, form, i, st))
            return false;
    }
    for (size_t i = 0; i < count; i++) {
        if (states[i] == UNSEEN && !condition_walk(form, i, states, st))
            return false;
    }
    return true;
}
