/* libFuzzer on the reader of HTML: any bytes become paragraphs within their bounds, in the order of the page. */
#include "documents/reading.h"

#include <string.h>

#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct document document;
    struct status st = {0};
    int lines = 1, line = 1;
    for (size_t i = 0; i < size; i++)
        lines += data[i] == '\n';
    if (!document_read(&document, RENGA__V1__DOCUMENT_FORMAT__DOCUMENT_FORMAT_HTML, (const char *)data, size, &st))
        must(st.code == RESOURCE_EXHAUSTED || strstr(st.text, "is not read"));
    for (const struct paragraph *paragraph = document.first; paragraph; paragraph = paragraph->next) {
        must(paragraph->length > 0 && paragraph->length <= PARAGRAPH_MAX);
        must(paragraph->line_from >= line && paragraph->line_to >= paragraph->line_from && paragraph->line_to <= lines);
        line = paragraph->line_from;
    }
    document_fini(&document);
    return 0;
}
