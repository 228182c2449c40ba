/* What operators read: the help text, and the configuration in force. */
#include "base/json_writer.h"
#include "config_private.h"

#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define WIDTH_MIN   80
#define WIDTH_MAX   100
#define HELP_INDENT 6

static void print_level_end(struct buffer *out, unsigned depth)
{
    buffer_printf(out, "%*s},\n", 2 * (int)depth, "");
}

/* Ends and begins the levels between the option printed last and this one; gives the depth of this one. */
static unsigned print_levels(struct buffer *out, const char *before, const char *name)
{
    unsigned shared = 0, depth = 0;
    size_t behind = 0; /* in both, where the shared levels end */
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

/* A path may hold any byte; a line break would end the comment. */
static void print_source(struct buffer *out, const char *where)
{
    buffer_print(out, " // ");
    for (; *where != '\0'; where++)
        buffer_put(out, (unsigned char)*where < 0x20 ? '?' : *where);
    buffer_put(out, '\n');
}

/* Whatever its option is: a URL with an '@' may have a password before it. */
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
        unsigned depth = print_levels(out, before, name);
        bool unset = is_unset(value), hidden = unset || value->option->secret || may_have_password(value);
        buffer_printf(out, "%*s%s\"%s\": ", 2 * (int)depth, "", hidden ? "// " : "", dot != NULL ? dot + 1 : name);
        if (hidden)
            buffer_print(out, unset ? "(unset)" : "(set)");
        else
            print_value(out, value);
        buffer_put(out, ',');
        print_source(out, value->where);
        before = name;
    }
    print_levels(out, before, "");
    buffer_print(out, "}\n");
}

/* The text in lines of at most `width` characters, each indented. */
static void print_wrapped(struct buffer *out, const char *text, unsigned width)
{
    unsigned column = 0;
    while (*(text += strspn(text, " ")) != '\0') {
        size_t bytes = strcspn(text, " ");
        unsigned characters = 0;
        for (size_t i = 0; i < bytes; i++)
            characters += (text[i] & 0xC0) != 0x80;
        if (column > 0 && column + 1 + characters > width) {
            buffer_put(out, '\n');
            column = 0;
        }
        if (column == 0)
            buffer_printf(out, "%*s", HELP_INDENT, "");
        else
            buffer_put(out, ' ');
        column += characters + (column == 0 ? HELP_INDENT : 1);
        buffer_append(out, text, bytes);
        text += bytes;
    }
    if (column > 0)
        buffer_put(out, '\n');
}

static const char *placeholder(const struct option *option)
{
    static const char *const names[] = {
        [OPTION_STRING] = "TEXT", [OPTION_INTEGER] = "N", [OPTION_BOOLEAN] = "",   [OPTION_DURATION] = "DURATION",
        [OPTION_SIZE] = "SIZE",   [OPTION_CHOICE] = "",   [OPTION_LIST] = "A,B,…", [OPTION_JSON] = "JSON",
    };
    if (option->unit != NULL)
        return option->unit;
    return option->type == OPTION_CHOICE && option->choices != NULL ? option->choices : names[option->type];
}

static void print_option(struct buffer *out, const struct config_value *value, unsigned width)
{
    const struct option *option = value->option;
    struct buffer facts;
    buffer_init(&facts, (size_t)16 << 10);
    if (option->type == OPTION_BOOLEAN)
        buffer_printf(out, "  --[no-]%s\n", option->name);
    else
        buffer_printf(out, "  --%s %s\n", option->name, placeholder(option));
    if (option->help != NULL)
        print_wrapped(out, option->help, width);

    if (option->choices != NULL && (option->type != OPTION_CHOICE || option->unit != NULL))
        buffer_printf(&facts, "One of %s. ", option->choices);
    if (option->secret && option->type == OPTION_STRING)
        buffer_print(&facts, "Secret: also file:PATH or env:NAME. ");
    if (option->fallback != NULL && *option->fallback != '\0' && !option->secret)
        buffer_printf(&facts, "Default %s. ", option->fallback);
    if (option->min != 0 || option->max != 0) {
        char least[CONFIG_NUMBER_SIZE], most[CONFIG_NUMBER_SIZE];
        config_format_number(option, option->min, least);
        config_format_number(option, option->max, most);
        buffer_printf(&facts, "From %s to %s. ", least, most);
    }
    buffer_printf(&facts, "[%s]", value->variable);
    print_wrapped(out, buffer_text(&facts), width);
    buffer_fini(&facts);
}

static unsigned terminal_width(void)
{
    struct winsize size;
    unsigned width = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : WIDTH_MIN;
    return width < WIDTH_MIN ? WIDTH_MIN : width > WIDTH_MAX ? WIDTH_MAX : width;
}

void config_help(const struct config *config, const char *usage, unsigned width, struct buffer *out)
{
    const char *group = "";
    size_t group_length = 0;
    if (width == 0)
        width = terminal_width();
    buffer_printf(out, "Usage: %s\n\n", usage);
    buffer_print(out, "  --config FILE    read a configuration file (JSON with comments) [" CONFIG_PREFIX "CONFIG]\n"
                      "  --print-config   print the configuration in force and where it comes from\n"
                      "  --version        print the version\n"
                      "  --help           print this\n\n"
                      "A flag wins over the environment, which wins over the file.\n");
    for (size_t i = 0; i < config->count; i++) {
        const char *name = config->values[i].option->name;
        size_t length = strcspn(name, ".");
        if (name[length] == '\0')
            length = 0; /* not in a group */
        if (i == 0 || length != group_length || memcmp(group, name, length) != 0)
            buffer_printf(out, "\n%.*s\n", length > 0 ? (int)length : 7, length > 0 ? name : "general");
        group = name;
        group_length = length;
        print_option(out, &config->values[i], width);
    }
}
