/* Forms that are refused, with the field that is named, and JSON Schemas that become forms. */
#include "unit.h"

#include "value_fixture.h"

#include <stdio.h>

static struct arena arena;

static int arena_setup(void **state)
{
    (void)state;
    arena_init(&arena, NULL, 0, FORM_TEST_MEMORY);
    return 0;
}

static int arena_teardown(void **state)
{
    (void)state;
    arena_fini(&arena);
    return 0;
}

/* The messages hold texts that may be changed; ours are not. */
static char *form_document(const char *constant)
{
    return (char *)(uintptr_t)constant;
}

#define FIELDS 3

/* Three fields that are all right: a name, an age and a choice. */
struct sample {
    Renga__V1__SessionForm form;
    Renga__V1__FormField fields[FIELDS], *field_list[FORM_FIELDS_MAX + 1];
    Renga__V1__FieldLimits limits[FIELDS];
    Renga__V1__FieldChoice choices[2], *choice_list[2];
    Renga__V1__FactDefinition facts[2], *fact_list[2];
};

static void sample_init(struct sample *sample)
{
    static const char *const ids[FIELDS] = {"name", "age", "kind"};
    static const Renga__V1__FieldType types[FIELDS] = {RENGA__V1__FIELD_TYPE__FIELD_TYPE_TEXT,
                                                       RENGA__V1__FIELD_TYPE__FIELD_TYPE_NUMBER,
                                                       RENGA__V1__FIELD_TYPE__FIELD_TYPE_CHOICE};
    renga__v1__session_form__init(&sample->form);
    for (size_t i = 0; i < FIELDS; i++) {
        renga__v1__form_field__init(&sample->fields[i]);
        renga__v1__field_limits__init(&sample->limits[i]);
        sample->fields[i].id = form_document(ids[i]);
        sample->fields[i].field_id = form_document(ids[i]);
        sample->fields[i].label = form_document(ids[i]);
        sample->fields[i].type = types[i];
        sample->fields[i].limits = &sample->limits[i];
        sample->field_list[i] = &sample->fields[i];
    }
    for (size_t i = 0; i < 2; i++) {
        renga__v1__field_choice__init(&sample->choices[i]);
        renga__v1__fact_definition__init(&sample->facts[i]);
        sample->choices[i].value = form_document(i ? "gift" : "loan");
        sample->facts[i].id = form_document(i ? "f1" : "f0");
        sample->facts[i].form_field_id = form_document("name");
        sample->facts[i].fact_key = form_document(i ? "given" : "family");
        sample->facts[i].fact = form_document("a part of the name");
        sample->choice_list[i] = &sample->choices[i];
        sample->fact_list[i] = &sample->facts[i];
    }
    sample->fields[2].choices = sample->choice_list;
    sample->fields[2].n_choices = 2;
    sample->form.fields = sample->field_list;
    sample->form.n_fields = FIELDS;
    sample->form.facts = sample->fact_list;
    sample->form.n_facts = 2;
}

static void form_assert_refused(const struct sample *sample, const char *field, const char *words)
{
    struct status st = {0};
    assert_null(form_open(&arena, &sample->form, &st));
    assert_int_equal(st.code, INVALID_ARGUMENT);
    assert_string_equal(st.field, field);
    assert_contains(st.text, words);
}

#define REFUSED(change, field, words)                                                                                  \
    do {                                                                                                               \
        struct sample sample;                                                                                          \
        sample_init(&sample);                                                                                          \
        change;                                                                                                        \
        form_assert_refused(&sample, field, words);                                                                    \
    } while (0)

static void a_good_form_is_opened_in_the_order_of_its_places(void **state)
{
    (void)state;
    struct sample sample;
    struct status st = {0};
    const Renga__V1__FactDefinition *const *facts;
    sample_init(&sample);
    sample.fields[0].sort_order = 5;
    sample.fields[1].only_if_json = form_document("{\"field\":\"kind\",\"equals\":\"loan\"}");
    const struct form *form = form_open(&arena, &sample.form, &st);
    assert_non_null(form);
    assert_int_equal(form_field_count(form), FIELDS);
    assert_string_equal(form_field(form, 0)->field_id, "age");
    assert_string_equal(form_field(form, 2)->field_id, "name");
    assert_int_equal(form_find(form, "kind"), 1);
    assert_int_equal(form_find(form, "other"), -1);
    assert_int_equal(form_facts(form, 2, &facts), 2);
    assert_string_equal(facts[1]->fact_key, "given");
    assert_int_equal(form_facts(form, 0, &facts), 0);
    cJSON *values = cJSON_Parse("{\"kind\":\"loan\"}");
    assert_true(form_applies(form, 0, values));
    cJSON_Delete(values);
    values = cJSON_Parse("{\"kind\":\"gift\"}");
    assert_false(form_applies(form, 0, values));
    assert_true(form_applies(form, 1, values));
    cJSON_Delete(values);
}

static void two_fields_of_one_name_are_refused(void **state)
{
    (void)state;
    REFUSED(sample.fields[2].field_id = form_document("name"), "form.fields[2].field_id",
            "'name' is the field_id of another field");
    REFUSED(sample.fields[1].id = form_document("name"), "form.fields[1].id", "'name' is the id of another field");
}

/* The reviewer would refuse them later, with each answer. */
static void ids_and_labels_that_are_blank_or_have_control_characters_are_refused(void **state)
{
    (void)state;
    REFUSED(sample.fields[2].field_id = form_document("a\nb"), "form.fields[2].field_id",
            "control character 0x0a at byte 1");
    REFUSED(sample.fields[2].field_id = form_document("\x7f"), "form.fields[2].field_id",
            "control character 0x7f at byte 0");
    REFUSED(sample.fields[1].id = form_document("\t"), "form.fields[1].id", "control character 0x09");
    REFUSED(sample.facts[1].fact_key = form_document("\x1b["), "form.facts[1].fact_key", "control character 0x1b");
    REFUSED(sample.fields[1].id = form_document("  "), "form.fields[1].id", "is blank");
    REFUSED(sample.fields[1].label = form_document("\n"), "form.fields[1].label", "is blank");
}

static void facts_must_belong_to_a_field_and_differ(void **state)
{
    (void)state;
    REFUSED(sample.facts[1].form_field_id = form_document("nose"), "form.facts[1].form_field_id",
            "no field has the id 'nose'");
    REFUSED(sample.facts[1].fact_key = form_document("family"), "form.facts[1].fact_key",
            "'family' is the key of another fact");
    REFUSED(sample.facts[1].id = form_document("f0"), "form.facts[1].id", "'f0' is the id of another fact");
    REFUSED(sample.facts[0].fact = form_document(""), "form.facts[0].fact", "is required");
}

static void a_form_has_1_to_200_fields(void **state)
{
    (void)state;
    REFUSED(
        {
            for (size_t i = 0; i <= FORM_FIELDS_MAX; i++)
                sample.field_list[i] = &sample.fields[0];
            sample.form.n_fields = FORM_FIELDS_MAX + 1;
        },
        "form.fields", "must be at most 200 fields, not 201");
    REFUSED(
        {
            sample.form.n_fields = 0;
            sample.form.n_facts = 0;
        },
        "form.fields", "at least one field");
}

static void texts_keep_their_bounds(void **state)
{
    (void)state;
    static char long_label[514];
    memset(long_label, 'a', 513);
    REFUSED(sample.fields[1].label = long_label, "form.fields[1].label", "must be at most 512 bytes, not 513");
    REFUSED(sample.fields[1].label = form_document(""), "form.fields[1].label", "is required");
    REFUSED(sample.fields[0].intent = form_document("\xC3"), "form.fields[0].intent", "must be UTF-8");
    REFUSED(sample.fields[0].type = 11, "form.fields[0].type", "must be 0 to 10, not 11");
}

static void choices_are_of_choices_alone(void **state)
{
    (void)state;
    REFUSED(sample.fields[2].n_choices = 0, "form.fields[2].choices", "must be 1 to 200 choices, not 0");
    REFUSED(sample.choices[1].value = form_document("loan"), "form.fields[2].choices[1].value",
            "'loan' is the value of another");
    REFUSED(sample.fields[2].type = 2, "form.fields[2].choices", "must be empty");
    REFUSED(sample.choices[0].value = form_document(""), "form.fields[2].choices[0].value", "is required");
}

static void limits_must_not_contradict(void **state)
{
    (void)state;
    REFUSED(sample.limits[0].pattern = form_document("[a"), "form.fields[0].limits.pattern",
            "must be a regular expression");
    REFUSED(sample.limits[1].pattern = form_document("a"), "form.fields[1].limits.pattern", "must be empty");
    REFUSED(
        {
            sample.limits[1].minimum = form_document("5");
            sample.limits[1].maximum = form_document("4.5");
        },
        "form.fields[1].limits.maximum", "'4.5' is below the minimum '5'");
    REFUSED(sample.limits[1].minimum = form_document("five"), "form.fields[1].limits.minimum", "must be a number");
    REFUSED(sample.limits[0].maximum = form_document("5"), "form.fields[0].limits.maximum", "must be empty");
    REFUSED(sample.limits[0].whole = true, "form.fields[0].limits.whole", "only numbers");
    REFUSED(
        {
            sample.limits[0].min_length = 9;
            sample.limits[0].max_length = 8;
        },
        "form.fields[0].limits.max_length", "8 is below min_length, which is 9");
    REFUSED(sample.limits[0].min_length = -1, "form.fields[0].limits.min_length", "must not be negative");
    REFUSED(sample.limits[2].min_choices = 1, "form.fields[2].limits.min_choices", "only fields of the type CHOICES");
    REFUSED(
        {
            sample.fields[2].type = 9;
            sample.limits[2].min_choices = 3;
        },
        "form.fields[2].limits.min_choices", "is 3, but there are 2 choices");
    REFUSED(
        {
            sample.fields[0].type = 3;
            sample.limits[0].minimum = form_document("2026-02-30");
        },
        "form.fields[0].limits.minimum", "must be a day");
}

static void a_condition_names_other_fields_and_can_hold(void **state)
{
    (void)state;
    REFUSED(sample.fields[0].only_if_json = form_document("{\"field\":\"nose\",\"present\":true}"),
            "form.fields[0].only_if_json", "'nose' is no field_id");
    REFUSED(sample.fields[0].only_if_json = form_document("{\"field\":\"name\",\"present\":true}"),
            "form.fields[0].only_if_json", "must not wait for itself");
    REFUSED(sample.fields[0].only_if_json = form_document("{\"field\":\"age\",\"equals\":\"five\"}"),
            "form.fields[0].only_if_json", "can never hold: its values are a number");
    REFUSED(sample.fields[0].only_if_json = form_document("{\"field\":\"kind\",\"equals\":\"theft\"}"),
            "form.fields[0].only_if_json", "'theft' is no choice's value");
    REFUSED(sample.fields[0].only_if_json = form_document("{"), "form.fields[0].only_if_json", "1:");
    REFUSED(
        {
            sample.fields[0].only_if_json = form_document("{\"field\":\"age\",\"more\":1}");
            sample.fields[1].only_if_json = form_document("{\"not\":{\"field\":\"kind\",\"equals\":\"loan\"}}");
            sample.fields[2].only_if_json = form_document("{\"field\":\"name\",\"present\":true}");
        },
        "form.fields[2].only_if_json", "a circle");
}

/* ---- JSON Schema --------------------------------------------------------------------------------------------------
 */

static const struct form *schema_open(const char *schema, struct status *st)
{
    Renga__V1__SessionForm message = RENGA__V1__SESSION_FORM__INIT;
    message.schema_json = form_document(schema);
    return form_open(&arena, &message, st);
}

static void a_json_schema_becomes_fields_in_its_order(void **state)
{
    (void)state;
    struct status st = {0};
    const struct form *form = schema_open(
        "{\"$schema\":\"x\",\"title\":\"Claim\",\"type\":\"object\",\"required\":[\"what\",\"mail\"],\"properties\":{"
        "\"what\":{\"type\":\"string\",\"title\":\"What\",\"description\":\"the "
        "thing\",\"maxLength\":9,\"pattern\":\"a+\"},"
        "\"age\":{\"type\":\"integer\",\"minimum\":0,\"maximum\":150,\"default\":7},"
        "\"mail\":{\"type\":\"string\",\"format\":\"email\"},"
        "\"kind\":{\"oneOf\":[{\"const\":\"l\",\"title\":\"Loan\"},{\"const\":\"g\"}]},"
        "\"many\":{\"type\":\"array\",\"items\":{\"enum\":[\"a\",\"b\"]},\"minItems\":1,\"default\":[\"a\",\"b\"]},"
        "\"ok\":{\"type\":\"boolean\"},\"size\":{\"enum\":[1,2.5]}},"
        "\"allOf\":[{\"if\":{\"properties\":{\"kind\":{\"const\":\"l\"},\"ok\":{\"const\":true}}},"
        "\"then\":{\"properties\":{\"bank\":{\"type\":\"string\"}},\"required\":[\"bank\",\"age\"]}},"
        "{\"if\":{\"properties\":{\"size\":{\"enum\":[1]}}},\"then\":{\"required\":[\"age\"]}}]}",
        &st);
    if (!form)
        fail_msg("%s", st.text);
    const Renga__V1__SessionForm *message = form_message(form);
    assert_string_equal(message->title, "Claim");
    assert_string_equal(message->schema_json, "");
    assert_int_equal(message->n_fields, 8);
    const Renga__V1__FormField *what = message->fields[0], *age = message->fields[1], *bank = message->fields[7];
    assert_string_equal(what->label, "What");
    assert_string_equal(what->intent, "the thing");
    assert_true(what->required);
    assert_int_equal(what->limits->max_length, 9);
    assert_string_equal(what->limits->pattern, "a+");
    assert_string_equal(age->limits->maximum, "150");
    assert_true(age->limits->whole);
    assert_string_equal(age->prefilled, "7");
    assert_true(age->required);
    assert_string_equal(
        age->only_if_json,
        "{\"any\":[{\"all\":[{\"field\":\"kind\",\"equals\":\"l\"},{\"field\":\"ok\",\"equals\":true}]},"
        "{\"all\":[{\"field\":\"size\",\"one_of\":[\"1\"]}]}]}");
    assert_int_equal(message->fields[2]->type, RENGA__V1__FIELD_TYPE__FIELD_TYPE_EMAIL);
    assert_string_equal(message->fields[3]->choices[0]->label, "Loan");
    assert_string_equal(message->fields[4]->prefilled, "a, b");
    assert_int_equal(message->fields[5]->type, RENGA__V1__FIELD_TYPE__FIELD_TYPE_YES_NO);
    assert_string_equal(message->fields[6]->choices[1]->value, "2.5");
    assert_string_equal(bank->field_id, "bank");
    assert_true(bank->required);
}

static void a_schema_that_is_not_understood_is_refused_with_its_place(void **state)
{
    (void)state;
    static const struct {
        const char *schema, *words;
    } rows[] = {
        {"{\"properties\":{\"a\":{\"type\":\"number\",\"multipleOf\":2}}}",
         "properties.a: unknown keyword 'multipleOf'"},
        {"{\"properties\":{\"a\":{}},\"anyOf\":[]}", "unknown keyword 'anyOf'"},
        {"{\"properties\":{\"a\":{\"format\":\"ipv4\"}}}", "the format 'ipv4' is not known"},
        {"{\"properties\":{\"a\":{\"type\":\"object\"}}}", "properties.a: the type must be"},
        {"{\"properties\":{\"a\":{\"type\":\"array\"}}}", "properties.a.items: an array needs items"},
        {"{\"properties\":{\"a\":{}},\"required\":[\"b\"]}", "required: 'b' is no property"},
        {"{\"properties\":{\"a\":{}},\"if\":{\"properties\":{\"b\":{\"const\":1}}},\"then\":{\"required\":[\"a\"]}}",
         "'b' is no property"},
        {"{\"properties\":{\"a\":{},\"b\":{}},\"if\":{\"properties\":{\"b\":{\"minimum\":1}}},\"then\":{\"required\":["
         "\"a\"]}}",
         "must be tested by const or by enum"},
        {"{\"properties\":{\"a\":{}},\"then\":{}}", "then: needs an `if` beside it"},
        {"{\"properties\":{\"a\":{\"type\":\"number\",\"minimum\":3,\"maximum\":2}}}", "is below the minimum"},
        {"{\"properties\":{\"a\":{\"minLength\":1.5}}}", "properties.a.minLength: must be a whole number"},
        {"{\"properties\":{}}", "at least one field"},
        {"[]", "must be of an object"},
        {"{", "1:2"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct status st = {0};
        assert_null(schema_open(rows[i].schema, &st));
        assert_int_equal(st.code, INVALID_ARGUMENT);
        assert_contains(st.text, rows[i].words);
        assert_true(strncmp(st.field, "form.", 5) == 0);
    }
}

static void a_form_that_is_too_large_for_its_arena_says_so(void **state)
{
    (void)state;
    struct sample sample;
    sample_init(&sample);
    for (size_t limit = 0; limit < 60000; limit += 97) {
        struct arena small;
        struct status st = {0};
        arena_init(&small, NULL, 0, limit);
        if (!form_open(&small, &sample.form, &st))
            assert_int_equal(st.code, RESOURCE_EXHAUSTED);
        arena_fini(&small);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_good_form_is_opened_in_the_order_of_its_places),
        cmocka_unit_test(two_fields_of_one_name_are_refused),
        cmocka_unit_test(ids_and_labels_that_are_blank_or_have_control_characters_are_refused),
        cmocka_unit_test(facts_must_belong_to_a_field_and_differ),
        cmocka_unit_test(a_form_has_1_to_200_fields),
        cmocka_unit_test(texts_keep_their_bounds),
        cmocka_unit_test(choices_are_of_choices_alone),
        cmocka_unit_test(limits_must_not_contradict),
        cmocka_unit_test(a_condition_names_other_fields_and_can_hold),
        cmocka_unit_test(a_json_schema_becomes_fields_in_its_order),
        cmocka_unit_test(a_schema_that_is_not_understood_is_refused_with_its_place),
        cmocka_unit_test(a_form_that_is_too_large_for_its_arena_says_so),
    };
    return cmocka_run_group_tests(tests, arena_setup, arena_teardown);
}
