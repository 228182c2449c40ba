/* The tokens of an HTML page: text, start tags and end tags, in a single pass. Private to documents/.
 *
 * It follows the tokenizer of the WHATWG's standard as far as a reader of text needs it: comments, declarations and
 * attributes are passed over, the inside of script and style is no token, and any bytes are a page. Each byte is looked
 * at a bounded number of times, for every page. */
#ifndef RENGA_TOOL_RUNNER_HTML_TOKENS_H
#define RENGA_TOOL_RUNNER_HTML_TOKENS_H

#include "documents/reading.h"

#define HTML_CHARACTER_MAX 4 /* bytes of a character in UTF-8 */

/* `raw` is the element to pass over next: set by the reader itself. */
struct html_tokens {
    const char *at, *end;
    const char *raw;
    int line; /* of `at` */
};

enum html_kind { HTML_TEXT, HTML_START, HTML_END };

struct html_token {
    enum html_kind kind;
    struct piece text;       /* the text between tags, references not resolved; or the name of the tag */
    struct piece attributes; /* of a start tag, as they are written */
    bool is_closed;          /* "<br/>" */
    int line;                /* on which it begins, counted from 1 */
};

struct html_tokens html_tokens_of(struct piece text);

/* The next token; false at the end of the page. */
bool html_next(struct html_tokens *tokens, struct html_token *token);

/* The character that the reference at text.at[0] == '&' stands for, in UTF-8, and how many bytes of the text it takes.
 * 0 if it is no reference: then the & is only a character. */
size_t html_reference(struct piece text, char character[HTML_CHARACTER_MAX], size_t *size);

/* Passes over the page up to `to`, which lies between two tokens. */
void html_skip(struct html_tokens *tokens, const char *to);

/* Takes the next attribute from `attributes`: its value is without quotes, references are not resolved. False after
 * the last. */
bool html_attribute(struct piece *attributes, struct piece *name, struct piece *value);

#endif
