/* A form (renga/v1/form.proto): the check of the form, and the reading of answers. Orchestrator, planner, reviewer and
 * the command line share it. It calls neither a model nor the network.
 *
 * A form that is checked is read-only and may be shared by threads. Texts are UTF-8, well formed, NUL-terminated. All
 * results are in the given arena; NULL or false with RESOURCE_EXHAUSTED if it is exhausted. Every function is
 * linear in its texts. */
#ifndef RENGA_FORM_H
#define RENGA_FORM_H

#include "base/arena.h"
#include "base/status.h"

#include "renga/v1/form.pb-c.h"

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stdint.h>

#define FORM_FIELDS_MAX 200
#define FORM_FACTS_MAX  1000
#define FORM_VALUE_MAX  ((size_t)16384) /* bytes */

struct form;

/* INVALID_ARGUMENT names the field of the message ("form.fields[2].only_if_json") and the correction. A form with
 * schema_json is turned into fields here. The message is copied. */
const struct form *form_open(struct arena *arena, const Renga__V1__SessionForm *message, struct status *st);

/* The fields as they are after the check, in the order of sort_order; schema_json is empty. */
const Renga__V1__SessionForm *form_message(const struct form *form);
size_t form_field_count(const struct form *form);
const Renga__V1__FormField *form_field(const struct form *form, size_t i);
/* -1: no field has this field_id. */
int form_find(const struct form *form, const char *field_id);
/* The facts of a field. */
size_t form_facts(const struct form *form, size_t field, const Renga__V1__FactDefinition *const **facts);

/* True if the field is to be asked: evaluates its condition over the values so far, an object by field_id with the
 * value types of only_if_json. Without a condition: true. */
bool form_applies(const struct form *form, size_t field, const cJSON *values);

/* ---- values ------------------------------------------------------------------------------------------------------ */

/* The person's language, place and time, for reading the words. */
struct form_context {
    const char *language; /* "ja", "en", … */
    const char *country;  /* ISO 3166; "" not known */
    const char *timezone; /* IANA; "" not known: UTC */
    int64_t now_ms;       /* Unix time */
};

/* Why words are no value of a field. Each has a sentence in Japanese and English (form_problem_message). */
enum form_problem {
    FORM_FINE,
    FORM_NO_VALUE, /* the words contain no value of this type */
    FORM_NOT_A_NUMBER,
    FORM_NOT_WHOLE,
    FORM_TOO_SMALL,
    FORM_TOO_LARGE,
    FORM_NO_SUCH_DATE, /* February 30th */
    FORM_UNCLEAR_DATE, /* "03/04/05" */
    FORM_TOO_EARLY,
    FORM_TOO_LATE,
    FORM_NO_SUCH_TIME,
    FORM_BAD_EMAIL,
    FORM_BAD_PHONE,
    FORM_BAD_URL,
    FORM_NO_SUCH_CHOICE,
    FORM_SEVERAL_CHOICES, /* several values of CHOICE, or a word that fits two choices */
    FORM_FEW_CHOICES,
    FORM_MANY_CHOICES,
    FORM_UNCLEAR_YES_NO,
    FORM_TOO_SHORT,
    FORM_TOO_LONG,
    FORM_BAD_PATTERN,
};

/* A value, and the words that it is made of. */
struct form_value {
    enum form_problem problem; /* FORM_FINE: there is a value */
    const char *text;          /* the stored form, see FieldType; FORM_NO_SUCH_DATE and _TIME: the person's words */
    const cJSON *json;         /* typed, for conditions: a number, true, a string, a list of strings */
    size_t begin, end;         /* byte offsets in the text: of the words, or of the problem */
};

/* Reads the words as the answer to this very field: "来週の金曜です", "it's ada@example.com, thanks". */
bool form_read_value(const struct form *form, size_t field, const char *text, const struct form_context *context,
                     struct arena *arena, struct form_value *value);

/* Checks whether `proposed` (a model's value) is a span of `text` or a normalisation of a span: then `value` is the
 * value of that span. Otherwise a problem: FORM_NO_VALUE if the person has not said it. */
bool form_verify_value(const struct form *form, size_t field, const char *proposed, const char *text,
                       const struct form_context *context, struct arena *arena, struct form_value *value);

/* Whether the words stand in the text, both in the form in which texts are compared (words_normalize). Blank words do
 * not. */
bool form_text_contains(const char *words, const char *text);

/* Finds values in words that answer no particular question, or several: "I'm Ada, ada@example.com, and the laptop
 * please". Only certain values: a type that only a single field has, a choice's own words, or words that name the field
 * ("the e-mail from before should be b@example.com"). `asked` is the field that the words answer; -1: no field. Its
 * mention stands first. The mention is missing if the words speak of other fields alone, or contain no value of it. An
 * invalid value (too small, no such date) is a mention with its problem. */
struct form_mention {
    size_t field;
    bool named; /* the words name the field: a done field may be changed */
    struct form_value value;
};
#define FORM_MENTIONS_MAX 32
bool form_find_values(const struct form *form, int asked, const char *text, const struct form_context *context,
                      struct arena *arena, struct form_mention *mentions, size_t *count);

/* The problem in a sentence for the person, in the context's language (Japanese or English), with the field's bounds:
 * "2月30日という日はありません。". */
const char *form_problem_message(const struct form *form, size_t field, const struct form_value *value,
                                 const struct form_context *context, struct arena *arena);

/* The form that a value of the field must have, in a sentence for the person: "Please give me one number."; "" for a
 * text. The sentence is constant. */
const char *form_wanted_message(const struct form *form, size_t field, const struct form_context *context);

/* The value as a person reads it: a choice's label, "2026年4月1日", "はい". */
const char *form_value_text(const struct form *form, size_t field, const char *text, const struct form_context *context,
                            struct arena *arena);

/* ---- dialogue acts of the person besides answers
 * ---------------------------------------------------------------------- */

enum form_act {
    FORM_ANSWERS,       /* only an answer */
    FORM_SKIPS,         /* "skip", "飛ばして" */
    FORM_DOES_NOT_KNOW, /* "I don't know", "分かりません" */
    FORM_ASKS_WHY,      /* "why do you ask?", "なぜ必要ですか" */
    FORM_GOES_BACK,     /* "go back", "前の質問に戻って" */
    FORM_CHANGES,       /* "change the e-mail": a named field, without a value */
    FORM_SPEAKS,        /* "日本語でお願いします": another language, in `language` */
    FORM_ASKS_WHAT,     /* "what does that mean?", "例えば?" */
    FORM_ASKS_STATE,    /* "what have I said so far?", "あと何問?" */
};
struct form_utterance {
    enum form_act act;
    int field;            /* the field that the words name, always of FORM_CHANGES; -1: no field */
    const char *language; /* of FORM_SPEAKS */
    const char
        *reason; /* of FORM_SKIPS and FORM_DOES_NOT_KNOW: why, when the person says it ("… because", "…ので"); NULL */
};
/* Judges the whole text: a text with more content than the act is an answer. */
bool form_read_act(const struct form *form, const char *text, const struct form_context *context, struct arena *arena,
                   struct form_utterance *heard);

/* ---- the person's place ------------------------------------------------------------------------------------------ */

/* Languages, countries and time zones in a person's words, in Japanese and English (ICU's names, codes, adjectives:
 * "日本", "Japan", "JP", "I live in Brazil", "英語で", "español"). At most FORM_PLACES_MAX, the likeliest first; begin
 * and end are bytes of the text. */
#define FORM_PLACES_MAX 16
struct form_place {
    char code[64]; /* "ja"; "JP"; "Asia/Tokyo" */
    size_t begin, end;
};
size_t form_find_language(const char *text, struct form_place places[FORM_PLACES_MAX]);
size_t form_find_country(const char *text, struct form_place places[FORM_PLACES_MAX]);
/* By the name of a city or zone; with a country, only zones of that country. */
size_t form_find_timezone(const char *text, const char *country, struct form_place places[FORM_PLACES_MAX]);
/* The zones of a country, the most people's first: canonical IANA names. */
size_t form_timezones(const char *country, struct form_place places[FORM_PLACES_MAX]);
/* "Tokyo", "東京"; "Japan", "日本"; "Japanese", "日本語". */
const char *form_place_name(const char *code, const char *language, struct arena *arena);
/* A well-formed and known code, in canonical form in `out`. */
bool form_is_language(const char *code, char out[36]);
bool form_is_country(const char *code, char out[3]);
bool form_is_timezone(const char *code, char out[64]);

#endif
