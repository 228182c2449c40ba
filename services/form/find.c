/* Values of several fields in a single answer. The answer is cut in parts at commas, stops and "and"; a part gives a
 * value if all of its words are explained: the field's name, the value, and words of filler.
 *
 *     the e-mail from before | should be b@example.com       named: the e-mail
 *     and the laptop please                                  a choice's own words, unique to a field
 */
#include "form/find.h"
#include "form/choices.h"
#include "form/values.h"

#include <string.h>

#define PARTS_MAX 48 /* an answer of more parts is a text */

/* ---- parts ------------------------------------------------------------------------------------------------------- */

/* A value is not cut: "April 1, 2026", "five hundred and twenty". */
static bool find_protect(const struct reading *in, bool *protected)
{
    static void (*const finders[])(const struct reading *, struct candidates *) = {numbers_find, dates_find,
                                                                                   emails_find, urls_find, phones_find};
    struct candidates *list = arena_alloc(in->arena, sizeof(*list));
    if (!list)
        return false;
    for (size_t finder = 0; finder < sizeof(finders) / sizeof(*finders); finder++) {
        list->count = 0;
        list->more = list->out_of_memory = false;
        finders[finder](in, list);
        if (list->out_of_memory)
            return false;
        for (size_t i = 0; i < list->count; i++) {
            for (size_t c = list->list[i].first; c < list->list[i].end; c++)
            protected[c] = true;
        }
    }
    return true;
}

/* Returns the end of the mark or word that separates two parts at `i`, or 0. */
static size_t find_joint(const struct reading *in, size_t i)
{
    static const char *const words[] = {"and", "but", "plus", "それから", "それと", "あと、", NULL};
    uint32_t code = code_at(in, i);
    bool stop = code == 0x3002 || code == 0x3001 || code == ',' || code == ';' || code == '\n' || code == '!';
    if (stop || (code == '.' && (is_space(code_at(in, i + 1)) || code_at(in, i + 1) == 0)))
        return i + 1;
    return words_at(in, i, words, NULL);
}

/* False if the arena is exhausted; *count is 0 if the answer has too many parts. */
static bool find_parts(const struct reading *in, struct find_part parts[PARTS_MAX], size_t *count)
{
    bool *protected = arena_zalloc(in->arena, in->in.count + 1);
    size_t first = 0;
    *count = 0;
    if (!protected || !find_protect(in, protected))
        return false;
    for (size_t i = 0; i <= in->in.count;) {
        size_t joint = i == in->in.count ? i : protected[i] ? 0 : find_joint(in, i);
        if (i < in->in.count && !joint) {
            i++;
            continue;
        }
        bool any = skip_spaces(in, first) < i;
        if (any && *count == PARTS_MAX) {
            *count = 0;
            return true;
        }
        if (any)
            parts[(*count)++] = (struct find_part){.first = first, .end = i, .named = -1, .chosen = -1};
        if (i == in->in.count)
            break;
        first = i = joint;
    }
    return true;
}

/* The field that a part names, and the field whose choices it contains: -1 no field, FIND_SEVERAL more than one. */
static bool find_names(const struct reading *in, struct find_part *parts, size_t count)
{
    struct name_found *found = arena_alloc(in->arena, CHOICES_FOUND_MAX * sizeof(*found));
    if (!found)
        return false;
    size_t total = names_find(in->form->names, &in->in, in->arena, found, CHOICES_FOUND_MAX), part = 0;
    if (total == SIZE_MAX)
        return false;
    for (size_t i = 0; i < total; i++) {
        const struct form_word *word = &in->form->words[found[i].tag];
        while (part < count && parts[part].end <= found[i].first)
            part++;
        if (part == count)
            break;
        if (found[i].first < parts[part].first || found[i].end > parts[part].end)
            continue;
        int *of = word->choice < 0 ? &parts[part].named : &parts[part].chosen;
        bool same_place = word->choice < 0 && *of >= 0 && found[i].first == parts[part].name_first;
        *of = *of == -1 || *of == word->field ? word->field : FIND_SEVERAL;
        if (word->choice < 0 && !same_place) {
            parts[part].name_first = found[i].first;
            parts[part].name_end = found[i].end;
        }
    }
    return true;
}

/* ---- a single part ----------------------------------------------------------------------------------------------- */

/* Reads the part as an answer to the field; places are those of the whole answer. */
static bool find_read(const struct reading *in, const struct find_part *part, size_t field, struct candidate *read,
                      struct form_value *value)
{
    struct reading own;
    const char *text = reading_copy(in, part->first, part->end);
    if (!text || !reading_open(&own, in->form, field, text, in->context, in->arena) || !value_read(&own, read) ||
        !value_give(&own, read, value))
        return false;
    size_t base = in->in.at[part->first].begin;
    value->begin += base;
    value->end += base;
    read->first += part->first;
    read->end += part->first;
    return true;
}

/* Problems of a value that is present in the words. */
static bool find_is_problem(enum form_problem problem)
{
    return problem == FORM_TOO_SMALL || problem == FORM_TOO_LARGE || problem == FORM_NOT_WHOLE ||
           problem == FORM_NO_SUCH_DATE || problem == FORM_TOO_EARLY || problem == FORM_TOO_LATE ||
           problem == FORM_NO_SUCH_TIME;
}

/* Whether all of the part is explained by the value, the name and filler. */
static bool find_explained(const struct reading *in, const struct find_part *part, const struct candidate *read)
{
    bool *covered = arena_zalloc(in->arena, in->in.count + 1);
    if (!covered)
        return false;
    for (size_t c = read->first; c < read->end; c++)
        covered[c] = true;
    for (size_t c = part->name_first; c < part->name_end; c++)
        covered[c] = true;
    /* "from 5 to 6": the new value explains the old value. */
    bool replaces = words_before(in, read->first, (const char *const[]){"から", "to", NULL}) != SIZE_MAX;
    for (size_t c = part->name_end; replaces && part->name_end > part->name_first && c < read->first; c++)
        covered[c] = true;
    return reading_is_filler(in, part->first, part->end, covered);
}

static bool find_is_text(const struct reading *in, size_t field)
{
    return in->form->message->fields[field]->type <= FORM_TYPE(TEXT);
}

/* The only field of its type; -1 if the form has no such field or several. */
static int find_only(const struct form *form, int type)
{
    int only = -1;
    for (size_t i = 0; i < form->message->n_fields; i++) {
        if ((int)form->message->fields[i]->type != type)
            continue;
        if (only >= 0)
            return -1;
        only = (int)i;
    }
    return only;
}

static bool find_take(struct find_work *work, const struct find_part *part, size_t field, bool named,
                      const struct form_value *value)
{
    (void)part;
    if (*work->count == FORM_MENTIONS_MAX)
        return false;
    work->mentions[(*work->count)++] = (struct form_mention){.field = field, .named = named, .value = *value};
    return true;
}

/* Choices and yes or no are read without the name beside them: "colours: red", ニュースレターはいいえ. */
static struct find_part find_beside_name(const struct reading *in, const struct find_part *part, size_t field)
{
    static const char *const joints[] = {":", "は", "is", "=", "を", "are", "should be", NULL};
    int type = (int)in->form->message->fields[field]->type;
    struct find_part own = *part;
    bool beside = type == FORM_TYPE(CHOICE) || type == FORM_TYPE(CHOICES) || type == FORM_TYPE(YES_NO);
    bool before = !reading_is_filler(in, part->first, part->name_first, NULL);
    bool behind = !reading_is_filler(in, part->name_end, part->end, NULL);
    if (type == FORM_TYPE(YES_NO)) /* yes is filler elsewhere */
        behind = behind || before == false;
    if (!beside || before == behind)
        return own;
    own.end = before ? part->name_first : part->end;
    if (behind) {
        size_t joint = words_at(in, skip_spaces(in, part->name_end), joints, NULL);
        own.first = skip_spaces(in, joint ? joint : part->name_end);
    }
    return own;
}

/* A part that names a field. */
static bool find_named_values(struct find_work *work, struct find_part *part)
{
    const struct reading *in = work->in;
    struct candidate read;
    struct form_value value;
    size_t field = (size_t)part->named;
    if (find_is_text(in, field)) {
        bool told = false;
        if (!find_text(in, part, field, &value, &told))
            return false;
        part->taken = told && find_take(work, part, field, true, &value);
        return true;
    }
    struct find_part own = find_beside_name(in, part, field);
    if (!find_read(in, &own, field, &read, &value))
        return false;
    bool worth = value.problem == FORM_FINE || find_is_problem(value.problem);
    if (worth && find_explained(in, part, &read))
        part->taken = find_take(work, part, field, true, &value);
    return true;
}

/* A part without a field's name: an address of the only field of its type, or a choice's own words. */
static bool find_unnamed(struct find_work *work, struct find_part *part, int asked)
{
    static const int types[] = {FORM_TYPE(EMAIL), FORM_TYPE(PHONE), FORM_TYPE(URL)};
    const struct reading *in = work->in;
    int fields[5], count = 0;
    struct candidate read;
    struct form_value value;
    for (size_t i = 0; i < 3; i++)
        fields[count++] = find_only(in->form, types[i]);
    fields[count++] = part->chosen;
    fields[count++] = find_by_unit(in, part);
    for (int i = 0; i < count && !part->taken; i++) {
        if (fields[i] < 0 || fields[i] == asked)
            continue;
        if (!find_read(in, part, (size_t)fields[i], &read, &value))
            return false;
        if (value.problem == FORM_FINE && find_explained(in, part, &read))
            part->taken = find_take(work, part, (size_t)fields[i], false, &value);
    }
    return true;
}

/* ---- the field that was asked ------------------------------------------------------------------------------------ */

/* The parts that no other field has taken, if they are adjacent. False if no part is left, or other parts are between
 * them. */
static bool find_rest(const struct find_work *work, struct find_part *rest)
{
    size_t runs = 0;
    bool running = false;
    for (size_t i = 0; i < work->part_count; i++) {
        const struct find_part *part = &work->parts[i];
        bool free = !part->taken && !reading_is_filler(work->in, part->first, part->end, NULL);
        if (part->taken)
            running = false;
        if (!free)
            continue;
        if (!running) {
            *rest = *part;
            runs++;
        }
        rest->end = part->end;
        running = true;
    }
    return runs == 1;
}

/* A person's name ends before a part that has another value or names another field: 田中、4月1日入社. */
static void find_cut_name(const struct find_work *work, int asked, struct find_part *rest)
{
    const char *label = work->in->form->message->fields[asked]->label;
    if (!find_is_text(work->in, (size_t)asked) || !(strcasestr(label, "name") || strstr(label, "名")))
        return;
    for (size_t i = 0; i < work->part_count; i++) {
        const struct find_part *part = &work->parts[i];
        bool figures = false, other = part->named >= 0 && part->named != asked;
        for (size_t c = part->first; c < part->end; c++)
            figures = figures || code_is_digit(code_at(work->in, c)) || code_at(work->in, c) == '@';
        if (part->first > rest->first && part->first < rest->end && (figures || other)) {
            rest->end = part->first;
            return;
        }
    }
}

/* The asked field's value, in front of the mentions. */
static bool find_asked_value(struct find_work *work, int asked)
{
    const struct reading *in = work->in;
    struct find_part rest = {.first = 0, .end = in->in.count, .named = -1};
    struct candidate read;
    struct form_value value;
    bool named = false;
    for (size_t i = 0; i < *work->count; i++)
        named = named || work->mentions[i].field == (size_t)asked;
    if (named || in->in.count == 0 || (*work->count > 0 && !find_rest(work, &rest)))
        return true;
    find_cut_name(work, asked, &rest);
    if (!find_read(in, &rest, (size_t)asked, &read, &value))
        return false;
    bool worth = value.problem == FORM_FINE || find_is_problem(value.problem);
    if (!worth || *work->count == FORM_MENTIONS_MAX)
        return true;
    memmove(work->mentions + 1, work->mentions, *work->count * sizeof(*work->mentions));
    ++*work->count;
    work->mentions[0] = (struct form_mention){.field = (size_t)asked, .value = value};
    return true;
}

/* "colours: red | and blue": adjacent parts with choices of the same field become a single part. */
static void find_join_choices(const struct reading *in, struct find_part *parts, size_t *count)
{
    size_t kept = 0;
    for (size_t i = 0; i < *count; i++) {
        struct find_part *last = kept > 0 ? &parts[kept - 1] : NULL;
        int field = last ? (last->named >= 0 ? last->named : last->chosen) : -1;
        bool joins = field >= 0 && parts[i].named == -1 && parts[i].chosen == field && last->chosen == field &&
                     in->form->message->fields[field]->type == FORM_TYPE(CHOICES);
        if (joins)
            last->end = parts[i].end;
        else
            parts[kept++] = parts[i];
    }
    *count = kept;
}

bool form_find_values(const struct form *form, int asked, const char *text, const struct form_context *context,
                      struct arena *arena, struct form_mention *mentions, size_t *count)
{
    struct reading in;
    struct find_part *parts = arena_alloc(arena, PARTS_MAX * sizeof(*parts));
    struct find_work work = {.in = &in, .parts = parts, .mentions = mentions, .count = count};
    *count = 0;
    if (!parts || !reading_open(&in, form, asked < 0 ? 0 : (size_t)asked, text, context, arena) ||
        !find_parts(&in, parts, &work.part_count) || !find_names(&in, parts, work.part_count))
        return false;
    find_join_choices(&in, parts, &work.part_count);
    for (size_t i = 0; i < work.part_count; i++) {
        struct find_part *part = &parts[i];
        bool read = true;
        if (part->named >= 0 && part->named != asked)
            read = find_named_values(&work, part);
        else if (part->named == -1)
            read = find_unnamed(&work, part, asked);
        if (!read)
            return false;
    }
    if (asked >= 0 && !find_asked_value(&work, asked))
        return false;
    /* A field with two different values has no certain value: drops its mentions. */
    size_t kept = 0;
    for (size_t i = 0; i < *work.count; i++) {
        bool doubtful = false;
        for (size_t other = 0; other < *work.count; other++) {
            const struct form_mention *one = &work.mentions[i], *two = &work.mentions[other];
            bool same = one->value.problem == two->value.problem && strcmp(one->value.text, two->value.text) == 0;
            doubtful = doubtful || (other != i && one->field == two->field && (!same || other < i));
        }
        if (!doubtful)
            work.mentions[kept++] = work.mentions[i];
    }
    *work.count = kept;
    return true;
}
