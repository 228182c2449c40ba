#include "documents/blocks.h"

#include "documents/ascii_space.h"
#include "words/sentences.h"

#include <string.h>

#define SEPARATOR  " | "
#define ITEM       "- "
#define JOINED_MAX (PARAGRAPH_MAX / 2) /* bytes: a longer block ends with its line */

void blocks_init(struct blocks *blocks, struct document *document)
{
    *blocks = (struct blocks){.document = document};
    buffer_init(&blocks->line, BLOCKS_TEXT_MAX);
    buffer_init(&blocks->block, BLOCKS_TEXT_MAX);
}

void blocks_fini(struct blocks *blocks)
{
    buffer_fini(&blocks->line);
    buffer_fini(&blocks->block);
}

bool blocks_fit(const struct blocks *blocks, struct status *st)
{
    return (!blocks->line.failed && !blocks->block.failed && !blocks->document->arena.exhausted) ||
           fail(st, RESOURCE_EXHAUSTED, "has more text than %zu MiB in one piece, or takes too much memory",
                BLOCKS_TEXT_MAX >> 20);
}

/* ---- a line ------------------------------------------------------------------------------------------------------ */

void blocks_add(struct blocks *blocks, struct piece text)
{
    struct buffer *line = &blocks->line;
    const char *at = text.at, *end = at + text.length;
    while (at < end) {
        const char *word = at;
        while (at < end && !ascii_is_space(*at))
            at++;
        buffer_append(line, word, (size_t)(at - word));
        if (at == end)
            break;
        while (at < end && ascii_is_space(*at))
            at++;
        if (line->length && line->data[line->length - 1] != ' ')
            buffer_put(line, ' ');
    }
}

void blocks_print(struct blocks *blocks, const char *text)
{
    blocks_add(blocks, (struct piece){text, strlen(text)});
}

static void blocks_trim_line(struct blocks *blocks)
{
    struct buffer *line = &blocks->line;
    while (line->length && line->data[line->length - 1] == ' ')
        line->length--;
}

void blocks_begin_cell(struct blocks *blocks)
{
    if (!blocks->cells++)
        return;
    blocks_trim_line(blocks);
    buffer_print(&blocks->line, SEPARATOR);
}

static bool blocks_line_has_text(const struct buffer *line)
{
    for (size_t i = 0; i < line->length; i++)
        if (line->data[i] != ' ' && line->data[i] != '|')
            return true;
    return false;
}

bool blocks_has_text(const struct blocks *blocks)
{
    return blocks_line_has_text(&blocks->line);
}

void blocks_drop_line(struct blocks *blocks)
{
    buffer_clear(&blocks->line);
    blocks->cells = 0;
}

/* Moves the line to the block. */
static bool blocks_take_line(struct blocks *blocks, const char *before)
{
    struct buffer *line = &blocks->line, *block = &blocks->block;
    bool taken = blocks_line_has_text(line);
    blocks_trim_line(blocks);
    if (taken) {
        blocks->number++;
        if (!block->length)
            blocks->block_line = blocks->number;
        else
            buffer_put(block, '\n');
        buffer_print(block, before);
        buffer_append(block, line->data, line->length);
    }
    blocks_drop_line(blocks);
    return taken;
}

/* ---- a block ----------------------------------------------------------------------------------------------------- */

void blocks_close(struct blocks *blocks)
{
    struct buffer *block = &blocks->block;
    char *text = block->length ? arena_strndup(&blocks->document->arena, block->data, block->length) : NULL;
    struct piece piece = {text, block->length};
    if (text && blocks->place)
        document_add_placed(blocks->document, piece, blocks->place);
    else if (text)
        document_add_paragraph(blocks->document, piece, blocks->block_line);
    buffer_clear(block);
    blocks->is_list = false;
}

static bool blocks_announces(const struct blocks *blocks)
{
    const struct buffer *block = &blocks->block;
    return block->length <= JOINED_MAX && sentences_announce(block->data, block->length);
}

void blocks_end_paragraph(struct blocks *blocks)
{
    if (!blocks_line_has_text(&blocks->line)) {
        blocks_take_line(blocks, "");
        return;
    }
    blocks_close(blocks);
    blocks_take_line(blocks, "");
}

void blocks_end_item(struct blocks *blocks)
{
    bool goes_on = blocks_announces(blocks) || (blocks->is_list && blocks->block.length <= JOINED_MAX);
    if (blocks_line_has_text(&blocks->line) && !goes_on)
        blocks_close(blocks);
    if (blocks_take_line(blocks, ITEM))
        blocks->is_list = true;
}

void blocks_end_row(struct blocks *blocks)
{
    blocks_take_line(blocks, "");
}

void blocks_end_note(struct blocks *blocks)
{
    blocks_take_line(blocks, "");
}

void blocks_begin_table(struct blocks *blocks)
{
    if (!blocks_announces(blocks))
        blocks_close(blocks);
}

void blocks_end_heading(struct blocks *blocks, unsigned level)
{
    struct buffer *line = &blocks->line;
    blocks_trim_line(blocks);
    blocks_close(blocks);
    char *text = blocks_line_has_text(line) ? arena_strndup(&blocks->document->arena, line->data, line->length) : NULL;
    if (text)
        document_add_heading(blocks->document, level, (struct piece){text, line->length},
                             blocks->place ? blocks->place : ++blocks->number);
    blocks_drop_line(blocks);
}
