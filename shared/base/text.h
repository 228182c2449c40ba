/* UTF-8 text from outside the process. */
#ifndef RENGA_BASE_TEXT_H
#define RENGA_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/* True if all `length` bytes are well-formed UTF-8 (Unicode 15, table 3-7: no surrogates, no overlong forms) without
 * NUL. */
bool text_is_clean(const char *text, size_t length);

/* The offset of the first byte at which text_is_clean fails, or `length`. */
size_t text_clean_length(const char *text, size_t length);

/* The most of `text` that fits in `room` bytes without cutting a character; `text` is well-formed. */
size_t text_cut(const char *text, size_t length, size_t room);

/* The same for at most `characters` characters. */
size_t text_cut_characters(const char *text, size_t length, size_t characters);

/* Bytes of the character at the start of `text`; 0 if it is malformed or cut off. */
size_t text_character(const char *text, size_t length);

/* True if the text has blanks alone, ideographic and other wide ones included; also of "". */
bool text_is_blank(const char *text);

/* True if `text` ends with `ending` and is longer. */
bool text_ends_with(const char *text, const char *ending);

#endif
