/* Where the sentences of a text stand, Japanese and English mixed, inside paragraphs, lists, tables, quotes and code.
 *
 * A sentence has no white space at its ends and no Markdown mark before it (`- `, `> `, `## `); numbers of lists stay
 * with their item. An empty line, a heading, a row, an item and a line of code end a sentence whatever stands there; a
 * mere line break does not. What is quoted in 「」 is not split. A sentence is at most SENTENCE_MAX bytes: what goes on
 * longer is cut at a space or a character. The work is linear in the length of the text, whatever stands in it. */
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

/* Its fields are the reader's own; `text` is borrowed and need not end in NUL. */
struct sentence_reader {
    const char *text;
    size_t length, at;
    size_t line, line_known; /* where the line begins that `line_known` stands in */
    size_t unclosed_until;   /* up to here brackets were looked for a partner in vain */
    bool in_code;
};

void sentences_begin(struct sentence_reader *reader, const char *text, size_t length);

/* The next sentence, or false at the end. */
bool sentences_next(struct sentence_reader *reader, struct span *sentence);

/* Where the last whole sentence ends that ends within the first `most` bytes; 0: there is none. The text's last
 * sentence is whole if it ends with a stop. */
size_t sentences_whole(const char *text, size_t length, size_t most);

/* Appends the text on a new line, as many of its whole sentences as fit into `characters` characters of all that is in
 * the buffer then. */
void sentences_append(struct buffer *out, const char *text, size_t characters);

#endif
