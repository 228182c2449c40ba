/* Problems and values in sentences for the person. */
#include "form/values.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "form/days.h"
#include "json/json.h"

static bool in_japanese(const struct form_context *context)
{
    return strncmp(context->language, "ja", 2) == 0;
}

/* ---- values ------------------------------------------------------------------------------------------------------ */

static const char *message_date(struct arena *arena, const char *text, bool japanese)
{
    static const char *const months[] = {"January", "February", "March",     "April",   "May",      "June",
                                         "July",    "August",   "September", "October", "November", "December"};
    int year, month, day;
    if (sscanf(text, "%4d-%2d-%2d", &year, &month, &day) != 3 || month < 1 || month > 12)
        return arena_strdup(arena, text);
    return japanese ? arena_printf(arena, "%d年%d月%d日", year, month, day)
                    : arena_printf(arena, "%s %d, %d", months[month - 1], day, year);
}

/* 1234567.5 as 1,234,567.5. */
static const char *message_number(struct arena *arena, const char *text)
{
    size_t sign = text[0] == '-', whole = strspn(text + sign, "0123456789"), groups = whole > 3 ? (whole - 1) / 3 : 0;
    char *said = arena_alloc(arena, strlen(text) + groups + 1), *at = said;
    if (!said)
        return NULL;
    for (size_t i = 0; text[i]; i++) {
        if (i > sign && i < sign + whole && (sign + whole - i) % 3 == 0)
            *at++ = ',';
        *at++ = text[i];
    }
    *at = '\0';
    return said;
}

static const char *choice_label(const Renga__V1__FormField *field, const char *value)
{
    for (size_t i = 0; i < field->n_choices; i++) {
        if (strcmp(field->choices[i]->value, value) == 0)
            return field->choices[i]->label[0] ? field->choices[i]->label : value;
    }
    return value;
}

static const char *message_list(struct arena *arena, const Renga__V1__FormField *field, const char *text, bool japanese)
{
    struct status st = {0};
    struct buffer out;
    buffer_init(&out, (size_t)1 << 20);
    cJSON *list = json_parse(text, strlen(text), NULL, &st);
    for (const cJSON *item = list ? list->child : NULL; item; item = item->next) {
        if (item != list->child)
            buffer_print(&out, japanese ? "、" : ", ");
        buffer_print(&out, cJSON_IsString(item) ? choice_label(field, item->valuestring) : "");
    }
    if (list && !list->child)
        buffer_print(&out, japanese ? "なし" : "none");
    cJSON_Delete(list);
    const char *said = list ? arena_strdup(arena, buffer_text(&out)) : arena_strdup(arena, text);
    buffer_fini(&out);
    return said;
}

const char *form_value_text(const struct form *form, size_t field, const char *text, const struct form_context *context,
                            struct arena *arena)
{
    const Renga__V1__FormField *spec = form->message->fields[field];
    bool japanese = in_japanese(context);
    switch (spec->type) {
    case FORM_TYPE(NUMBER):
        return message_number(arena, text);
    case FORM_TYPE(DATE):
        return message_date(arena, text, japanese);
    case FORM_TYPE(CHOICE):
        return arena_strdup(arena, choice_label(spec, text));
    case FORM_TYPE(CHOICES):
        return message_list(arena, spec, text, japanese);
    case FORM_TYPE(YES_NO):
        if (strcmp(text, "true") == 0)
            return japanese ? "はい" : "yes";
        return japanese ? "いいえ" : "no";
    default:
        return arena_strdup(arena, text);
    }
}

/* ---- problems ---------------------------------------------------------------------------------------------------- */

/* %s is the bound, %2 the person's words in the sentences that have them. */
static const struct sentence {
    const char *ja, *en;
} sentences[] = {
    [FORM_FINE] = {"", ""},
    [FORM_NOT_A_NUMBER] = {"数字をひとつ教えてください。", "Please give me one number."},
    [FORM_NOT_WHOLE] = {"小数のない数字（整数）で教えてください。", "Please give me a whole number."},
    [FORM_TOO_SMALL] = {"%s以上の数字で教えてください。", "Please give me a number of at least %s."},
    [FORM_TOO_LARGE] = {"%s以下の数字で教えてください。", "Please give me a number of at most %s."},
    [FORM_UNCLEAR_DATE] = {"年月日がはっきりするように教えてください（例：%s）。",
                           "Please tell me the day with its month and year, for example %s."},
    [FORM_TOO_EARLY] = {"%s以降でお願いします。", "It should be %s or later, please."},
    [FORM_TOO_LATE] = {"%s以前でお願いします。", "It should be %s or earlier, please."},
    [FORM_BAD_EMAIL] = {"メールアドレスの形になっていないようです。もう一度教えてください（例：name@example.com）。",
                        "That does not look like an e-mail address. Could you give it again, like name@example.com?"},
    [FORM_BAD_PHONE] = {"電話番号として読み取れませんでした。市外局番から教えてください（例：03-1234-5678）。",
                        "I could not read that as a telephone number. Could you give it with its area code?"},
    [FORM_BAD_URL] = {"ウェブのアドレスを教えてください（例：https://example.com）。",
                      "Please give me the address of a web page, like https://example.com."},
    [FORM_NO_SUCH_CHOICE] = {"次の中から選んでください：%s。", "Please choose one of these: %s."},
    [FORM_SEVERAL_CHOICES] = {"どれかひとつに決めてください：%s。", "Which one do you mean? Please choose one: %s."},
    [FORM_FEW_CHOICES] = {"%s個以上選んでください。", "Please choose at least %s."},
    [FORM_MANY_CHOICES] = {"%s個までで選んでください。", "Please choose at most %s."},
    [FORM_UNCLEAR_YES_NO] = {"「はい」か「いいえ」で教えてください。", "Is that a yes or a no?"},
    [FORM_TOO_SHORT] = {"%s文字以上でお願いします。", "Could you write at least %s characters, please?"},
    [FORM_TOO_LONG] = {"%s文字以内でお願いします。", "Could you keep it to %s characters, please?"},
};

#define CHOICES_SAID_MAX 12
#define WORDS_SAID_MAX   48 /* bytes of the person's words in a sentence */

static const char *message_choices(struct arena *arena, const Renga__V1__FormField *field, bool japanese)
{
    struct buffer out;
    buffer_init(&out, (size_t)1 << 20);
    for (size_t i = 0; i < field->n_choices && i < CHOICES_SAID_MAX; i++) {
        const Renga__V1__FieldChoice *choice = field->choices[i];
        if (i > 0)
            buffer_print(&out, japanese ? "、" : ", ");
        buffer_print(&out, choice->label[0] ? choice->label : choice->value);
    }
    if (field->n_choices > CHOICES_SAID_MAX)
        buffer_print(&out, japanese ? "など" : ", …");
    const char *said = arena_strdup(arena, buffer_text(&out));
    buffer_fini(&out);
    return said;
}

static const char *message_limit(const struct reading *in, const char *limit, bool japanese)
{
    if (in->spec->type == FORM_TYPE(NUMBER))
        return message_number(in->arena, limit);
    if (strcmp(limit, "today") == 0)
        return japanese ? "今日" : "today";
    return in->spec->type == FORM_TYPE(DATE) ? message_date(in->arena, limit, japanese) : limit;
}

/* The value for %s. */
static const char *message_bound(const struct reading *in, enum form_problem problem, bool japanese)
{
    static const Renga__V1__FieldLimits none = RENGA__V1__FIELD_LIMITS__INIT;
    const Renga__V1__FieldLimits *limits = in->spec->limits ? in->spec->limits : &none;
    switch (problem) {
    case FORM_TOO_SMALL:
    case FORM_TOO_EARLY:
        return message_limit(in, limits->minimum, japanese);
    case FORM_TOO_LARGE:
    case FORM_TOO_LATE:
        return message_limit(in, limits->maximum, japanese);
    case FORM_UNCLEAR_DATE:
        return message_date(in->arena,
                            arena_printf(in->arena, "%04d-%02d-%02d", in->today.year, in->today.month, in->today.day),
                            japanese);
    case FORM_NO_SUCH_CHOICE:
    case FORM_SEVERAL_CHOICES:
        return message_choices(in->arena, in->spec, japanese);
    case FORM_FEW_CHOICES:
        return arena_printf(in->arena, "%d", (int)limits->min_choices);
    case FORM_MANY_CHOICES:
        return arena_printf(in->arena, "%d", (int)limits->max_choices);
    case FORM_TOO_SHORT:
        return arena_printf(in->arena, "%d", (int)limits->min_length);
    case FORM_TOO_LONG:
        return limits->max_length ? arena_printf(in->arena, "%d", (int)limits->max_length) : "16384";
    default:
        return "";
    }
}

/* The form that a value must have, where no problem has the same sentence. A text has none. */
static const struct sentence wanted[] = {
    [FORM_TYPE(DATE)] = {"日付を教えてください（例：4月1日、来週の金曜日）。",
                         "Please tell me the day, for example April 1 or next Friday."},
    [FORM_TYPE(TIME)] = {"時刻を教えてください（例：午前9時30分、15:00）。",
                         "Please tell me the time of day, for example 9:30 am or 15:00."},
    [FORM_TYPE(EMAIL)] = {"メールアドレスを教えてください（例：name@example.com）。",
                          "Please give me an e-mail address, like name@example.com."},
    [FORM_TYPE(PHONE)] = {"電話番号を市外局番から教えてください（例：03-1234-5678）。",
                          "Please give me a telephone number with its area code."},
    [FORM_TYPE(URL)] = {"ウェブのアドレスを教えてください（例：https://example.com）。",
                        "Please give me the address of a web page, like https://example.com."},
    [FORM_TYPE(CHOICE)] = {"次の中から選んでください。", "Please choose one of these."},
    [FORM_TYPE(CHOICES)] = {"次の中から選んでください（複数可）。", "Please choose from these; there may be several."},
};

static const char *message_wanted(const Renga__V1__FormField *field, bool japanese)
{
    size_t type = (size_t)field->type;
    struct sentence found = field->type == FORM_TYPE(NUMBER)        ? sentences[FORM_NOT_A_NUMBER]
                            : field->type == FORM_TYPE(YES_NO)      ? sentences[FORM_UNCLEAR_YES_NO]
                            : type < sizeof wanted / sizeof *wanted ? wanted[type]
                                                                    : (struct sentence){NULL, NULL};
    const char *sentence = japanese ? found.ja : found.en;
    return sentence ? sentence : "";
}

const char *form_wanted_message(const struct form *form, size_t field, const struct form_context *context)
{
    return message_wanted(form_field(form, field), in_japanese(context));
}

static const char *message_nothing_understood(const struct reading *in, bool japanese)
{
    const char *sentence = message_wanted(in->spec, japanese);
    if (*sentence)
        return sentence;
    return japanese ? "すみません、うまく読み取れませんでした。もう一度教えてください。"
                    : "Sorry, I did not get that. Could you tell me again?";
}

static const char *message_pattern(const struct reading *in, bool japanese)
{
    const char *help = in->spec->limits ? in->spec->limits->pattern_help : "";
    if (help[0])
        return arena_printf(in->arena, japanese ? "次の形でお願いします：%s。" : "It should look like this: %s.", help);
    return japanese ? "決まった形に合わないようです。もう一度確かめて教えてください。"
                    : "That does not have the form that is needed. Could you check it, please?";
}

/* An impossible date or time, with the person's words if they are short. */
static const char *message_no_such(const struct reading *in, const struct form_value *value, bool japanese)
{
    bool date = value->problem == FORM_NO_SUCH_DATE;
    const char *noun = japanese ? (date ? "日" : "時刻") : (date ? "date" : "time of day");
    if (!value->text[0] || strlen(value->text) > WORDS_SAID_MAX)
        return arena_printf(in->arena,
                            japanese ? "その%sはありません。もう一度教えてください。"
                                     : "There is no such %s. Could you tell me again?",
                            noun);
    if (japanese)
        return arena_printf(in->arena, "%sという%sはありません。", value->text, noun);
    return arena_printf(in->arena, "There is no such %s as \"%s\".", noun, value->text);
}

const char *form_problem_message(const struct form *form, size_t field, const struct form_value *value,
                                 const struct form_context *context, struct arena *arena)
{
    struct reading in;
    bool japanese = in_japanese(context);
    if (!reading_open(&in, form, field, "", context, arena))
        return NULL;
    switch (value->problem) {
    case FORM_NO_VALUE:
        return message_nothing_understood(&in, japanese);
    case FORM_BAD_PATTERN:
        return message_pattern(&in, japanese);
    case FORM_NO_SUCH_DATE:
    case FORM_NO_SUCH_TIME:
        return message_no_such(&in, value, japanese);
    default:
        break;
    }
    const char *bound = message_bound(&in, value->problem, japanese);
    const char *sentence = japanese ? sentences[value->problem].ja : sentences[value->problem].en;
    const char *place = strstr(sentence, "%s");
    if (!bound || !place)
        return bound ? sentence : NULL;
    return arena_printf(arena, "%.*s%s%s", (int)(place - sentence), sentence, bound, place + 2);
}
