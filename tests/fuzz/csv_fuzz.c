/* libFuzzer on the reader of CSV: any bytes become rows in the order of the file, or it says which line is wrong. */
#include "documents/reading.h"

#include <string.h>

#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct document document;
    struct status st = {0};
    int lines = 1;
    for (size_t i = 0; i < size; i++)
        lines += data[i] == '\n';
    if (!document_read(&document, RENGA__V1__DOCUMENT_FORMAT__DOCUMENT_FORMAT_CSV, (const char *)data, size, &st))
        must(st.code == RESOURCE_EXHAUSTED || (st.code == INVALID_ARGUMENT && (strncmp(st.text, "line ", 5) == 0 ||
                                                                               strstr(st.text, "which is not read"))));
    for (const struct paragraph *paragraph = document.first; paragraph; paragraph = paragraph->next) {
        must(paragraph->length > 0 && paragraph->length <= PARAGRAPH_MAX);
        must(paragraph->line_from >= 1 && paragraph->line_to >= paragraph->line_from && paragraph->line_to <= lines);
        must(!paragraph->answer || paragraph->heading);
    }
    document_fini(&document);
    return 0;
}
