/* The output of --help: a paragraph of options for each first word of their names. */
#include "base/memory.h"
#include "config_private.h"

#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define WIDTH_UNKNOWN 80
#define WIDTH_LEAST   40
#define WIDTH_MAX     100
#define HELP_INDENT   6
#define FACTS_MAX     ((size_t)16 << 10)

/* The text in lines of at most `width` characters, each indented. */
static void print_wrapped(struct buffer *out, const char *text, unsigned width, unsigned indent)
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
            buffer_printf(out, "%*s", (int)indent, "");
        else
            buffer_put(out, ' ');
        column += characters + (column == 0 ? indent : 1);
        buffer_append(out, text, bytes);
        text += bytes;
    }
    if (column > 0)
        buffer_put(out, '\n');
}

/* ---- one option -------------------------------------------------------------------------------------------------- */

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
    buffer_init(&facts, FACTS_MAX);
    if (option->type == OPTION_BOOLEAN)
        buffer_printf(out, "  --[no-]%s\n", option->name);
    else
        buffer_printf(out, "  --%s %s\n", option->name, placeholder(option));
    if (option->help != NULL)
        print_wrapped(out, option->help, width, HELP_INDENT);

    if (option->choices != NULL && (option->type != OPTION_CHOICE || option->unit != NULL))
        buffer_printf(&facts, "One of %s. ", option->choices);
    if (option->secret && option->type == OPTION_STRING)
        buffer_print(&facts, "Secret: also file:PATH or env:NAME. ");
    bool off = option->type == OPTION_BOOLEAN && value->fallback != NULL && strcmp(value->fallback, "false") == 0;
    if (value->fallback != NULL && *value->fallback != '\0' && !option->secret && !off)
        buffer_printf(&facts, "Default %s. ", value->fallback);
    if (option->min != 0 || option->max != 0) {
        char least[CONFIG_NUMBER_SIZE], most[CONFIG_NUMBER_SIZE];
        config_format_number(option, option->min, least);
        config_format_number(option, option->max, most);
        if (option->max == INT64_MAX)
            buffer_printf(&facts, "At least %s. ", least);
        else
            buffer_printf(&facts, "From %s to %s. ", least, most);
    }
    buffer_printf(&facts, "[%s]", value->variable);
    print_wrapped(out, buffer_text(&facts), width, HELP_INDENT);
    buffer_fini(&facts);
}

/* ---- paragraphs -------------------------------------------------------------------------------------------------- */

/* Length of the first word, which all options of a paragraph share; 0 for a name of one word. */
static size_t help_first_word(const struct config_value *value)
{
    size_t length = strcspn(value->option->name, ".");
    return value->option->name[length] != '\0' ? length : 0;
}

static bool is_together(const struct config_value *a, const struct config_value *b)
{
    size_t length = help_first_word(a);
    return help_first_word(b) == length && memcmp(a->option->name, b->option->name, length) == 0;
}

static int by_place(const void *left, const void *right)
{
    const struct config_value *a = *(const struct config_value *const *)left,
                              *b = *(const struct config_value *const *)right;
    return (a->place > b->place) - (a->place < b->place);
}

/* Those that are used so, in the order of their tables; NULL-terminated, to be freed. */
static const struct config_value **in_order(const struct config *config, bool shown, bool further)
{
    size_t count = 0;
    const struct config_value **list = xcalloc(config->count + 1, sizeof *list);
    for (size_t i = 0; i < config->count; i++) {
        const struct config_value *value = &config->values[i];
        if ((shown && value->use == OPTION_SHOWN) || (further && value->use == OPTION_FURTHER))
            list[count++] = value;
    }
    qsort(list, count, sizeof *list, by_place);
    return list;
}

static bool is_first_of_its(const struct config_value *const *list, size_t i)
{
    for (size_t before = 0; before < i; before++) {
        if (is_together(list[before], list[i]))
            return false;
    }
    return true;
}

/* "--loops, --trace.*": a word that begins several names stands for them. */
static void name_further(struct buffer *out, const struct config_value *const *list, unsigned width)
{
    struct buffer text;
    buffer_init(&text, FACTS_MAX);
    buffer_print(&text, "There are further ones, which --help-all explains:");
    for (size_t first = 0; list[first] != NULL; first++) {
        size_t length = help_first_word(list[first]);
        bool alone = true;
        for (size_t i = 0; list[i] != NULL; i++)
            alone = alone && (i == first || length == 0 || !is_together(list[first], list[i]));
        if (length > 0 && !is_first_of_its(list, first))
            continue;
        if (alone)
            buffer_printf(&text, "%s --%s", first > 0 ? "," : "", list[first]->option->name);
        else
            buffer_printf(&text, "%s --%.*s.*", first > 0 ? "," : "", (int)length, list[first]->option->name);
    }
    buffer_put(&text, '.');
    if (list[0] != NULL) {
        buffer_put(out, '\n');
        print_wrapped(out, buffer_text(&text), width, 0);
    }
    buffer_fini(&text);
}

static unsigned terminal_width(void)
{
    struct winsize size;
    bool known = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
    unsigned width = known ? size.ws_col : WIDTH_UNKNOWN;
    return width < WIDTH_LEAST ? WIDTH_LEAST : width > WIDTH_MAX ? WIDTH_MAX : width;
}

static void print_examples(struct buffer *out, const char *examples)
{
    buffer_print(out, "\nExamples:\n");
    for (size_t length; *examples != '\0'; examples += length) {
        length = strcspn(examples, "\n");
        length += examples[length] == '\n';
        buffer_printf(out, "  %.*s", (int)length, examples);
    }
}

void config_help(const struct config *config, const struct config_help *help, struct buffer *out)
{
    bool all = config->request == CONFIG_SHOW_HELP_ALL;
    unsigned width = help->width != 0 ? help->width : terminal_width();
    const struct config_value **explained = in_order(config, true, all), **further = in_order(config, false, !all);
    if (help->about != NULL) {
        print_wrapped(out, help->about, width, 0);
        buffer_put(out, '\n');
    }
    buffer_printf(out, "Usage: %s\n", help->usage);
    if (help->examples != NULL)
        print_examples(out, help->examples);
    for (size_t first = 0; explained[first] != NULL; first++) {
        size_t length = help_first_word(explained[first]);
        if (!is_first_of_its(explained, first))
            continue;
        if (length > 0)
            buffer_printf(out, "\n%.*s\n", (int)length, explained[first]->option->name);
        else
            buffer_print(out, first > 0 ? "\ngeneral\n" : "\noptions\n");
        for (size_t i = first; explained[i] != NULL; i++) {
            if (is_together(explained[first], explained[i]))
                print_option(out, explained[i], width);
        }
    }
    buffer_print(out, "\n"
                      "  --config FILE    read a configuration file (JSON with comments) [" CONFIG_PREFIX "CONFIG]\n"
                      "  --print-config   print the configuration in force and where it comes from\n"
                      "  --version        print the version\n"
                      "  --help           print this\n\n");
    print_wrapped(out, "A flag wins over the environment, which wins over the file.", width, 0);
    name_further(out, further, width);
    free(explained);
    free(further);
}
