/* libFuzzer on the reader of Markdown: any bytes become paragraphs that stand in the text, in its order. */
#include "documents/reading.h"

#include "base/text.h"

#include <string.h>

#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct document document;
    struct status st = {0};
    int line = 1;
    if (!document_read(&document, RENGA__V1__DOCUMENT_FORMAT__DOCUMENT_FORMAT_MARKDOWN, (const char *)data, size, &st))
        must(st.code == RESOURCE_EXHAUSTED || (st.code == INVALID_ARGUMENT && strstr(st.text, "which is not read")));
    for (const struct paragraph *paragraph = document.first; paragraph; paragraph = paragraph->next) {
        must(paragraph->length > 0 && paragraph->length <= PARAGRAPH_MAX);
        must((const uint8_t *)paragraph->text >= data &&
             (const uint8_t *)paragraph->text + paragraph->length <= data + size);
        must(paragraph->line_from >= line && paragraph->line_to >= paragraph->line_from);
        line = paragraph->line_from;
        unsigned depth = 0;
        for (const struct heading *heading = paragraph->heading; heading; heading = heading->above)
            must(++depth <= 6 && strlen(heading->text) <= HEADING_MAX);
    }
    document_fini(&document);
    return 0;
}
