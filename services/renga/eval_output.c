/* The files of --report, each in the form that its ending says. */
#include "eval.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define JSON_MAX ((size_t)256 << 20)

static const struct eval_form {
    const char *ending;
    size_t most;
    void (*put)(struct buffer *out, const struct eval *eval);
} eval_forms[] = {{".md", EVAL_REPORT_MAX, eval_put_markdown},
                  {".html", EVAL_REPORT_MAX, eval_put_html},
                  {".json", JSON_MAX, eval_put_json},
                  {".jsonl", JSON_MAX, eval_put_json},
                  {0}};

static const struct eval_form *eval_form_of(const char *path)
{
    const char *ending = strrchr(path, '.');
    for (const struct eval_form *form = eval_forms; ending && form->ending; form++)
        if (strcmp(form->ending, ending) == 0)
            return form;
    return NULL;
}

static bool eval_is_same_file(const char *one, const char *other)
{
    struct stat a, b;
    return stat(one, &a) == 0 && stat(other, &b) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

bool eval_check_reports(const struct eval *eval, struct status *st)
{
    for (size_t i = 0; i < eval->report_count; i++) {
        if (!eval_form_of(eval->reports[i]))
            return fail(st, INVALID_ARGUMENT,
                        "--report %s: its ending says in which form; give .md, .html or .jsonl, several with commas",
                        eval->reports[i]);
        if (eval_is_same_file(eval->reports[i], eval->path))
            return fail(st, INVALID_ARGUMENT, "--report %s: the questions are read from it; name another file",
                        eval->reports[i]);
        if (!command_check_out("--report", eval->reports[i], st))
            return false;
    }
    return true;
}

static bool eval_write_report(const struct eval *eval, const char *path)
{
    struct buffer out;
    const struct eval_form *form = eval_form_of(path);
    buffer_init(&out, form->most);
    form->put(&out, eval);
    FILE *file = out.failed ? NULL : fopen(path, "we");
    bool good = file && fwrite(out.data, 1, out.length, file) == out.length;
    if (file)
        good = fclose(file) == 0 && good;
    if (!good)
        fprintf(stderr, EVAL ": %s cannot be written: %s\n", path, out.failed ? "it is too large" : strerror(errno));
    buffer_fini(&out);
    return good;
}

bool eval_write_reports(const struct eval *eval)
{
    bool good = true;
    for (size_t i = 0; i < eval->report_count; i++)
        good = eval_write_report(eval, eval->reports[i]) && good;
    return good;
}
