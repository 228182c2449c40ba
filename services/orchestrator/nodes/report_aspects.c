/* Points that any theme has, for example "Overview and background" or 課題と論点: a plan without a model has them. The
 * sentences of a source do not have the words of the point itself, but words that go with it. */
#include "report_text.h"

#include <ctype.h>
#include <string.h>

#define ASPECT_POINT_MAX ((size_t)128) /* bytes; a longer point has a subject of its own */
#define WORDS_OF(set)    (sizeof(set) / sizeof *(set))

enum aspect {
    ASPECT_OVERVIEW,
    ASPECT_STATE,
    ASPECT_PROBLEMS,
    ASPECT_EXAMPLES,
    ASPECT_OUTLOOK,
    ASPECT_COST,
    ASPECT_EFFECT,
    ASPECTS
};

/* Words of a point; longer ones before those that they begin with. */
static const struct {
    const char *word;
    enum aspect aspect; /* ASPECTS: a word without an aspect */
} aspect_names[] = {
    {"overview", ASPECT_OVERVIEW},
    {"background", ASPECT_OVERVIEW},
    {"introduction", ASPECT_OVERVIEW},
    {"basics", ASPECT_OVERVIEW},
    {"definition", ASPECT_OVERVIEW},
    {"概要", ASPECT_OVERVIEW},
    {"背景", ASPECT_OVERVIEW},
    {"基本", ASPECT_OVERVIEW},
    {"定義", ASPECT_OVERVIEW},
    {"present state", ASPECT_STATE},
    {"current state", ASPECT_STATE},
    {"current situation", ASPECT_STATE},
    {"facts", ASPECT_STATE},
    {"trends", ASPECT_STATE},
    {"現状", ASPECT_STATE},
    {"動向", ASPECT_STATE},
    {"事実", ASPECT_STATE},
    {"problems", ASPECT_PROBLEMS},
    {"challenges", ASPECT_PROBLEMS},
    {"questions", ASPECT_PROBLEMS},
    {"issues", ASPECT_PROBLEMS},
    {"risks", ASPECT_PROBLEMS},
    {"limitations", ASPECT_PROBLEMS},
    {"課題", ASPECT_PROBLEMS},
    {"論点", ASPECT_PROBLEMS},
    {"問題点", ASPECT_PROBLEMS},
    {"リスク", ASPECT_PROBLEMS},
    {"examples", ASPECT_EXAMPLES},
    {"case studies", ASPECT_EXAMPLES},
    {"use cases", ASPECT_EXAMPLES},
    {"applications", ASPECT_EXAMPLES},
    {"導入事例", ASPECT_EXAMPLES},
    {"事例", ASPECT_EXAMPLES},
    {"活用例", ASPECT_EXAMPLES},
    {"outlook", ASPECT_OUTLOOK},
    {"future", ASPECT_OUTLOOK},
    {"prospects", ASPECT_OUTLOOK},
    {"今後", ASPECT_OUTLOOK},
    {"見通し", ASPECT_OUTLOOK},
    {"展望", ASPECT_OUTLOOK},
    {"将来", ASPECT_OUTLOOK},
    {"cost", ASPECT_COST},
    {"costs", ASPECT_COST},
    {"funding", ASPECT_COST},
    {"費用", ASPECT_COST},
    {"財源", ASPECT_COST},
    {"effects", ASPECT_EFFECT},
    {"results", ASPECT_EFFECT},
    {"効果", ASPECT_EFFECT},
    {"結果", ASPECT_EFFECT},
    {"and", ASPECTS},
    {"of", ASPECTS},
    {"the", ASPECTS},
    {"main", ASPECTS},
    {"open", ASPECTS},
    {"key", ASPECTS},
    {"主な", ASPECTS},
    {"と", ASPECTS},
    {"の", ASPECTS},
    {"や", ASPECTS},
    {"・", ASPECTS},
    {"、", ASPECTS},
};

/* Words of a sentence that goes with the aspect. Any sentence about the theme goes with the first two. */
static const char *const aspect_problems[] = {
    "problem", "challenge", "difficult", "risk",   "concern", "limit", "however", "but ",   "fail",
    "cost",    "shortage",  "lack",      "課題",   "問題",    "懸念",  "限界",    "リスク", "障壁",
    "難し",    "困難",      "不足",      "コスト", "しかし",  "一方",  NULL,
};
static const char *const aspect_examples[] = {
    "for example", "such as",  "for instance", "case", " used ", " uses ", "deploy", "adopt", "introduc",
    "例えば",      "たとえば", "事例",         "導入", "採用",   "活用",   "利用",   "搭載",  NULL,
};
static const char *const aspect_outlook[] = {
    "will ", "expect", "forecast", "predict", "plan", "until 20", "by 20", "future", "outlook", "今後",
    "将来",  "見込",   "見通し",   "予測",    "予定", "計画",     "目指",  "までに", NULL,
};
static const char *const aspect_cost[] = {
    "cost", "price", "budget", "fund", " paid", " pays", "million", "dollar", "euro", "pound",
    "費用", "予算",  "補助",   "価格", "料金",  "円",    "収入",    "支出",   NULL,
};
static const char *const aspect_effect[] = {
    "effect", "result", "found", " fell ", " rose ", "reduc", "increas", "improv", "fewer", "save",
    "効果",   "結果",   "影響",  "減",     "増",     "改善",  "上が",    "下が",   NULL,
};
static const char *const *const aspect_cues[ASPECTS] = {
    [ASPECT_COST] = aspect_cost,         [ASPECT_EFFECT] = aspect_effect,   [ASPECT_PROBLEMS] = aspect_problems,
    [ASPECT_EXAMPLES] = aspect_examples, [ASPECT_OUTLOOK] = aspect_outlook,
};

static size_t aspect_name_length(const char *text, size_t length, bool found[ASPECTS])
{
    for (size_t i = 0; i < WORDS_OF(aspect_names); i++) {
        const char *word = aspect_names[i].word;
        size_t size = strlen(word);
        bool latin = isalpha((unsigned char)*word);
        if (size > length || strncasecmp(word, text, size) != 0 ||
            (latin && size < length && isalpha((unsigned char)text[size])))
            continue;
        if (aspect_names[i].aspect < ASPECTS)
            found[aspect_names[i].aspect] = true;
        return size;
    }
    return 0;
}

/* Whether the point has only words of this table; `found` gets their aspects. */
static bool aspect_find(struct report_span point, bool found[ASPECTS])
{
    bool any = false;
    memset(found, 0, ASPECTS * sizeof *found);
    if (point.length > ASPECT_POINT_MAX)
        return false;
    for (size_t at = 0, size; at < point.length; at += size) {
        size = strchr(" \t,/&", point.text[at]) ? 1 : aspect_name_length(point.text + at, point.length - at, found);
        if (!size)
            return false;
    }
    for (size_t i = 0; i < ASPECTS; i++)
        any |= found[i];
    return any;
}

static bool aspect_has(struct report_span sentence, const char *word)
{
    size_t length = strlen(word);
    for (size_t at = 0; at + length <= sentence.length; at++)
        if (strncasecmp(sentence.text + at, word, length) == 0)
            return true;
    return false;
}

bool report_aspect_is(struct report_span point)
{
    bool found[ASPECTS];
    return aspect_find(point, found);
}

bool report_aspect_fits(struct report_span point, struct report_span sentence)
{
    bool found[ASPECTS];
    if (!aspect_find(point, found))
        return false;
    for (size_t i = 0; i < ASPECTS; i++) {
        if (found[i] && !aspect_cues[i])
            return true;
        for (const char *const *cue = aspect_cues[i]; found[i] && *cue; cue++)
            if (aspect_has(sentence, *cue))
                return true;
    }
    return false;
}
