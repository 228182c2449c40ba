/* libFuzzer on JSON: what the checker lets pass becomes the tree that cJSON itself would make, and what the writer
 * makes of that tree passes again and is the same. The first byte picks the target. */
#include "base/text.h"
#include "json/json.h"
#include "json/number.h"
#include "json/writer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"

static void write_tree(const cJSON *tree, struct buffer *out)
{
    struct json_writer writer;
    buffer_init(out, SIZE_MAX);
    json_writer_init(&writer, out);
    json_write_tree(&writer, NULL, tree);
    must(json_writer_done(&writer));
}

static void value(const char *text, size_t size)
{
    struct status st = {0};
    struct buffer once, twice;
    bool good = json_check(text, size, NULL, &st);
    must(good ? st.code == OK : st.code == INVALID_ARGUMENT && st.text[0] >= '1' && st.text[0] <= '9');
    cJSON *tree = json_parse(text, size, NULL, &st);
    must((tree != NULL) == good);
    if (!tree)
        return;
    must(text_is_clean(text, size));
    cJSON *theirs = cJSON_ParseWithLength(text, size);
    must(cJSON_Compare(tree, theirs, true));
    cJSON_Delete(theirs);
    write_tree(tree, &once);
    cJSON_Delete(tree);
    tree = json_parse(buffer_text(&once), once.length, NULL, &st);
    must(tree != NULL);
    write_tree(tree, &twice);
    cJSON_Delete(tree);
    must(once.length == twice.length && memcmp(once.data, twice.data, once.length) == 0);
    buffer_fini(&once);
    buffer_fini(&twice);
}

/* With comments; places are within the text. */
static void document(const char *text, size_t size)
{
    struct status st = {0};
    struct json_document document;
    if (!json_document_parse(&document, "fuzz", text, size, NULL, &st)) {
        must(strncmp(st.text, "fuzz:", 5) == 0);
        return;
    }
    const cJSON *last = document.root;
    while (last->child)
        last = last->child;
    size_t line, column;
    json_document_position(&document, last, &line, &column);
    must(line >= 1 && line <= size && column >= 1 && column <= size);
    json_document_fini(&document);
}

/* Any bytes become a string; UTF-8 comes back as it was. */
static void string(const char *text, size_t size)
{
    struct status st = {0};
    struct buffer out;
    buffer_init(&out, SIZE_MAX);
    json_append_string(&out, text, size);
    cJSON *tree = NULL;
    if (!memchr(text, '\0', size)) {
        tree = json_parse(buffer_text(&out), out.length, NULL, &st);
        must(cJSON_IsString(tree));
    }
    if (tree && text_is_clean(text, size))
        must(strlen(tree->valuestring) == size && memcmp(tree->valuestring, text, size) == 0);
    cJSON_Delete(tree);
    buffer_fini(&out);
}

static void number(const char *bytes, size_t size)
{
    struct status st = {0};
    char text[JSON_NUMBER_SIZE + 1];
    double number;
    if (size < sizeof number)
        return;
    memcpy(&number, bytes, sizeof number);
    size_t length = json_format_double(number, text);
    must(length <= JSON_NUMBER_SIZE && json_check(text, length, NULL, &st));
    text[length] = '\0';
    must(isfinite(number) ? strtod(text, NULL) == number : strcmp(text, "null") == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static void (*const targets[])(const char *text, size_t size) = {value, document, string, number};
    if (size > 0)
        targets[data[0] % 4]((const char *)data + 1, size - 1);
    return 0;
}
