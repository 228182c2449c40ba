/* Rates a sentence by words that mark a reason, a definition, a list or a comparison. */
#include "words/asked_fits_priv.h"

#include <string.h>

#define SAYS_WHETHER   0.6 /* a little more than unknown: the verb may be of another thing */
#define DEFINED_WITHIN 24  /* letters between a subject and its は: a reading in brackets */

static bool marker_is_word(enum script script)
{
    return script == SCRIPT_LETTER || script == SCRIPT_DIGIT;
}

static bool asked_marker_at(const struct asked_letters *letters, size_t at, const char *word)
{
    char stem[32];
    size_t length = strlen(word);
    if (letters->at[at].lead != (unsigned char)*word)
        return false;
    bool latin = (unsigned char)word[0] < 0xE0; /* ASCII, and letters with accents */
    bool open = latin && word[length - 1] == '-' && length < sizeof(stem);
    if (open) {
        memcpy(stem, word, length - 1);
        stem[length - 1] = '\0';
    }
    size_t taken = asked_stands(letters, at, letters->count, open ? stem : word);
    if (!taken || !latin)
        return taken > 0;
    bool begins = at == 0 || !marker_is_word(script_of(letters->at[at - 1].code));
    return begins && (open || !marker_is_word(script_of(letters->at[at + taken].code)));
}

bool asked_sentence_has(const struct asked_letters *sentence, const char *const *words)
{
    for (size_t at = 0; at < sentence->count; at++)
        for (const char *const *word = words; *word; word++)
            if (asked_marker_at(sentence, at, *word))
                return true;
    return false;
}

static double asked_rate_reason(const struct asked_letters *sentence)
{
    static const char *const strong[] = {
        "because",  "due to",    "owing to", "as a result", "so that",    "in order to", "caused",    "causes",
        "reason",   "reasons",   "led to",   "leading to",  "resulted",   "thanks to",   "purpose",   "intended to",
        "so as to", "therefore", "thus",     "ため",        "為に",       "ので",        "理由",      "原因",
        "せいで",   "おかげ",    "目的",     "ことから",    "により",     "によって",    "によ",      "からである",
        "からだ",   "からです",  "ことで",   "を受け",      "きっかけ",   "ゆえ",        "weil",      "wegen",
        "infolge",  "dadurch",   "daher",    "somit",       "sodass",     "um die",      "grund",     "gründe-",
        "ursache",  "dank",      "da",       "dient",       "dienen",     "damit",       "aufgrund",  "deshalb",
        "denn",     "um zu",     "parce qu", "parce qu-",   "car",        "afin",        "en raison", "à cause",
        "grâce",    "porque",    "debido",   "para que",    "por lo que", "ya que",      "gracias",   "因为",
        "由于",     "因此",      "为了",     "以便",        "所以",       "导致",        "因為",      "由於",
        "為了",     "때문",      "위해",     "위하여",      "므로",       "해서",        "어서",      "아서",
        NULL};
    static const char *const weak[] = {"since", "for",    "to", "as",   "and so", "から", "ことに", "として",
                                       "結果",  "ように", "zu", "pour", "para",   "por",  "为",     NULL};
    return asked_sentence_has(sentence, strong) ? 1 : asked_sentence_has(sentence, weak) ? 0.5 : 0.2;
}

/* 関白 in 関白(かんぱく)は、: the subject of the question is the topic of the sentence. True without a subject. */
static bool definition_begins(const struct asked_rated *rated)
{
    const struct asked_letters *sentence = rated->sentence;
    const struct asked_part subject = rated->subject;
    size_t length = subject.end - subject.begin;
    for (size_t at = 0; length && at + length < sentence->count; at++) {
        size_t same = 0;
        while (same < length && sentence->at[at + same].code == rated->question->at[subject.begin + same].code)
            same++;
        if (same < length)
            continue;
        size_t after = at + length, end = after + DEFINED_WITHIN;
        end = end < sentence->count ? end : sentence->count;
        while (after < end && sentence->at[after].code != 0x306F && sentence->at[after].code != 0x3002 &&
               sentence->at[after].code != 0x304C && sentence->at[after].code != 0x3092) /* は 。 が を */
            after++;
        if (after < end && sentence->at[after].code == 0x306F)
            return true;
    }
    return length == 0;
}

#define SUBJECT_LATE     24 /* letters: an article and adjectives may stand before the subject */
#define SUBJECT_LATE_HAN 4

/* The letter behind the subject of the question, with which the sentence begins; 0: it begins with other words. */
static size_t marker_behind_subject(const struct asked_rated *rated)
{
    const struct asked_letters *question = rated->question, *sentence = rated->sentence;
    size_t begin = rated->subject.begin, end = rated->subject.end;
    size_t late = rated->asked->language[0] == 'z' ? SUBJECT_LATE_HAN : SUBJECT_LATE;
    while (begin < end && script_of(question->at[begin].code) <= SCRIPT_SPACE)
        begin++;
    for (size_t at = 0; begin < end && at < late && at + (end - begin) <= sentence->count; at++) {
        size_t same = 0;
        while (begin + same < end && sentence->at[at + same].code == question->at[begin + same].code)
            same++;
        if (begin + same == end)
            return at + same;
    }
    return 0;
}

/* The subject, perhaps with a gloss in brackets, and then a verb that defines it: "A heron (Ardea) is a bird". */
static double asked_rate_definition(const struct asked_rated *rated)
{
    static const char *const strong[] = {
        "is a",       "is an",     "is the",     "are a",        "was a",      "was an",     "was the",     "are",
        "means",      "refers to", "defined as", "known as",     "called",     "stands for", "denotes",     "である",
        "です",       "とは",      "を指す",     "を意味",       "という",     "といい",     "と呼ば",      "のこと",
        "の一種",     "ist ein-",  "war ein-",   "sind",         "bezeichne-", "est un-",    "désigne",     "es un-",
        "significa",  "是",        "指",         "이다",         "말한다",     "ist der",    "ist die",     "ist das",
        "beschreibt", "bedeutet",  "steht für",  "versteht man", "genannt",    "heisst",     "bezeichnung", "angesehen",
        "definiert",  "gilt als",  "gelten als", "est le",       "est la",     "sont des",   "es el",       "es la",
        "son los",    "signifie",  "即",         "を示",         "を表",       "をいう",     "を言",        NULL};
    const struct asked_letters *sentence = rated->sentence;
    bool defines = asked_sentence_has(sentence, strong);
    bool tables = rated->spoken != LATIN_ENGLISH || rated->asked->language[0] == 'z';
    size_t behind = tables ? marker_behind_subject(rated) : 0;
    if (!defines && !behind)
        return 0.3;
    if (!tables)
        return rated->asked->language[0] != 'j' || definition_begins(rated) ? 0.9 : 0.6;
    if (!behind)
        return 0.7;
    while (behind < sentence->count && script_of(sentence->at[behind].code) == SCRIPT_SPACE)
        behind++;
    uint32_t next = sentence->at[behind].code;
    if (next == 0x7684) /* 的: the subject only describes another one */
        return 0.5;
    return defines || next == '(' || next == 0xFF08 ? 1 : 0.5;
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

double asked_rate_markers(const struct asked_rated *rated)
{
    switch (rated->asked->type) {
    case ASKED_WHY:
        return asked_rate_reason(rated->sentence);
    case ASKED_HOW:
        return asked_rate_method(rated->sentence);
    case ASKED_DEFINITION:
        return asked_rate_definition(rated);
    case ASKED_LIST:
        return asked_rate_list(rated->sentence);
    default:
        return asked_rate_comparison(rated);
    }
}

double asked_rate_whether(const struct asked_rated *rated)
{
    static const char *const may[] = {"できま", "できる", "られま",     "られる", "れます",
                                      "可能",   "えます", "ことはあり", NULL};
    static const char *const may_said[] = {"でき", "られま", "られる", "られな", "れません", "れない",
                                           "可能", "不可",   "ません", "ない",   NULL};
    static const char *const must[] = {"必要", "必須", "いりま", "要りま", "なければ", NULL};
    static const char *const must_said[] = {"必要",   "不要",       "必須",       "なければ",
                                            "なくて", "いりません", "要りません", NULL};
    bool needs = asked_sentence_has(rated->question, must), can = asked_sentence_has(rated->question, may);
    if (!needs && !can)
        return 0.5;
    return asked_sentence_has(rated->sentence, needs ? must_said : may_said) ? SAYS_WHETHER : 1 - SAYS_WHETHER;
}
