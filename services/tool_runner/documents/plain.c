/* Plain text: paragraphs between empty lines. */
#include "documents/reading.h"

bool read_plain(struct document *document, struct piece text, struct status *st)
{
    struct lines lines = {text.at, text.at + text.length, 0};
    struct piece line, block = {0};
    int block_line = 0;
    while (lines_next(&lines, &line)) {
        bool blank = !piece_trim(line).length;
        if (blank && block.at)
            document_add_paragraph(document, block, block_line);
        if (blank) {
            block.at = NULL;
            continue;
        }
        if (!block.at) {
            block.at = line.at;
            block_line = lines.number;
        }
        block.length = (size_t)(line.at + line.length - block.at);
    }
    if (block.at)
        document_add_paragraph(document, block, block_line);
    return true;
}
