/* A bundle is {"graph": …, "prompts": {"en/answer": "…"}}: graph.json without comments and spare space, and the prompts
 * sorted by name. graph.json keeps its own order, in which fields and nodes are worked on. */
#include "bundle.h"

#include "base/clock.h"
#include "base/sha256.h"
#include "base/text.h"
#include "reading.h"
#include "json/writer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MEMORY_MAX ((size_t)64 << 20) /* bytes of an agent: some sixty times its document */
#define FILE_NAME  "graph.json"

struct agent *agent_create(void)
{
    struct agent *agent = calloc(1, sizeof *agent);
    if (!agent)
        return NULL;
    arena_init(&agent->arena, NULL, 0, MEMORY_MAX);
    atomic_init(&agent->holders, 1);
    return agent;
}

void agent_destroy(struct agent **agent)
{
    if (!*agent)
        return;
    arena_fini(&(*agent)->arena);
    free(*agent);
    *agent = NULL;
}

void bundle_version(const char *bundle, size_t size, char version[65])
{
    sha256_text_of(bundle, size, version);
}

/* ---- prompts ----------------------------------------------------------------------------------------------------- */

static bool bundle_refuse(struct problems *problems, const char *folder, const char *file, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
static bool bundle_refuse(struct problems *problems, const char *folder, const char *file, const char *format, ...)
{
    struct status why = {0};
    va_list arguments;
    va_start(arguments, format);
    status_set(&why, INVALID_ARGUMENT, format, arguments);
    va_end(arguments);
    problems_add(problems, &(struct agent_problem){.agent = folder, .file = file, .message = why.text});
    return false;
}

static bool bundle_is_language(const char *text)
{
    size_t length = strspn(text, "abcdefghijklmnopqrstuvwxyz");
    return length >= 2 && length <= 3 && text[length] == '\0';
}

static bool is_prompt_name(const char *text)
{
    static const char known[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.";
    size_t length = strlen(text);
    return length > 0 && length <= GRAPH_NAME_MAX && strspn(text, known) == length;
}

static struct prompt *bundle_prompt_of(const struct agent *agent, const char *language, const char *name)
{
    struct prompt *list = (struct prompt *)(uintptr_t)agent->prompts;
    for (size_t i = 0; i < agent->prompt_count; i++)
        if (strcmp(list[i].language, language) == 0 && strcmp(list[i].name, name) == 0)
            return &list[i];
    return NULL;
}

static bool check_prompt(const struct agent *agent, const struct prompt_source *source, const char *folder,
                         struct problems *problems)
{
    size_t clean = text_clean_length(source->text, source->size);
    if (agent->prompt_count == AGENT_PROMPTS_MAX)
        return bundle_refuse(problems, folder, source->file, "there are more than %d prompts; take some out",
                             AGENT_PROMPTS_MAX);
    if (!bundle_is_language(source->language))
        return bundle_refuse(problems, folder, source->file,
                             "'%.*s' is no language; prompts stand in folders such as prompts/en and prompts/ja", SHOWN,
                             source->language);
    if (!is_prompt_name(source->name))
        return bundle_refuse(problems, folder, source->file,
                             "'%.*s' is no name for a prompt; use 1 to %d letters, digits, '_', '-' and '.'", SHOWN,
                             source->name, GRAPH_NAME_MAX);
    const struct prompt *there = bundle_prompt_of(agent, source->language, source->name);
    if (there && (!source->added || there->added))
        return bundle_refuse(problems, folder, source->file,
                             "the prompt '%s' is there twice, as .md and as .txt; take one out", source->name);
    return clean == source->size ||
           bundle_refuse(problems, folder, source->file, "byte %zu is no UTF-8; save the file as UTF-8", clean + 1);
}

/* The list with room for a further prompt; it doubles when it is full. */
static struct prompt *prompts_grow(struct agent *agent)
{
    struct prompt *list = (struct prompt *)(uintptr_t)agent->prompts;
    size_t count = agent->prompt_count;
    if (count & (count - 1) || count == 1)
        return list;
    struct prompt *grown = arena_alloc(&agent->arena, (count ? 2 * count : 2) * sizeof *grown);
    if (grown && count)
        memcpy(grown, list, count * sizeof *grown);
    agent->prompts = grown ? grown : list;
    return grown;
}

bool prompt_add(struct agent *agent, const struct prompt_source *source, const char *folder, struct problems *problems)
{
    struct prompt prompt = {.size = source->size, .added = source->added};
    if (!check_prompt(agent, source, folder, problems))
        return false;
    prompt.language = arena_strdup(&agent->arena, source->language);
    prompt.name = arena_strdup(&agent->arena, source->name);
    prompt.text = arena_strndup(&agent->arena, source->text, source->size);
    struct prompt *there = bundle_prompt_of(agent, source->language, source->name);
    struct prompt *list = there ? there : prompts_grow(agent);
    if (!prompt.language || !prompt.name || !prompt.text || !list)
        return bundle_refuse(problems, folder, source->file, "no memory for this prompt");
    if (there)
        *there = prompt;
    else
        list[agent->prompt_count++] = prompt;
    return true;
}

const char *agent_prompt(const struct agent *agent, const char *name, const char *language)
{
    const char *text = language && *language ? prompt_find(agent, language, name) : NULL;
    return text ? text : prompt_find(agent, "en", name);
}

/* Whether the prompt is NAME.VALUE. */
static bool prompt_is_of(const struct prompt *prompt, const char *name, const char *value)
{
    size_t length = strlen(name);
    return strncmp(prompt->name, name, length) == 0 && prompt->name[length] == '.' &&
           strcmp(prompt->name + length + 1, value) == 0;
}

static const struct prompt *prompt_of_value(const struct agent *agent, const char *name, const char *value,
                                            const char *language)
{
    const struct prompt *english = NULL, *any = NULL;
    for (size_t i = 0; i < agent->prompt_count; i++) {
        const struct prompt *prompt = &agent->prompts[i];
        if (!prompt_is_of(prompt, name, value))
            continue;
        if (language && strcmp(prompt->language, language) == 0)
            return prompt;
        any = any ? any : prompt;
        english = strcmp(prompt->language, "en") == 0 ? prompt : english;
    }
    return english ? english : any;
}

const char *agent_prompt_of(const struct agent *agent, const char *name, const char *value, const char *language,
                            const char **chosen)
{
    const struct prompt *prompt = value ? prompt_of_value(agent, name, value, language) : NULL;
    if (!prompt)
        prompt = prompt_of_value(agent, name, "default", language);
    *chosen = prompt ? prompt->name : name;
    return prompt ? prompt->text : agent_prompt(agent, name, language);
}

static int by_key(const void *a, const void *b)
{
    const struct prompt *first = a, *second = b;
    int order = strcmp(first->language, second->language);
    return order ? order : strcmp(first->name, second->name);
}

/* ---- the bundle -------------------------------------------------------------------------------------------------- */

static void write_prompts(const struct agent *agent, struct json_writer *out)
{
    json_write_object(out, "prompts");
    for (size_t i = 0; i < agent->prompt_count; i++) {
        const struct prompt *prompt = &agent->prompts[i];
        char key[GRAPH_NAME_MAX + 8];
        size_t language = strlen(prompt->language);
        memcpy(key, prompt->language, language);
        key[language] = '/';
        strcpy(key + language + 1, prompt->name);
        json_write_text(out, key, prompt->text, prompt->size);
    }
    json_write_end(out);
}

static bool write_bundle(struct agent *agent, const cJSON *root)
{
    struct buffer text;
    struct json_writer out;
    buffer_init(&text, AGENT_BUNDLE_MAX);
    json_writer_init(&out, &text);
    if (agent->prompt_count)
        qsort((void *)(uintptr_t)agent->prompts, agent->prompt_count, sizeof *agent->prompts, by_key);
    json_write_object(&out, NULL);
    json_write_tree(&out, "graph", root);
    write_prompts(agent, &out);
    json_write_end(&out);
    if (json_writer_done(&out)) {
        agent->bundle_size = text.length;
        agent->bundle_json = arena_strndup(&agent->arena, buffer_text(&text), text.length);
    }
    buffer_fini(&text);
    return agent->bundle_json;
}

static void seal(struct agent *agent)
{
    bundle_version(agent->bundle_json, agent->bundle_size, agent->version);
    agent->loaded_ms = clock_wall_ns() / NS_PER_MS;
}

/* ---- documents --------------------------------------------------------------------------------------------------- */

/* "graph.json:3:5: text" as a problem with line and column. */
static void refuse_document(struct problems *problems, const char *folder, const char *text)
{
    struct agent_problem problem = {.agent = folder, .file = FILE_NAME, .message = text};
    int end = 0;
    if (sscanf(text, FILE_NAME ":%d:%d: %n", &problem.line, &problem.column, &end) == 2 && end > 0)
        problem.message += end;
    else
        problem.line = problem.column = 0;
    problems_add(problems, &problem);
}

static bool bundle_read_text(struct agent *agent, const char *text, size_t size, const char *folder,
                             struct problems *problems)
{
    static const struct json_limits limits = {.bytes = AGENT_FILE_MAX};
    struct json_document document;
    struct status why = {0};
    if (!json_document_parse(&document, FILE_NAME, text, size, &limits, &why)) {
        refuse_document(problems, folder, why.text);
        return false;
    }
    bool good = agent_read(agent, &document, document.root, folder, FILE_NAME, problems);
    if (good && !write_bundle(agent, document.root))
        good = bundle_refuse(problems, folder, "",
                             "the agent and its prompts have more than %zu bytes together; take some out",
                             AGENT_BUNDLE_MAX);
    json_document_fini(&document);
    return good;
}

struct agent *agent_of_text(struct agent *agent, const char *text, size_t size, const char *folder,
                            struct problems *problems)
{
    if (bundle_read_text(agent, text, size, folder, problems))
        seal(agent);
    else
        agent_destroy(&agent);
    return agent;
}

static bool add_bundled(struct agent *agent, const cJSON *prompts, const char *folder, struct problems *problems)
{
    const cJSON *item;
    cJSON_ArrayForEach(item, prompts)
    {
        char language[8] = "";
        size_t length = strcspn(item->string, "/");
        if (!cJSON_IsString(item) || item->string[length] != '/' || length >= sizeof language)
            return bundle_refuse(problems, folder, "bundle", "the prompt '%.*s' is not as bundles have them", SHOWN,
                                 item->string);
        memcpy(language, item->string, length);
        const struct prompt_source source = {.language = language,
                                             .name = item->string + length + 1,
                                             .file = "bundle",
                                             .text = item->valuestring,
                                             .size = strlen(item->valuestring)};
        if (!prompt_add(agent, &source, folder, problems))
            return false;
    }
    return true;
}

/* An agent that was loaded with a faulty prompt of a value has runs, which are read again. */
static bool bundle_read_bundle(struct agent *agent, const struct json_document *document, struct problems *problems)
{
    const cJSON *graph = part(document->root, "graph"), *prompts = part(document->root, "prompts");
    const cJSON *name = part(graph, "agent");
    const char *folder = cJSON_IsString(name) ? name->valuestring : "bundle";
    if (!cJSON_IsObject(graph) || !cJSON_IsObject(prompts))
        return bundle_refuse(problems, folder, "bundle", "a bundle has \"graph\" and \"prompts\"; this text is none");
    agent->lenient = true;
    return add_bundled(agent, prompts, folder, problems) &&
           agent_read(agent, document, graph, folder, FILE_NAME, problems);
}

struct agent *agent_of_bundle(const char *bundle, size_t size, struct problems *problems)
{
    static const struct json_limits limits = {.bytes = AGENT_BUNDLE_MAX};
    struct json_document document;
    struct status why = {0};
    if (!json_document_parse(&document, FILE_NAME, bundle, size, &limits, &why)) {
        refuse_document(problems, "bundle", why.text);
        return NULL;
    }
    struct agent *agent = agent_create();
    bool good = agent && bundle_read_bundle(agent, &document, problems);
    json_document_fini(&document);
    if (good) {
        agent->bundle_size = size;
        agent->bundle_json = arena_strndup(&agent->arena, bundle, size);
        good = agent->bundle_json;
    }
    if (good)
        seal(agent);
    else
        agent_destroy(&agent);
    return agent;
}
