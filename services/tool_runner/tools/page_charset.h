/* The encoding of a page that its server did not tell, as browsers find it (WHATWG: HTML, "determining the character
 * encoding"). */
#ifndef RENGA_TOOL_RUNNER_PAGE_CHARSET_H
#define RENGA_TOOL_RUNNER_PAGE_CHARSET_H

#include <stdbool.h>
#include <stddef.h>

#define PAGE_PRESCAN_MAX 1024 /* bytes at the beginning, within which HTML may say its encoding */

/* The encoding that an XML declaration, <meta charset> or <meta http-equiv=content-type> at the beginning names, in
 * `label`, which has `room` bytes with the NUL. False: they name no encoding. UTF-16 is told as utf-8, since the
 * declaration could be read. */
bool page_charset_declared(const char *bytes, size_t size, char *label, size_t room);

/* The encoding of bytes that are neither UTF-8 nor marked nor declared: iso-2022-jp, shift_jis, euc-jp,
 * windows-1251 or windows-1252. */
const char *page_charset_guess(const char *bytes, size_t size);

#endif
