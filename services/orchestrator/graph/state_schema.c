/* State, input and output as JSON Schemas. */
#include "agents.h"

#include "json/writer.h"

#include <string.h>

static const char *const types[] = {
    [FIELD_STRING] = "string",   [FIELD_INTEGER] = "integer", [FIELD_NUMBER] = "number",
    [FIELD_BOOLEAN] = "boolean", [FIELD_OBJECT] = "object",   [FIELD_ANY] = NULL,
};

static void write_type(struct json_writer *out, const struct field *field)
{
    if (types[field->type])
        json_write_string(out, "type", types[field->type]);
    if (!field->values)
        return;
    json_write_array(out, "enum");
    for (size_t i = 0; i < field->value_count; i++)
        json_write_string(out, NULL, field->values[i]);
    json_write_end(out);
}

static void state_schema_write_values(struct json_writer *out, const struct field *field)
{
    if (field->list) {
        json_write_string(out, "type", "array");
        json_write_object(out, "items");
        write_type(out, field);
        json_write_end(out);
    } else {
        write_type(out, field);
    }
}

void field_write_schema(const struct field *field, struct buffer *to)
{
    struct json_writer out;
    json_writer_init(&out, to);
    json_write_object(&out, NULL);
    state_schema_write_values(&out, field);
    json_write_end(&out);
}

static void state_schema_write_field(struct json_writer *out, const struct field *field)
{
    json_write_object(out, field->name);
    state_schema_write_values(out, field);
    if (field->description)
        json_write_string(out, "description", field->description);
    if (field->initial_json)
        json_write_raw(out, "default", field->initial_json, strlen(field->initial_json));
    json_write_end(out);
}

static void state_schema_begin(struct json_writer *out, const struct graph *graph, const char *what, struct buffer *to)
{
    struct buffer title;
    json_writer_init(out, to);
    json_write_object(out, NULL);
    json_write_string(out, "$schema", "https://json-schema.org/draft/2020-12/schema");
    buffer_init(&title, SIZE_MAX);
    buffer_printf(&title, "%s of %s", what, graph->name);
    json_write_string(out, "title", buffer_text(&title));
    buffer_fini(&title);
    json_write_string(out, "type", "object");
    json_write_object(out, "properties");
}

static void state_schema_end(struct json_writer *out)
{
    json_write_end(out);
    json_write_bool(out, "additionalProperties", false);
    json_write_end(out);
}

static void write_listed(const struct graph *graph, const char *what, const struct field *const *fields, size_t count,
                         struct buffer *to)
{
    struct json_writer out;
    state_schema_begin(&out, graph, what, to);
    for (size_t i = 0; i < count; i++)
        state_schema_write_field(&out, fields[i]);
    state_schema_end(&out);
}

void graph_write_state_schema(const struct graph *graph, struct buffer *out)
{
    struct json_writer writer;
    state_schema_begin(&writer, graph, "State", out);
    for (size_t i = 0; i < graph->field_count; i++)
        state_schema_write_field(&writer, &graph->fields[i]);
    state_schema_end(&writer);
}

void graph_write_input_schema(const struct graph *graph, struct buffer *out)
{
    write_listed(graph, "Input", graph->input, graph->input_count, out);
}

void graph_write_output_schema(const struct graph *graph, struct buffer *out)
{
    write_listed(graph, "Output", graph->output, graph->output_count, out);
}
