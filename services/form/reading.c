#include "form/reading.h"

#include <stdio.h>
#include <string.h>

#define CORRECTION_MAX 100 /* characters between a value and its correction */

bool reading_open(struct reading *in, const struct form *form, size_t field, const char *text,
                  const struct form_context *context, struct arena *arena)
{
    *in = (struct reading){.form = form, .field = field, .context = context, .arena = arena};
    in->spec = form->message->fields[field];
    if (!zone_civil(context->timezone, context->now_ms, &in->today))
        zone_civil("", context->now_ms, &in->today);
    return characters_read(arena, text, strlen(text), &in->in);
}

void candidate_add(struct candidates *list, size_t first, size_t end, enum form_problem problem, const char *text)
{
    if (!text)
        list->out_of_memory = true;
    else if (list->count == CANDIDATES_MAX) /* a repeated value adds no information */
        list->more = list->more || list->list[CANDIDATES_MAX - 1].problem != problem ||
                     strcmp(list->list[CANDIDATES_MAX - 1].text, text) != 0;
    else
        list->list[list->count++] = (struct candidate){.first = first, .end = end, .problem = problem, .text = text};
}

enum country_is reading_country_is(const struct reading *in, const char *countries)
{
    char wanted[8];
    snprintf(wanted, sizeof(wanted), " %.2s ", in->context->country);
    if (strlen(wanted) != 4)
        return COUNTRY_UNKNOWN;
    return strstr(countries, wanted) ? COUNTRY_LISTED : COUNTRY_OTHER;
}

/* ---- words ------------------------------------------------------------------------------------------------------- */

bool is_space(uint32_t code)
{
    return code != 0 && script_of(code) == SCRIPT_SPACE;
}

size_t skip_spaces(const struct reading *in, size_t i)
{
    size_t most = i + SPACES_MAX;
    while (i < most && is_space(code_at(in, i)))
        i++;
    return i;
}

/* Letters hold together with letters, and digits with digits: "5kg" is two words. */
static bool holds_together(uint32_t one, uint32_t other)
{
    enum script script = one ? script_of(one) : SCRIPT_NONE;
    return (script == SCRIPT_LETTER || script == SCRIPT_DIGIT) && other && script == script_of(other);
}

static size_t word_of_length_at(const struct reading *in, size_t i, const char *word, size_t length)
{
    size_t at = 0;
    uint32_t first = 0, last = 0;
    size_t start = i;
    while (at < length) {
        size_t end;
        uint32_t code = utf8_read(word, length, at, &end);
        if (code == ' ') {
            if (!is_space(code_at(in, i)))
                return 0;
            i = skip_spaces(in, i);
        } else if (code_at(in, i++) != code) {
            return 0;
        }
        first = at == 0 ? code : first;
        last = code;
        at = end;
    }
    bool cut = (start > 0 && holds_together(code_at(in, start - 1), first)) || holds_together(last, code_at(in, i));
    return cut ? 0 : i;
}

size_t word_at(const struct reading *in, size_t i, const char *word)
{
    return word_of_length_at(in, i, word, strlen(word));
}

size_t list_at(const struct reading *in, size_t i, const char *list)
{
    size_t longest = 0;
    while (*list) {
        size_t length = strcspn(list, "|"), end = word_of_length_at(in, i, list, length);
        longest = end > longest ? end : longest;
        list += length + (list[length] == '|');
    }
    return longest;
}

size_t words_at(const struct reading *in, size_t i, const char *const *words, size_t *which)
{
    size_t longest = 0;
    for (size_t word = 0; words[word]; word++) {
        size_t end = word_at(in, i, words[word]);
        if (end > longest) {
            longest = end;
            if (which)
                *which = word;
        }
    }
    return longest;
}

size_t words_before(const struct reading *in, size_t i, const char *const *words)
{
    size_t end = i, least = i > SPACES_MAX ? i - SPACES_MAX : 0;
    while (end > least && (is_space(code_at(in, end - 1)) || code_at(in, end - 1) == ','))
        end--;
    for (size_t word = 0; words[word]; word++) {
        size_t characters = 0, length = strlen(words[word]);
        for (size_t at = 0; at < length; characters++)
            utf8_read(words[word], length, at, &at);
        if (characters <= end && word_at(in, end - characters, words[word]) == end)
            return end - characters;
    }
    return SIZE_MAX;
}

/* A full stop between digits or letters does not end a sentence. */
static bool is_stop(const struct reading *in, size_t i)
{
    switch (code_at(in, i)) {
    case '.':
        return code_at(in, i + 1) == 0 || is_space(code_at(in, i + 1));
    case '!':
    case '?':
    case '\n':
    case ';':
    case 0x3002: /* 。 */
        return true;
    default:
        return false;
    }
}

size_t sentence_begin(const struct reading *in, size_t i)
{
    while (i > 0 && !is_stop(in, i - 1))
        i--;
    return i;
}

size_t sentence_end(const struct reading *in, size_t i)
{
    while (i < in->in.count && !is_stop(in, i))
        i++;
    return i;
}

const char *reading_copy(const struct reading *in, size_t first, size_t end)
{
    if (first >= end)
        return "";
    size_t begin = in->in.at[first].begin;
    return arena_strndup(in->arena, in->in.text + begin, in->in.at[end - 1].end - begin);
}

const char *reading_narrow(const struct reading *in, size_t first, size_t end)
{
    char *text = arena_alloc(in->arena, 4 * (end - first) + 1), *at = text;
    for (size_t i = first; text && i < end; i++) {
        size_t after;
        uint32_t code = utf8_read(in->in.text, in->in.length, in->in.at[i].begin, &after);
        uint32_t narrow = code >= 0xFF01 && code <= 0xFF5E ? code - 0xFEE0 : code;
        bool capital = narrow >= 'A' && narrow <= 'Z' && narrow + ('a' - 'A') == in->in.at[i].code;
        at += utf8_write(at, capital ? narrow : in->in.at[i].code);
    }
    if (text)
        *at = '\0';
    return text;
}

/* ---- denial and questions ---------------------------------------------------------------------------------------- */

#define CLAUSE_MAX 120 /* characters before and behind a value in which it may be denied */

static bool is_comma(uint32_t code)
{
    return code == ',' || code == 0x3001;
}

static size_t clause_begin(const struct reading *in, size_t i)
{
    size_t least = i > CLAUSE_MAX ? i - CLAUSE_MAX : 0;
    while (i > least && !is_stop(in, i - 1) && !is_comma(code_at(in, i - 1)) &&
           !(i > 2 && word_at(in, i - 3, "but") == i))
        i--;
    return i;
}

static size_t clause_end(const struct reading *in, size_t i)
{
    size_t most = in->in.count - i > CLAUSE_MAX ? i + CLAUSE_MAX : in->in.count;
    while (i < most && !is_stop(in, i) && !is_comma(code_at(in, i)) && !word_at(in, i, "but"))
        i++;
    return i;
}

static bool says_any(const struct reading *in, size_t first, size_t end, const char *const *words)
{
    for (size_t i = first; i < end; i++) {
        if (words_at(in, i, words, NULL))
            return true;
    }
    return false;
}

/* 間違いありません says that it is so, and 4月1日しか行けません too. */
static bool says_no_in_kana(const struct reading *in, size_t first, size_t end)
{
    static const char *const no[] = {"ない", "ません", "なかった", "無理", "だめ", "ダメ", NULL};
    static const char *const so[] = {"間違い",   "間違え", "問題", "構い", "かまい", "かまわ", "構わ",
                                     "差し支え", "相違",   "しか", "支障", "忘れ",   "遅れ",   NULL};
    return says_any(in, first, end, no) && !says_any(in, first, end, so);
}

bool reading_denies(const struct reading *in, size_t first, size_t end)
{
    static const char *const before[] = {"not",          "isn't",   "wasn't",     "never",       "don't",
                                         "no longer",    "except",  "aren't",     "isnt",        "dont",
                                         "nor",          "neither", "instead of", "rather than", "other than",
                                         "anything but", "without", "can't",      "cannot",      "won't",
                                         "didn't",       "doesn't", "couldn't",   "hardly",      NULL};
    static const char *const behind[] = {"not",       "isn't",   "wasn't",    "never",  "doesn't",  "don't",
                                         "can't",     "cannot",  "won't",     "didn't", "is wrong", "was wrong",
                                         "incorrect", "mistake", "no longer", NULL};
    static const char *const kana[] = {"じゃな", "ではな", "じゃねえ", "でなく",   "以外",     "はいや",
                                       "は嫌",   "は違",   "は間違",   "をなくし", "はなくし", "が嫌",
                                       "は除",   "を除",   "はやめ",   "をやめ",   NULL};
    size_t clause = clause_end(in, end), at = skip_spaces(in, end);
    size_t copula = words_at(in, at, (const char *const[]){"です", "に", "と", "で", NULL}, NULL);
    if (says_any(in, clause_begin(in, first), first, before) || says_any(in, end, clause, behind))
        return true;
    if (words_at(in, at, kana, NULL) || (copula && words_at(in, copula, kana, NULL)))
        return true;
    return says_no_in_kana(in, end, clause);
}

bool reading_asks(const struct reading *in, size_t end)
{
    static const char *const asking[] = {"か", "かな", "かね", "の", "かしら", NULL};
    size_t stop = sentence_end(in, end);
    if (code_at(in, stop) == '?')
        return true;
    while (stop > end && is_space(code_at(in, stop - 1)))
        stop--;
    size_t word = words_before(in, stop, asking);
    return word != SIZE_MAX && word > end && code_at(in, word) != 0x306E /* の */;
}

/* ---- the choice among candidates --------------------------------------------------------------------------------- */

/* Whether the person takes back the preceding value: "5, no wait, 6", 「5、いや6」. */
static bool reading_corrects(const struct reading *in, size_t from, size_t to)
{
    static const char *const marks[] = {"no",       "wait",      "sorry",        "i mean", "actually",   "correction",
                                        "rather",   "make that", "scratch that", "oops",   "my mistake", "いや",
                                        "いえ",     "間違え",    "間違い",       "訂正",   "失礼",       "すみません",
                                        "違った",   "違う",      "違い",         "もとい", "ごめん",     "というか",
                                        "じゃなく", "ではなく",  "でなく",       NULL};
    from = to - from > CORRECTION_MAX ? to - CORRECTION_MAX : from;
    for (size_t i = from; i < to; i++) {
        size_t end = words_at(in, i, marks, NULL);
        if (end && end <= to && reading_is_filler(in, end, to, NULL))
            return true;
    }
    return false;
}

/* "change it from 5 to 6", 5から6に変更: the later value counts. */
static bool reading_replaces(const struct reading *in, size_t from, size_t to)
{
    static const char *const verbs[] = {"change", "correct", "update", "edit", "変更",
                                        "訂正",   "修正",    "直",     "変え", NULL};
    static const char *const joints[] = {"to", "から", "into", NULL};
    size_t joint = words_at(in, skip_spaces(in, from), joints, NULL);
    return joint && skip_spaces(in, joint) == to && says_any(in, sentence_begin(in, from), sentence_end(in, to), verbs);
}

/* Whether both have the same value or the same problem. */
static bool candidates_agree(const struct candidate *one, const struct candidate *other)
{
    return one->problem == other->problem && strcmp(one->text, other->text) == 0;
}

/* "Is ada@example.com all right?" gives the address all the same. */
static bool reading_is_address(const struct reading *in)
{
    return in->spec->type == FORM_TYPE(EMAIL) || in->spec->type == FORM_TYPE(PHONE) || in->spec->type == FORM_TYPE(URL);
}

struct candidate candidates_choose(const struct reading *in, const struct candidates *list, enum form_problem none,
                                   enum form_problem unclear)
{
    struct candidate chosen = {.problem = none, .text = "", .end = in->in.count};
    bool any = false, several = list->more;
    size_t last_end = 0;
    for (size_t i = 0; i < list->count; i++) {
        const struct candidate *next = &list->list[i];
        bool denied = reading_denies(in, next->first, next->end),
             asked = !reading_is_address(in) && reading_asks(in, next->end);
        if (any && (reading_corrects(in, last_end, next->first) || reading_replaces(in, last_end, next->first)))
            any = several = false;
        last_end = next->end;
        if (denied || asked)
            continue;
        if (any && !candidates_agree(&chosen, next))
            several = true;
        if (!any)
            chosen = *next;
        any = true;
    }
    if (several)
        chosen = (struct candidate){.problem = unclear, .text = "", .end = in->in.count};
    if (!any)
        chosen = (struct candidate){.problem = none, .text = "", .end = in->in.count};
    return chosen;
}
