/* Decides whether a full stop, a question mark or a similar mark ends a sentence. Japanese marks always do. Other marks
 * need white space and a possible sentence start after them, and a full stop must not belong to an abbreviation. */
#include <string.h>
#include <unicode/uchar.h>

#include "words/sentences_priv.h"
#include "words/words.h"

#define TOKEN_MAX 12 /* bytes of an abbreviation */

enum abbreviation {
    ABBREVIATION_NONE,
    ABBREVIATION_GOES_ON, /* a name or a number follows it */
    ABBREVIATION_MAY_END, /* ends a sentence if a capitalised function word follows */
};

static const char *const going_on[] = {
    "approx", "capt", "cf", "ch", "col", "dr", "e.g", "ed", "eq", "fig", "gen", "gov", "hon", "i.e", "lt", "messrs",
    "mr", "mrs", "ms", "mt", "nos", "n\xC2\xB0", "p", "pp", "prof", "ref", "rep", "rev", "sen", "st", "viz", "vol",
    "vs",
    /* German */
    "bzgl", "bzw", "einschl", "evtl", "gegr", "gest", "ggf", "inkl", "insb", "lat", "nr", "sog", "u.a", "vgl", "zzgl",
    /* French and Spanish */
    "aprox", "av", "dra", "ee", "ej", "mgr", "n\xC3\xBAm", "p\xC3\xA1g", "p\xC3\xA1gs", "sra", "srta"};
static const char *const may_end[] = {"al", "ave", "blvd", "bros", "bspw", "ca", "co",  "corp", "dept", "env", "etc",
                                      "ex", "hl",  "inc",  "jr",   "ltd",  "no", "sec", "sr",   "usf",  "usw", "uu"};

bool stop_mark(uint32_t code)
{
    switch (code) {
    case '.':
    case '!':
    case '?':
    case 0x2026: /* … */
    case 0x3002: /* 。 */
    case 0xFF01:
    case 0xFF0E:
    case 0xFF1F:
    case 0xFF61:
        return true;
    default:
        return false;
    }
}

static bool japanese_stop(uint32_t code)
{
    return code == 0x3002 || code == 0xFF01 || code == 0xFF1F || code == 0xFF61;
}

bool is_closing(uint32_t code)
{
    switch (code) {
    case '"':
    case '\'':
    case ')':
    case ']':
    case '*':
    case 0x2019:
    case 0x201D:
    case 0x300D:
    case 0x300F:
    case 0x3011:
    case 0xFF09:
        return true;
    default:
        return false;
    }
}

static bool is_opening(uint32_t code)
{
    return code == '"' || code == '\'' || code == '(' || code == '[' || code == '*' || code == '`' || code == 0x2018 ||
           code == 0x201C || code == 0x300C || code == 0x300E || code == 0xFF08;
}

static bool listed(const char *const *list, size_t count, const char *word)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(list[i], word) == 0)
            return true;
    }
    return false;
}

/* True for "U.S", "a.m", or the initial of a name. */
static bool is_initials(const char *token, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        bool letter = token[i] >= 'a' && token[i] <= 'z';
        if (i % 2 == 0 ? !letter : token[i] != '.')
            return false;
    }
    return length % 2 == 1;
}

/* The kind of abbreviation before the full stop at `at`. */
static enum abbreviation abbreviation(const char *text, size_t begin, size_t at)
{
    char token[TOKEN_MAX];
    size_t from = at;
    while (from > begin && !is_blank(text[from - 1]) && text[from - 1] != '\n' && text[from - 1] != '(' &&
           at - from < TOKEN_MAX)
        from--;
    size_t length = at - from;
    if (length == 0 || length >= TOKEN_MAX)
        return ABBREVIATION_NONE;
    for (size_t i = 0; i < length; i++)
        token[i] = (char)(text[from + i] >= 'A' && text[from + i] <= 'Z' ? text[from + i] + 32 : text[from + i]);
    token[length] = '\0';
    if (listed(going_on, sizeof(going_on) / sizeof(*going_on), token))
        return ABBREVIATION_GOES_ON;
    if (listed(may_end, sizeof(may_end) / sizeof(*may_end), token) || is_initials(token, length))
        return ABBREVIATION_MAY_END;
    return ABBREVIATION_NONE;
}

/* Whether the full stop at `at` is that of a German date or century: "am 27. August", "im 19. Jahrhundert". `next` is
 * the offset of the word behind the white space. */
static bool german_ordinal(const char *text, size_t length, size_t at, size_t next)
{
    static const char *const behind[] = {"Januar",  "Jänner",   "Februar",  "März",       "April",
                                         "Mai",     "Juni",     "Juli",     "August",     "September",
                                         "Oktober", "November", "Dezember", "Jahrhundert"};
    size_t from = at;
    while (from > 0 && at - from < 3 && text[from - 1] >= '0' && text[from - 1] <= '9')
        from--;
    if (at == from || at - from > 2 || (from > 0 && !is_blank(text[from - 1]) && !strchr("\n(*-", text[from - 1])))
        return false;
    for (size_t i = 0; i < sizeof behind / sizeof *behind; i++) {
        size_t size = strlen(behind[i]), after;
        if (length - next >= size && memcmp(text + next, behind[i], size) == 0)
            return next + size == length || !u_isalpha((UChar32)utf8_read(text, length, next + size, &after)) ||
                   strcmp(behind[i], "Jahrhundert") == 0;
    }
    return false;
}

/* Words that often begin sentences in German, French and Spanish. Articles that names begin with are left out: La
 * Jolla, Los Angeles, Le Mans. */
static const char *const beginning[] = {"das", "der", "die", "dies", "diese", "dieser", "ein", "eine", "elle", "er",
                                        "es",  "il",  "ils", "mit",  "sie",   "todos",  "un",  "una",  "une",  "wir"};

/* Whether the word at `at` often begins sentences: They, It, How. */
static bool begins_sentences(const char *text, size_t length, size_t at)
{
    char word[TOKEN_MAX];
    size_t size = 0;
    for (; at + size < length && size < TOKEN_MAX; size++) {
        char c = text[at + size];
        char lower = (char)(c >= 'A' && c <= 'Z' ? c + 32 : c);
        if (lower < 'a' || lower > 'z')
            break;
        word[size] = lower;
    }
    if (size == TOKEN_MAX)
        return false;
    word[size] = '\0';
    return words_function_word(word, size) || listed(beginning, sizeof beginning / sizeof *beginning, word);
}

/* Whether the text at `at`, which follows white space, may begin a sentence. */
static bool sentences_stop_may_begin(const char *text, size_t length, size_t at, enum abbreviation before)
{
    uint32_t code = 0;
    size_t next = at;
    bool code_span = false;
    for (; next < length; at = next) {
        code = utf8_read(text, length, at, &next);
        if (!is_opening(code))
            break;
        code_span |= code == '`';
    }
    if (before == ABBREVIATION_MAY_END)
        return u_isupper((UChar32)code) && begins_sentences(text, length, at);
    return code_span || !u_islower((UChar32)code);
}

struct stops {
    unsigned dots, marks; /* the number of full stops, and of other marks */
    bool spaced;          /* ". . ." */
    bool japanese;
    size_t end; /* after the last mark and its closing quotes and brackets */
};

/* Reads all adjacent marks, and the closing quotes and brackets after them. */
static struct stops read_stops(const char *text, size_t length, size_t at)
{
    struct stops stops = {.end = at};
    length = length - at > SENTENCE_MAX ? at + SENTENCE_MAX : length; /* further marks do not change the result */
    for (size_t next = at; next < length;) {
        if (text[next] == ' ' && stops.dots > 0 && next + 1 < length && text[next + 1] == '.') {
            stops.spaced = true;
            next++;
            continue;
        }
        uint32_t code = utf8_read(text, length, next, &next);
        if (!stop_mark(code))
            break;
        stops.japanese |= japanese_stop(code);
        stops.dots += code == '.' ? 1 : code == 0x2026 ? 3 : 0;
        stops.marks += code != '.' && code != 0x2026;
        stops.end = next;
    }
    for (size_t next = stops.end; next < length; stops.end = next) {
        if (!is_closing(utf8_read(text, length, next, &next)))
            break;
    }
    return stops;
}

/* Three full stops are a pause inside a sentence if they are spaced, or in brackets, or followed by the word "I". */
static bool is_pause(const char *text, size_t length, size_t at, const struct stops *stops, size_t next)
{
    if (stops->dots != 3 || stops->marks > 0)
        return false;
    if (stops->spaced || (at > 0 && text[at - 1] == '['))
        return true;
    return text[next] == 'I' && (next + 1 == length || !u_isalnum((unsigned char)text[next + 1]));
}

static bool ends_japanese(const char *text, size_t length, size_t at, size_t end)
{
    size_t after;
    enum script script = script_of(utf8_read(text, length, end, &after));
    if (script < SCRIPT_HAN)
        return false;
    size_t from = at;
    while (from > 0 && (text[from - 1] & 0xC0) == 0x80)
        from--;
    from -= from > 0;
    bool japanese_before = script_of(utf8_read(text, length, from, &after)) >= SCRIPT_HAN;
    return text[at] != '.' || japanese_before; /* config.yamlを is one word */
}

size_t stop_end(const char *text, size_t length, size_t begin, size_t at, size_t *after)
{
    struct stops stops = read_stops(text, length, at);
    *after = stops.end;
    if (stops.japanese || stops.end >= length)
        return stops.end;
    if (stops.dots == 3 && stops.marks == 0 && (unsigned char)text[at] >= 0x80)
        return 0; /* …, usually a pause and not an end */
    size_t next = skip_space(text, length, stops.end);
    if (next == length)
        return stops.end;
    if (next == stops.end)
        return ends_japanese(text, length, at, stops.end) ? stops.end : 0;
    enum abbreviation before = stops.dots == 1 && stops.marks == 0 ? abbreviation(text, begin, at) : ABBREVIATION_NONE;
    bool ordinal = stops.dots == 1 && stops.end == at + 1 && german_ordinal(text, length, at, next);
    if (before == ABBREVIATION_GOES_ON || ordinal || is_pause(text, length, at, &stops, next))
        return 0;
    return sentences_stop_may_begin(text, length, next, before) ? stops.end : 0;
}
