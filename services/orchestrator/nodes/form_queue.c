#include "form_queue.h"

#include <string.h>

#define NOT_SAID (-1)

cJSON *queue_add(struct form_queue *queue, struct form_fill *fill, size_t field, const char *words, int message,
                 const struct form_value *value, Renga__V1__ValueOrigin origin)
{
    cJSON *item = cJSON_CreateObject();
    if (!queue->items)
        queue->items = cJSON_CreateArray();
    if (!item || !queue->items || !cJSON_AddItemToArray(queue->items, item)) {
        cJSON_Delete(item);
        return NULL;
    }
    form_fill_put(item, "field_id", form_field(fill->form, field)->field_id);
    form_fill_put(item, "said", words);
    form_fill_put_number(item, "message", message);
    form_fill_put(item, "origin",
                  protobuf_c_enum_descriptor_get_value(&renga__v1__value_origin__descriptor, (int)origin)->name);
    if (value->problem == FORM_FINE) {
        char *quote = arena_strndup(fill->arena, words + value->begin, value->end - value->begin);
        form_fill_put(item, "text", value->text);
        form_fill_put_item(item, "typed", cJSON_Duplicate(value->json, true));
        form_fill_put(item, "quote", quote);
    } else {
        form_fill_put(item, "problem", form_problem_message(fill->form, field, value, &fill->context, fill->arena));
    }
    return item;
}

bool queue_read(struct form_queue *queue, struct form_fill *fill, size_t field, const char *words,
                Renga__V1__ValueOrigin origin, struct status *st)
{
    struct form_value value;
    return (form_read_value(fill->form, field, words, &fill->context, fill->arena, &value) &&
            queue_add(queue, fill, field, words, NOT_SAID, &value, origin)) ||
           fail(st, RESOURCE_EXHAUSTED, "the words take more memory than an attempt may have");
}

void queue_write(struct form_queue *queue, struct update *update, const char *name)
{
    json_write_array(&update->out, name);
    for (const cJSON *item = queue->items ? queue->items->child : NULL; item; item = item->next)
        json_write_tree(&update->out, NULL, item);
    json_write_end(&update->out);
    queue_free(queue);
}

void queue_free(struct form_queue *queue)
{
    cJSON_Delete(queue->items);
    queue->items = NULL;
}

void queue_keep_fact(struct form_fill *fill, size_t field, const char *fact)
{
    cJSON *entry = form_fill_entry(fill, field), *list = cJSON_GetObjectItemCaseSensitive(entry, "known_facts");
    size_t key = strcspn(fact, ":") + 1;
    if (!cJSON_IsArray(list)) {
        form_fill_put_item(entry, "known_facts", cJSON_CreateArray());
        list = cJSON_GetObjectItemCaseSensitive(entry, "known_facts");
    }
    int place = 0;
    for (cJSON *item = list->child; item; item = item->next, place++)
        if (cJSON_IsString(item) && strncmp(item->valuestring, fact, key) == 0) {
            cJSON_DeleteItemFromArray(list, place);
            break;
        }
    cJSON_AddItemToArray(list, cJSON_CreateString(fact));
}
