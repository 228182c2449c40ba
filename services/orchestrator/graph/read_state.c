/* "state", "input" and "output". */
#include "reading.h"

#include <stdlib.h>
#include <string.h>

#define TYPES           "string|integer|number|boolean|object|any|string[]|integer[]|number[]|boolean[]|object[]|any[]"
#define TYPES_OF_ONE    6
#define REDUCERS        "replace|append|merge|messages|sum|max"
#define KEEP_MAX        10000 /* items */
#define KEEP_BYTES_MAX  (1 << 21)
#define VALUES_MAX      256 /* of a field */
#define VALUE_BYTES_MAX 1024
#define DESCRIPTION_MAX 1024
#define STRINGS(text)   "{\"type\":\"array\",\"items\":{\"type\":\"string\"},\"description\":\"" text "\"}"

struct field_words {
    const char *description;
    int type, reducer;
    unsigned keep, keep_bytes;
};

const struct key field_keys[] = {
    {.option = {.name = "type", .choices = TYPES, .help = "What its value is; with [] a list of it."},
     .kind = KEY_CHOICE,
     .required = true,
     INTO(struct field_words, type)},
    {.option = {.name = "reduce",
                .choices = REDUCERS,
                .help = "How a write changes it: replace (the default), append to a list, merge objects, messages (by "
                        "their id), sum, max."},
     .kind = KEY_CHOICE,
     INTO(struct field_words, reducer)},
    {.option =
         INTEGER_OPTION("keep", NULL, 1, KEEP_MAX, NULL,
                        "Of a list that appends, only so many of the newest items stay; all where it is not said."),
     INTO(struct field_words, keep)},
    {.option = INTEGER_OPTION("keep_bytes", NULL, 1, KEEP_BYTES_MAX, NULL,
                              "Of a list that appends, only so many bytes of the newest items stay, as JSON; the "
                              "newest item stays in any case. All where it is not said."),
     INTO(struct field_words, keep_bytes)},
    {.option = {.name = "initial"}, .kind = KEY_PART, .schema = "{\"description\":\"Its value at the beginning.\"}"},
    {.option = {.name = "values"},
     .kind = KEY_PART,
     .schema = STRINGS("The strings that it may have; any where it is not said.")},
    {.option = {.name = "description", .max = DESCRIPTION_MAX, .help = "What it is, for people and schemas."},
     .kind = KEY_TEXT,
     INTO(struct field_words, description)},
    {.option = {.name = NULL}},
};

/* ---- a field ----------------------------------------------------------------------------------------------------- */

static bool read_state_value(struct reading *in, const cJSON *item, const char **value)
{
    if (!cJSON_IsString(item) || strlen(item->valuestring) > VALUE_BYTES_MAX)
        return fault(in, item, "values must be strings of at most %d bytes", VALUE_BYTES_MAX);
    for (const cJSON *before = item->prev; before->next; before = before->prev)
        if (strcmp(before->valuestring, item->valuestring) == 0)
            return fault(in, item, "'%.*s' stands in \"values\" twice; take one out", SHOWN, item->valuestring);
    *value = keep_text(in, item->valuestring);
    return *value;
}

static bool read_values(struct reading *in, struct field *field, const cJSON *item)
{
    if (field->type != FIELD_STRING)
        return fault(in, item, "\"values\" are for strings; '%s' is %s", field->name,
                     field_type_words(field->type, field->list));
    int count = cJSON_IsArray(item) ? cJSON_GetArraySize(item) : 0;
    if (count < 1 || count > VALUES_MAX)
        return fault(in, item, "\"values\" must be a list of 1 to %d strings", VALUES_MAX);
    const char **values = keep(in, (size_t)count, sizeof *values);
    const cJSON *value;
    cJSON_ArrayForEach(value, item)
    {
        if (!values || !read_state_value(in, value, &values[field->value_count]))
            return false;
        field->value_count++;
    }
    field->values = values;
    return true;
}

static bool check_reducer(struct reading *in, const struct field *field, const cJSON *item)
{
    const char *is = field_type_words(field->type, field->list);
    bool number = (field->type == FIELD_INTEGER || field->type == FIELD_NUMBER) && !field->list;
    switch (field->reducer) {
    case REDUCE_REPLACE:
        return true;
    case REDUCE_APPEND:
        return field->list ||
               fault(in, item, "append needs a list, '%s' is %s; give it a type with []", field->name, is);
    case REDUCE_MERGE:
        return (field->type == FIELD_OBJECT && !field->list) ||
               fault(in, item, "merge needs an object, '%s' is %s", field->name, is);
    case REDUCE_MESSAGES:
        return (field->type == FIELD_OBJECT && field->list) ||
               fault(in, item, "messages needs the type object[], '%s' is %s", field->name, is);
    case REDUCE_SUM:
        return number || fault(in, item, "sum needs a number, '%s' is %s", field->name, is);
    case REDUCE_MAX:
        return number || fault(in, item, "max needs a number, '%s' is %s", field->name, is);
    }
    return true;
}

static bool read_initial(struct reading *in, struct field *field, const cJSON *item)
{
    struct status why = {0};
    if (!field_fits(field, item, &why))
        return fault(in, item, "the initial value of '%s' %s", field->name, why.text);
    field->initial_json = keep_json(in, item);
    return field->initial_json;
}

static bool check_keep(struct reading *in, const struct field *field, const cJSON *item, const cJSON *initial)
{
    if (field->reducer != REDUCE_APPEND)
        return fault(in, item, "%s: '%s' does not append; give it \"reduce\": \"append\", or take \"%s\" out",
                     item->string, field->name, item->string);
    return !field->keep || cJSON_GetArraySize(initial) <= (int)field->keep ||
           fault(in, initial, "the initial value of '%s' has %d items, and \"keep\" allows %u", field->name,
                 cJSON_GetArraySize(initial), field->keep);
}

static bool read_state_field(struct reading *in, struct field *field, const cJSON *item)
{
    struct field_words words = {0};
    const cJSON *values = part(item, "values"), *initial = part(item, "initial"), *reduce = part(item, "reduce");
    if (!name_check(in, item, "a field", item->string))
        return false;
    field->name = keep_text(in, item->string);
    if (!keys_read(in, item, field_keys, NULL, &words) || !field->name)
        return false;
    field->list = words.type >= TYPES_OF_ONE;
    field->type = (enum field_type)(words.type % TYPES_OF_ONE);
    field->reducer = (enum reducer)words.reducer;
    field->description = words.description;
    field->keep = words.keep;
    field->keep_bytes = words.keep_bytes;
    bool good = !reduce || check_reducer(in, field, reduce);
    good &= !words.keep || check_keep(in, field, part(item, "keep"), initial);
    good &= !words.keep_bytes || check_keep(in, field, part(item, "keep_bytes"), initial);
    good &= !values || read_values(in, field, values);
    return good && (!initial || read_initial(in, field, initial));
}

/* ---- all of them ------------------------------------------------------------------------------------------------- */

static int read_state_by_name(const void *a, const void *b)
{
    const struct field *const *first = a, *const *second = b;
    return strcmp((*first)->name, (*second)->name);
}

static bool sort_fields(struct reading *in, struct graph *graph, struct field *fields, size_t count)
{
    const struct field **sorted = keep(in, count, sizeof *sorted), **all = keep(in, count, sizeof *all);
    if (!sorted || !all)
        return false;
    for (size_t i = 0; i < count; i++)
        sorted[i] = all[i] = &fields[i];
    graph->all_fields = all;
    qsort(sorted, count, sizeof *sorted, read_state_by_name);
    graph->fields = fields;
    graph->fields_by_name = sorted;
    graph->field_count = count;
    return true;
}

static bool read_fields(struct reading *in, struct draft *draft)
{
    int count = cJSON_GetArraySize(draft->state);
    if (count > GRAPH_FIELDS_MAX)
        return fault(in, draft->state, "\"state\" has %d fields; at most %d are allowed", count, GRAPH_FIELDS_MAX);
    const cJSON *item;
    size_t index = 0, more = playbook_is_told(draft) ? PLAYBOOK_FIELDS : 0;
    bool good = true;
    draft->fields = keep(in, (size_t)count + more, sizeof *draft->fields);
    cJSON_ArrayForEach(item, draft->state)
    {
        if (!draft->fields)
            return false;
        draft->fields[index].index = index;
        good &= read_state_field(in, &draft->fields[index++], item);
    }
    if (!draft->fields || (more && !playbook_add_fields(in, draft, index)))
        return false;
    return good && sort_fields(in, draft->graph, draft->fields, index + more);
}

static const struct field *read_listed(struct reading *in, const struct graph *graph, const cJSON *item,
                                       const char *what)
{
    struct status why = {0};
    const struct field *field = cJSON_IsString(item) ? graph_field_wanted(graph, item->valuestring, &why) : NULL;
    if (!cJSON_IsString(item))
        fault(in, item, "%s must be a list of names of fields", what);
    else if (!field)
        fault(in, item, "%s: %s", what, why.text);
    return field;
}

bool fields_list_read(struct reading *in, const struct graph *graph, const cJSON *item, const char *what,
                      const struct field ***list, size_t *count)
{
    if (!item) {
        *list = graph->all_fields;
        *count = graph->field_count;
        return true;
    }
    if (!cJSON_IsArray(item) || cJSON_GetArraySize(item) > GRAPH_FIELDS_MAX)
        return fault(in, item, "%s must be a list of at most %d names of fields", what, GRAPH_FIELDS_MAX);
    const struct field **read = keep(in, (size_t)cJSON_GetArraySize(item), sizeof *read);
    const cJSON *name;
    *list = read;
    cJSON_ArrayForEach(name, item)
    {
        const struct field *field = read ? read_listed(in, graph, name, what) : NULL;
        for (size_t i = 0; field && i < *count; i++)
            if (read[i] == field)
                return fault(in, name, "%s has '%s' twice; take one out", what, field->name);
        if (!field)
            return false;
        read[(*count)++] = field;
    }
    return read;
}

bool state_read(struct reading *in, struct draft *draft)
{
    struct graph *graph = draft->graph;
    if (draft->state && !cJSON_IsObject(draft->state))
        return fault(in, draft->state, "state: must be an object of fields, {\"NAME\": {\"type\": \"string\"}}");
    if (!read_fields(in, draft))
        return false;
    bool good = fields_list_read(in, graph, part(draft->item, "input"), "input", &graph->input, &graph->input_count);
    return fields_list_read(in, graph, part(draft->item, "output"), "output", &graph->output, &graph->output_count) &&
           good;
}
