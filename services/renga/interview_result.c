/* The result of an interview: a JSON object by field_id, or a table (CSV). */
#include "interview.h"

#include "json/writer.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define RESULT_MAX ((size_t)32 << 20)

static const Renga__V1__FormField *result_field(const struct conversation *conversation, const char *field_id)
{
    for (size_t i = 0; conversation->state->form && i < conversation->state->form->n_fields; i++)
        if (strcmp(conversation->state->form->fields[i]->field_id, field_id) == 0)
            return conversation->state->form->fields[i];
    return NULL;
}

static const Renga__V1__CollectedValue *result_value(const Renga__V1__FieldStatus *status)
{
    return status->state == RENGA__V1__FIELD_STATE__FIELD_STATE_DONE ? status->value : NULL;
}

/* ---- CSV (RFC 4180) ---------------------------------------------------------------------------------------------- */

static bool result_is_number(const char *text)
{
    size_t digits = strspn(text + (*text == '-' || *text == '+'), "0123456789.");
    return digits && text[digits + (*text == '-' || *text == '+')] == '\0';
}

/* A spreadsheet takes this cell for a formula, also by the wide forms of these characters. */
static bool result_is_formula(const char *text)
{
    static const char *const wide[] = {"＝", "＋", "－", "＠", NULL};
    for (const char *const *mark = wide; *mark; mark++)
        if (strncmp(text, *mark, strlen(*mark)) == 0)
            return true;
    return *text && strchr("=+-@\t\r\n", *text) && !result_is_number(text);
}

static void write_cell(struct buffer *out, const char *text, const char *end)
{
    bool formula = result_is_formula(text), quoted = formula || strpbrk(text, ",\"\r\n") != NULL;
    buffer_print(out, formula ? "\"'" : quoted ? "\"" : "");
    for (size_t length; *text; text += length) {
        length = strcspn(text, "\"");
        buffer_append(out, text, length);
        if (text[length]) {
            buffer_print(out, "\"\"");
            length++;
        }
    }
    buffer_print(out, quoted ? "\"" : "");
    buffer_print(out, end);
}

static void write_csv(const struct conversation *conversation, struct buffer *out)
{
    buffer_print(out, "field_id,label,value,quote\r\n");
    for (size_t i = 0; i < conversation->state->n_field_statuses; i++) {
        const Renga__V1__FieldStatus *status = conversation->state->field_statuses[i];
        const Renga__V1__CollectedValue *value = result_value(status);
        const Renga__V1__FormField *field = result_field(conversation, status->field_id);
        write_cell(out, status->field_id, ",");
        write_cell(out, field ? field->label : status->field_id, ",");
        write_cell(out, value ? value->text : "", ",");
        write_cell(out, value ? value->quote : "", "\r\n");
    }
}

/* ---- JSON -------------------------------------------------------------------------------------------------------- */

/* Numbers, yes/no and several choices are kept as the JSON of their type. */
static bool is_kept_as_json(const Renga__V1__FormField *field)
{
    return field && (field->type == RENGA__V1__FIELD_TYPE__FIELD_TYPE_NUMBER ||
                     field->type == RENGA__V1__FIELD_TYPE__FIELD_TYPE_YES_NO ||
                     field->type == RENGA__V1__FIELD_TYPE__FIELD_TYPE_CHOICES);
}

static void write_json(const struct conversation *conversation, struct buffer *out)
{
    struct json_writer writer;
    json_writer_init(&writer, out);
    json_write_object(&writer, NULL);
    for (size_t i = 0; i < conversation->state->n_field_statuses; i++) {
        const Renga__V1__FieldStatus *status = conversation->state->field_statuses[i];
        const Renga__V1__CollectedValue *value = result_value(status);
        if (!value)
            continue;
        bool typed = is_kept_as_json(result_field(conversation, status->field_id)) &&
                     json_check(value->text, strlen(value->text), NULL, &(struct status){0});
        if (typed)
            json_write_raw(&writer, status->field_id, value->text, strlen(value->text));
        else
            json_write_string(&writer, status->field_id, value->text);
    }
    json_write_end(&writer);
    buffer_print(out, "\n");
}

/* ---- the file ---------------------------------------------------------------------------------------------------- */

/* A terminal would obey control characters. */
static void write_to_terminal(FILE *file, struct buffer *text)
{
    size_t kept = 0;
    for (size_t i = 0; i < text->length; i++)
        if (text->data[i] != '\r')
            text->data[kept++] = text->data[i];
    text->length = kept;
    show_text_on(file, buffer_text(text));
}

bool interview_write_result(const struct conversation *conversation, const char *format, const char *path)
{
    struct buffer text;
    FILE *file = path ? fopen(path, "w") : conversation->result;
    buffer_init(&text, RESULT_MAX);
    (strcmp(format, "csv") == 0 ? write_csv : write_json)(conversation, &text);
    bool good = file && !text.failed;
    if (good && isatty(fileno(file)))
        write_to_terminal(file, &text);
    else if (good)
        good = fwrite(text.data, 1, text.length, file) == text.length;
    good = good && fflush(file) == 0;
    if (path && file)
        good &= fclose(file) == 0;
    if (!good)
        fprintf(stderr, INTERVIEW ": the result cannot be written to %s: %s\n", path ? path : "standard output",
                text.failed ? "it is too large" : strerror(errno));
    buffer_fini(&text);
    return good;
}
