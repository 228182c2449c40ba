/* Makes a result fit into a message. Parts of it are cut or left out, and its outcome reports this. */
#include "agent_run.h"

#include "base/text.h"

#include <string.h>

#define RESULT_BYTES_MAX ((size_t)4 << 20)
#define AROUND_BYTES     ((size_t)64 << 10) /* the event around it, and the degradation that reports the cut */
#define DEGRADATIONS_MAX 100

size_t agent_excess(const ProtobufCMessage *result)
{
    size_t size = protobuf_c_message_get_packed_size(result);
    return size > RESULT_BYTES_MAX - AROUND_BYTES ? size - (RESULT_BYTES_MAX - AROUND_BYTES) : 0;
}

/* The bytes that are saved if each text has at most `most` bytes. */
static size_t agent_freed_by(char *const *texts, size_t count, size_t most)
{
    size_t freed = 0;
    for (size_t i = 0; i < count; i++) {
        size_t length = strlen(texts[i]);
        freed += length > most ? length - most : 0;
    }
    return freed;
}

bool agent_cut_texts(char *const *texts, size_t count, size_t over)
{
    size_t least = 0, most = RESULT_BYTES_MAX;
    if (!over || !agent_freed_by(texts, count, 0))
        return false;
    while (least < most) {
        size_t middle = least + (most - least + 1) / 2;
        if (agent_freed_by(texts, count, middle) >= over)
            least = middle;
        else
            most = middle - 1;
    }
    for (size_t i = 0; i < count; i++) {
        size_t length = strlen(texts[i]);
        if (length > least)
            texts[i][text_cut(texts[i], length, least)] = '\0';
    }
    return true;
}

bool agent_cut_rows(ProtobufCMessage *const *rows, size_t *count, size_t over)
{
    size_t freed = 0;
    bool cut = over > 0 && *count > 0;
    while (*count && freed < over)
        freed += protobuf_c_message_get_packed_size(rows[--*count]);
    return cut;
}

void agent_note_cut(Renga__V1__AgentOutcome *outcome, const char *part, const char *reason, struct arena *arena)
{
    size_t count = outcome->n_degradations;
    Renga__V1__Degradation *degradation = arena_alloc(arena, sizeof *degradation);
    Renga__V1__Degradation **list = arena_alloc(arena, (count + 1) * sizeof(*list));
    if (!degradation || !list || count >= DEGRADATIONS_MAX)
        return;
    renga__v1__degradation__init(degradation);
    degradation->part = (char *)(uintptr_t)part;
    degradation->kind = RENGA__V1__DEGRADATION_KIND__DEGRADATION_KIND_PARTIAL;
    degradation->reason = (char *)(uintptr_t)reason;
    if (count)
        memcpy(list, outcome->degradations, count * sizeof(*list));
    list[count] = degradation;
    outcome->degradations = list;
    outcome->n_degradations++;
}
