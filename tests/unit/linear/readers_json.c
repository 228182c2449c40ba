/* shared/base: JSON in all its forms, templates, texts, and the schema of an answer. */
#include "readers.h"

#include "base/nearest.h"
#include "base/text.h"
#include "base/trace.h"
#include "json/condition.h"
#include "json/pull.h"
#include "json/reader.h"
#include "json/schema.h"
#include "json/template.h"
#include "json/writer.h"

static void json_check_schema(struct input *in)
{
    json_check(in->text, in->length, NULL, &in->st);
}

static void json_parse_text(struct input *in)
{
    input_json(in);
}

static void parse_deeply(struct input *in)
{
    const struct json_limits limits = {.depth = JSON_DEPTH_MAX, .values = SIZE_MAX, .bytes = SIZE_MAX};
    in->tree = json_parse(in->text, in->length, &limits, &in->st);
}

static void json_read_document(struct input *in)
{
    struct json_document document;
    if (json_document_parse(&document, "a", in->text, in->length, NULL, &in->st))
        json_document_fini(&document);
}

static const cJSON *json_last_item(const cJSON *tree)
{
    while (tree->child)
        tree = tree->child->prev;
    return tree;
}

static void json_find_fault(struct input *in)
{
    if (!input_json(in))
        return;
    struct json_reader reader = json_reader_of(in->tree, &in->st);
    json_reader_fail(&reader, json_last_item(in->tree), "is wrong");
}

/* In the text, by line and column: the last value, and all of the list that it stands in. */
static void find_lines(struct input *in)
{
    struct json_document document;
    if (!json_document_parse(&document, "a", in->text, in->length, NULL, &in->st))
        return;
    size_t count = (size_t)cJSON_GetArraySize(document.root);
    fail_at(&document, json_last_item(document.root), &in->st, "is wrong");
    if (count)
        json_document_lines(&document, document.root, arena_alloc(&in->arena, count * sizeof(size_t)));
    json_document_fini(&document);
}

static void linear_write_tree(struct input *in)
{
    struct json_writer writer;
    json_writer_init(&writer, &in->out);
    if (input_json(in))
        json_write_tree(&writer, NULL, in->tree);
}

static void linear_write_text(struct input *in)
{
    struct json_writer writer;
    json_writer_init(&writer, &in->out);
    json_write_string(&writer, NULL, in->text);
}

/* The text is the schema and the value. */
static void compile_schema(struct input *in)
{
    const struct json_schema *schema =
        input_json(in) ? json_schema_compile(&in->arena, in->tree, JSON_SCHEMA_PLAIN, &in->st) : NULL;
    if (schema)
        json_schema_check(schema, in->tree, NULL, &in->st);
}

/* The text as a condition, and as the object of another one. */
static void evaluate_condition(struct input *in)
{
    static const char own[] =
        "{\"any\":[{\"field\":\"a\",\"contains\":-1},{\"field\":\"a\",\"contains\":\"x\"},"
        "{\"field\":\"a.a.a.a.a.a.a.a\",\"more\":\"2026-01-31\"},{\"field\":\"b.c\",\"equals_field\":\"a\"}]}";
    cJSON *tree = json_parse(own, sizeof own - 1, NULL, &in->st);
    const struct json_condition *other = json_condition_compile(&in->arena, tree, &in->st);
    const struct json_condition *itself = input_json(in) ? json_condition_compile(&in->arena, in->tree, &in->st) : NULL;
    if (itself)
        json_condition_holds(itself, in->tree);
    if (in->tree)
        json_condition_holds(other, in->tree);
    cJSON_Delete(tree);
}

static void fill_template(struct input *in)
{
    cJSON *values = cJSON_CreateObject();
    template_fill(in->text, values, &in->out, &in->st);
    cJSON_AddStringToObject(values, "a", in->text);
    template_fill("<a>{a}</a><b>", values, &in->out, &in->st);
    cJSON_Delete(values);
}

static void json_check_text(struct input *in)
{
    text_is_clean(in->text, in->length);
    text_clean_length(in->text, in->length);
}

static void guess_name(struct input *in)
{
    struct nearest nearest = nearest_to(in->text);
    nearest_try(&nearest, "something");
    nearest_try(&nearest, in->text + in->length / 2);
    nearest_hint(&nearest);
}

static void continue_trace(struct input *in)
{
    struct trace_context trace;
    trace_continue(&trace, in->text, in->length);
}

static void read_tracestate(struct input *in)
{
    uint8_t span_id[8];
    trace_state_read(in->text, in->length, span_id);
}

static const struct generator schemas[] = {
    {"properties", 0, .begin = "{\"properties\":{\"\":{}", .unit = ",\"a\1\":{\"type\":\"string\"}", .end = "}}"},
    {"properties in properties", 0, .unit = "{\"properties\":{\"a\":", .middle = "{}", .close = "}}"},
    {"references", 0, .begin = "{\"$defs\":{\"\":{}", .unit = ",\"a\1\":{},\"b\1\":{\"$ref\":\"#/$defs/a\1\"}",
     .end = "}}"},
    {"alternatives", 0, .begin = "{\"anyOf\":[{}", .unit = ",{\"type\":\"string\"}", .end = "]}"},
    {"names that are required", 0, .begin = "{\"required\":[\"\"", .unit = ",\"a\1\"", .end = "]}"},
    {"listed values", 0, .begin = "{\"enum\":[0", .unit = ",\1", .end = "]}"},
    {"constants", 0, .begin = "{\"const\":[0", .unit = ",[\1]", .end = "]}"},
    {.name = NULL},
};

static const struct generator conditions[] = {
    {"tests", 0, .begin = "{\"all\":[{\"field\":\"a\",\"equals\":1}", .unit = ",{\"field\":\"a\1\",\"equals\":1}",
     .end = "]}"},
    {"items of a list", 0, .begin = "{\"a\":[0", .unit = ",\1", .end = "]}"},
    {"texts of a list", 0, .begin = "{\"a\":[0", .unit = ",\"x\"", .end = "]}"},
    {"names with dots", 0, .begin = "{\"a\":0", .unit = ",\"b.c\1\":0", .end = "}"},
    {"objects within each other", 0, .unit = "{\"a\":", .middle = "0", .close = "}"},
    {.name = NULL},
};

static const struct generator templates[] = {
    {"values", 0, .unit = "{a}"},
    {"fences of its own", 0, .unit = "</t\1>"},
    {"fences with blanks", 0, .unit = "</ results >"},
    {"a fence with many blanks", 0, .begin = "</", .unit = " "},
    {"beginnings of ends", 0, .unit = "</"},
    {.name = NULL},
};

static const struct generator tracestates[] = {
    {"members of others", 0, .begin = "a=1", .unit = ", a\1=1"},
    {"members that are nearly ours", 0, .begin = "a=1", .unit = ",renga=b7ad6b716920333g"},
    {.name = NULL},
};

static const struct generator traces[] = {
    {"a trace that goes on", 0, .begin = "cc-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", .unit = "-a"},
    {.name = NULL},
};

const struct reader readers_json[] = {
    {"JSON, checked", json_check_schema, .sets = HOSTILE_JSON | HOSTILE_BYTES},
    {"JSON as a tree", json_parse_text, .sets = HOSTILE_JSON | HOSTILE_BYTES},
    {"deep JSON as a tree", parse_deeply, .sets = HOSTILE_JSON},
    {"JSON with comments", json_read_document, .sets = HOSTILE_JSON},
    {"path of a fault in JSON", json_find_fault, .sets = HOSTILE_JSON},
    {"line of a fault in JSON", find_lines, .sets = HOSTILE_JSON},
    {"JSON that is written again", linear_write_tree, .sets = HOSTILE_JSON},
    {"text that is written as JSON", linear_write_text, .sets = HOSTILE_JSON | HOSTILE_BYTES},
    {"JSON Schema", compile_schema, .sets = HOSTILE_JSON, .own = schemas},
    {"condition", evaluate_condition, .sets = HOSTILE_JSON, .own = conditions},
    {"template", fill_template, .sets = HOSTILE_TEXT, .own = templates},
    {"UTF-8", json_check_text, .sets = HOSTILE_BYTES | HOSTILE_JSON},
    {"name that is not known", guess_name, .sets = HOSTILE_FIELD},
    {"traceparent", continue_trace, .sets = HOSTILE_FIELD, .own = traces},
    {"tracestate", read_tracestate, .sets = HOSTILE_FIELD, .own = tracestates},
    {.name = NULL},
};
