/* Rates a sentence: whether it offers something of the asked type that the question does not have. */
#include "words/asked_fits_priv.h"

#include <string.h>
#include <unicode/uchar.h>

/* ---- words of the question --------------------------------------------------------------------------------------- */

static uint32_t asked_hash(const struct asked_letters *letters, size_t begin, size_t end)
{
    uint32_t hash = 2166136261U;
    for (size_t i = begin; i < end; i++)
        hash = (hash ^ letters->at[i].code) * 16777619U;
    return (hash ^ hash >> 15) & (ASKED_SEEN_BITS - 1);
}

static bool asked_was_seen(const struct asked_seen *seen, uint32_t hash)
{
    return seen->bits[hash / 64] >> (hash % 64) & 1;
}

bool asked_question_has(const struct asked_rated *rated, size_t begin, size_t end)
{
    return asked_was_seen(&rated->seen, asked_hash(rated->sentence, begin, end));
}

static bool asked_is_word(enum script script)
{
    return script == SCRIPT_LETTER || script == SCRIPT_DIGIT;
}

/* The end of the run that begins at `at`; Latin letters and digits are one run. */
static size_t asked_run_end(const struct asked_letters *letters, size_t at)
{
    enum script script = script_of(letters->at[at].code);
    size_t end = at + 1;
    for (; end < letters->count; end++) {
        uint32_t code = letters->at[end].code;
        enum script next = script_of(code);
        bool joins = script == SCRIPT_DIGIT && (code == ',' || code == '.') &&
                     script_of(letters->at[end + 1].code) == SCRIPT_DIGIT;
        bool dot = script == SCRIPT_KATAKANA && code == 0x30FB;
        if (next != script && !joins && !dot && !(code == 0x30FC && script == SCRIPT_KATAKANA))
            break;
    }
    return end;
}

static void asked_see(struct asked_seen *seen, const struct asked_letters *letters)
{
    memset(seen, 0, sizeof(*seen));
    for (size_t at = 0; at < letters->count;) {
        enum script script = script_of(letters->at[at].code);
        size_t end = asked_run_end(letters, at);
        uint32_t whole = asked_hash(letters, at, end);
        if (script != SCRIPT_NONE && script != SCRIPT_SPACE)
            seen->bits[whole / 64] |= UINT64_C(1) << (whole % 64);
        for (size_t i = at; script >= SCRIPT_HAN && i + 1 < end; i++) {
            uint32_t pair = asked_hash(letters, i, i + 2);
            seen->bits[pair / 64] |= UINT64_C(1) << (pair % 64);
        }
        at = end;
    }
}

/* A Han or Katakana run is fresh if most of its pairs are: 大阪大学 besides 大学. */
static bool asked_run_is_fresh(const struct asked_rated *rated, const struct asked_run *run)
{
    const struct asked_letters *letters = rated->sentence;
    if (asked_was_seen(&rated->seen, asked_hash(letters, run->begin, run->end)))
        return false;
    if (asked_is_word(run->script))
        return true;
    size_t fresh = 0, pairs = 0;
    for (size_t i = run->begin; i + 1 < run->end; i++, pairs++)
        fresh += !asked_was_seen(&rated->seen, asked_hash(letters, i, i + 2));
    return pairs == 0 || fresh * 2 >= pairs;
}

bool asked_run_next(const struct asked_rated *rated, size_t *at, struct asked_run *run)
{
    const struct asked_letters *letters = rated->sentence;
    while (*at < letters->count) {
        size_t begin = *at;
        enum script script = script_of(letters->at[begin].code);
        *at = asked_run_end(letters, begin);
        if (script == SCRIPT_NONE || script == SCRIPT_SPACE)
            continue;
        size_t end;
        uint32_t first = utf8_read(letters->text, letters->at[begin].end, letters->at[begin].begin, &end);
        *run = (struct asked_run){.begin = begin, .end = *at, .script = script, .capital = u_isupper((UChar32)first)};
        run->fresh = asked_run_is_fresh(rated, run);
        return true;
    }
    return false;
}

/* ---- markers ----------------------------------------------------------------------------------------------------- */

static bool asked_marker_at(const struct asked_letters *letters, size_t at, const char *word)
{
    size_t taken = asked_stands(letters, at, letters->count, word), length = strlen(word);
    if (!taken)
        return false;
    bool latin = (unsigned char)word[0] < 0x80;
    if (!latin)
        return true;
    bool begins = at == 0 || !asked_is_word(script_of(letters->at[at - 1].code));
    bool open = word[length - 1] == '-';
    return begins && (open || !asked_is_word(script_of(letters->at[at + taken].code)));
}

bool asked_sentence_has(const struct asked_letters *sentence, const char *const *words)
{
    for (; *words; words++)
        for (size_t at = 0; at < sentence->count; at++)
            if (asked_marker_at(sentence, at, *words))
                return true;
    return false;
}

static double asked_rate_reason(const struct asked_letters *sentence)
{
    static const char *const strong[] = {
        "because",  "due to",    "owing to", "as a result", "so that",  "in order to", "caused",  "causes",
        "reason",   "reasons",   "led to",   "leading to",  "resulted", "thanks to",   "purpose", "intended to",
        "so as to", "therefore", "thus",     "ため",        "為に",     "ので",        "理由",    "原因",
        "せいで",   "おかげ",    "目的",     "ことから",    "により",   "によって",    "によ",    "からである",
        "からだ",   "からです",  "ことで",   "を受け",      "きっかけ", "ように",      "ゆえ",    NULL};
    static const char *const weak[] = {"since",  "for",    "to",   "as",   "and so", "から",
                                       "ことに", "として", "結果", "たが", NULL};
    return asked_sentence_has(sentence, strong) ? 1 : asked_sentence_has(sentence, weak) ? 0.5 : 0.2;
}

static double asked_rate_method(const struct asked_letters *sentence)
{
    static const char *const strong[] = {"by",       "using",  "via",    "through", "with",     "use",   "first",
                                         "then",     "click",  "select", "press",   "run",      "enter", "open",
                                         "によって", "により", "ことで", "使って",  "使い",     "用い",  "利用し",
                                         "方法",     "手順",   "まず",   "次に",    "を押",     "を選",  "を開",
                                         "実行し",   "入力し", "設定し", "通じて",  "クリック", NULL};
    static const char *const weak[] = {"to", "in", "as", "して", "で", NULL};
    return asked_sentence_has(sentence, strong) ? 1 : asked_sentence_has(sentence, weak) ? 0.5 : 0.2;
}

static double asked_rate_definition(const struct asked_rated *rated)
{
    static const char *const strong[] = {
        "is a",      "is an",      "is the",   "are a",  "was a",      "was an",  "was the", "are",  "means",
        "refers to", "defined as", "known as", "called", "stands for", "denotes", "である",  "です", "とは",
        "を指す",    "を意味",     "という",   "といい", "と呼ば",     "のこと",  "の一種",  NULL};
    return asked_sentence_has(rated->sentence, strong) ? 0.9 : 0.3;
}

static double asked_rate_list(const struct asked_letters *sentence)
{
    size_t marks = 0;
    for (size_t i = 0; i < sentence->count; i++) {
        uint32_t code = sentence->at[i].code;
        marks += code == ',' || code == ';' || code == 0x3001 || code == 0x30FB || code == 0xFF65;
    }
    static const char *const words[] = {"and", "include-", "など", "および", "及び", "または", NULL};
    return (marks > 1 ? 0.8 : marks ? 0.5 : 0.2) + (asked_sentence_has(sentence, words) ? 0.2 : 0);
}

static double asked_rate_comparison(const struct asked_rated *rated)
{
    static const char *const words[] = {"than", "whereas", "while",  "unlike", "differ-", "both", "compared",
                                        "more", "larger",  "higher", "most",   "より",    "一方", "に対し",
                                        "異な", "違",      "比べ",   "最も",   NULL};
    double numbers = asked_rate_numbers(rated) * 0.6;
    return asked_sentence_has(rated->sentence, words) ? 1 : numbers > 0.3 ? numbers : 0.3;
}

/* ---- the whole --------------------------------------------------------------------------------------------------- */

static double asked_rate(const struct asked_rated *rated)
{
    switch (rated->asked->type) {
    case ASKED_QUANTITY:
    case ASKED_DURATION:
    case ASKED_DATE:
        return asked_rate_numbers(rated);
    case ASKED_PERSON:
    case ASKED_PLACE:
    case ASKED_NAME:
        return asked_rate_names(rated);
    case ASKED_WHY:
        return asked_rate_reason(rated->sentence);
    case ASKED_HOW:
        return asked_rate_method(rated->sentence);
    case ASKED_DEFINITION:
        return asked_rate_definition(rated);
    case ASKED_LIST:
        return asked_rate_list(rated->sentence);
    case ASKED_COMPARISON:
        return asked_rate_comparison(rated);
    case ASKED_ANYTHING:
    case ASKED_YES_NO:
        break;
    }
    return 0.5;
}

static struct asked_part asked_letters_of(const struct asked_letters *letters, struct span span)
{
    struct asked_part part = {0, 0};
    while (part.begin < letters->count && letters->at[part.begin].begin < span.begin)
        part.begin++;
    for (part.end = part.begin; part.end < letters->count && letters->at[part.end].end <= span.end;)
        part.end++;
    return part;
}

double asked_fits(const struct asked *asked, const char *question, size_t question_length, const char *sentence,
                  size_t length)
{
    struct asked_letters of_question, of_sentence;
    struct asked_rated rated = {.asked = asked, .question = &of_question, .sentence = &of_sentence};
    asked_letters_read(question, asked_skipped(question, question_length), question_length, &of_question);
    asked_letters_read(sentence, 0, length < SENTENCE_MAX ? length : SENTENCE_MAX, &of_sentence);
    rated.counter = asked_letters_of(&of_question, asked->counter);
    rated.focus = asked_letters_of(&of_question, asked->focus);
    asked_see(&rated.seen, &of_question);
    double fits = asked_rate(&rated);
    return fits < 0 ? 0 : fits > 1 ? 1 : fits;
}
