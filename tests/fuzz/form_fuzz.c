/* libFuzzer on forms: a schema, an answer and a proposal, with a byte 0 between them; a schema of one digit stands for
 * a form of ours. A value's words stand in the answer, what is kept keeps the field's bounds, and what a proof lets
 * pass is a value of the answer's own. */
#include "form/form.h"

#include "base/text.h"

#include <stdlib.h>
#include <string.h>

#include "fuzz.h"

#define MEMORY_MAX ((size_t)256 << 20)

static const char *const forms[] = {
    "{\"properties\":{\"a\":{\"type\":\"number\",\"minimum\":0},\"b\":{\"title\":\"お名前\"}}}",
    "{\"properties\":{\"a\":{\"format\":\"date\",\"title\":\"入社日\"},\"b\":{\"format\":\"email\"}}}",
    "{\"properties\":{\"a\":{\"format\":\"time\"},\"b\":{\"format\":\"phone\"},\"c\":{\"format\":\"uri\"}}}",
    "{\"properties\":{\"a\":{\"enum\":[\"laptop\",\"desktop\",\"ノート\"]},\"b\":{\"type\":\"boolean\"}}}",
    "{\"properties\":{\"a\":{\"type\":\"array\",\"items\":{\"enum\":[\"red\",\"green\",\"青\"]}},\"b\":{\"title\":"
    "\"B\"}}}",
    "{\"properties\":{\"a\":{\"type\":\"boolean\"},\"b\":{\"type\":\"number\",\"title\":\"年齢\"}}}",
    "{\"properties\":{\"a\":{\"title\":\"Name\",\"maxLength\":40},\"b\":{\"format\":\"date\"}}}",
    "{\"properties\":{\"a\":{\"title\":\"Code\",\"pattern\":\"[A-Z]+\"},\"b\":{\"format\":\"time\"}}}",
};
#define FORMS (sizeof(forms) / sizeof(*forms))

static void fuzz_check_value(const struct form_value *value, size_t length)
{
    must(value->text != NULL && value->begin <= value->end && value->end <= length);
    if (value->problem == FORM_FINE) {
        must(value->json != NULL && value->text[0] != '\0' && value->begin < value->end);
        must(strlen(value->text) <= FORM_VALUE_MAX && text_is_clean(value->text, strlen(value->text)));
    }
}

static void fuzz_read_field(const struct form *form, size_t field, const char *said, const char *proposed,
                            const struct form_context *context)
{
    struct arena arena;
    struct form_value value, again;
    arena_init(&arena, NULL, 0, MEMORY_MAX);
    must(form_read_value(form, field, said, context, &arena, &value));
    fuzz_check_value(&value, strlen(said));
    must(form_problem_message(form, field, &value, context, &arena) != NULL);
    must(form_value_text(form, field, value.text, context, &arena) != NULL);
    must(form_read_value(form, field, said, context, &arena, &again));
    must(again.problem == value.problem && strcmp(again.text, value.text) == 0);
    must(form_verify_value(form, field, proposed, said, context, &arena, &value));
    fuzz_check_value(&value, strlen(said));
    arena_fini(&arena);
}

static void fuzz_read_words(const struct form *form, const char *said, const char *proposed)
{
    static const struct form_context contexts[] = {{"ja", "JP", "Asia/Tokyo", INT64_C(1795382000000)},
                                                   {"en", "US", "America/New_York", INT64_C(951782400000)},
                                                   {"en", "", "", 0},
                                                   {"de", "DE", "Europe/Berlin", INT64_C(4102444800000)}};
    struct arena arena;
    struct form_mention mentions[FORM_MENTIONS_MAX];
    struct form_utterance heard;
    struct form_place places[FORM_PLACES_MAX];
    size_t count, fields = form_field_count(form) < 4 ? form_field_count(form) : 4;
    const struct form_context *context = &contexts[strlen(said) % 4];
    for (size_t field = 0; field < fields; field++)
        fuzz_read_field(form, field, said, proposed, context);
    arena_init(&arena, NULL, 0, MEMORY_MAX);
    must(form_find_values(form, (int)(strlen(said) % (fields + 1)) - 1, said, context, &arena, mentions, &count));
    for (size_t i = 0; i < count; i++)
        fuzz_check_value(&mentions[i].value, strlen(said));
    must(form_read_act(form, said, context, &arena, &heard));
    must((heard.act == FORM_CHANGES) <= (heard.field < (int)form_field_count(form)));
    count = form_find_language(said, places) + form_find_country(said, places) + form_find_timezone(said, "JP", places);
    must(count <= (size_t)3 * FORM_PLACES_MAX);
    arena_fini(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *texts[3], *copy = malloc(size + 3), *at = copy;
    struct arena arena;
    struct status st = {0};
    if (!copy)
        return 0;
    memcpy(copy, data, size);
    memset(copy + size, 0, 3);
    for (size_t i = 0; i < 3; i++) {
        texts[i] = at;
        at += strlen(at) + (at < copy + size);
    }
    if (text_is_clean(texts[0], strlen(texts[0])) && text_is_clean(texts[1], strlen(texts[1])) &&
        text_is_clean(texts[2], strlen(texts[2]))) {
        Renga__V1__SessionForm message = RENGA__V1__SESSION_FORM__INIT;
        bool ours = texts[0][0] >= '0' && texts[0][0] < '0' + (char)FORMS;
        message.schema_json = ours ? (char *)(uintptr_t)forms[texts[0][0] - '0'] : texts[0];
        arena_init(&arena, NULL, 0, MEMORY_MAX);
        const struct form *form = form_open(&arena, &message, &st);
        must(form ? st.code == OK : st.code == INVALID_ARGUMENT || st.code == RESOURCE_EXHAUSTED);
        must(form || st.text[0] != '\0');
        if (form)
            fuzz_read_words(form, texts[1], texts[2]);
        arena_fini(&arena);
    }
    free(copy);
    return 0;
}
