#include "documents/html_tokens.h"

#include "documents/ascii_space.h"
#include "documents/html_entities.h"
#include "words/fold.h"

#include <stdlib.h>
#include <string.h>

#define NAME_MAX_BYTES 31 /* of a reference by name */
#define DIGITS_MAX     8  /* of a reference by number */

static bool html_is_letter(char c)
{
    return ((unsigned char)c | 0x20) >= 'a' && ((unsigned char)c | 0x20) <= 'z';
}

struct html_tokens html_tokens_of(struct piece text)
{
    return (struct html_tokens){.at = text.at, .end = text.at + text.length, .line = 1};
}

/* ---- skipped elements -------------------------------------------------------------------------------------------- */

/* Behind the first `c`, or the end. */
static const char *html_behind(const char *at, const char *end, char c)
{
    const char *found = at < end ? memchr(at, c, (size_t)(end - at)) : NULL;
    return found ? found + 1 : end;
}

static const char *html_tokens_skip_spaces(const char *at, const char *end)
{
    while (at < end && ascii_is_space(*at))
        at++;
    return at;
}

/* Past the value behind a '='. A value without quotes may have slashes. */
static const char *skip_value(const char *at, const char *end)
{
    at = html_tokens_skip_spaces(at, end);
    if (at < end && (*at == '"' || *at == '\''))
        return html_behind(at + 1, end, *at);
    while (at < end && !ascii_is_space(*at) && *at != '>')
        at++;
    return at;
}

/* From behind the name of a tag to behind its '>'. */
static const char *skip_attributes(const char *at, const char *end, bool *is_closed)
{
    *is_closed = false;
    while (at < end && *at != '>') {
        *is_closed = *at == '/';
        at = *at == '=' ? skip_value(at + 1, end) : at + 1;
    }
    return at < end ? at + 1 : end;
}

/* Comments, declarations and instructions. An item without an end takes the rest of the page. */
static const char *skip_declaration(const char *at, const char *end)
{
    if (end - at < 4 || memcmp(at, "<!--", 4) != 0)
        return html_behind(at, end, '>');
    const char *found = memmem(at + 2, (size_t)(end - at) - 2, "-->", 3);
    return found ? found + 3 : end;
}

/* To the end tag of the raw element, or the end. */
static const char *skip_raw(const char *at, const char *end, const char *name)
{
    size_t length = strlen(name);
    for (; (at = memmem(at, (size_t)(end - at), "</", 2)); at += 2)
        if ((size_t)(end - at) >= length + 2 && strncasecmp(at + 2, name, length) == 0)
            return at;
    return end;
}

/* ---- tokens ------------------------------------------------------------------------------------------------------ */

/* Whether a '<' begins a tag or a declaration: else it is text. */
static bool begins_markup(const char *at, const char *end)
{
    return end - at >= 2 && (html_is_letter(at[1]) || at[1] == '/' || at[1] == '!' || at[1] == '?');
}

static const char *html_text_end(const char *at, const char *end)
{
    while (at < end && (at = memchr(at, '<', (size_t)(end - at)))) {
        if (begins_markup(at, end))
            return at;
        at++;
    }
    return end;
}

static size_t html_name_length(const char *at, const char *end)
{
    const char *from = at;
    while (at < end && !ascii_is_space(*at) && *at != '/' && *at != '>')
        at++;
    return (size_t)(at - from);
}

/* To `behind`, counting lines. */
static void tokens_move_to(struct html_tokens *tokens, const char *to)
{
    for (const char *at = tokens->at; (at = memchr(at, '\n', (size_t)(to - at))); at++)
        tokens->line++;
    tokens->at = to;
}

static const char *raw_element(struct piece name)
{
    return piece_is_word(name, "script") ? "script" : piece_is_word(name, "style") ? "style" : NULL;
}

bool html_next(struct html_tokens *tokens, struct html_token *token)
{
    if (tokens->raw)
        tokens_move_to(tokens, skip_raw(tokens->at, tokens->end, tokens->raw));
    tokens->raw = NULL;
    while (tokens->at < tokens->end) {
        const char *at = tokens->at;
        *token = (struct html_token){.line = tokens->line};
        if (*at != '<' || !begins_markup(at, tokens->end)) {
            const char *to = html_text_end(tokens->at, tokens->end);
            token->kind = HTML_TEXT;
            token->text = (struct piece){tokens->at, (size_t)(to - tokens->at)};
            tokens_move_to(tokens, to);
            return true;
        }
        if (html_is_letter(at[1]) || (at[1] == '/' && tokens->end - at > 2 && html_is_letter(at[2]))) {
            bool ends = tokens->at[1] == '/';
            const char *name = tokens->at + 1 + ends;
            token->kind = ends ? HTML_END : HTML_START;
            token->text = (struct piece){name, html_name_length(name, tokens->end)};
            const char *attributes = name + token->text.length;
            tokens_move_to(tokens, skip_attributes(attributes, tokens->end, &token->is_closed));
            token->attributes = (struct piece){attributes, (size_t)(tokens->at - attributes)};
            if (!ends && !token->is_closed)
                tokens->raw = raw_element(token->text);
            return true;
        }
        tokens_move_to(tokens, skip_declaration(at, tokens->end));
    }
    return false;
}

void html_skip(struct html_tokens *tokens, const char *to)
{
    tokens_move_to(tokens, to);
    tokens->raw = NULL;
}

/* ---- attributes -------------------------------------------------------------------------------------------------- */

static bool ends_attribute_name(char c)
{
    return ascii_is_space(c) || c == '=' || c == '/' || c == '>';
}

bool html_attribute(struct piece *attributes, struct piece *name, struct piece *value)
{
    const char *at = attributes->at, *end = at + attributes->length;
    while (at < end && ends_attribute_name(*at))
        at++;
    *name = *value = (struct piece){at, 0};
    while (at + name->length < end && !ends_attribute_name(at[name->length]))
        name->length++;
    at = html_tokens_skip_spaces(at + name->length, end);
    if (at < end && *at == '=') {
        const char *from = html_tokens_skip_spaces(at + 1, end);
        at = skip_value(at + 1, end);
        bool quoted = from < end && (*from == '"' || *from == '\'');
        const char *to = quoted && at - from >= 2 && at[-1] == *from ? at - 1 : at;
        *value = (struct piece){from + quoted, to > from + quoted ? (size_t)(to - from) - quoted : 0};
    }
    *attributes = (struct piece){at, (size_t)(end - at)};
    return name->length > 0;
}

/* ---- references -------------------------------------------------------------------------------------------------- */

/* A page may not name control characters, surrogates and the two codes that are no characters. */
static bool html_is_character(long code)
{
    if (code < 0x20)
        return code == '\t' || code == '\n' || code == '\r';
    return code <= 0x10FFFF && (code < 0xD800 || code > 0xDFFF) && code != 0xFFFE && code != 0xFFFF;
}

static size_t put_character(long code, char character[HTML_CHARACTER_MAX], size_t *size)
{
    return html_is_character(code) ? utf8_write(character, (uint32_t)code) : (*size = 0);
}

size_t html_reference(struct piece text, char character[HTML_CHARACTER_MAX], size_t *size)
{
    if (text.length > 1 && text.at[1] == '#') {
        /* "&#65;" or "&#x41;", the semicolon of which some leave out. */
        char digits[DIGITS_MAX + 1] = "";
        bool hex = text.length > 2 && (text.at[2] | 0x20) == 'x';
        const char *known = hex ? "0123456789abcdefABCDEF" : "0123456789";
        size_t at = hex ? 3 : 2, count = 0;
        while (at + count < text.length && count < DIGITS_MAX && strchr(known, text.at[at + count])) {
            digits[count] = text.at[at + count];
            count++;
        }
        *size = at + count;
        *size += *size < text.length && text.at[*size] == ';';
        return put_character(count ? strtol(digits, NULL, hex ? 16 : 10) : 0, character, size);
    }
    char name[NAME_MAX_BYTES + 1];
    size_t length = 0;
    while (length + 1 < text.length && length < NAME_MAX_BYTES &&
           (html_is_letter(text.at[length + 1]) || (text.at[length + 1] >= '0' && text.at[length + 1] <= '9'))) {
        name[length] = text.at[length + 1];
        length++;
    }
    name[length] = '\0';
    bool ends = length && length + 1 < text.length && text.at[length + 1] == ';';
    *size = length + 2;
    return put_character(ends ? (long)html_entity(name) : 0, character, size);
}
