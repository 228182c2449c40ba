/* The result of a server's tool: its texts, its structured content; other content becomes a note. */
#include "mcp_priv.h"
#include "words/no_results.h"
#include "json/writer.h"

#include <string.h>

#define STRUCTURED_MAX ((size_t)16 << 20)

static const char *result_text_of(const cJSON *object, const char *name)
{
    const char *text = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(object, name));
    return text ? text : "";
}

static void write_resource(struct tool_run *run, const cJSON *resource)
{
    const char *text = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(resource, "text"));
    if (text)
        tool_write(run, text, strlen(text));
    else
        tool_print(run, "[resource %.1024s of type %.128s left out]", result_text_of(resource, "uri"),
                   result_text_of(resource, "mimeType"));
}

/* A server has no field for this: its words are read here, and nowhere behind it. */
static void note_nothing(struct tool_run *run, const cJSON *result)
{
    const cJSON *part = cJSON_GetObjectItemCaseSensitive(result, "content");
    const char *text = cJSON_GetArraySize(part) == 1 ? result_text_of(part->child, "text") : "";
    if (*text && words_say_no_results(text, strlen(text)))
        tool_found_nothing(run);
}

static void result_write_structured(struct tool_run *run, const cJSON *structured)
{
    struct buffer out;
    struct json_writer writer;
    buffer_init(&out, STRUCTURED_MAX);
    json_writer_init(&writer, &out);
    json_write_tree(&writer, NULL, structured);
    if (!out.failed)
        tool_structured(run, buffer_text(&out), out.length);
    buffer_fini(&out);
}

void mcp_result_write(struct tool_run *run, const cJSON *result)
{
    const cJSON *part, *structured = cJSON_GetObjectItemCaseSensitive(result, "structuredContent");
    const char *kind = result_text_of(result, "resultType");
    bool first = true;
    if (kind[0] && strcmp(kind, "complete") != 0) {
        tool_fail(run, UNKNOWN, "the tool wants more input than a call can give (%.64s)", kind);
        return;
    }
    cJSON_ArrayForEach(part, cJSON_GetObjectItemCaseSensitive(result, "content"))
    {
        if (!first)
            tool_write(run, "\n", 1);
        const char *type = result_text_of(part, "type"), *text = result_text_of(part, "text");
        if (strcmp(type, "text") == 0)
            tool_write(run, text, strlen(text));
        else if (strcmp(type, "resource") == 0)
            write_resource(run, cJSON_GetObjectItemCaseSensitive(part, "resource"));
        else if (strcmp(type, "resource_link") == 0)
            tool_print(run, "[link to %.1024s: %.256s]", result_text_of(part, "uri"), result_text_of(part, "name"));
        else
            tool_print(run, "[%.64s of type %.128s left out]", type, result_text_of(part, "mimeType"));
        first = false;
    }
    if (structured)
        result_write_structured(run, structured);
    else
        note_nothing(run, result);
    if (cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(result, "isError")))
        tool_fail(run, UNKNOWN, "the tool says that it failed; its text says why");
    else
        tool_finish(run);
}
