/* Checks that quotes stand at the lines that their citations name, in the files of --docs. */
#include "eval.h"

#include "base/file.h"
#include "base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define FILE_MAX_BYTES ((size_t)16 << 20)

void eval_quotes_init(struct eval_quotes *quotes, const char *folder)
{
    char real[PATH_MAX];
    *quotes = (struct eval_quotes){0};
    buffer_init(&quotes->file, FILE_MAX_BYTES);
    if (folder && realpath(folder, real))
        quotes->folder = strdup(real);
}

void eval_quotes_fini(struct eval_quotes *quotes)
{
    free((void *)(uintptr_t)quotes->folder);
    buffer_fini(&quotes->file);
}

/* Other forms have lines that are made when they are read. */
static bool eval_has_lines(const char *uri)
{
    static const char *const endings[] = {".md", ".markdown", ".txt", ".text", ".rst", ".log"};
    const char *ending = strrchr(uri, '.');
    for (size_t i = 0; ending && i < sizeof endings / sizeof *endings; i++)
        if (strcasecmp(ending, endings[i]) == 0)
            return true;
    return false;
}

/* The name comes from the suite: it must not lead out of the folder. */
static bool eval_open_file(struct eval_quotes *quotes, const char *uri)
{
    char path[2 * PATH_MAX], real[PATH_MAX];
    struct status st = {0};
    size_t length = strlen(quotes->folder);
    snprintf(path, sizeof path, "%s/%s", quotes->folder, uri);
    if (!realpath(path, real) || strncmp(real, quotes->folder, length) != 0 || (real[length] != '/' && length > 1))
        return false;
    if (quotes->known && strcmp(real, quotes->path) == 0)
        return true;
    snprintf(quotes->path, sizeof quotes->path, "%s", real);
    buffer_clear(&quotes->file);
    quotes->known =
        file_read(real, &quotes->file, &st) && text_is_clean(buffer_text(&quotes->file), quotes->file.length);
    return quotes->known;
}

/* Lines first to last, counted from 1; false if the file has not so many. */
static bool eval_find_lines(const struct buffer *file, int first, int last, size_t *begin, size_t *end)
{
    size_t at = 0;
    for (int line = 1; line <= last; line++) {
        if (at >= file->length)
            return false;
        if (line == first)
            *begin = at;
        const char *stop = memchr(file->data + at, '\n', file->length - at);
        at = stop ? (size_t)(stop - file->data) + 1 : file->length;
    }
    *end = at;
    return first >= 1 && first <= last;
}

static void eval_put_tight(struct buffer *out, const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (!strchr(" \t\r\n", text[i]))
            buffer_put(out, text[i]);
}

int eval_quote_stands(struct eval_quotes *quotes, const Renga__V1__Citation *citation)
{
    struct buffer lines, quote;
    size_t begin = 0, end = 0;
    if (!quotes->folder || !citation->line_from || !eval_has_lines(citation->uri) ||
        !eval_open_file(quotes, citation->uri))
        return EVAL_UNKNOWN;
    int last = citation->line_to > citation->line_from ? citation->line_to : citation->line_from;
    if (!eval_find_lines(&quotes->file, citation->line_from, last, &begin, &end))
        return 0;
    buffer_init(&lines, FILE_MAX_BYTES);
    buffer_init(&quote, FILE_MAX_BYTES);
    eval_put_tight(&lines, quotes->file.data + begin, end - begin);
    eval_put_tight(&quote, citation->quote, strlen(citation->quote));
    bool stands = quote.length && strstr(buffer_text(&lines), buffer_text(&quote));
    buffer_fini(&lines);
    buffer_fini(&quote);
    return stands;
}
