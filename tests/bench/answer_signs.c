/* What the extractive provider goes by: a line of JSON in, {"question", "found": what a search tool wrote}, and one
 * out,
 * {"japanese", "scored", "best", "ahead", "support", "confidence", "sentences": the five best, answered or not}. */
#include "base/json.h"
#include "extractive/extract.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ARENA_MAX ((size_t)64 << 20)

static void add_sentences(cJSON *out, const struct extract *extract, const struct chosen *chosen, size_t count,
                          struct arena *arena)
{
    cJSON *list = cJSON_AddArrayToObject(out, "sentences");
    for (size_t i = 0; i < count; i++) {
        const char *text = extract->passages[chosen[i].passage].text + chosen[i].span.begin;
        cJSON_AddItemToArray(list,
                             cJSON_CreateString(arena_strndup(arena, text, chosen[i].span.end - chosen[i].span.begin)));
    }
}

static void print_signs(const struct extract *extract, struct arena *arena)
{
    struct chosen chosen[CHOSEN_MAX];
    struct evidence *evidence = evidence_create(arena, extract->passages, extract->passage_count);
    size_t count = extract_choose(extract, evidence, chosen);
    double support = evidence_answers(evidence, extract->asked.bytes, extract->asked.length, chosen, count);
    cJSON *out = cJSON_CreateObject();
    cJSON_AddBoolToObject(out, "japanese", extract->japanese);
    cJSON_AddBoolToObject(out, "scored", extract->found.scored);
    cJSON_AddNumberToObject(out, "best", extract->found.best);
    cJSON_AddNumberToObject(out, "ahead", extract->found.ahead);
    cJSON_AddNumberToObject(out, "support", support);
    cJSON_AddNumberToObject(out, "confidence", extract_confidence(extract, support));
    add_sentences(out, extract, chosen, count, arena);
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
