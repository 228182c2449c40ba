/* The words of the form that people use in their answers: labels of fields, and choices. */
#include "form/form_priv.h"

#include <string.h>

#define WORD_TEXT_MAX 256 /* bytes; a longer label is not said */

struct gathering {
    struct arena *arena;
    struct name *names;
    struct form_word *words;
    size_t count, room;
    bool failed;
};

static void words_add(struct gathering *all, const char *text, size_t length, size_t field, int choice, bool partial)
{
    while (length > 0 && text[0] == ' ') {
        text++;
        length--;
    }
    while (length > 0 && strchr(" :?.*", text[length - 1]))
        length--;
    if (length == 0 || length > WORD_TEXT_MAX || all->failed)
        return;
    if (all->count == all->room) {
        size_t room = all->room ? 2 * all->room : 64;
        struct name *names = arena_alloc(all->arena, room * sizeof(*names));
        struct form_word *words = arena_alloc(all->arena, room * sizeof(*words));
        all->failed = !names || !words;
        if (all->failed)
            return;
        if (all->count > 0) {
            memcpy(names, all->names, all->count * sizeof(*names));
            memcpy(words, all->words, all->count * sizeof(*words));
        }
        all->names = names;
        all->words = words;
        all->room = room;
    }
    char *copy = arena_strndup(all->arena, text, length);
    all->failed = !copy;
    all->names[all->count] = (struct name){.text = copy, .tag = (uint32_t)all->count};
    all->words[all->count++] =
        (struct form_word){.field = (uint16_t)field, .choice = (int16_t)choice, .partial = partial};
}

/* The place of the first of some texts, or NULL. */
static const char *words_first_part(const char *text, const char *const *parts, size_t *length)
{
    const char *first = NULL;
    for (size_t i = 0; parts[i]; i++) {
        const char *found = strstr(text, parts[i]);
        if (found && (!first || found < first)) {
            first = found;
            *length = strlen(parts[i]);
        }
    }
    return first;
}

/* A label, and its parts outside and inside a bracket: "正社員（フルタイム）". */
static void words_add_label(struct gathering *all, const char *label, size_t field, int choice)
{
    static const char *const opening[] = {"(", "（", "【", "[", NULL}, *const closing[] = {")", "）", "】", "]", NULL};
    size_t open_length, close_length;
    words_add(all, label, strlen(label), field, choice, false);
    const char *open = words_first_part(label, opening, &open_length);
    const char *close = open ? words_first_part(open, closing, &close_length) : NULL;
    if (!close)
        return;
    words_add(all, label, (size_t)(open - label), field, choice, false);
    if (choice >= 0)
        words_add(all, open + open_length, (size_t)(close - open) - open_length, field, choice, false);
}

/* ---- fields ------------------------------------------------------------------------------------------------------ */

static bool words_ends_with(const char *text, size_t length, const char *ending)
{
    size_t own = strlen(ending);
    return length > own && memcmp(text + length - own, ending, own) == 0;
}

/* 入社日 is said as 入社; "Start date" as "start". */
static void words_add_stem(struct gathering *all, const char *label, size_t field)
{
    static const char *const endings[] = {"日時",     "年月日",  "日",       "時刻",  "時間", "番号",
                                          "アドレス", "の数",    "数",       "人数",  "先",   " date",
                                          " day",     " number", " address", " time", NULL};
    size_t length = strlen(label);
    for (size_t i = 0; endings[i]; i++) {
        size_t rest = length - strlen(endings[i]);
        if (words_ends_with(label, length, endings[i]) && rest >= 4) {
            words_add(all, label, rest, field, -1, true);
            return;
        }
    }
}

/* Polite and possessive words before a label: "Your name", ご住所, お名前. */
static const char *label_bare(const char *label)
{
    static const char *const openings[] = {"Your ", "your ", "The ", "the ", "ご", "お", NULL};
    for (size_t i = 0; openings[i]; i++) {
        size_t length = strlen(openings[i]);
        if (strncmp(label, openings[i], length) == 0 && strlen(label) > length + 2)
            return label + length;
    }
    return label;
}

/* Common nouns for a type of value, if only a single field has that type. */
static void words_add_type(struct gathering *all, const Renga__V1__SessionForm *message)
{
    static const struct {
        int type;
        const char *words[8];
    } nouns[] = {
        {FORM_TYPE(EMAIL), {"email", "mail", "email address", "mail address", "メール", "メールアドレス", "メアド"}},
        {FORM_TYPE(PHONE), {"phone", "phone number", "telephone", "telephone number", "電話", "電話番号", "携帯"}},
        {FORM_TYPE(URL), {"url", "website", "web site", "homepage", "サイト", "ホームページ", "ウェブサイト"}},
        {FORM_TYPE(DATE), {"date", "日付", "日にち"}},
        {FORM_TYPE(TIME), {"time", "時刻"}},
    };
    for (size_t noun = 0; noun < sizeof(nouns) / sizeof(*nouns); noun++) {
        size_t count = 0, only = 0;
        for (size_t i = 0; i < message->n_fields; i++) {
            if ((int)message->fields[i]->type == nouns[noun].type) {
                count++;
                only = i;
            }
        }
        for (size_t word = 0; count == 1 && nouns[noun].words[word]; word++)
            words_add(all, nouns[noun].words[word], strlen(nouns[noun].words[word]), only, -1, false);
    }
}

static void words_add_field(struct gathering *all, const Renga__V1__FormField *field, size_t i)
{
    const char *bare = label_bare(field->label);
    words_add_label(all, field->label, i, -1);
    if (bare != field->label)
        words_add_label(all, bare, i, -1);
    words_add_stem(all, bare, i);
    if (strlen(field->field_id) > 2)
        words_add(all, field->field_id, strlen(field->field_id), i, -1, false);
    for (size_t choice = 0; choice < field->n_choices; choice++) {
        const Renga__V1__FieldChoice *of = field->choices[choice];
        words_add_label(all, of->label[0] ? of->label : of->value, i, (int)choice);
        if (of->label[0] && strlen(of->value) > 2) /* shorter ones are codes */
            words_add(all, of->value, strlen(of->value), i, (int)choice, false);
        for (size_t also = 0; also < of->n_also; also++)
            words_add(all, of->also[also], strlen(of->also[also]), i, (int)choice, false);
    }
}

bool form_open_words(struct arena *arena, struct form *form)
{
    struct gathering all = {.arena = arena};
    for (size_t i = 0; i < form->message->n_fields; i++)
        words_add_field(&all, form->message->fields[i], i);
    words_add_type(&all, form->message);
    if (all.failed)
        return false;
    form->names = names_create(arena, all.names, all.count);
    form->words = all.words;
    form->word_count = all.count;
    return form->names != NULL;
}
