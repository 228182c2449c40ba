#include "form/find.h"

#include <string.h>

/* Units of numbers, and the words in labels that ask for them. */
static const struct {
    const char *units, *labels;
} kinds[] = {
    {"歳|才|years old|year old|years of age|yrs old|i'm|i am", "年齢|歳|age"},
    {"円|万円|ドル|ユーロ|yen|dollars|dollar|bucks|usd|jpy|eur|euros|euro|pounds|$|¥|€|£",
     "金額|料金|費用|価格|予算|代金|amount|price|cost|fee|budget|sum"},
    {"人|名|名様|people|persons|guests|adults", "人数|people|guests|persons|attendees|participants"},
};

static bool unit_is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* "age" in "Age of the guest", not in "package". */
static bool unit_label_says(const char *label, const char *word, size_t length)
{
    for (const char *at = label; *at; at++) {
        bool cut = unit_is_letter(*word) &&
                   ((at > label && unit_is_letter(at[-1])) || unit_is_letter(at[strnlen(at, length)]));
        if (!cut && strncasecmp(at, word, length) == 0)
            return true;
    }
    return false;
}

static bool unit_label_asks(const char *label, const char *words)
{
    while (*words) {
        size_t length = strcspn(words, "|");
        if (unit_label_says(label, words, length))
            return true;
        words += length + (words[length] == '|');
    }
    return false;
}

int find_by_unit(const struct reading *in, const struct find_part *part)
{
    const Renga__V1__SessionForm *message = in->form->message;
    for (size_t kind = 0; kind < sizeof(kinds) / sizeof(*kinds); kind++) {
        int only = -1;
        bool several = false, said = false;
        for (size_t i = 0; i < message->n_fields; i++) {
            if (message->fields[i]->type != FORM_TYPE(NUMBER) ||
                !unit_label_asks(message->fields[i]->label, kinds[kind].labels))
                continue;
            several = several || only >= 0;
            only = (int)i;
        }
        for (size_t i = part->first; i < part->end && !said; i++)
            said = list_at(in, i, kinds[kind].units) != 0;
        if (said && only >= 0 && !several)
            return only;
    }
    return -1;
}
