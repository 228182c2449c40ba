/* Rates the names of a sentence: persons, organisations, places, titles. */
#include "words/asked_fits_priv.h"

#include <string.h>

#define FOCUS_LETTERS_MAX 12
#define BESIDE            3 /* letters between a name and the focus */
#define BESIDE_GAIN       0.25

static uint32_t name_code(const struct asked_letters *letters, size_t at)
{
    return at < letters->count ? letters->at[at].code : 0;
}

/* Whether a word of the list ends at letter `end`. */
static bool name_ends_with(const struct asked_letters *letters, size_t begin, size_t end, const char *const *words)
{
    for (size_t from = end > begin + 6 ? end - 6 : begin; from < end; from++) {
        for (const char *const *word = words; *word; word++)
            if (asked_stands(letters, from, end, *word) == end - from)
                return true;
    }
    return false;
}

/* Whether the focus of the question stands at letter `at` of the sentence. */
static bool name_focus_at(const struct asked_rated *rated, size_t at)
{
    size_t length = rated->focus.end - rated->focus.begin;
    if (length == 0 || length > FOCUS_LETTERS_MAX || at + length > rated->sentence->count)
        return false;
    for (size_t i = 0; i < length; i++)
        if (rated->sentence->at[at + i].code != rated->question->at[rated->focus.begin + i].code)
            return false;
    return true;
}

/* 気団 in シベリア気団, behind at least one other letter. */
static bool name_has_focus(const struct asked_rated *rated, const struct asked_run *run)
{
    for (size_t at = run->begin + 1; at < run->end; at++)
        if (name_focus_at(rated, at))
            return true;
    return false;
}

/* 学名 in 学名:Anguillidae: the focus stands in front of the run or behind it, with a few letters between. */
static bool name_is_beside_focus(const struct asked_rated *rated, const struct asked_run *run)
{
    size_t length = rated->focus.end - rated->focus.begin;
    size_t from = run->begin > length + BESIDE ? run->begin - length - BESIDE : 0;
    for (size_t at = from; at < run->end + BESIDE; at++)
        if (name_focus_at(rated, at))
            return true;
    return false;
}

static bool name_is_quoted(const struct asked_letters *letters, const struct asked_run *run)
{
    uint32_t before = run->begin ? letters->at[run->begin - 1].code : 0;
    return before == 0x300C || before == 0x300E || before == '"' || before == 0x300A || before == 0xAB ||
           before == 0x201E || before == 0x201C;
}

static double name_fits_person(const struct asked_letters *letters, const struct asked_run *run)
{
    static const char *const roles[] = {"者", "氏", "家", "員", "長", "士", "師", "手", "王", "帝", "皇", "相",
                                        "妻", "父", "母", "兄", "弟", "姉", "妹", "子", "社", "局", "省", "庁",
                                        "党", "軍", "団", "会", "隊", "人", "夫", "督", "優", "官", "兵", "派",
                                        "公", "女", "男", "生", "郎", "雄", "夫", "治", "一", "彦", "之", "宗",
                                        "家", "康", "吉", "信", "院", "学", "所", "部", NULL};
    uint32_t after = name_code(letters, run->end);
    bool marked = after == 0x304C || after == 0x306F || after == 0x3001 || after == 0x306B || after == '(' ||
                  after == 0x3068 || after == 0x3089; /* が は 、 に ( と ら */
    if (run->script == SCRIPT_HAN) {
        bool role = name_ends_with(letters, run->begin, run->end, roles);
        return role ? 0.8 : run->end - run->begin >= 2 && marked ? 0.55 : 0.35;
    }
    bool dotted = false;
    for (size_t i = run->begin; i < run->end; i++)
        dotted |= letters->at[i].code == 0x30FB;
    return dotted ? 1 : run->end - run->begin >= 3 ? 0.7 : 0.5;
}

static double name_fits_place(const struct asked_letters *letters, const struct asked_run *run)
{
    static const char *const endings[] = {
        "県",   "市",   "区",   "町",   "村",     "州",       "国",         "島",   "山",   "川",   "駅",   "港",
        "城",   "都",   "府",   "道",   "郡",     "湾",       "海",         "洋",   "半島", "大陸", "地方", "地",
        "街",   "寺",   "社",   "館",   "園",     "所",       "場",         "院",   "学",   "校",   "畑",   "側",
        "部",   "宮",   "域",   "端",   "路",     "出身",     "在住",       "京",   "阪",   "本",   "岡",   "崎",
        "空港", "大学", "公園", "劇場", "ホール", "センター", "スタジアム", "広場", "通り", NULL};
    uint32_t after = name_code(letters, run->end);
    bool marked = after == 0x304C || after == 0x3067 || after == 0x306B || after == 0x3078 || after == 0x3092 ||
                  after == 0x304B || after == 0x306E; /* が で に へ を か の */
    bool ends = name_ends_with(letters, run->begin, run->end, endings);
    if (run->script == SCRIPT_HAN)
        return ends ? (marked ? 1 : 0.85) : marked ? 0.5 : 0.3;
    return marked ? 0.9 : 0.7;
}

/* A Latin name in a row of capitalised words. */
static double name_fits_latin(const struct asked_rated *rated, const struct asked_run *run, size_t fresh, bool first)
{
    static const char *const places[] = {"in", "at", "near", "from", "outside", "around", NULL};
    const struct asked_letters *letters = rated->sentence;
    size_t end = run->begin;
    while (end > 0 && script_of(letters->at[end - 1].code) == SCRIPT_SPACE)
        end--;
    size_t begin = end;
    while (begin > 0 && script_of(letters->at[begin - 1].code) == SCRIPT_LETTER)
        begin--;
    double base = first ? 0.5 : 0.8;
    if (rated->asked->type == ASKED_PLACE)
        for (const char *const *word = places; *word; word++)
            if (end > begin && asked_stands(letters, begin, end, *word) == end - begin)
                return 1;
    bool of = end > begin && (asked_stands(letters, begin, end, "of") == end - begin ||
                              asked_stands(letters, begin, end, "to") == end - begin);
    if (rated->asked->type == ASKED_PLACE && of)
        return 0.9;
    if (rated->asked->type == ASKED_PERSON && fresh > 1)
        return 1;
    return rated->asked->type == ASKED_PLACE ? base - 0.1 : base;
}

/* 年 in 1990年 and キロメートル are no names. */
static bool name_is_unit(const struct asked_letters *letters, const struct asked_run *run)
{
    size_t taken;
    bool counted = run->begin > 0 && script_of(letters->at[run->begin - 1].code) == SCRIPT_DIGIT;
    return counted || (asked_longest(asked_units, letters, run->begin, run->end, &taken) && taken > 1);
}

static bool name_is_function_word(const struct asked_letters *letters, const struct asked_run *run)
{
    static const char *const words[] = {
        "the",  "a",      "an",       "in",      "on",      "at",        "it",   "he",    "she",   "they",   "this",
        "that", "these",  "those",    "as",      "by",      "for",       "from", "with",  "after", "before", "while",
        "when", "during", "although", "however", "its",     "his",       "her",  "their", "there", "some",   "many",
        "most", "if",     "since",    "and",     "but",     "or",        "to",   "of",    "both",  "all",    "one",
        "each", "such",   "other",    "another", "because", "according", "also", "i",     "we",    "you",    NULL};
    for (const char *const *word = words; *word; word++)
        if (strlen(*word) == run->end - run->begin && asked_stands(letters, run->begin, run->end, *word))
            return true;
    return false;
}

/* Chinese and Korean have no marks of names: each new word of some length may be one. */
static double name_fits_unmarked(const struct asked_run *run)
{
    return run->end - run->begin >= 3 ? 0.7 : 0.5;
}

static double name_fits_japanese(const struct asked_rated *rated, const struct asked_run *run)
{
    const struct asked_letters *letters = rated->sentence;
    if (rated->asked->focus.end > rated->asked->focus.begin && name_has_focus(rated, run))
        return 1;
    if (rated->asked->language[0] == 'z')
        return asked_name_fits_chinese(rated, run);
    if (rated->asked->type == ASKED_PERSON)
        return name_fits_person(letters, run);
    if (rated->asked->type == ASKED_PLACE)
        return name_fits_place(letters, run);
    if (name_is_quoted(letters, run))
        return 0.9;
    return run->script == SCRIPT_KATAKANA ? (run->end - run->begin >= 3 ? 0.7 : 0.5) : 0.4;
}

double asked_rate_names(const struct asked_rated *rated)
{
    static const char *const naming[] = {
        "genannt",   "bezeichnet", "heisst", "namens", "namen",  "appelé-", "nommé-",   "llamad-", "称为",     "叫做",
        "被称",      "名为",       "命名",   "又称",   "called", "named",   "known as", "titled",  "entitled", "dubbed",
        "nicknamed", "と呼ば",     "という", "と名付", "と称",   "名付け",  "と改",     "と言",    NULL};
    struct asked_run run;
    double best = rated->asked->type == ASKED_PLACE && !rated->latin ? asked_rate_locations(rated) : 0;
    bool latin_before = false;
    size_t fresh = 0, last_end = 0;
    for (size_t at = 0; asked_run_next(rated, &at, &run);) {
        double fits = 0;
        if (run.script == SCRIPT_LETTER && run.capital && run.end - run.begin > 1 &&
            !(rated->spoken == LATIN_ENGLISH ? name_is_function_word(rated->sentence, &run)
                                             : asked_is_function_word(rated, &run)) &&
            !asked_is_month(rated->sentence, &run) && !asked_is_weekday(rated->sentence, &run)) {
            fresh = last_end && run.begin <= last_end + 1 ? fresh + run.fresh : run.fresh;
            fits = !run.fresh                       ? 0
                   : rated->spoken == LATIN_ENGLISH ? name_fits_latin(rated, &run, fresh, !latin_before)
                                                    : asked_name_fits_spaced(rated, &run, fresh);
            last_end = run.end;
        } else if ((run.script == SCRIPT_HAN || run.script == SCRIPT_KATAKANA) && run.fresh &&
                   !name_is_unit(rated->sentence, &run)) {
            fits = name_fits_japanese(rated, &run);
        } else if (run.script == SCRIPT_LETTER && run.fresh && rated->sentence->at[run.begin].code >= 0xAC00) {
            fits = name_fits_unmarked(&run);
        } else if (run.script == SCRIPT_LETTER && run.fresh && name_is_quoted(rated->sentence, &run)) {
            fits = 0.9;
        }
        if (run.script == SCRIPT_DIGIT && name_focus_at(rated, run.end) && run.fresh)
            fits = 0.9; /* 全3幕 for 何幕 */
        if (fits > 0 && name_is_beside_focus(rated, &run))
            fits += BESIDE_GAIN;
        latin_before |= run.script == SCRIPT_LETTER;
        fits *= asked_nearness(rated, run.begin, run.end);
        best = fits > best ? fits : best;
    }
    if (rated->asked->type == ASKED_NAME && best > 0.3 && asked_sentence_has(rated->sentence, naming))
        best = best + 0.2;
    return best;
}
