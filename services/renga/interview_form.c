/* A form from a file: the contract's SessionForm, field by field, or a JSON Schema as any backend has it. */
#include "interview.h"

#include "form/form.h"
#include "rpc/message_json.h"
#include "json/json.h"
#include "json/writer.h"

#include <string.h>

#define FORM_BYTES_MAX ((size_t)1 << 20)

static Renga__V1__SessionForm *interview_form_from_schema(const struct json_document *document, struct arena *arena,
                                                          struct status *st)
{
    struct buffer text;
    struct json_writer out;
    Renga__V1__SessionForm *form = arena_alloc(arena, sizeof *form);
    buffer_init(&text, FORM_BYTES_MAX);
    json_writer_init(&out, &text);
    json_write_tree(&out, NULL, document->root);
    char *copy = json_writer_done(&out) ? arena_strdup(arena, buffer_text(&text)) : NULL;
    buffer_fini(&text);
    if (!form || !copy) {
        fail(st, RESOURCE_EXHAUSTED, "%s: the form is too large", document->name);
        return NULL;
    }
    renga__v1__session_form__init(form);
    form->schema_json = copy;
    return form;
}

static Renga__V1__SessionForm *interview_form_from_document(const struct json_document *document, struct arena *arena,
                                                            struct status *st)
{
    const ProtobufCMessageDescriptor *type = &renga__v1__session_form__descriptor;
    const cJSON *root = document->root;
    if (cJSON_GetObjectItemCaseSensitive(root, "properties"))
        return interview_form_from_schema(document, arena, st);
    if (!message_check_json(document, type, root, st))
        return NULL;
    if (!cJSON_GetObjectItemCaseSensitive(root, "fields") && !cJSON_GetObjectItemCaseSensitive(root, "schema")) {
        fail_at(document, root, st, "it has neither 'fields' (a SessionForm) nor 'properties' (a JSON Schema)");
        return NULL;
    }
    return (Renga__V1__SessionForm *)message_read_json(type, root, arena, st);
}

Renga__V1__SessionForm *interview_form_read(const char *path, struct arena *arena, struct status *st)
{
    const struct json_limits limits = {.bytes = FORM_BYTES_MAX};
    struct json_document document;
    if (!json_document_load(&document, path, &limits, st)) {
        st->code = INVALID_ARGUMENT; /* the command line names the file */
        return NULL;
    }
    Renga__V1__SessionForm *form = interview_form_from_document(&document, arena, st);
    json_document_fini(&document);
    return form;
}

bool interview_form_matches(const Renga__V1__SessionForm *form, const Renga__V1__SessionForm *session, bool *matches,
                            struct arena *arena, struct status *st)
{
    const struct form *ours = form_open(arena, form, st);
    if (!ours)
        return false;
    *matches = form_field_count(ours) == session->n_fields;
    for (size_t i = 0; i < session->n_fields; i++)
        *matches &= form_find(ours, session->fields[i]->field_id) >= 0;
    return true;
}
