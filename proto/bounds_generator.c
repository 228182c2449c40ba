/* bounds_generator DESCRIPTOR_SET: prints the table of contract_check.h as C. A program of the build. */
#include "field_bounds.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SET_MAX      (8u << 20)
#define MESSAGES_MAX 2048
#define EXACT_MAX    9007199254740992.0 /* of integers in a double */
#define HINT_MAX     128

typedef Google__Protobuf__DescriptorProto Message;
typedef Google__Protobuf__FieldDescriptorProto Field;
#define TYPE(NAME) GOOGLE__PROTOBUF__FIELD_DESCRIPTOR_PROTO__TYPE__TYPE_##NAME

/* The messages of the contract, by name; those with bounds have a row in the table. */
static struct message {
    char name[256];
    const Message *proto;
    enum { UNSEEN, UNDER_WAY, WITHOUT, BOUNDED } state;
    size_t row;
} messages[MESSAGES_MAX];
static size_t message_count, bounded_count;

_Noreturn static void refuse(const char *message, const char *field, const char *why)
{
    fprintf(stderr, "bounds_generator: %s.%s: %s\n", message, field, why);
    exit(1);
}

static void messages_add(const char *scope, const Message *proto)
{
    if (message_count == MESSAGES_MAX)
        refuse(scope, proto->name, "is one message too many");
    struct message *message = &messages[message_count++];
    message->proto = proto;
    if (snprintf(message->name, sizeof message->name, "%s.%s", scope, proto->name) >= (int)sizeof message->name)
        refuse(scope, proto->name, "has a name that is too long");
    for (size_t i = 0; i < proto->n_nested_type; i++)
        messages_add(message->name, proto->nested_type[i]);
}

static int message_compare(const void *one, const void *other)
{
    return strcmp(((const struct message *)one)->name, ((const struct message *)other)->name);
}

static struct message *message_named(const char *name)
{
    for (size_t i = 0; i < message_count; i++)
        if (strcmp(messages[i].name, name) == 0)
            return &messages[i];
    return NULL;
}

static int field_compare(const void *one, const void *other)
{
    return (*(const Field *const *)one)->number - (*(const Field *const *)other)->number;
}

/* Whether a bound of this kind means something for the field. */
static void field_check(const struct message *message, const Field *field, const struct message *inside,
                        const Renga__V1__FieldBounds *bounds)
{
    bool repeated = field->label == GOOGLE__PROTOBUF__FIELD_DESCRIPTOR_PROTO__LABEL__LABEL_REPEATED;
    bool map = inside && inside->proto->options && inside->proto->options->map_entry;
    bool text = field->type == TYPE(STRING);
    bool number = field->type == TYPE(INT32) || field->type == TYPE(INT64) || field->type == TYPE(DOUBLE);
    if (map && (inside->proto->field[1]->type != TYPE(STRING) || !bounds->key_bytes || !bounds->bytes))
        refuse(message->name, field->name, "only maps of strings have bounds: bytes and key_bytes");
    if ((bounds->bytes && !text && field->type != TYPE(BYTES) && !map) || (bounds->key_bytes && !map))
        refuse(message->name, field->name, "has bounds of texts, but no text");
    if ((bounds->form && !text) || (bounds->not_blank && !text && !map))
        refuse(message->name, field->name, "has a form, but is no text");
    if ((bounds->items && !repeated) || (repeated && bounds->required && !bounds->items))
        refuse(message->name, field->name, "has a number of items, but is no list; or is a required list without one");
    if ((bounds->maybe_min_case || bounds->maybe_max_case || bounds->or_zero) && !number)
        refuse(message->name, field->name, "has bounds of numbers, but is no int32, int64 or double");
    if (fabs(bounds->min) > EXACT_MAX || fabs(bounds->max) > EXACT_MAX)
        refuse(message->name, field->name, "has a bound beyond 2 to the power of 53");
    if (bounds->known && field->type != TYPE(ENUM))
        refuse(message->name, field->name, "is `known`, but no enum");
    if (bounds->required && (field->type == TYPE(BOOL) || (!number && !text && field->type != TYPE(BYTES) &&
                                                           field->type != TYPE(ENUM) && field->type != TYPE(MESSAGE))))
        refuse(message->name, field->name, "cannot be required: its type has no bounds");
    if (strlen(bounds->hint) > HINT_MAX || strpbrk(bounds->hint, "\\\n"))
        refuse(message->name, field->name, "has a hint of more than 128 bytes, or with a backslash or line break");
}

static struct message *message_inside(const Field *field)
{
    return field->type == TYPE(MESSAGE) ? message_named(field->type_name + 1) : NULL;
}

/* Whether a field of the message has bounds, or one of the messages inside it. */
static bool message_visit(struct message *message)
{
    const Message *proto = message->proto;
    bool bounded = false;
    if (message->state == UNDER_WAY)
        refuse(message->name, "", "contains itself");
    if (message->state != UNSEEN)
        return message->state == BOUNDED;
    message->state = UNDER_WAY;
    if (proto->n_field)
        qsort(proto->field, proto->n_field, sizeof *proto->field, field_compare);
    for (size_t i = 0; i < proto->n_field; i++) {
        struct message *inside = message_inside(proto->field[i]);
        Renga__V1__FieldBounds *bounds = field_bounds(proto->field[i]);
        if (bounds)
            field_check(message, proto->field[i], inside, bounds);
        bounded |= bounds || (inside && message_visit(inside));
        renga__v1__field_bounds__free_unpacked(bounds, NULL);
    }
    message->state = bounded ? BOUNDED : WITHOUT;
    return bounded;
}

/* ---- the table --------------------------------------------------------------------------------------------------- */

static void number_print(const char *name, double number, bool is_there)
{
    if (is_there)
        printf(", .%s = %.17g", name, number);
}

static void hint_print(const char *hint)
{
    printf(", .hint = \"");
    for (; *hint; hint++)
        printf(*hint == '"' ? "\\\"" : "%c", *hint);
    printf("\"");
}

static void field_print(unsigned index, const Renga__V1__FieldBounds *bounds, const struct message *inside)
{
    bool ranged = bounds->maybe_min_case || bounds->maybe_max_case;
    printf("    {.index = %u", index);
    number_print("bytes", bounds->bytes, bounds->bytes);
    number_print("items", bounds->items, bounds->items);
    number_print("key_bytes", bounds->key_bytes, bounds->key_bytes);
    number_print("form", bounds->form, bounds->form);
    number_print("required", 1, bounds->required);
    number_print("not_blank", 1, bounds->not_blank);
    number_print("known", 1, bounds->known);
    number_print("or_zero", 1, bounds->or_zero);
    number_print("ranged", 1, ranged);
    number_print("min", bounds->maybe_min_case ? bounds->min : -EXACT_MAX, ranged);
    number_print("max", bounds->maybe_max_case ? bounds->max : EXACT_MAX, ranged);
    if (*bounds->hint)
        hint_print(bounds->hint);
    if (inside)
        printf(", .inside = &contract_bounds[%zu]", inside->row);
    printf("},\n");
}

static void message_print(const struct message *message)
{
    static const Renga__V1__FieldBounds no_bounds = RENGA__V1__FIELD_BOUNDS__INIT;
    printf("static const struct field_bounds fields_%zu[] = {\n", message->row);
    for (size_t i = 0; i < message->proto->n_field; i++) {
        Renga__V1__FieldBounds *bounds = field_bounds(message->proto->field[i]);
        struct message *inside = message_inside(message->proto->field[i]);
        inside = inside && inside->state == BOUNDED ? inside : NULL;
        if (bounds || inside)
            field_print((unsigned)i, bounds ? bounds : &no_bounds, inside);
        renga__v1__field_bounds__free_unpacked(bounds, NULL);
    }
    printf("};\n");
}

static void table_print(void)
{
    printf("/* Made of the contract by bounds_generator. */\n#include \"proto/contract_check.h\"\n\n"
           "#define ROWS(fields) fields, sizeof fields / sizeof *fields\n\n"
           "static const struct message_bounds contract_bounds[%zu];\n",
           bounded_count);
    for (size_t i = 0; i < message_count; i++)
        if (messages[i].state == BOUNDED)
            message_print(&messages[i]);
    printf("static const struct message_bounds contract_bounds[%zu] = {\n", bounded_count);
    for (size_t i = 0; i < message_count; i++)
        if (messages[i].state == BOUNDED)
            printf("    {\"%s\", ROWS(fields_%zu)},\n", messages[i].name, messages[i].row);
    printf("};\n\nbool contract_check(const ProtobufCMessage *request, struct status *st)\n{\n"
           "    return message_check_bounds(request, ROWS(contract_bounds), st);\n}\n");
}

static Google__Protobuf__FileDescriptorSet *set_load(const char *path)
{
    static uint8_t bytes[SET_MAX];
    FILE *file = fopen(path, "rb");
    size_t length = file ? fread(bytes, 1, sizeof bytes, file) : 0;
    if (file)
        fclose(file);
    return length < sizeof bytes ? google__protobuf__file_descriptor_set__unpack(NULL, length, bytes) : NULL;
}

int main(int argc, char **argv)
{
    Google__Protobuf__FileDescriptorSet *set = argc == 2 ? set_load(argv[1]) : NULL;
    if (!set || !set->n_file)
        refuse(argc == 2 ? argv[1] : "usage", "", "is no descriptor set");
    for (size_t i = 0; i < set->n_file; i++)
        for (size_t k = 0; k < set->file[i]->n_message_type; k++)
            messages_add(set->file[i]->package, set->file[i]->message_type[k]);
    qsort(messages, message_count, sizeof *messages, message_compare);
    for (size_t i = 0; i < message_count; i++)
        if (strncmp(messages[i].name, "renga.v1.", strlen("renga.v1.")) == 0 && message_visit(&messages[i]))
            messages[i].row = bounded_count++;
    table_print();
    google__protobuf__file_descriptor_set__free_unpacked(set, NULL);
    return fflush(stdout) ? 1 : 0;
}
