/* Telephone numbers in an answer. If the country is known, the number gets its country code and loses the digit that is
 * dialled only within the country. */
#include "form/reading.h"

#include <string.h>

#define PHONE_DIGITS_MAX   15 /* ITU-T E.164 */
#define PHONE_DIGITS_MIN   7
#define PHONE_DIGITS_PLAIN 9 /* minimum if the country is unknown: fewer digits may be a date or lack the area */

/* Digits of a number within the country, without its trunk digit. */
struct phone_plan {
    const char *country, *code, *trunk;
    unsigned least, most;
};

static const struct phone_plan plans[] = {
    {"JP", "81", "0", 9, 10},  {"US", "1", "1", 10, 10}, {"CA", "1", "1", 10, 10},  {"GB", "44", "0", 9, 10},
    {"KR", "82", "0", 8, 10},  {"CN", "86", "0", 9, 11}, {"TW", "886", "0", 8, 9},  {"HK", "852", "", 8, 8},
    {"SG", "65", "", 8, 8},    {"MY", "60", "0", 8, 10}, {"TH", "66", "0", 8, 9},   {"VN", "84", "0", 9, 10},
    {"PH", "63", "0", 8, 10},  {"ID", "62", "0", 8, 12}, {"IN", "91", "0", 10, 10}, {"NP", "977", "0", 8, 10},
    {"AU", "61", "0", 9, 9},   {"NZ", "64", "0", 8, 10}, {"DE", "49", "0", 7, 12},  {"FR", "33", "0", 9, 9},
    {"ES", "34", "", 9, 9},    {"IT", "39", "", 8, 11},  {"PT", "351", "", 9, 9},   {"NL", "31", "0", 9, 9},
    {"BE", "32", "0", 8, 9},   {"CH", "41", "0", 9, 9},  {"AT", "43", "0", 7, 13},  {"SE", "46", "0", 7, 10},
    {"NO", "47", "", 8, 8},    {"DK", "45", "", 8, 8},   {"FI", "358", "0", 7, 11}, {"IE", "353", "0", 8, 9},
    {"PL", "48", "", 9, 9},    {"CZ", "420", "", 9, 9},  {"GR", "30", "", 10, 10},  {"TR", "90", "0", 10, 10},
    {"UA", "380", "0", 9, 9},  {"RU", "7", "8", 10, 10}, {"BR", "55", "0", 10, 11}, {"MX", "52", "", 10, 10},
    {"AR", "54", "0", 10, 10}, {"CL", "56", "", 9, 9},   {"CO", "57", "", 8, 10},   {"PE", "51", "0", 8, 9},
    {"ZA", "27", "0", 9, 9},   {"EG", "20", "0", 8, 10}, {"IL", "972", "0", 8, 9},  {"AE", "971", "0", 8, 9},
    {"SA", "966", "0", 8, 9},
};

/* Codes of countries by E.164, those of the plans left out. */
static const char other_codes[] =
    " 211 212 213 216 218 220 221 222 223 224 225 226 227 228 229 230 231 232 233 234 235 236 237 238 239 240 241 242 "
    "243 "
    "244 245 246 248 249 250 251 252 253 254 255 256 257 258 260 261 262 263 264 265 266 267 268 269 290 291 297 298 "
    "299 "
    "350 352 354 355 356 357 359 36 370 371 372 373 374 375 376 377 378 381 382 383 385 386 387 389 40 421 423 500 501 "
    "502 503 504 505 506 507 508 509 53 58 590 591 592 593 594 595 596 597 598 599 670 672 673 674 675 676 677 678 679 "
    "680 681 682 683 685 686 687 688 689 690 691 692 850 853 855 856 880 92 93 94 95 960 961 962 963 964 965 967 968 "
    "970 "
    "973 974 975 976 98 992 993 994 995 996 998 ";

#define PLANS (sizeof(plans) / sizeof(*plans))

static const struct phone_plan *plan_of_country(const char *country)
{
    for (size_t i = 0; i < PLANS; i++) {
        if (strcmp(plans[i].country, country) == 0)
            return &plans[i];
    }
    return NULL;
}

/* Whether the digits behind a '+' begin with a country's code, and are as many as it has. */
static bool international_is_good(const char *digits, size_t count)
{
    char code[8];
    for (size_t i = 0; i < PLANS; i++) {
        size_t length = strlen(plans[i].code);
        if (strncmp(digits, plans[i].code, length) == 0) {
            size_t rest = count - length;
            return rest >= plans[i].least && rest <= plans[i].most &&
                   !(plans[i].trunk[0] == '0' && digits[length] == '0');
        }
    }
    for (size_t length = 2; length <= 3 && length < count; length++) {
        code[0] = ' ';
        memcpy(code + 1, digits, length);
        code[length + 1] = ' ';
        code[length + 2] = '\0';
        if (strstr(other_codes, code))
            return count >= 8;
    }
    return false;
}

static const char *phone_national(const struct reading *in, const struct phone_plan *plan, const char *digits,
                                  size_t count)
{
    size_t trunk = strlen(plan->trunk);
    if (trunk && strncmp(digits, plan->trunk, trunk) == 0) {
        digits += trunk;
        count -= trunk;
    } else if (trunk && plan->trunk[0] == '0') {
        return NULL; /* without its area */
    }
    bool american = strcmp(plan->code, "1") == 0;
    if (count < plan->least || count > plan->most || (american && (digits[0] < '2' || digits[3] < '2')))
        return NULL;
    if (digits[0] == '0' && trunk)
        return NULL;
    bool japanese = strcmp(plan->country, "JP") == 0, mobile = digits[1] == '0' && strchr("5789", digits[0]);
    if (japanese && count != (mobile ? 10U : 9U) && strncmp(digits, "800", 3) != 0)
        return NULL;
    return arena_printf(in->arena, "+%s%.*s", plan->code, (int)count, digits);
}

/* The number in its stored form, or "" if it is invalid. */
static const char *phone_text(const struct reading *in, const char *digits, size_t count, bool international)
{
    const struct phone_plan *plan = plan_of_country(in->context->country);
    const char *text = NULL;
    if (count < PHONE_DIGITS_MIN || count > PHONE_DIGITS_MAX)
        return "";
    if (international)
        text = international_is_good(digits, count) ? arena_printf(in->arena, "+%s", digits) : "";
    else if (plan)
        text = phone_national(in, plan, digits, count);
    else
        text = arena_strdup(in->arena, count >= PHONE_DIGITS_PLAIN ? digits : "");
    return text || in->arena->exhausted ? text : "";
}

static bool is_phone_mark(uint32_t code)
{
    return code == '-' || code == ' ' || code == '(' || code == ')' || code == '.' || code == '/' || code == 0x30FC ||
           code == 0x2015 || code == 0x2014 || code == 0x3000;
}

/* The digits from `i` on; *count may be more than fit. `groups` are marks between digits. */
static size_t phone_digits(const struct reading *in, size_t i, char digits[PHONE_DIGITS_MAX + 1], size_t *count)
{
    size_t end = i, marks = 0;
    *count = 0;
    for (size_t at = i; code_is_digit(code_at(in, at)) || is_phone_mark(code_at(in, at)); at++) {
        if (!code_is_digit(code_at(in, at))) {
            if (++marks > 2)
                break;
            continue;
        }
        if (*count < PHONE_DIGITS_MAX)
            digits[*count] = (char)code_at(in, at);
        ++*count;
        marks = 0;
        end = at + 1;
    }
    digits[*count < PHONE_DIGITS_MAX ? *count : PHONE_DIGITS_MAX] = '\0';
    return end;
}

/* A trunk digit in brackets behind a country's code: +44 (0)20, +81-(0)3. */
static void phone_drop_trunk(const struct reading *in, size_t first, size_t end, char *digits, size_t *count)
{
    size_t before = 0;
    for (size_t i = first; i + 2 < end; i++) {
        if (code_at(in, i) == '(' && code_at(in, i + 1) == '0' && code_at(in, i + 2) == ')' && before < *count) {
            memmove(digits + before, digits + before + 1, strlen(digits + before));
            --*count;
            return;
        }
        before += code_is_digit(code_at(in, i));
    }
}

void phones_find(const struct reading *in, struct candidates *out)
{
    static const char *const extensions[] = {"ext", "ext.", "extension", "x", "内線", "#", NULL};
    static const char *const others[] = {"@",  ":",    "/",    "円", "年", "月", "日", "時",
                                         "分", "番地", "丁目", "人", "個", "件", NULL};
    for (size_t i = 0; i < in->in.count;) {
        char digits[PHONE_DIGITS_MAX + 1];
        size_t count;
        bool plus = code_at(in, i) == '+' && code_is_digit(code_at(in, i + 1));
        bool bracket = code_at(in, i) == '(' && code_is_digit(code_at(in, i + 1));
        if (!plus && !bracket && !code_is_digit(code_at(in, i))) {
            i++;
            continue;
        }
        size_t first = i, end = phone_digits(in, plus ? i + 1 : i, digits, &count);
        uint32_t before = first > 0 ? code_at(in, first - 1) : 0;
        bool part = code_is_latin(before) || before == '@' || before == '/' || before == '.' || before == '_' ||
                    code_is_latin(code_at(in, end)) || words_at(in, end, others, NULL) || code_at(in, end) == '_';
        if (plus && count <= PHONE_DIGITS_MAX)
            phone_drop_trunk(in, first, end, digits, &count);
        size_t behind = end;
        while (is_space(code_at(in, behind)) || code_at(in, behind) == ',' || code_at(in, behind) == 0x3001)
            behind++;
        bool extended = words_at(in, behind, extensions, NULL);
        const char *text = part || extended ? "" : phone_text(in, digits, count, plus);
        if (!part && (count >= 3 || plus))
            candidate_add(out, first, end, text && text[0] ? FORM_FINE : FORM_BAD_PHONE, text);
        i = end;
    }
}
