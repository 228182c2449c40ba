/* Forms for tests, of rows in a table. */
#ifndef RENGA_UNIT_FORMS_H
#define RENGA_UNIT_FORMS_H

#include "form/form.h"

struct form_row {
    const char *id, *label;
    Renga__V1__FieldType type;
    Renga__V1__FieldLimits *limits;
    Renga__V1__FieldChoice **choices;
    size_t choice_count;
};

#define FORM_ROW(id_, label_, type_, ...)                                                                              \
    {                                                                                                                  \
        .id = id_, .label = label_, .type = RENGA__V1__FIELD_TYPE__FIELD_TYPE_##type_, __VA_ARGS__                     \
    }

/* The form has copies in the arena. */
static inline const struct form *form_of_rows(struct arena *arena, const struct form_row *rows, size_t count)
{
    Renga__V1__SessionForm *message = arena_alloc(arena, sizeof(*message));
    Renga__V1__FormField **fields = arena_alloc(arena, count * sizeof(*fields));
    struct status st = {0};
    renga__v1__session_form__init(message);
    for (size_t i = 0; i < count; i++) {
        fields[i] = arena_alloc(arena, sizeof(**fields));
        renga__v1__form_field__init(fields[i]);
        fields[i]->id = fields[i]->field_id = arena_strdup(arena, rows[i].id);
        fields[i]->label = arena_strdup(arena, rows[i].label);
        fields[i]->type = rows[i].type;
        fields[i]->limits = rows[i].limits;
        fields[i]->choices = rows[i].choices;
        fields[i]->n_choices = rows[i].choice_count;
        fields[i]->sort_order = (int32_t)i;
    }
    message->fields = fields;
    message->n_fields = count;
    return form_open(arena, message, &st);
}

#endif
