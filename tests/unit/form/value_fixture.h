/* Tables of answers: each row has the words, the value that they are, or "!" and the name of the problem, and the part
 * of the words that the value is made of. It is Monday, 2026-11-23, 06:13 in Tokyo. Include after unit.h. */
#ifndef RENGA_UNIT_VALUE_FIXTURE_H
#define RENGA_UNIT_VALUE_FIXTURE_H

#include "form/form.h"

#define NOW_MS INT64_C(1795382000000)

struct answer_row {
    const char *words, *value, *span;
};

/* The field as a property of a JSON Schema, and the person's place. */
struct answers {
    const char *property, *language, *country, *timezone;
    const struct answer_row *rows;
    size_t count;
};

static const char *const problem_names[] = {
    [FORM_FINE] = "FINE",
    [FORM_NO_VALUE] = "NO_VALUE",
    [FORM_NOT_A_NUMBER] = "NOT_A_NUMBER",
    [FORM_NOT_WHOLE] = "NOT_WHOLE",
    [FORM_TOO_SMALL] = "TOO_SMALL",
    [FORM_TOO_LARGE] = "TOO_LARGE",
    [FORM_NO_SUCH_DATE] = "NO_SUCH_DATE",
    [FORM_UNCLEAR_DATE] = "UNCLEAR_DATE",
    [FORM_TOO_EARLY] = "TOO_EARLY",
    [FORM_TOO_LATE] = "TOO_LATE",
    [FORM_NO_SUCH_TIME] = "NO_SUCH_TIME",
    [FORM_BAD_EMAIL] = "BAD_EMAIL",
    [FORM_BAD_PHONE] = "BAD_PHONE",
    [FORM_BAD_URL] = "BAD_URL",
    [FORM_NO_SUCH_CHOICE] = "NO_SUCH_CHOICE",
    [FORM_SEVERAL_CHOICES] = "SEVERAL_CHOICES",
    [FORM_FEW_CHOICES] = "FEW_CHOICES",
    [FORM_MANY_CHOICES] = "MANY_CHOICES",
    [FORM_UNCLEAR_YES_NO] = "UNCLEAR_YES_NO",
    [FORM_TOO_SHORT] = "TOO_SHORT",
    [FORM_TOO_LONG] = "TOO_LONG",
    [FORM_BAD_PATTERN] = "BAD_PATTERN",
};

#define FORM_TEST_MEMORY ((size_t)64 << 20)

/* A form with the properties `properties`, JSON members without the braces. */
static inline const struct form *value_fixture_form(struct arena *arena, const char *properties)
{
    Renga__V1__SessionForm message = RENGA__V1__SESSION_FORM__INIT;
    struct status st = {0};
    message.schema_json = arena_printf(arena, "{\"properties\":{%s}}", properties);
    const struct form *form = form_open(arena, &message, &st);
    if (!form)
        fail_msg("%s: %s", properties, st.text);
    return form;
}

static inline bool answer_holds(const struct answers *set, const struct form *form, const struct answer_row *row,
                                struct arena *arena)
{
    const struct form_context context = {set->language, set->country, set->timezone, NOW_MS};
    struct form_value value;
    assert_true(form_read_value(form, 0, row->words, &context, arena, &value));
    bool fine = value.problem == FORM_FINE;
    const char *read = fine ? value.text : arena_printf(arena, "!%s", problem_names[value.problem]);
    int length = (int)(value.end - value.begin);
    bool same_span = row->span == NULL || (strlen(row->span) == (size_t)length &&
                                           strncmp(row->words + value.begin, row->span, (size_t)length) == 0);
    if (strcmp(read, row->value) == 0 && same_span)
        return true;
    print_error("%s %s: '%s' is %s of '%.*s', not %s of '%s'\n", set->country, set->property, row->words, read, length,
                row->words + value.begin, row->value, row->span ? row->span : "");
    return false;
}

static inline void assert_answers(const struct answers *sets, size_t count)
{
    size_t wrong = 0, rows = 0;
    for (size_t i = 0; i < count; i++) {
        struct arena arena;
        arena_init(&arena, NULL, 0, FORM_TEST_MEMORY);
        const struct form *form = value_fixture_form(&arena, arena_printf(&arena, "\"x\":%s", sets[i].property));
        for (size_t row = 0; row < sets[i].count; row++)
            wrong += !answer_holds(&sets[i], form, &sets[i].rows[row], &arena);
        rows += sets[i].count;
        arena_fini(&arena);
    }
    print_message("%zu answers\n", rows);
    assert_int_equal(wrong, 0);
}

#endif
