#include "reading.h"

#include "base/nearest.h"
#include "json/writer.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#define KNOWN_MAX 320 /* bytes of all names of a table */

bool fault(struct reading *in, const cJSON *item, const char *format, ...)
{
    struct status why = {0};
    size_t line = 0, column = 0;
    va_list arguments;
    if (in->faults++ >= AGENT_FAULTS_MAX)
        return false;
    va_start(arguments, format);
    status_set(&why, INVALID_ARGUMENT, format, arguments);
    va_end(arguments);
    if (item)
        json_document_position(in->document, item, &line, &column);
    problems_add(
        in->problems,
        &(struct agent_problem){
            .agent = in->folder, .file = in->file, .line = (int)line, .column = (int)column, .message = why.text});
    return false;
}

void *keep(struct reading *in, size_t count, size_t size)
{
    void *kept = arena_zalloc(&in->agent->arena, count * size);
    in->no_memory |= !kept;
    return kept;
}

const char *keep_text(struct reading *in, const char *text)
{
    const char *kept = arena_strdup(&in->agent->arena, text);
    in->no_memory |= !kept;
    return kept;
}

const char *keep_json(struct reading *in, const cJSON *tree)
{
    struct buffer text;
    struct json_writer out;
    buffer_init(&text, AGENT_BUNDLE_MAX * 2); /* escapes may be longer than their characters */
    json_writer_init(&out, &text);
    json_write_tree(&out, NULL, tree);
    const char *kept = json_writer_done(&out) ? keep_text(in, buffer_text(&text)) : NULL;
    in->no_memory |= !kept;
    buffer_fini(&text);
    return kept;
}

/* ---- a value ----------------------------------------------------------------------------------------------------- */

int choice_index(const char *choices, const char *word)
{
    size_t length = strlen(word);
    for (int index = 0;; index++) {
        size_t size = strcspn(choices, "|");
        if (size == length && memcmp(choices, word, length) == 0)
            return index;
        if (!choices[size])
            return -1;
        choices += size + 1;
    }
}

/* Names that other languages and libraries have for our types and reducers. */
static const struct {
    const char *theirs, *ours;
} synonyms[] = {
    {"int", "integer"},       {"int32", "integer"}, {"int64", "integer"}, {"long", "integer"},
    {"uint", "integer"},      {"float", "number"},  {"double", "number"}, {"decimal", "number"},
    {"num", "number"},        {"bool", "boolean"},  {"str", "string"},    {"text", "string"},
    {"dict", "object"},       {"map", "object"},    {"json", "object"},   {"struct", "object"},
    {"list", "any[]"},        {"array", "any[]"},   {"tuple", "any[]"},   {"messages", "object[]"},
    {"extend", "append"},     {"concat", "append"}, {"add", "append"},    {"set", "replace"},
    {"overwrite", "replace"}, {"last", "replace"},  {"update", "merge"},  {"add_messages", "messages"},
    {"plus", "sum"},          {"maximum", "max"},
};

/* How other languages write a list of a type, between these two. */
static const struct {
    const char *before, *behind;
} lists[] = {{"", "[]"},      {"[]", ""},         {"[", "]"},        {"list[", "]"},
             {"list<", ">"},  {"array[", "]"},    {"array<", ">"},   {"list(", ")"},
             {"array(", ")"}, {"list of ", "s"},  {"list of ", ""},  {"sequence[", "]"},
             {"set[", "]"},   {"array of ", "s"}, {"array of ", ""}, {"typing.list[", "]"}};

/* The type of the items; NULL: the word has not this form. */
static const char *list_item(const char *word, size_t *size, size_t form)
{
    size_t whole = strlen(word), before = strlen(lists[form].before), behind = strlen(lists[form].behind);
    if (whole <= before + behind || strncasecmp(word, lists[form].before, before) != 0 ||
        strcmp(word + whole - behind, lists[form].behind) != 0)
        return NULL;
    *size = whole - before - behind;
    return word + before;
}

/* Our name for theirs of `size` bytes, a list of it with "[]"; false if the choices do not have it. */
static bool find_name(const char *choices, const char *word, size_t size, bool list, char ours[SHOWN])
{
    snprintf(ours, SHOWN, "%.*s%s", (int)size, word, list ? "[]" : "");
    if (list && choice_index(choices, ours) >= 0)
        return true;
    for (size_t i = 0; i < sizeof synonyms / sizeof *synonyms; i++) {
        if (strlen(synonyms[i].theirs) != size || strncasecmp(synonyms[i].theirs, word, size) != 0)
            continue;
        snprintf(ours, SHOWN, "%s%s", synonyms[i].ours, list ? "[]" : "");
        if (choice_index(choices, ours) >= 0)
            return true;
    }
    return false;
}

static bool find_synonym(const char *choices, const char *word, char ours[SHOWN])
{
    bool found = find_name(choices, word, strlen(word), false, ours);
    for (size_t i = 0; !found && i < sizeof lists / sizeof *lists; i++) {
        size_t size = 0;
        const char *item = list_item(word, &size, i);
        found = item && find_name(choices, item, size, true, ours);
    }
    return found;
}

bool choice_refuse(struct reading *in, const cJSON *item, const char *name, const char *choices, const char *word)
{
    char copy[KNOWN_MAX], *rest = copy;
    struct nearest nearest = nearest_to(word);
    char ours[SHOWN];
    if (find_synonym(choices, word, ours))
        return fault(in, item, "%s is '%.*s', which is '%s' here; there are %s", name, SHOWN, word, ours, choices);
    snprintf(copy, sizeof copy, "%s", choices);
    for (const char *choice = strsep(&rest, "|"); choice; choice = strsep(&rest, "|"))
        nearest_try(&nearest, choice);
    if (nearest.name)
        return fault(in, item, "%s is '%.*s'; did you mean '%s'?", name, SHOWN, word, nearest.name);
    return fault(in, item, "%s is '%.*s'; must be one of %s", name, SHOWN, word, choices);
}

static void keys_put(void *into, const struct key *key, int64_t number)
{
    void *at = (char *)into + key->at;
    int32_t narrow = (int32_t)number;
    bool truth = number != 0;
    if (key->size == sizeof truth)
        memcpy(at, &truth, sizeof truth);
    else if (key->size == sizeof narrow)
        memcpy(at, &narrow, sizeof narrow);
    else
        memcpy(at, &number, sizeof number);
}

static bool keys_read_text(struct reading *in, const struct key *key, const cJSON *item, void *into)
{
    if (!cJSON_IsString(item))
        return fault(in, item, "%s must be a string", key->option.name);
    size_t length = strlen(item->valuestring);
    if (length > (size_t)key->option.max)
        return fault(in, item, "%s has %zu bytes; at most %lld are allowed", key->option.name, length, key->option.max);
    const char *text = keep_text(in, item->valuestring);
    memcpy((char *)into + key->at, &text, sizeof text);
    return text;
}

static bool keys_read_choice(struct reading *in, const struct key *key, const cJSON *item, void *into)
{
    if (!cJSON_IsString(item))
        return fault(in, item, "%s must be one of %s", key->option.name, key->option.choices);
    int index = choice_index(key->option.choices, item->valuestring);
    if (index < 0)
        return choice_refuse(in, item, key->option.name, key->option.choices, item->valuestring);
    keys_put(into, key, index);
    return true;
}

static bool keys_read_option(struct reading *in, const struct key *key, const cJSON *item, void *into)
{
    struct config_item value;
    struct status why = {0};
    if (!config_read_item(in->values, &key->option, item, "", &value, &why))
        return fault(in, item, "%s", why.text + strspn(why.text, ": "));
    keys_put(into, key, value.number);
    return true;
}

static bool keys_read_key(struct reading *in, const struct key *key, const cJSON *item, void *into)
{
    switch (key->kind) {
    case KEY_OPTION:
        return keys_read_option(in, key, item, into);
    case KEY_TEXT:
        return keys_read_text(in, key, item, into);
    case KEY_CHOICE:
        return keys_read_choice(in, key, item, into);
    case KEY_PART:
        return true;
    }
    return true;
}

/* ---- objects ----------------------------------------------------------------------------------------------------- */

static const struct key *keys_find_key(const struct key *table, const char *name)
{
    for (; table->option.name; table++)
        if (strcmp(table->option.name, name) == 0)
            return table;
    return NULL;
}

static bool is_parameter(const struct node_parameter *more, const char *name)
{
    for (; more && more->name; more++)
        if (strcmp(more->name, name) == 0)
            return true;
    return false;
}

static void add_known(char known[KNOWN_MAX], struct nearest *nearest, const char *name)
{
    size_t length = strlen(known);
    nearest_try(nearest, name);
    snprintf(known + length, KNOWN_MAX - length, "%s%s", length ? ", " : "", name);
}

static bool keys_refuse_key(struct reading *in, const cJSON *item, const struct key *table,
                            const struct node_parameter *more)
{
    char known[KNOWN_MAX] = "";
    struct nearest nearest = nearest_to(item->string);
    for (; more && more->name; more++)
        add_known(known, &nearest, more->name);
    for (; table->option.name; table++)
        add_known(known, &nearest, table->option.name);
    if (nearest.name)
        return fault(in, item, "unknown key '%.*s'; did you mean '%s'?", SHOWN, item->string, nearest.name);
    return fault(in, item, "unknown key '%.*s'; there are %s", SHOWN, item->string, known);
}

bool keys_read(struct reading *in, const cJSON *object, const struct key *table, const struct node_parameter *more,
               void *into)
{
    const cJSON *item;
    bool good = true;
    if (!cJSON_IsObject(object))
        return fault(in, object, "%s%smust be an object, {…}", object->string ? object->string : "",
                     object->string ? ": " : "");
    cJSON_ArrayForEach(item, object)
    {
        const struct key *key = keys_find_key(table, item->string);
        if (key)
            good &= keys_read_key(in, key, item, into);
        else if (!is_parameter(more, item->string))
            good = keys_refuse_key(in, item, table, more);
    }
    for (; table->option.name; table++)
        if (table->required && !part(object, table->option.name))
            good = fault(in, object, "%s%s\"%s\" is missing", object->string ? object->string : "",
                         object->string ? ": " : "", table->option.name);
    return good;
}

bool name_check(struct reading *in, const cJSON *item, const char *what, const char *name)
{
    static const char known[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.";
    size_t length = strlen(name);
    if (length == 0 || length > GRAPH_NAME_MAX)
        return fault(in, item, "the name of %s has %zu bytes; 1 to %d are allowed", what, length, GRAPH_NAME_MAX);
    return name[strspn(name, known)] == '\0' ||
           fault(in, item, "'%.*s' is no name for %s; use letters, digits, '_', '-' and '.'", SHOWN, name, what);
}
