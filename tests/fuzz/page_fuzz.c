/* libFuzzer on the main content of HTML: any bytes become paragraphs within their bounds, in the order of the page, and
 * what the page says of itself keeps to its bounds. */
#include "documents/reading.h"

#include <string.h>

#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct document document;
    struct page_about about;
    struct status st = {0};
    int lines = 1, line = 1;
    for (size_t i = 0; i < size; i++)
        lines += data[i] == '\n';
    if (!document_read_page(&document, &about, (const char *)data, size, &st))
        must(st.code == RESOURCE_EXHAUSTED || strstr(st.text, "is not read"));
    for (const struct paragraph *paragraph = document.first; paragraph; paragraph = paragraph->next) {
        must(paragraph->length > 0 && paragraph->length <= PARAGRAPH_MAX);
        must(paragraph->line_from >= line && paragraph->line_to >= paragraph->line_from && paragraph->line_to <= lines);
        line = paragraph->line_from;
    }
    must(strlen(about.title) <= DOCUMENT_TITLE_MAX && strlen(about.byline) <= PAGE_BYLINE_MAX);
    must(strlen(about.published) <= PAGE_DATE_MAX && strlen(about.language) <= PAGE_LANGUAGE_MAX);
    document_fini(&document);
    return 0;
}
