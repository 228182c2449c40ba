/* What the extractive provider goes by: a line of JSON in, {"question", "found": what a search tool wrote,
 * "found_nothing": as its result says}, and one out, {"japanese", "scored", "best", "ahead", "support", "confidence",
 * "sentences": the five best, answered or not}. */
#include "extractive/extract.h"
#include "json/json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ARENA_MAX ((size_t)64 << 20)

static void add_sentences(cJSON *list, const struct extract *extract, const struct picked *picked, size_t count,
                          struct arena *arena)
{
    for (size_t i = 0; i < count; i++) {
        const struct passage *passage = &extract->passages[picked[i].passage];
        const struct span *span = &picked[i].span, *heading = &picked[i].heading;
        cJSON *item = cJSON_CreateObject();
        cJSON_AddItemToArray(list, item);
        cJSON_AddStringToObject(item, "text",
                                arena_strndup(arena, passage->text + span->begin, span->end - span->begin));
        cJSON_AddNumberToObject(item, "passage", (double)picked[i].passage);
        cJSON_AddBoolToObject(item, "item", picked[i].item);
        if (heading->end > heading->begin)
            cJSON_AddStringToObject(
                item, "heading",
                arena_strndup(arena, passage->heading + heading->begin, heading->end - heading->begin));
    }
}

static void add_candidates(cJSON *list, const struct extract *extract, const struct selection *selection,
                           struct arena *arena)
{
    for (size_t i = 0; i < selection->count; i++) {
        const struct chosen *at = &selection->list[i].chosen;
        const char *text = extract->passages[at->passage].text + at->span.begin;
        cJSON *item = cJSON_CreateObject();
        cJSON_AddItemToArray(list, item);
        cJSON_AddNumberToObject(item, "passage", (double)at->passage);
        cJSON_AddItemToObject(item, "signs", cJSON_CreateDoubleArray(selection->list[i].signs, SELECTION_SIGNS));
        cJSON_AddStringToObject(item, "text", arena_strndup(arena, text, at->span.end - at->span.begin));
    }
}

static void print_signs(const struct extract *extract, struct arena *arena)
{
    struct picked picked[PICKED_MAX];
    struct selection *selection = arena_alloc(arena, sizeof *selection);
    struct evidence *evidence = evidence_create(arena, extract->passages, extract->passage_count);
    selection_rank(evidence, extract->asked.bytes, extract->asked.length, selection);
    size_t count = extract_pick(extract, evidence, selection, picked);
    cJSON *out = cJSON_CreateObject();
    cJSON_AddBoolToObject(out, "japanese", extract->japanese);
    cJSON_AddStringToObject(out, "type", asked_type_name(selection->asked.type));
    cJSON_AddStringToObject(out, "language", selection->asked.language);
    const struct span *focus = &selection->asked.focus;
    cJSON_AddStringToObject(out, "focus",
                            arena_strndup(arena, extract->asked.bytes + focus->begin, focus->end - focus->begin));
    cJSON_AddBoolToObject(out, "scored", extract->found.scored);
    const double found[] = {extract->found.best, extract->found.ahead_of_second, extract->found.ahead};
    cJSON_AddItemToObject(out, "found", cJSON_CreateDoubleArray(found, 3));
    cJSON_AddItemToObject(out, "covers", cJSON_CreateDoubleArray(selection->covers, SELECTION_COVERS));
    cJSON_AddNumberToObject(out, "confidence", extract_confidence(extract, selection));
    add_sentences(cJSON_AddArrayToObject(out, "sentences"), extract, picked, count, arena);
    add_candidates(cJSON_AddArrayToObject(out, "candidates"), extract, selection, arena);
    char *line = cJSON_PrintUnformatted(out);
    puts(line);
    free(line);
    cJSON_Delete(out);
}

static void ask(const cJSON *in)
{
    Renga__V1__ChatRequest request = RENGA__V1__CHAT_REQUEST__INIT;
    Renga__V1__ChatMessage user = RENGA__V1__CHAT_MESSAGE__INIT, tool = RENGA__V1__CHAT_MESSAGE__INIT;
    Renga__V1__ChatMessage *turns[] = {&user, &tool};
    struct arena arena;
    user.role = RENGA__V1__CHAT_ROLE__CHAT_ROLE_USER;
    user.content = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(in, "question"));
    tool.role = RENGA__V1__CHAT_ROLE__CHAT_ROLE_TOOL;
    tool.content = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(in, "found"));
    tool.tool_found_nothing = cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(in, "found_nothing"));
    request.messages = turns;
    request.n_messages = 2;
    arena_init(&arena, NULL, 0, ARENA_MAX);
    if (user.content && tool.content)
        print_signs(extract_read(&arena, &request), &arena);
    arena_fini(&arena);
}

int main(void)
{
    char *line = NULL;
    size_t room = 0;
    while (getline(&line, &room, stdin) > 0) {
        cJSON *in = cJSON_Parse(line);
        ask(in);
        cJSON_Delete(in);
    }
    free(line);
    return 0;
}
