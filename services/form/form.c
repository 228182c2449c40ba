#include "form/form_priv.h"

#include <string.h>

static void *form_allocate(void *arena, size_t size)
{
    return arena_alloc(arena, size);
}

static void form_release(void *arena, void *bytes)
{
    (void)arena;
    (void)bytes;
}

static Renga__V1__SessionForm *form_copy(struct arena *arena, const Renga__V1__SessionForm *message)
{
    ProtobufCAllocator allocator = {.alloc = form_allocate, .free = form_release, .allocator_data = arena};
    size_t size = renga__v1__session_form__get_packed_size(message);
    uint8_t *packed = arena_alloc(arena, size);
    if (!packed)
        return NULL;
    renga__v1__session_form__pack(message, packed);
    return renga__v1__session_form__unpack(&allocator, size, packed);
}

/* Stable: fields with equal sort_order keep their order. Conditions move with their fields. */
static void form_sort(struct form *form)
{
    Renga__V1__FormField **fields = form->message->fields;
    for (size_t i = 1; i < form->message->n_fields; i++) {
        Renga__V1__FormField *field = fields[i];
        const struct json_condition *condition = form->conditions[i];
        size_t at = i;
        for (; at > 0 && fields[at - 1]->sort_order > field->sort_order; at--) {
            fields[at] = fields[at - 1];
            form->conditions[at] = form->conditions[at - 1];
        }
        fields[at] = field;
        form->conditions[at] = condition;
    }
}

static bool form_sort_facts(struct arena *arena, struct form *form)
{
    const Renga__V1__SessionForm *message = form->message;
    form->facts = arena_zalloc(arena, (message->n_fields + 1) * sizeof(*form->facts));
    const Renga__V1__FactDefinition **next = arena_alloc(arena, (message->n_facts + 1) * sizeof(*next));
    if (!form->facts || !next)
        return false;
    for (size_t i = 0; i < message->n_fields; i++) {
        form->facts[i].facts = next;
        for (size_t fact = 0; fact < message->n_facts; fact++) {
            if (strcmp(message->facts[fact]->form_field_id, message->fields[i]->id) == 0)
                *next++ = message->facts[fact];
        }
        form->facts[i].count = (size_t)(next - form->facts[i].facts);
    }
    return true;
}

static bool form_out_of_memory(const struct arena *arena, struct status *st)
{
    return fail(st, RESOURCE_EXHAUSTED, "the form takes more than the %zu bytes that the call may use", arena->limit);
}

const struct form *form_open(struct arena *arena, const Renga__V1__SessionForm *message, struct status *st)
{
    struct form *form = arena_zalloc(arena, sizeof(*form));
    status_clear(st);
    if (form)
        form->message = form_copy(arena, message);
    if (!form || !form->message) {
        form_out_of_memory(arena, st);
        return NULL;
    }
    bool by_schema = form->message->schema_json[0] != '\0';
    if (by_schema && !form_read_schema(arena, form->message, st))
        return NULL;
    if (!form_check(form->message, st) || !form_open_conditions(arena, form, st)) {
        if (by_schema && st->code == INVALID_ARGUMENT)
            fail_field(st, "form.schema_json", "%s", st->text);
        return NULL;
    }
    form_sort(form);
    if (!form_sort_facts(arena, form) || !form_open_words(arena, form)) {
        form_out_of_memory(arena, st);
        return NULL;
    }
    return form;
}

const Renga__V1__SessionForm *form_message(const struct form *form)
{
    return form->message;
}

size_t form_field_count(const struct form *form)
{
    return form->message->n_fields;
}

const Renga__V1__FormField *form_field(const struct form *form, size_t i)
{
    return form->message->fields[i];
}

int form_find(const struct form *form, const char *field_id)
{
    for (size_t i = 0; i < form->message->n_fields; i++) {
        if (strcmp(form->message->fields[i]->field_id, field_id) == 0)
            return (int)i;
    }
    return -1;
}

size_t form_facts(const struct form *form, size_t field, const Renga__V1__FactDefinition *const **facts)
{
    *facts = form->facts[field].facts;
    return form->facts[field].count;
}

bool form_applies(const struct form *form, size_t field, const cJSON *values)
{
    return !form->conditions[field] || json_condition_holds(form->conditions[field], values);
}
