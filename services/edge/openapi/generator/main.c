/* Writes the OpenAPI document of the edge:
 *
 *      openapi_generator DESCRIPTOR_SET DOCUMENT EXAMPLES OUT.json OUT.c
 *
 * from the table of routes that is compiled in, the contract with its comments, the parts that no .proto has (paths of
 * the edge alone, security, errors), and examples. The same input gives the same bytes. */
#include "operation.h"
#include "output.h"
#include "schema.h"

#include "base/file.h"
#include "json/json.h"
#include "json/writer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DOCUMENT_BYTES_MAX (16u << 20)

/* Messages that travel as details of an error. */
static const char *const detail_types[] = {
    "google.rpc.BadRequest", "google.rpc.ErrorInfo",   "google.rpc.QuotaFailure",
    "google.rpc.RetryInfo",  "renga.v1.InvalidOutput", "renga.v1.Usage",
};

static cJSON *json_load(const char *path, struct status *st)
{
    struct buffer text;
    cJSON *root = NULL;
    buffer_init(&text, DOCUMENT_BYTES_MAX);
    if (file_read(path, &text, st) && !(root = json_parse(buffer_text(&text), text.length, NULL, st)))
        fprintf(stderr, "%s: ", path);
    buffer_fini(&text);
    return root;
}

static int member_compare(const void *a, const void *b)
{
    const cJSON *const *left = a, *const *right = b;
    return strcmp((*left)->string, (*right)->string);
}

/* Puts the members of an object into the order of their keys. */
static bool members_sort(cJSON *object, struct status *st)
{
    size_t count = (size_t)cJSON_GetArraySize(object), i = 0;
    cJSON **members = calloc(count + 1, sizeof(cJSON *));
    if (!members)
        return fail(st, RESOURCE_EXHAUSTED, "no memory to sort %zu members", count);
    for (cJSON *member = object->child; member; member = member->next)
        members[i++] = member;
    qsort(members, count, sizeof(cJSON *), member_compare);
    const char *doubled = NULL;
    for (i = 0; i < count; i++) {
        if (i > 0 && strcmp(members[i - 1]->string, members[i]->string) == 0)
            doubled = members[i]->string;
        cJSON_AddItemToArray(object, cJSON_DetachItemViaPointer(object, members[i]));
    }
    free(members);
    return !doubled || fail(st, INVALID_ARGUMENT, "two paths or schemas are called '%s'", doubled);
}

static bool document_fill(struct contract *contract, cJSON *document, const cJSON *examples, struct status *st)
{
    cJSON *info = cJSON_GetObjectItemCaseSensitive(document, "info");
    cJSON *paths = cJSON_GetObjectItemCaseSensitive(document, "paths");
    cJSON *components = cJSON_GetObjectItemCaseSensitive(document, "components");
    cJSON *schemas = cJSON_GetObjectItemCaseSensitive(components, "schemas");
    cJSON *tags = cJSON_GetObjectItemCaseSensitive(document, "tags");
    if (!info || !paths || !schemas || !tags)
        return fail(st, INVALID_ARGUMENT, "the document lacks info, paths, tags or components.schemas");
    cJSON_AddStringToObject(info, "version", RENGA_VERSION);
    for (size_t i = 0; i < sizeof detail_types / sizeof detail_types[0]; i++)
        schema_use(contract, contract_find_type(contract, detail_types[i]), SCHEMA_RESPONSE);
    /* A first pass, since the name of a schema depends on all the operations that use it. */
    cJSON *scratch = cJSON_CreateObject();
    bool fits = true;
    for (size_t i = 0; i < edge_route_count && fits; i++)
        fits = operation_write(contract, &edge_routes[i], examples, scratch, st);
    cJSON_Delete(scratch);
    for (size_t i = 0; i < edge_route_count && fits; i++)
        fits = operation_write(contract, &edge_routes[i], examples, paths, st);
    if (!fits)
        return false;
    operation_write_tags(contract, tags);
    schema_write_all(contract, schemas);
    return members_sort(paths, st) && members_sort(schemas, st);
}

static bool document_write(const cJSON *document, const char *json, const char *code, struct status *st)
{
    struct buffer text;
    struct json_writer writer;
    buffer_init(&text, DOCUMENT_BYTES_MAX);
    json_writer_init(&writer, &text);
    json_write_tree(&writer, NULL, document);
    bool done = json_writer_done(&writer) || fail(st, RESOURCE_EXHAUSTED, "the document is too large");
    done = done && output_write_json(json, &text, st) && output_write_c(code, &text, st);
    buffer_fini(&text);
    return done;
}

int main(int argc, char **argv)
{
    struct contract contract;
    struct status st = {0};
    if (argc != 6) {
        fprintf(stderr, "usage: %s DESCRIPTOR_SET DOCUMENT EXAMPLES OUT.json OUT.c\n", argv[0]);
        return 2;
    }
    bool done = contract_load(&contract, argv[1], &st);
    cJSON *document = done ? json_load(argv[2], &st) : NULL;
    cJSON *examples = document ? json_load(argv[3], &st) : NULL;
    done = examples && document_fill(&contract, document, examples, &st) &&
           document_write(document, argv[4], argv[5], &st);
    if (!done)
        fprintf(stderr, "%s\n", st.text);
    cJSON_Delete(examples);
    cJSON_Delete(document);
    contract_fini(&contract);
    return done ? 0 : 1;
}
