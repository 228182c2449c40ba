/* services/form: forms, and values in a person's words. */
#include "readers.h"

#include "form/form.h"

#include <stdlib.h>

#define MOST_SCHEMA ((size_t)256 << 10)
#define MOST_WORDS  ((size_t)6 << 10) /* bytes of an answer: a reader takes up to 1 µs for each */

static const struct form_context context = {.language = "ja", .country = "JP", .timezone = "Asia/Tokyo"};

/* Fields of all types; the one that is read comes first. */
#define FORM_OF(first)                                                                                                 \
    "{\"properties\":{\"x\":" first ",\"email\":{\"format\":\"email\"},\"day\":{\"format\":\"date\"},"                 \
    "\"amount\":{\"type\":\"number\",\"title\":\"金額\"},\"pc\":{\"enum\":[\"laptop\",\"desktop\",\"a\",\"甲\"]},"  \
    "\"many\":{\"type\":\"array\",\"items\":{\"enum\":[\"red\",\"green\",\"あ\",\"b\"]}}}}"

static const struct form *open_form(struct input *in)
{
    Renga__V1__SessionForm message = RENGA__V1__SESSION_FORM__INIT;
    message.schema_json = (char *)(uintptr_t)in->with;
    const struct form *form = form_open(&in->arena, &message, &in->st);
    if (!form)
        abort();
    return form;
}

static void linear_form_read(struct input *in)
{
    struct form_value value;
    if (!form_read_value(open_form(in), 0, in->text, &context, &in->arena, &value))
        abort();
    in->accepted = value.problem == FORM_FINE;
}

static void linear_form_find(struct input *in)
{
    struct form_mention mentions[FORM_MENTIONS_MAX];
    size_t count;
    if (!form_find_values(open_form(in), 0, in->text, &context, &in->arena, mentions, &count))
        abort();
    in->accepted = count > 0;
}

/* The proposal is the text's first half, so that it is in the text again and again. */
static void prove_value(struct input *in)
{
    struct form_value value;
    size_t half = in->length / 2;
    while (half > 0 && ((unsigned char)in->text[half] & 0xC0) == 0x80)
        half--;
    const char *proposed = arena_strndup(&in->arena, in->text, half);
    if (!proposed || !form_verify_value(open_form(in), 0, proposed, in->text, &context, &in->arena, &value))
        abort();
    in->accepted = value.problem == FORM_FINE;
}

static void find_places(struct input *in)
{
    struct form_place places[FORM_PLACES_MAX];
    in->accepted = form_find_language(in->text, places) + form_find_country(in->text, places) +
                       form_find_timezone(in->text, "", places) >
                   0;
}

/* The whole text is the schema. */
static void open_schema(struct input *in)
{
    Renga__V1__SessionForm message = RENGA__V1__SESSION_FORM__INIT;
    message.schema_json = (char *)(uintptr_t)in->text;
    in->accepted = form_open(&in->arena, &message, &in->st) != NULL;
}

static const struct generator answers[] = {
    {"numbers", 0, .unit = "12,345 "},
    {"numbers that are taken back", 0, .unit = "5, no wait, "},
    {"Han numbers", 0, .unit = "三万五千"},
    {"powers of ten", 0, .unit = "万"},
    {"English numbers", 0, .unit = "five hundred and twenty "},
    {"dates", 0, .unit = "4月1日(水)、"},
    {"dates in English", 0, .unit = "April 1st, 2026 "},
    {"weekdays", 0, .unit = "next Friday "},
    {"times", 0, .unit = "午後3時半 "},
    {"addresses", 0, .unit = "a@b.co "},
    {"at signs", 0, .unit = "@"},
    {"telephone numbers", 0, .unit = "090-1234-5678, "},
    {"digits and hyphens", 0, .unit = "1-"},
    {"brackets in an address", 0, .begin = "https://a.co/", .unit = "("},
    {"choices", 0, .unit = "laptop "},
    {"choices that are denied", 0, .unit = "not laptop, "},
    {"several choices", 0, .unit = "red and "},
    {"yes", 0, .unit = "はい、"},
    {"yes in English", 0, .unit = "yes "},
    {"names of fields", 0, .unit = "email: "},
    {"courtesy", 0, .unit = "please "},
    {"commas", 0, .unit = ","},
    {"emoji", 0, .unit = "\xF0\x9F\x91\xA9\xE2\x80\x8D"},
    {"places", 0, .unit = "Tokyo, Japan, English 日本 "},
    {"right to left", 0, .unit = "שלום "},
    {.name = NULL},
};

static const struct generator schemas[] = {
    {"choices", 0, .begin = "{\"properties\":{\"a\":{\"enum\":[\"x\"", .unit = ",\"y\1\"", .end = "]}}}"},
    {"properties", 0, .begin = "{\"properties\":{\"a\":{}", .unit = ",\"b\1\":{}", .end = "}}"},
    {"names that are required", 0, .begin = "{\"properties\":{\"a\":{}},\"required\":[\"a\"", .unit = ",\"a\"",
     .end = "]}"},
    {"conditions", 0, .begin = "{\"properties\":{\"a\":{},\"b\":{}},\"allOf\":[{}",
     .unit = ",{\"if\":{\"properties\":{\"a\":{\"const\":\"1\"}}},\"then\":{\"required\":[\"b\"]}}", .end = "]}"},
    {"constants", 0, .begin = "{\"properties\":{\"a\":{},\"b\":{}},\"if\":{\"properties\":{\"a\":{\"enum\":[\"c\"",
     .unit = ",\"c\"", .end = "]}}},\"then\":{\"required\":[\"b\"]}}"},
    {.name = NULL},
};

#define VALUES_OF(what, property, good)                                                                                \
    {                                                                                                                  \
        .name = "values of " what, .read = linear_form_read, .sets = HOSTILE_FIELD, .own = answers,                    \
        .with = FORM_OF(property), .most = MOST_WORDS, .accepts = good                                                 \
    }

const struct reader readers_form[] = {
    VALUES_OF("texts", "{\"type\":\"string\"}", true),
    VALUES_OF("patterns", "{\"type\":\"string\",\"pattern\":\"[a-z ]+\"}", true),
    VALUES_OF("numbers", "{\"type\":\"number\"}", true),
    VALUES_OF("dates", "{\"format\":\"date\"}", true),
    VALUES_OF("times", "{\"format\":\"time\"}", true),
    VALUES_OF("e-mail", "{\"format\":\"email\"}", true),
    VALUES_OF("phones", "{\"format\":\"phone\"}", true),
    VALUES_OF("addresses", "{\"format\":\"uri\"}", true),
    VALUES_OF("a choice", "{\"enum\":[\"laptop\",\"laptop computer\",\"あ\",\"a\",\"漢\"]}", true),
    VALUES_OF("choices", "{\"type\":\"array\",\"items\":{\"enum\":[\"red\",\"laptop\",\"あ\",\"a\",\"漢\"]}}", false),
    VALUES_OF("yes and no", "{\"type\":\"boolean\"}", true),
    {"values of several fields", linear_form_find, .sets = HOSTILE_TEXT | HOSTILE_FIELD, .own = answers,
     .with = FORM_OF("{\"title\":\"Name\"}"), .most = MOST_WORDS, .accepts = true},
    {"proof of a text", prove_value, .sets = HOSTILE_TEXT | HOSTILE_FIELD, .own = answers,
     .with = FORM_OF("{\"title\":\"Name\"}"), .most = MOST_WORDS, .accepts = true},
    {"proof of a number", prove_value, .sets = HOSTILE_FIELD, .own = answers, .with = FORM_OF("{\"type\":\"number\"}"),
     .most = MOST_WORDS},
    {"places", find_places, .sets = HOSTILE_FIELD, .own = answers, .most = MOST_WORDS, .accepts = true},
    {"a form's schema", open_schema, .sets = HOSTILE_JSON, .own = schemas, .most = MOST_SCHEMA, .accepts = true},
    {.name = NULL},
};
