/* Numbers of cells and the formats that make dates of them (ECMA-376 part 1, §18.8.30 and §18.17.4). */
#include "documents/xlsx.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FORMATS_MAX 1024
#define STYLES_MAX  65536
#define DAY_S       86400
#define SERIAL_MAX  2958466.0 /* 9999-12-31 */

/* ---- formats ----------------------------------------------------------------------------------------------------- */

/* Those that are not written in the file; the ones of East Asia included. */
static enum xlsx_kind xlsx_built_in(int id)
{
    static const struct {
        int from, to;
        enum xlsx_kind kind;
    } known[] = {{9, 10, XLSX_PERCENT}, {14, 17, XLSX_DATE}, {18, 21, XLSX_TIME}, {22, 22, XLSX_DATE},
                 {27, 31, XLSX_DATE},   {32, 35, XLSX_TIME}, {36, 36, XLSX_DATE}, {45, 47, XLSX_TIME},
                 {50, 54, XLSX_DATE},   {55, 56, XLSX_TIME}, {57, 58, XLSX_DATE}};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (id >= known[i].from && id <= known[i].to)
            return known[i].kind;
    return XLSX_GENERAL;
}

/* The length of a part at `at` that holds no format code: text in quotes, colours and conditions in brackets, an
 * escaped character; else 0. */
static size_t xlsx_no_code(struct piece code, size_t at)
{
    char c = code.at[at];
    if (c == '\\' || c == '_' || c == '*')
        return 2;
    if (c != '"' && c != '[')
        return 0;
    if (c == '[' && at + 1 < code.length && strchr("hHmMsS", code.at[at + 1]))
        return 0; /* [h]: hours past 24 */
    const char *end = memchr(code.at + at + 1, c == '"' ? '"' : ']', code.length - at - 1);
    return end ? (size_t)(end - code.at) + 1 - at : code.length - at;
}

static enum xlsx_kind xlsx_judge_code(struct piece code)
{
    bool date = false, month = false, time = false, percent = false;
    for (size_t at = 0; at < code.length && code.at[at] != ';';) {
        size_t passed = xlsx_no_code(code, at);
        char c = (char)tolower((unsigned char)code.at[at]);
        if (!passed) {
            date |= c == 'y' || c == 'd';
            month |= c == 'm';
            time |= c == 'h' || c == 's';
            percent |= c == '%';
        }
        at += passed ? passed : 1;
    }
    if (date || (month && !time))
        return XLSX_DATE;
    return time ? XLSX_TIME : percent ? XLSX_PERCENT : XLSX_GENERAL;
}

struct formats {
    int ids[FORMATS_MAX];
    unsigned char kinds[FORMATS_MAX];
    size_t count;
};

static enum xlsx_kind xlsx_kind_of(const struct formats *formats, int id)
{
    for (size_t i = 0; i < formats->count; i++)
        if (formats->ids[i] == id)
            return (enum xlsx_kind)formats->kinds[i];
    return xlsx_built_in(id);
}

static bool xlsx_add_style(struct xlsx_styles *styles, struct arena *arena, enum xlsx_kind kind)
{
    if (styles->count == STYLES_MAX)
        return true;
    if (!styles->kinds)
        styles->kinds = arena_alloc(arena, STYLES_MAX);
    if (!styles->kinds)
        return false;
    styles->kinds[styles->count++] = (unsigned char)kind;
    return true;
}

static bool xlsx_take_token(struct xlsx_styles *styles, struct formats *formats, struct office *office,
                            const struct xml *xml, bool *in_cells)
{
    if (xml_starts(xml, "numFmt") && formats->count < FORMATS_MAX) {
        formats->ids[formats->count] = xml_number(xml, "numFmtId", -1);
        formats->kinds[formats->count++] =
            (unsigned char)xlsx_judge_code(xml_value(xml, "formatCode", &office->scratch));
    }
    if (piece_is(xml->name, "cellXfs") && xml->kind != XML_TEXT)
        *in_cells = xml->kind == XML_START;
    return !*in_cells || !xml_starts(xml, "xf") ||
           xlsx_add_style(styles, &office->scratch, xlsx_kind_of(formats, xml_number(xml, "numFmtId", 0)));
}

bool xlsx_styles_read(struct xlsx_styles *styles, struct office *office, const struct zip_entry *part,
                      struct status *st)
{
    struct xml xml;
    bool in_cells = false;
    *styles = (struct xlsx_styles){0};
    struct formats *formats = part ? arena_zalloc(&office->scratch, sizeof *formats) : NULL;
    if (!formats)
        return !part || fail(st, RESOURCE_EXHAUSTED, "takes too much memory");
    bool good = xml_open(&xml, &office->zip, part, st);
    while (good && xml_next(&xml, st))
        if (!xlsx_take_token(styles, formats, office, &xml, &in_cells))
            good = fail(st, RESOURCE_EXHAUSTED, "takes too much memory");
    xml_close(&xml);
    return st->code == OK;
}

/* ---- numbers ----------------------------------------------------------------------------------------------------- */

/* Days since 1970-01-01 as a date of the Gregorian calendar. */
static void xlsx_print_date(int64_t days, char out[XLSX_NUMBER_MAX])
{
    int64_t shifted = days + 719468, era = shifted / 146097, day = shifted - era * 146097;
    int64_t year = (day - day / 1460 + day / 36524 - day / 146096) / 365;
    int64_t of_year = day - (365 * year + year / 4 - year / 100), month = (5 * of_year + 2) / 153;
    int64_t of_month = of_year - (153 * month + 2) / 5 + 1;
    month += month < 10 ? 3 : -9;
    snprintf(out, XLSX_NUMBER_MAX, "%04d-%02d-%02d", (int)(year + era * 400 + (month <= 2)), (int)month, (int)of_month);
}

static void xlsx_append_time(int64_t seconds, const char *before, char out[XLSX_NUMBER_MAX])
{
    size_t length = strlen(out);
    int written = snprintf(out + length, XLSX_NUMBER_MAX - length, "%s%02d:%02d", before, (int)(seconds / 3600),
                           (int)(seconds / 60 % 60));
    if (seconds % 60)
        snprintf(out + length + written, XLSX_NUMBER_MAX - length - (size_t)written, ":%02d", (int)(seconds % 60));
}

/* Spreadsheets count a day 1900-02-29 that never existed. */
static void xlsx_print_serial(const struct xlsx_styles *styles, double serial, enum xlsx_kind kind,
                              char out[XLSX_NUMBER_MAX])
{
    int64_t seconds = (int64_t)llround(serial * DAY_S), days = seconds / DAY_S, rest = seconds % DAY_S;
    out[0] = '\0';
    if (kind == XLSX_TIME) {
        xlsx_append_time(seconds, "", out);
        return;
    }
    xlsx_print_date(styles->since_1904 ? days - 24107 : days - 25569 + (days < 60), out);
    if (rest)
        xlsx_append_time(rest, " ", out);
}

void xlsx_number(const struct xlsx_styles *styles, int style, const char *value, char out[XLSX_NUMBER_MAX])
{
    char *end;
    double number = strtod(value, &end);
    enum xlsx_kind kind =
        style >= 0 && (size_t)style < styles->count ? (enum xlsx_kind)styles->kinds[style] : XLSX_GENERAL;
    if (end == value || *end || !isfinite(number))
        snprintf(out, XLSX_NUMBER_MAX, "%.*s", XLSX_NUMBER_MAX - 1, value);
    else if (kind == XLSX_PERCENT)
        snprintf(out, XLSX_NUMBER_MAX, "%.12g%%", number * 100);
    else if (kind != XLSX_GENERAL && number >= 0 && number < SERIAL_MAX)
        xlsx_print_serial(styles, number, kind, out);
    else if (number == trunc(number) && fabs(number) < 1e15)
        snprintf(out, XLSX_NUMBER_MAX, "%.0f", number);
    else
        snprintf(out, XLSX_NUMBER_MAX, "%.15g", number);
}
