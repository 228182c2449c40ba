/* The content of an agent's folder: graph.json, and prompts/LANGUAGE/NAME.md or .txt. On disk, or in the binary. */
#include "base/file.h"
#include "bundle.h"
#include "reading.h"
#include "shipped.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define PATH_BYTES_MAX 4096

/* A file that is being read, and how it is shown. */
struct place {
    char path[PATH_BYTES_MAX];
    char file[PATH_BYTES_MAX]; /* within the agent's folder */
    const char *folder;
    const char *language; /* of a prompt: the name of its folder */
    bool added;           /* by an operator, beside the agent's own prompts */
    struct problems *problems;
};

static bool folder_refuse(const struct place *place, const char *text)
{
    problems_add(place->problems,
                 &(struct agent_problem){.agent = place->folder, .file = place->file, .message = text});
    return false;
}

/* The place of `name` within; false if its path is too long. */
static bool folder_enter(const struct place *outer, const char *name, struct place *place)
{
    place->folder = outer->folder;
    place->language = outer->language;
    place->added = outer->added;
    place->problems = outer->problems;
    int path = snprintf(place->path, sizeof place->path, "%s/%s", outer->path, name);
    int file = snprintf(place->file, sizeof place->file, "%s%s%s", outer->file, *outer->file ? "/" : "", name);
    bool fits = path < PATH_BYTES_MAX && file < PATH_BYTES_MAX;
    return fits || folder_refuse(outer, "a path within it is too long");
}

static bool folder_read_file(const struct place *place, struct buffer *text)
{
    struct status why = {0};
    buffer_init(text, AGENT_FILE_MAX);
    if (file_read(place->path, text, &why))
        return true;
    buffer_fini(text);
    if (why.code == RESOURCE_EXHAUSTED)
        return folder_refuse(place, "has more than 1048576 bytes; make it smaller, or several of it");
    return folder_refuse(place, strerror(why.code == NOT_FOUND           ? ENOENT
                                         : why.code == PERMISSION_DENIED ? EACCES
                                                                         : EIO));
}

/* Hidden files do not belong to the agent: editors, version control and mounted volumes keep them. */
static int is_shown(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

/* By bytes: the same order in every language. */
static int by_bytes(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

/* Calls `each` for the entries of the folder in their order, as long as it is true. A missing folder has no entries. */
static bool list(const struct place *place,
                 bool (*each)(struct agent *agent, const struct place *place, const char *name), struct agent *agent)
{
    struct dirent **entries = NULL;
    int count = scandir(place->path, &entries, is_shown, by_bytes);
    if (count < 0)
        return errno == ENOENT || folder_refuse(place, strerror(errno));
    bool good = true;
    for (int i = 0; i < count; i++) {
        struct place inner;
        good = good && folder_enter(place, entries[i]->d_name, &inner) && each(agent, &inner, entries[i]->d_name);
        free(entries[i]);
    }
    free(entries);
    return good;
}

static bool folder_add_prompt(struct agent *agent, const struct place *place, const char *file)
{
    const char *ending = strrchr(file, '.');
    struct buffer text;
    char name[GRAPH_NAME_MAX + 2] = "";
    if (!ending || (strcmp(ending, ".md") != 0 && strcmp(ending, ".txt") != 0))
        return folder_refuse(place, "is no prompt; end its name in .md or .txt, or move it away");
    if (!folder_read_file(place, &text))
        return false;
    snprintf(name, sizeof name, "%.*s", (int)(ending - file), file);
    const struct prompt_source source = {.language = place->language,
                                         .name = name,
                                         .file = place->file,
                                         .text = buffer_text(&text),
                                         .size = text.length,
                                         .added = place->added};
    bool good = prompt_add(agent, &source, place->folder, place->problems);
    buffer_fini(&text);
    return good;
}

static bool add_or_skip_prompt(struct agent *agent, const struct place *place, const char *file)
{
    return folder_add_prompt(agent, place, file) || (place->added && agent->lenient);
}

static bool folder_add_language(struct agent *agent, const struct place *place, const char *language)
{
    struct stat about;
    struct place folder = *place;
    folder.language = language;
    if (stat(place->path, &about) != 0 || !S_ISDIR(about.st_mode))
        return folder_refuse(
                   place, "is no folder of a language; prompts stand in folders such as prompts/en and prompts/ja") ||
               (place->added && agent->lenient);
    return list(&folder, add_or_skip_prompt, agent);
}

/* The prompts of added/NAME/LANGUAGE/; the folder may be missing. */
static bool add_prompts_beside(struct agent *agent, const struct agent_place *from, bool lenient,
                               struct problems *problems)
{
    struct place root = {.folder = from->name, .added = true, .problems = problems};
    if (!from->added)
        return true;
    agent->lenient = lenient;
    snprintf(root.path, sizeof root.path, "%s/%s", from->added, from->name);
    snprintf(root.file, sizeof root.file, "%s/%s", from->added, from->name);
    return list(&root, folder_add_language, agent);
}

/* "prompts/en/answer.md" */
static bool add_shipped_prompt(struct agent *agent, const struct shipped_file *file, struct problems *problems)
{
    char language[GRAPH_NAME_MAX + 2], name[GRAPH_NAME_MAX + 2];
    if (sscanf(file->path, "prompts/%65[^/]/%65[^/]", language, name) != 2)
        return true;
    char *ending = strrchr(name, '.');
    if (ending)
        *ending = '\0';
    const struct prompt_source source = {
        .language = language, .name = name, .file = file->path, .text = file->text, .size = file->size};
    return prompt_add(agent, &source, file->agent, problems);
}

static struct agent *agent_of_shipped(const struct agent_place *from, bool lenient, struct problems *problems)
{
    const struct shipped_file *graph = NULL;
    struct agent *agent = agent_create();
    bool good = agent;
    for (const struct shipped_file *file = from->shipped; good && file->agent; file++) {
        if (strcmp(file->agent, from->name) != 0)
            continue;
        if (strcmp(file->path, "graph.json") == 0)
            graph = file;
        good = add_shipped_prompt(agent, file, problems);
    }
    if (!good || !graph || !add_prompts_beside(agent, from, lenient, problems)) {
        agent_destroy(&agent);
        return NULL;
    }
    return agent_of_text(agent, graph->text, graph->size, from->name, problems);
}

static struct agent *agent_of_folder(const struct agent_place *from, bool lenient, struct problems *problems)
{
    struct place root = {.folder = from->name, .problems = problems}, file;
    struct buffer text;
    struct agent *agent = agent_create();
    bool fits = snprintf(root.path, sizeof root.path, "%s", from->path) < PATH_BYTES_MAX;
    if (!agent || !fits || !folder_enter(&root, "prompts", &file) || !list(&file, folder_add_language, agent) ||
        !add_prompts_beside(agent, from, lenient, problems) || !folder_enter(&root, "graph.json", &file) ||
        !folder_read_file(&file, &text)) {
        agent_destroy(&agent);
        return NULL;
    }
    agent = agent_of_text(agent, buffer_text(&text), text.length, from->name, problems);
    buffer_fini(&text);
    return agent;
}

static struct agent *agent_read_place(const struct agent_place *from, bool lenient, struct problems *problems)
{
    return from->path ? agent_of_folder(from, lenient, problems) : agent_of_shipped(from, lenient, problems);
}

struct agent *agent_of_place(const struct agent_place *from, struct problems *problems)
{
    static const char said[] =
        "is loaded all the same: the agent's own prompts stand for files that cannot be read, and runs that choose a "
        "prompt with a faulty name fail";
    struct agent *agent = agent_read_place(from, false, problems);
    if (agent || !from->added || from->is_loaded)
        return agent;
    agent = agent_read_place(from, true, problems); /* names all faulty prompts, not the first alone */
    if (agent)
        problems_add(problems, &(struct agent_problem){.agent = from->name, .file = "graph.json", .message = said});
    return agent;
}
