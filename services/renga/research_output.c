/* The report as a file, in the form that its ending says. */
#include "research.h"

#include "rpc/message_json.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define FILE_MAX_BYTES ((size_t)64 << 20)

static void output_put_json(struct buffer *out, const struct research *research)
{
    struct json_writer writer;
    json_writer_init(&writer, out);
    message_write_json(&writer, NULL, research->exact ? research->exact : &research->result->base);
    buffer_print(out, "\n");
}

static void output_put_markdown(struct buffer *out, const struct research *research)
{
    research_put_markdown(out, research->words, research->result);
}

static void output_put_html(struct buffer *out, const struct research *research)
{
    research_put_html(out, research->words, research->result);
}

static const struct form {
    const char *ending;
    void (*put)(struct buffer *out, const struct research *research);
} forms[] = {{".md", output_put_markdown}, {".html", output_put_html}, {".json", output_put_json}, {0}};

static const struct form *output_form_of(const char *path)
{
    const char *ending = strrchr(path, '.');
    for (const struct form *form = forms; ending && form->ending; form++)
        if (strcmp(form->ending, ending) == 0)
            return form;
    return NULL;
}

bool research_check_output(const char *path, struct status *st)
{
    if (!output_form_of(path))
        return fail(st, INVALID_ARGUMENT, "--output %s: its ending says in which form; give .md, .html or .json", path);
    return command_check_out("--output", path, st);
}

bool research_write(const struct research *research)
{
    struct buffer out;
    buffer_init(&out, FILE_MAX_BYTES);
    output_form_of(research->output)->put(&out, research);
    FILE *file = out.failed ? NULL : fopen(research->output, "w");
    bool good = file && fwrite(out.data, 1, out.length, file) == out.length;
    if (file)
        good = fclose(file) == 0 && good;
    if (!good)
        fprintf(stderr, RESEARCH ": %s cannot be written: %s\n", research->output,
                out.failed ? "it is too large" : strerror(errno));
    buffer_fini(&out);
    return good;
}
