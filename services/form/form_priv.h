/* Private to services/form: a form after its check. */
#ifndef RENGA_FORM_PRIV_H
#define RENGA_FORM_PRIV_H

#include "form/form.h"

#include "words/names.h"
#include "json/condition.h"

#define FORM_TYPE(name) RENGA__V1__FIELD_TYPE__FIELD_TYPE_##name

/* Words of the form that people use: a label, a choice's value, label or other word. */
struct form_word {
    uint16_t field;
    int16_t choice; /* -1: the words name the field */
    bool partial;   /* a part of the label; it names the field only beside a value */
};

struct form_field_facts {
    const Renga__V1__FactDefinition **facts;
    size_t count;
};

struct form {
    Renga__V1__SessionForm *message;
    const struct json_condition **conditions; /* a field's, or NULL */
    struct form_field_facts *facts;           /* a field's */
    const struct names *names;                /* tags are places in `words` */
    struct form_word *words;
    size_t word_count;
};

/* ---- checks; paths are those of the message: "form.fields[2]" ---------------------------------------------------- */

/* The path of a field of the message, truncated to the length of a status field. */
void form_path(char path[STATUS_FIELD_MAX], const char *format, ...) __attribute__((format(printf, 2, 3)));

bool form_check(const Renga__V1__SessionForm *message, struct status *st);
bool form_check_field(const Renga__V1__FormField *field, size_t i, struct status *st);
bool form_check_limits(const Renga__V1__FormField *field, size_t i, struct status *st);

/* Compiles the conditions, and refuses those that name unknown fields, can never hold or wait for each other. */
bool form_open_conditions(struct arena *arena, struct form *form, struct status *st);

/* Turns schema_json into fields of `message`, in the arena. */
bool form_read_schema(struct arena *arena, Renga__V1__SessionForm *message, struct status *st);

/* Gathers the words of fields and choices. False if the arena is exhausted. */
bool form_open_words(struct arena *arena, struct form *form);

/* ---- bounds ------------------------------------------------------------------------------------------------------ */

bool form_limit_number(const char *text, double *number);
/* Also "today", for which *is_today is set. */
bool form_limit_date(const char *text, bool *is_today);
bool form_limit_time(const char *text);

#endif
