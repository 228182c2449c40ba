/* Rates the numbers, dates and durations of a sentence. A number is written in digits, in Han digits before a counter,
 * or in English words. */
#include "words/asked_fits_priv.h"

#include <string.h>

/* A number of the sentence, with the unit behind or before it. */
struct asked_number {
    size_t begin, end;
    size_t digits_end; /* without 万 and million */
    size_t digits;
    unsigned value; /* of at most four digits */
    enum asked_unit unit;
    bool date;
};

static uint32_t code_at(const struct asked_letters *letters, size_t at)
{
    return at < letters->count ? letters->at[at].code : 0;
}

static bool number_is_digit(uint32_t code)
{
    return script_of(code) == SCRIPT_DIGIT;
}

/* 一 to 九, 两, 〇, 十, 百, 千, 万, 億; 両 is none. */
static bool number_is_han(uint32_t code)
{
    static const uint32_t codes[] = {0x4E24, 0x5169, 0x4EBF, 0x4E00, 0x4E8C, 0x4E09, 0x56DB, 0x4E94, 0x516D, 0x4E03,
                                     0x516B, 0x4E5D, 0x3007, 0x5341, 0x767E, 0x5343, 0x4E07, 0x5104, 0x5146};
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
        if (codes[i] == code)
            return true;
    return false;
}

static bool number_is_latin(const struct asked_letters *letters, size_t at)
{
    return script_of(code_at(letters, at)) == SCRIPT_LETTER;
}

/* The longest unit that stands at `at`. */
static enum asked_unit number_unit_at(const struct asked_letters *letters, size_t at, size_t *taken)
{
    enum asked_unit unit = ASKED_UNIT_NONE;
    *taken = 0;
    for (const struct asked_word *row = asked_units; row->word; row++) {
        size_t count = asked_stands(letters, at, letters->count, row->word);
        bool latin = count && number_is_latin(letters, at + count - 1) && letters->at[at].code < 0xAC00;
        if (count > *taken && !(latin && number_is_latin(letters, at + count))) {
            *taken = count;
            unit = row->unit;
        }
    }
    return unit;
}

static bool number_month_before(const struct asked_letters *letters, size_t at)
{
    while (at > 0 && (script_of(letters->at[at - 1].code) == SCRIPT_SPACE || letters->at[at - 1].code == ','))
        at--;
    size_t begin = at;
    while (begin > 0 && number_is_latin(letters, begin - 1))
        begin--;
    for (size_t i = 0; asked_months[i]; i++)
        if (at - begin == strlen(asked_months[i]) && asked_stands(letters, begin, at, asked_months[i]))
            return true;
    return false;
}

/* 10 in 5月10日. */
static bool number_follows_month(const struct asked_letters *letters, size_t begin)
{
    while (begin > 0 && script_of(letters->at[begin - 1].code) == SCRIPT_SPACE)
        begin--;
    return begin > 0 && letters->at[begin - 1].code == 0x6708; /* 月 */
}

/* Whether the number before 日 counts days: 180日, 14日前, 30日で消える; 5月10日 and 10日に are days of a month. */
static bool number_counts_days(const struct asked_letters *letters, const struct asked_number *number, size_t after)
{
    static const char *const spans[] = {"前",   "後",   "以内", "以上", "以下",   "未満", "ごと", "おき", "経",
                                        "を過", "を超", "の間", "分",   "のあい", "ほど", "目",   "より", NULL};
    static const char *const dates[] = {"でし", "です", "であ", "では", "での", NULL};
    if (number_follows_month(letters, number->begin))
        return false;
    return (number->digits <= 4 && number->value > 31) || asked_stands_any(letters, after, letters->count, spans) ||
           (code_at(letters, after) == 0x3067 && !asked_stands_any(letters, after, letters->count, dates));
}

/* "87" in "1952-87": two digits behind a year and a dash. */
static bool number_ends_years(const struct asked_letters *letters, const struct asked_number *number)
{
    size_t at = number->begin, digits = 0;
    uint32_t dash = at > 0 ? letters->at[at - 1].code : 0;
    if (number->digits != 2 || (dash != '-' && dash != 0x2013))
        return false;
    for (at--; at > 0 && number_is_digit(letters->at[at - 1].code); at--)
        digits++;
    uint32_t first = code_at(letters, at);
    return digits == 4 && (first == '1' || first == '2');
}

static void number_take_unit(const struct asked_letters *letters, struct asked_number *number)
{
    size_t at = number->end, taken;
    while (script_of(code_at(letters, at)) == SCRIPT_SPACE || code_at(letters, at) == '-')
        at++;
    for (size_t i = 0; i < 2; i++) { /* "2 million people", "5 thousand dollars" */
        static const char *const multipliers[] = {"millionen", "milliarden", "million",  "billion",
                                                  "thousand",  "hundred",    "trillion", "milliarde",
                                                  "mio.",      "mrd.",       "tausend",  NULL};
        for (const char *const *word = multipliers; *word; word++) {
            size_t count = asked_stands(letters, at, letters->count, *word);
            if (count) {
                at += count;
                while (script_of(code_at(letters, at)) == SCRIPT_SPACE)
                    at++;
                number->end = at;
                number->digits = 7;
                break;
            }
        }
    }
    uint32_t before = number->begin ? letters->at[number->begin - 1].code : 0;
    number->unit = number_unit_at(letters, at, &taken);
    bool four = number->digits == 4 && number->value >= 1000 && number->value < 2100;
    static const char *const joins[] = {"de ", ". ", ".", NULL}; /* 3 de mayo, 31. März */
    size_t month = number->end;
    while (script_of(code_at(letters, month)) == SCRIPT_SPACE)
        month++;
    for (const char *const *join = joins; *join && month < letters->count; join++)
        if (asked_stands(letters, month, letters->count, *join)) {
            month += strlen(*join);
            break;
        }
    bool month_follows = false;
    for (size_t i = 0; asked_months[i] && !month_follows; i++)
        month_follows = asked_stands(letters, month, letters->count, asked_months[i]) > 0;
    if (before == '$' || before == 0x20AC || before == 0xA3 || before == 0xA5)
        number->unit = ASKED_UNIT_MONEY;
    else if (code_at(letters, number->end) == ':' && number_is_digit(code_at(letters, number->end + 1)))
        number->unit = ASKED_UNIT_CLOCK;
    else if (number->unit == ASKED_UNIT_YEAR && taken == 1 && !four && number->digits < 3)
        number->unit = ASKED_UNIT_TIME; /* 3年; an era is read as a year below */
    else if (number->unit == ASKED_UNIT_NONE && number->digits <= 2 &&
             (number_month_before(letters, number->begin) || month_follows))
        number->unit = ASKED_UNIT_DAY;
    else if (number->unit == ASKED_UNIT_NONE &&
             ((four && !number_is_latin(letters, number->begin ? number->begin - 1 : 0)) ||
              number_ends_years(letters, number)))
        number->unit = ASKED_UNIT_YEAR;
    if (number->unit == ASKED_UNIT_DAY && taken == 1 && code_at(letters, at) == 0x65E5 &&
        number_counts_days(letters, number, at + taken))
        number->unit = ASKED_UNIT_TIME;
    static const char *const eras[] = {"令和", "平成", "昭和", "大正", "明治", "慶応", "元禄", "永禄", "天正", "慶長",
                                       "寛永", "享保", "文化", "文政", "天保", "嘉永", "安政", "文久", NULL};
    if (number->begin >= 2 && asked_stands_any(letters, number->begin - 2, number->begin, eras) &&
        number->unit == ASKED_UNIT_TIME)
        number->unit = ASKED_UNIT_YEAR;
    if (number->unit == ASKED_UNIT_TIME && taken == 1 && code_at(letters, at) == 0x5206 && number->begin > 0 &&
        letters->at[number->begin - 1].code == 0x6642) /* 15時20分 */
        number->unit = ASKED_UNIT_CLOCK;
    number->date = number->unit >= ASKED_UNIT_YEAR;
}

/* Number words that are read as numbers; "one" is mostly none. */
static bool number_word_at(const struct asked_letters *letters, size_t at, size_t *end)
{
    static const char *const words[] = {
        "two",       "three",   "four",     "five",     "six",       "seven",    "eight",     "nine",     "ten",
        "eleven",    "twelve",  "thirteen", "fourteen", "fifteen",   "sixteen",  "seventeen", "eighteen", "nineteen",
        "twenty",    "thirty",  "forty",    "fifty",    "sixty",     "seventy",  "eighty",    "ninety",   "half",
        "twice",     "once",    "dozen",    "hundreds", "thousands", "millions", "one",       "zwei",     "drei",
        "vier",      "fünf",    "sechs",    "sieben",   "acht",      "neun",     "zehn",      "elf",      "zwölf",
        "hundert",   "tausend", "hälfte",   "doppelt",  "deux",      "trois",    "quatre",    "cinq",     "sept",
        "huit",      "neuf",    "dix",      "onze",     "douze",     "quinze",   "vingt",     "trente",   "quarante",
        "cinquante", "cent",    "mille",    "moitié",   "dos",       "tres",     "cuatro",    "cinco",    "seis",
        "siete",     "ocho",    "nueve",    "diez",     "once",      "doce",     "quince",    "veinte",   "treinta",
        "cien",      "mil",     "mitad",    "두",       "세",        "네",       "다섯",      "여섯",     "일곱",
        "여덟",      "아홉",    "열",       "절반",     NULL};
    if (at > 0 && number_is_latin(letters, at - 1))
        return false;
    for (const char *const *word = words; *word; word++) {
        size_t count = asked_stands(letters, at, letters->count, *word);
        if (count && !number_is_latin(letters, at + count)) {
            *end = at + count;
            return true;
        }
    }
    return false;
}

static bool number_ordinal_at(const struct asked_letters *letters, size_t at, size_t *end)
{
    static const char *const words[] = {"first",   "second", "third", "fourth", "fifth",  "sixth",
                                        "seventh", "eighth", "ninth", "tenth",  "erste-", NULL};
    if (at > 0 && number_is_latin(letters, at - 1))
        return false;
    for (const char *const *word = words; *word; word++) {
        size_t count = asked_stands(letters, at, letters->count, *word);
        if (count && !number_is_latin(letters, at + count)) {
            *end = at + count;
            return true;
        }
    }
    return false;
}

static bool number_next(const struct asked_letters *letters, size_t *at, struct asked_number *number)
{
    for (; *at < letters->count; ++*at) {
        uint32_t code = letters->at[*at].code;
        size_t end = *at, taken;
        bool mixed = false; /* 3万5000 */
        *number = (struct asked_number){.begin = *at, .digits_end = *at};
        if (number_is_digit(code) && !(*at > 0 && number_is_latin(letters, *at - 1))) {
            while (number_is_digit(code_at(letters, end)) || number_is_han(code_at(letters, end)) ||
                   ((code_at(letters, end) == ',' || code_at(letters, end) == '.') &&
                    number_is_digit(code_at(letters, end + 1)))) {
                bool digit = number_is_digit(code_at(letters, end));
                number->value =
                    digit && number->digits < 4 ? number->value * 10 + (code_at(letters, end) - '0') : number->value;
                number->digits += digit ? 1 : 4;
                end++;
                mixed |= number_is_han(letters->at[end - 1].code);
                number->digits_end = mixed ? number->digits_end : end;
            }
        } else if (number_is_han(code)) {
            while (number_is_han(code_at(letters, end)))
                end++;
            number->digits = end - *at;
            bool counted = number_unit_at(letters, end, &taken) != ASKED_UNIT_NONE || code_at(letters, end) == 0x3064;
            if (!counted && !asked_longest(asked_counters_ja, letters, end, letters->count, &taken)) {
                *at = end - 1;
                continue;
            }
        } else if (number_word_at(letters, *at, &end)) {
            number->digits = 1;
            number->digits_end = end;
        } else if (number_ordinal_at(letters, *at, &end)) {
            *number = (struct asked_number){
                .begin = *at, .end = end, .digits_end = end, .digits = 1, .unit = ASKED_UNIT_RANK};
            *at = end;
            return true;
        } else {
            continue;
        }
        number->end = end;
        *at = end > *at ? end : *at + 1;
        number_take_unit(letters, number);
        return true;
    }
    return false;
}

/* Whether the question has the same digits, or the same word. */
static bool number_is_old(const struct asked_rated *rated, const struct asked_number *number)
{
    const struct asked_letters *sentence = rated->sentence;
    if (number_is_han(code_at(sentence, number->begin)))
        return asked_question_has(rated, number->end - 1, number->end + 1);
    return asked_question_has(rated, number->begin, number->digits_end);
}

/* Whether the counter of the question stands behind the number, perhaps with a word between: "20 large ships". */
static bool number_has_counter(const struct asked_rated *rated, const struct asked_number *number)
{
    const struct asked_letters *question = rated->question, *sentence = rated->sentence;
    size_t begin = rated->counter.begin, end = rated->counter.end;
    size_t window = number->end + 24 < sentence->count ? number->end + 24 : sentence->count;
    if (begin == end)
        return false;
    bool latin = number_is_latin(question, begin);
    size_t length = end - begin - (latin && end - begin > 4 ? 1 : 0); /* without the plural s */
    window = latin ? window : number->end + 1 < sentence->count ? number->end + 1 : sentence->count;
    for (size_t at = number->end; at < window; at++) {
        size_t same = 0;
        while (same < length && code_at(sentence, at + same) == question->at[begin + same].code)
            same++;
        if (same == length)
            return true;
    }
    return false;
}

static double number_fits_date(const struct asked_number *number, enum asked_unit unit)
{
    if (unit == ASKED_UNIT_TIME)
        return number->date ? 1 : number->unit == ASKED_UNIT_TIME ? 0.9 : 0.2;
    if (unit == ASKED_UNIT_NONE || unit == number->unit)
        return number->date ? 1 : number->unit == ASKED_UNIT_TIME ? 0.4 : 0.2;
    return number->date ? 0.5 : 0.2;
}

/* 高い is said of heights, prices and temperatures, 速い of speeds and times. */
static bool number_has_other_sense(const struct asked_rated *rated, enum asked_unit unit)
{
    static const char *const high[] = {"高さ", "高い", "high", NULL};
    switch (rated->asked->unit) {
    case ASKED_UNIT_LENGTH:
        return (unit == ASKED_UNIT_MONEY || unit == ASKED_UNIT_TEMPERATURE || unit == ASKED_UNIT_PERCENT) &&
               asked_sentence_has(rated->question, high);
    case ASKED_UNIT_SPEED:
        return unit == ASKED_UNIT_TIME;
    default:
        return false;
    }
}

static double asked_fits_numbers_number_fits(const struct asked_rated *rated, const struct asked_number *number)
{
    const struct asked *asked = rated->asked;
    if (asked->type == ASKED_DATE)
        return number_fits_date(number, asked->unit);
    bool calendar = asked->type == ASKED_DURATION &&
                    (number->unit == ASKED_UNIT_YEAR ||
                     (number->unit == ASKED_UNIT_DAY && number_follows_month(rated->sentence, number->begin)));
    if (!calendar && asked->counter.begin < asked->counter.end && number_has_counter(rated, number))
        return 1;
    if (asked->type == ASKED_DURATION)
        return number->unit == ASKED_UNIT_TIME ? 1 : number->date ? 0.3 : 0.2;
    if (asked->unit == ASKED_UNIT_NONE || asked->unit == ASKED_UNIT_THINGS)
        return number->date                        ? 0.2
               : number->unit <= ASKED_UNIT_THINGS ? 0.8
               : number->unit == ASKED_UNIT_TIME   ? 0.4
                                                   : 0.6;
    if (asked->unit == number->unit)
        return 1;
    if (number_has_other_sense(rated, number->unit))
        return 0.7;
    return number->unit == ASKED_UNIT_NONE ? 0.5 : number->date ? 0.1 : 0.3;
}

static bool run_is_any(const struct asked_letters *letters, const struct asked_run *run, const char *const *words)
{
    for (; *words; words++)
        if (asked_stands(letters, run->begin, run->end, *words) == run->end - run->begin)
            return true;
    return false;
}

bool asked_is_month(const struct asked_letters *letters, const struct asked_run *run)
{
    return run->capital && run_is_any(letters, run, asked_months);
}

bool asked_is_weekday(const struct asked_letters *letters, const struct asked_run *run)
{
    static const char *const days[] = {"monday", "tuesday",  "wednesday", "thursday",
                                       "friday", "saturday", "sunday",    NULL};
    return run->capital && run_is_any(letters, run, days);
}

/* The best month, day of the week or season that the question does not have: a date without a number. */
static double asked_rate_calendar(const struct asked_rated *rated)
{
    static const char *const seasons[] = {"spring", "summer", "autumn", "winter", NULL};
    enum asked_unit unit = rated->asked->unit;
    struct asked_run run;
    double best = 0;
    for (size_t at = 0; asked_run_next(rated, &at, &run);) {
        if (run.script != SCRIPT_LETTER || !run.fresh)
            continue;
        double fits = 0;
        if (asked_is_month(rated->sentence, &run))
            fits = unit == ASKED_UNIT_MONTH ? 1 : unit == ASKED_UNIT_NONE ? 0.5 : 0;
        else if (asked_is_weekday(rated->sentence, &run))
            fits = unit == ASKED_UNIT_DAY ? 1 : unit == ASKED_UNIT_NONE ? 0.5 : 0;
        else if (unit == ASKED_UNIT_NONE && run_is_any(rated->sentence, &run, seasons))
            fits = 0.5;
        fits *= asked_nearness(rated, run.begin, run.end);
        best = fits > best ? fits : best;
    }
    return best;
}

double asked_rate_numbers(const struct asked_rated *rated)
{
    static const char *const when[] = {
        "when",    "after",    "before",  "during", "following", "since",    "until",       "monday-", "december",
        "january", "february", "march",   "april",  "may",       "june",     "july",        "august",  "september",
        "october", "november", "today",   "spring", "summer",    "autumn",   "winter",      "century", "januar",
        "februar", "märz",     "juni",    "juli",   "oktober",   "dezember", "jahrhundert", "heute",   "frühling",
        "sommer",  "herbst",   "seitdem", "時代",   "後",        "前",       "時に",        "頃",      "翌",
        "同年",    "春",       "夏",      "秋",     "冬",        NULL};
    static const char *const amounts[] = {"many",    "several", "few",   "none", "half",  "all",  "both", "viele",
                                          "mehrere", "wenige",  "keine", "alle", "beide", "数百", "数十", "多数",
                                          "多く",    "半分",    "全",    "半数", "数",    "両",   NULL};
    static const char *const often[] = {"once",     "twice",      "daily",     "weekly", "monthly", "yearly",
                                        "annually", "biannually", "quarterly", "hourly", "nightly", "every",
                                        "毎日",     "毎週",       "毎月",      "毎年",   "毎晩",    "毎朝",
                                        "täglich",  "jährlich",   "monatlich", "每天",   "每年",    NULL};
    static const char *const ranks[] = {"最下位", "首位", NULL};
    bool rank = rated->asked->unit == ASKED_UNIT_RANK && asked_sentence_has(rated->sentence, ranks);
    bool frequency = rated->asked->unit == ASKED_UNIT_TIMES && asked_sentence_has(rated->sentence, often);
    double best = frequency || rank ? 0.8 * asked_nearness(rated, 0, rated->sentence->count)
                  : asked_sentence_has(rated->sentence, rated->asked->type == ASKED_DATE ? when : amounts) ? 0.3
                                                                                                           : 0;
    double calendar = rated->asked->type == ASKED_DATE ? asked_rate_calendar(rated) : 0;
    best = calendar > best ? calendar : best;
    struct asked_number number;
    for (size_t at = 0; number_next(rated->sentence, &at, &number);) {
        double fits = number_is_old(rated, &number) ? 0 : asked_fits_numbers_number_fits(rated, &number);
        fits *= asked_nearness(rated, number.begin, number.end);
        best = fits > best ? fits : best;
    }
    return best;
}
