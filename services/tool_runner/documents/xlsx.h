/* Shared by the files of the reader of XLSX. Private to documents/. */
#ifndef RENGA_TOOL_RUNNER_XLSX_H
#define RENGA_TOOL_RUNNER_XLSX_H

#include "documents/office.h"

#define XLSX_NUMBER_MAX 64 /* bytes of a number as text */

enum xlsx_kind { XLSX_GENERAL, XLSX_PERCENT, XLSX_DATE, XLSX_TIME };

struct xlsx_styles {
    unsigned char *kinds; /* enum xlsx_kind, by the number of a cell's style */
    size_t count, room;
    bool since_1904; /* days are counted from 1904-01-01 */
};

/* `part` NULL: there are no styles. */
bool xlsx_styles_read(struct xlsx_styles *styles, struct office *office, const struct zip_entry *part,
                      struct status *st);

/* A cell's number as it is shown: 12.5%, 2024-01-05, 2024-01-05 13:30, 08:15. The value itself if it is no number. */
void xlsx_number(const struct xlsx_styles *styles, int style, const char *value, char out[XLSX_NUMBER_MAX]);

#endif
