/* JSON Schema of graph.json, from the tables that it is read by: editors complete and check with it. It covers single
 * values; the loader alone checks names that must exist, and ways. */
#include "reading.h"

#include "json/writer.h"

#include <string.h>

/* ---- a key ------------------------------------------------------------------------------------------------------- */

static void write_choices(struct json_writer *out, const char *choices)
{
    json_write_array(out, "enum");
    while (*choices) {
        size_t size = strcspn(choices, "|");
        json_write_text(out, NULL, choices, size);
        choices += size + (choices[size] == '|');
    }
    json_write_end(out);
}

static void write_option(struct json_writer *out, const struct option *option)
{
    static const char *const types[] = {[OPTION_INTEGER] = "integer", [OPTION_BOOLEAN] = "boolean"};
    bool plain = option->type == OPTION_INTEGER || option->type == OPTION_BOOLEAN;
    json_write_string(out, "type", plain ? types[option->type] : "string");
    if (option->type == OPTION_INTEGER) {
        json_write_int(out, "minimum", option->min);
        json_write_int(out, "maximum", option->max);
    }
}

static void document_schema_write_key(struct json_writer *out, const struct key *key)
{
    if (key->kind == KEY_PART) {
        json_write_raw(out, key->option.name, key->schema, strlen(key->schema));
        return;
    }
    json_write_object(out, key->option.name);
    if (key->kind == KEY_CHOICE)
        write_choices(out, key->option.choices);
    else if (key->kind == KEY_TEXT)
        json_write_string(out, "type", "string");
    else
        write_option(out, &key->option);
    json_write_string(out, "description", key->option.help);
    json_write_end(out);
}

static void write_ref(struct json_writer *out, const char *name, const char *definition)
{
    struct buffer path;
    buffer_init(&path, SIZE_MAX);
    buffer_printf(&path, "#/$defs/%s", definition);
    json_write_object(out, name);
    json_write_string(out, "$ref", buffer_text(&path));
    json_write_end(out);
    buffer_fini(&path);
}

/* ---- objects ----------------------------------------------------------------------------------------------------- */

/* Keys of the table that have a schema of their own; parts without a schema are objects of a table, and written by
 * hand. */
static void write_keys(struct json_writer *out, const struct key *table, bool own)
{
    for (const struct key *key = table; key->option.name; key++)
        if ((key->kind != KEY_PART || key->schema) && !(own ? key->sub_only : key->own_only))
            document_schema_write_key(out, key);
}

static void write_required(struct json_writer *out, const struct key *table, bool own)
{
    for (const struct key *key = table; key->option.name; key++)
        if (key->required && !(own ? key->sub_only : key->own_only))
            json_write_string(out, NULL, key->option.name);
}

static void document_schema_begin(struct json_writer *out, const char *name)
{
    json_write_object(out, name);
    json_write_string(out, "type", "object");
    json_write_object(out, "properties");
}

static void close_object(struct json_writer *out)
{
    json_write_bool(out, "additionalProperties", false);
    json_write_end(out);
}

static void write_table(struct json_writer *out, const char *name, const struct key *table)
{
    document_schema_begin(out, name);
    write_keys(out, table, false);
    json_write_end(out);
    json_write_array(out, "required");
    write_required(out, table, false);
    json_write_end(out);
    close_object(out);
}

static void document_schema_write_map(struct json_writer *out, const char *name, const char *definition)
{
    json_write_object(out, name);
    json_write_string(out, "type", "object");
    write_ref(out, "additionalProperties", definition);
    json_write_end(out);
}

/* ---- nodes ------------------------------------------------------------------------------------------------------- */

static void write_parameter(struct json_writer *out, const struct node_parameter *parameter)
{
    static const char *const types[] = {
        [PARAMETER_INTEGER] = "integer",
        [PARAMETER_BOOLEAN] = "boolean",
        [PARAMETER_JSON] = NULL,
    };
    bool text = parameter->type <= PARAMETER_ADDRESS || parameter->type == PARAMETER_DURATION;
    const char *type = text ? "string" : types[parameter->type];
    json_write_object(out, parameter->name);
    if (type)
        json_write_string(out, "type", type);
    json_write_string(out, "description", parameter->help);
    json_write_end(out);
}

static void write_kind_key(struct json_writer *out, const struct node_kind *kind)
{
    json_write_object(out, "kind");
    json_write_string(out, "const", kind->name);
    json_write_string(out, "description", kind->help);
    json_write_end(out);
}

static void write_kind(struct json_writer *out, const struct node_kind *kind)
{
    document_schema_begin(out, NULL);
    write_kind_key(out, kind);
    for (const struct node_parameter *one = kind->parameters; one->name; one++)
        write_parameter(out, one);
    write_keys(out, node_keys, false);
    write_ref(out, "retry", "retry");
    write_ref(out, "visits", "visits");
    write_ref(out, "cache", "cache");
    json_write_end(out);
    json_write_array(out, "required");
    json_write_string(out, NULL, "kind");
    for (const struct node_parameter *one = kind->parameters; one->name; one++)
        if (one->need == REQUIRED)
            json_write_string(out, NULL, one->name);
    json_write_end(out);
    close_object(out);
}

static void document_schema_write_node(struct json_writer *out)
{
    json_write_object(out, "node");
    json_write_array(out, "anyOf");
    for (const struct node_kind *const *kind = node_kinds; *kind; kind++)
        write_kind(out, *kind);
    json_write_end(out);
    json_write_end(out);
}

/* ---- the whole --------------------------------------------------------------------------------------------------- */

static void write_graph_parts(struct json_writer *out, bool own)
{
    json_write_object(out, "properties");
    write_keys(out, graph_keys, own);
    document_schema_write_map(out, "state", "field");
    document_schema_write_map(out, "nodes", "node");
    write_ref(out, "budget", "budget");
    if (own)
        document_schema_write_map(out, "graphs", "graph");
    json_write_end(out);
    json_write_array(out, "required");
    write_required(out, graph_keys, own);
    json_write_end(out);
    json_write_bool(out, "additionalProperties", false);
}

void graph_write_document_schema(struct buffer *to)
{
    struct json_writer out;
    json_writer_init(&out, to);
    json_write_object(&out, NULL);
    json_write_string(&out, "$schema", "https://json-schema.org/draft/2020-12/schema");
    json_write_string(&out, "title", "graph.json");
    json_write_string(&out, "type", "object");
    write_graph_parts(&out, true);
    json_write_object(&out, "$defs");
    json_write_object(&out, "graph");
    json_write_string(&out, "type", "object");
    write_graph_parts(&out, false);
    json_write_end(&out);
    write_table(&out, "field", field_keys);
    write_table(&out, "retry", retry_keys);
    write_table(&out, "visits", visits_keys);
    write_table(&out, "cache", cache_keys);
    write_table(&out, "budget", budget_keys);
    document_schema_write_node(&out);
    json_write_end(&out);
    json_write_end(&out);
}
