#include "form/find.h"
#include "form/values.h"

#define TEXT_MAX 80 /* characters of a text that is mentioned beside others */

/* The value behind the name: "name: Ada", "my name should be Ada", "change the name to Ada". Returns its beginning, or
 * 0. */
static size_t text_behind(const struct reading *in, const struct find_part *part)
{
    static const char *const told[] = {"should be", "must be", "should have been", "has to be", ":", "=", "から", NULL};
    static const char *const between[] = {"from before", "before", "earlier", "i gave", "above",
                                          "field",       "欄",     "の",      NULL};
    static const char *const verbs[] = {"change", "correct", "update", "set", "make", "edit", "fix", NULL};
    size_t at = skip_spaces(in, part->name_end), step;
    while ((step = words_at(in, at, between, NULL)) != 0)
        at = skip_spaces(in, step);
    size_t behind = words_at(in, at, told, NULL);
    if (behind)
        return reading_is_filler(in, part->first, part->name_first, NULL) ? skip_spaces(in, behind) : 0;
    size_t to = word_at(in, at, "to");
    for (size_t i = part->first; to && i < part->name_first; i++) {
        if (words_at(in, i, verbs, NULL) && reading_is_filler(in, part->first, part->name_first, NULL))
            return skip_spaces(in, to);
    }
    return 0;
}

/* 名前を田中に変更してください: the value between を and に, whose end is *end. */
static size_t text_between(const struct reading *in, const struct find_part *part, size_t *end)
{
    static const char *const verbs[] = {"に変更", "に訂正", "に修正", "に直", "に変え", "にして", "にします", NULL};
    static const char *const particles[] = {"を", "は", NULL};
    size_t first = words_at(in, part->name_end, particles, NULL);
    if (!first || !reading_is_filler(in, part->first, part->name_first, NULL))
        return 0;
    for (size_t i = first + 1; i < part->end; i++) {
        size_t verb = words_at(in, i, verbs, NULL);
        if (verb && reading_is_filler(in, i, part->end, NULL)) {
            *end = i;
            return first;
        }
    }
    return 0;
}

bool find_text(const struct reading *in, const struct find_part *part, size_t field, struct form_value *value,
               bool *told)
{
    struct reading own = *in;
    struct candidate read;
    size_t end = part->end, first = text_between(in, part, &end);
    *told = false;
    if (!first)
        first = text_behind(in, part);
    if (!first || first >= end || end - first > TEXT_MAX || reading_denies(in, first, end) || reading_asks(in, end))
        return true;
    own.field = field;
    own.spec = in->form->message->fields[field];
    if (!words_read_part(&own, first, end, &read) || !value_give(&own, &read, value))
        return false;
    *told = value->problem == FORM_FINE && !reading_is_filler(in, read.first, read.end, NULL);
    return true;
}
