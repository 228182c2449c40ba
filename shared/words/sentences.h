/* Finds the sentences of a text, Japanese and English mixed, inside paragraphs, lists, tables, quotes and code.
 *
 * A sentence has no white space at its ends and no Markdown mark before it (`- `, `> `, `## `); numbers of lists stay
 * with their item. An empty line, a heading, a table row, a list item and a line of code always end a sentence; a
 * single line break does not. Text quoted in 「」 is not split. A sentence has at most SENTENCE_MAX bytes: longer text
 * is cut at a space or between two characters. The work is linear in the length of any text. */
#ifndef RENGA_WORDS_SENTENCES_H
#define RENGA_WORDS_SENTENCES_H

#include "base/buffer.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SENTENCE_MAX ((size_t)2000) /* bytes */

/* [begin, end), bytes of the text. */
struct span {
    size_t begin, end;
};

/* The fields are private to the reader. `text` is borrowed and need not end in NUL. */
struct sentence_reader {
    const char *text;
    size_t length, at;
    size_t line, line_known; /* the start of the line that contains `line_known` */
    size_t unclosed_until;   /* no closing bracket was found up to this offset */
    bool in_code;
};

void sentences_begin(struct sentence_reader *reader, const char *text, size_t length);

/* The next sentence, or false at the end. */
bool sentences_next(struct sentence_reader *reader, struct span *sentence);

/* The end of the last whole sentence within the first `most` bytes, or 0. The last sentence of the text is whole if it
 * ends with a full stop, a question mark or a similar mark. */
size_t sentences_whole(const char *text, size_t length, size_t most);

/* Appends the text on a new line: as many of its whole sentences as fit, so that the buffer has at most `characters`
 * characters in total. */
void sentences_append(struct buffer *out, const char *text, size_t characters);

/* Whether the text announces the list that follows: it ends as "The roles are:" or 次のとおりです。 does. */
bool sentences_announce(const char *text, size_t length);

/* The number of the list item that a sentence begins, 3 for "3. Press Enter."; 0: it has none. *behind gets the offset
 * of its first word. */
uint32_t sentences_item_number(const char *text, size_t length, size_t *behind);

#endif
