/* page-text FILE...: the main content of HTML pages, as fetch_page reads it. For each file one line of JSON on standard
 * output: file, title, byline, published, language, text (headings and paragraphs, a line break between them) and the
 * seconds of the reading. */
#include "base/clock.h"
#include "base/file.h"
#include "documents/document.h"
#include "documents/encoding.h"

#include <cjson/cJSON.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FOUND_MAX (2 * DOCUMENT_MAX)

static void add_headings(struct buffer *text, const struct heading *heading, const struct heading *before)
{
    const struct heading *known = before;
    while (known && known != heading)
        known = known->above;
    if (!heading || known)
        return;
    add_headings(text, heading->above, before);
    buffer_printf(text, "%s\n", heading->text);
}

static void add_text(struct buffer *text, const struct document *document)
{
    const struct heading *before = NULL;
    for (const struct paragraph *paragraph = document->first; paragraph; paragraph = paragraph->next) {
        add_headings(text, paragraph->heading, before);
        before = paragraph->heading ? paragraph->heading : before;
        buffer_append(text, paragraph->text, paragraph->length);
        buffer_put(text, '\n');
    }
}

static void print_page(const char *path, const struct document *document, const struct page_about *about,
                       int64_t took_ns)
{
    struct buffer text;
    buffer_init(&text, FOUND_MAX);
    add_text(&text, document);
    cJSON *line = cJSON_CreateObject();
    cJSON_AddStringToObject(line, "file", path);
    cJSON_AddStringToObject(line, "title", about->title);
    cJSON_AddStringToObject(line, "byline", about->byline);
    cJSON_AddStringToObject(line, "published", about->published);
    cJSON_AddStringToObject(line, "language", about->language);
    cJSON_AddStringToObject(line, "text", buffer_text(&text));
    cJSON_AddNumberToObject(line, "seconds", (double)took_ns / 1e9);
    char *printed = cJSON_PrintUnformatted(line);
    puts(printed ? printed : "{}");
    free(printed);
    cJSON_Delete(line);
    buffer_fini(&text);
}

static bool read_page_file(const char *path)
{
    struct document document;
    struct page_about about;
    struct status st = {0};
    struct buffer bytes, room;
    const char *clean;
    size_t length;
    buffer_init(&bytes, DOCUMENT_MAX);
    buffer_init(&room, 2 * DOCUMENT_MAX);
    bool good = file_read(path, &bytes, &st) && encoding_read(bytes.data, bytes.length, &room, &clean, &length, &st);
    if (good) {
        int64_t before = clock_now_ns();
        good = document_read_page(&document, &about, clean, length, &st);
        if (good)
            print_page(path, &document, &about, clock_now_ns() - before);
        document_fini(&document);
    }
    if (!good)
        fprintf(stderr, "page-text: %s %s\n", path, st.text);
    buffer_fini(&room);
    buffer_fini(&bytes);
    return good;
}

int main(int count, char **arguments)
{
    bool good = true;
    for (int i = 1; i < count; i++)
        good = read_page_file(arguments[i]) && good;
    return good ? 0 : 1;
}
