/* Plain text: paragraphs between empty lines. A paragraph that announces a list has it. */
#include "documents/reading.h"
#include "words/sentences.h"

#define JOINED_MAX (PARAGRAPH_MAX / 2)

static bool plain_goes_on(struct piece block)
{
    struct piece text = piece_trim(block);
    return text.length <= JOINED_MAX && sentences_announce(text.at, text.length);
}

bool read_plain(struct document *document, struct piece text, struct status *st)
{
    struct lines lines = {text.at, text.at + text.length, 0};
    struct piece line, block = {0};
    int block_line = 0;
    bool gap = false; /* an empty line stands after the block */
    while (lines_next(&lines, &line)) {
        if (!piece_trim(line).length) {
            gap = true;
            continue;
        }
        if (block.at && gap && !plain_goes_on(block)) {
            document_add_paragraph(document, block, block_line);
            block.at = NULL;
        }
        if (!block.at) {
            block.at = line.at;
            block_line = lines.number;
        }
        block.length = (size_t)(line.at + line.length - block.at);
        gap = false;
    }
    if (block.at)
        document_add_paragraph(document, block, block_line);
    return true;
}
