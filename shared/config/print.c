/* The configuration in force, as a file that reads back. */
#include "config_private.h"
#include "json/writer.h"

static void print_level_end(struct buffer *out, unsigned depth)
{
    buffer_printf(out, "%*s},\n", 2 * (int)depth, "");
}

/* Ends and begins the levels between the option printed last and this one; gives the depth of this one. */
static unsigned print_levels(struct buffer *out, const char *before, const char *name)
{
    unsigned shared = 0, depth = 0;
    size_t behind = 0; /* in both names, the end of the shared levels */
    for (size_t i = 0; name[i] != '\0' && before[i] == name[i]; i++) {
        if (name[i] == '.') {
            shared++;
            behind = i + 1;
        }
    }
    for (const char *c = before + behind; *c != '\0'; c++)
        depth += *c == '.';
    for (; depth > 0; depth--)
        print_level_end(out, shared + depth);

    const char *word = name + behind;
    depth = shared + 1;
    for (const char *dot; (dot = strchr(word, '.')) != NULL; word = dot + 1, depth++)
        buffer_printf(out, "%*s\"%.*s\": {\n", 2 * (int)depth, "", (int)(dot - word), word);
    return depth;
}

static bool is_unset(const struct config_value *value)
{
    switch (value->option->type) {
    case OPTION_STRING:
        return value->text == NULL;
    case OPTION_LIST:
        return value->list == NULL;
    case OPTION_JSON:
        return value->json == NULL;
    default:
        return false;
    }
}

static void print_value(struct buffer *out, const struct config_value *value)
{
    struct json_writer writer;
    char number[CONFIG_NUMBER_SIZE];
    json_writer_init(&writer, out);
    switch (value->option->type) {
    case OPTION_STRING:
    case OPTION_CHOICE:
        json_write_string(&writer, NULL, value->text);
        break;
    case OPTION_DURATION:
    case OPTION_SIZE:
        config_format_number(value->option, value->number, number);
        json_write_string(&writer, NULL, number);
        break;
    case OPTION_LIST:
        json_write_array(&writer, NULL);
        for (size_t i = 0; i < value->count; i++)
            json_write_string(&writer, NULL, value->list[i]);
        json_write_end(&writer);
        break;
    case OPTION_JSON:
        json_write_tree(&writer, NULL, value->json);
        break;
    default:
        config_format_number(value->option, value->number, number);
        json_write_raw(&writer, NULL, number, strlen(number));
    }
}

/* For options of any type: a URL with an '@' may have a password before it. */
static bool may_have_password(const struct config_value *value)
{
    const char *url = value->option->type == OPTION_STRING ? strstr(value->text, "://") : NULL;
    return url != NULL && strchr(url, '@') != NULL;
}

void config_print(const struct config *config, struct buffer *out)
{
    const char *before = "";
    buffer_print(out, "{\n");
    for (size_t i = 0; i < config->count; i++) {
        const struct config_value *value = &config->values[i];
        const char *name = value->option->name, *dot = strrchr(name, '.');
        if (value->use == OPTION_IDLE)
            continue;
        unsigned depth = print_levels(out, before, name);
        bool unset = is_unset(value), hidden = unset || value->option->secret || may_have_password(value);
        buffer_printf(out, "%*s%s\"%s\": ", 2 * (int)depth, "", hidden ? "// " : "", dot != NULL ? dot + 1 : name);
        if (hidden)
            buffer_print(out, unset ? "(unset)" : "(set)");
        else
            print_value(out, value);
        buffer_put(out, ',');
        /* A path may hold any byte; a line break would end the comment. */
        const char *where = value->where;
        buffer_print(out, " // ");
        for (; *where != '\0'; where++)
            buffer_put(out, (unsigned char)*where < 0x20 ? '?' : *where);
        buffer_put(out, '\n');
        before = name;
    }
    print_levels(out, before, "");
    buffer_print(out, "}\n");
}
