/* A stream of one method: its messages are the events. */
#include "errors.h"
#include "stream.h"
#include "transcode.h"

#include "rpc/message_field.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define METHOD_NAME_MAX 160

struct stream_call {
    struct edge_call base; /* first */
    struct edge_stream stream;
    const char
        *reason;     /* why it ends: at first REASON_DEFAULT or REASON_NOT_SHOWN, then of the last message with one */
    bool comes_back; /* the client named the last event that it has seen */
};

static struct stream_call *stream_call_of(struct edge_stream *stream)
{
    return CONTAINER_OF(stream, struct stream_call, stream);
}

static void stream_call_pause(struct edge_stream *stream)
{
    rpc_client_call_pause(&stream_call_of(stream)->base.base);
}

static void stream_call_resume(struct edge_stream *stream)
{
    rpc_client_call_resume(&stream_call_of(stream)->base.base);
}

static void stream_call_cancel(struct edge_stream *stream)
{
    rpc_client_call_cancel(&stream_call_of(stream)->base.base);
}

static const struct edge_stream_ops stream_call_ops = {
    .pause = stream_call_pause,
    .resume = stream_call_resume,
    .cancel = stream_call_cancel,
};

static const ProtobufCMessage *stream_submessage(const ProtobufCMessage *message, const ProtobufCFieldDescriptor *field)
{
    bool is_there = field && field->type == PROTOBUF_C_TYPE_MESSAGE && field->label != PROTOBUF_C_LABEL_REPEATED &&
                    message_field_is_set(message, field);
    return is_there ? *(const ProtobufCMessage *const *)((const char *)message + field->offset) : NULL;
}

/* The name of `stop_reason` in the message, or in its `outcome`. */
static const char *stream_reason_in(const ProtobufCMessage *message)
{
    const ProtobufCMessageDescriptor *type = message->descriptor;
    const ProtobufCFieldDescriptor *field = protobuf_c_message_descriptor_get_field_by_name(type, "stop_reason");
    if (!field) {
        const ProtobufCMessage *outcome =
            stream_submessage(message, protobuf_c_message_descriptor_get_field_by_name(type, "outcome"));
        return outcome ? stream_reason_in(outcome) : NULL;
    }
    if (field->type != PROTOBUF_C_TYPE_ENUM)
        return NULL;
    int number = *(const int *)((const char *)message + field->offset);
    const ProtobufCEnumValue *value = number ? protobuf_c_enum_descriptor_get_value(field->descriptor, number) : NULL;
    return value ? value->name : NULL;
}

/* Messages of the contract's streams have their content in a oneof; the last one says why it stopped. */
const char *stream_reason_of(const ProtobufCMessage *message)
{
    for (unsigned i = 0; i < message->descriptor->n_fields; i++) {
        const ProtobufCFieldDescriptor *field = &message->descriptor->fields[i];
        const ProtobufCMessage *content =
            field->flags & PROTOBUF_C_FIELD_FLAG_ONEOF ? stream_submessage(message, field) : NULL;
        if (content)
            return stream_reason_in(content);
    }
    return NULL;
}

static bool stream_has_reason(const ProtobufCMessageDescriptor *type)
{
    const ProtobufCFieldDescriptor *outcome = protobuf_c_message_descriptor_get_field_by_name(type, "outcome");
    return protobuf_c_message_descriptor_get_field_by_name(type, "stop_reason") ||
           (outcome && outcome->type == PROTOBUF_C_TYPE_MESSAGE && stream_has_reason(outcome->descriptor));
}

bool stream_has_reasons(const ProtobufCMessageDescriptor *type)
{
    for (unsigned i = 0; i < type->n_fields; i++) {
        const ProtobufCFieldDescriptor *field = &type->fields[i];
        if (field->flags & PROTOBUF_C_FIELD_FLAG_ONEOF && field->type == PROTOBUF_C_TYPE_MESSAGE &&
            stream_has_reason(field->descriptor))
            return true;
    }
    return false;
}

void stream_event_id(const ProtobufCMessage *message, char id[STREAM_ID_MAX])
{
    const ProtobufCFieldDescriptor *field =
        protobuf_c_message_descriptor_get_field_by_name(message->descriptor, "event_id");
    id[0] = '\0';
    if (field && field->type == PROTOBUF_C_TYPE_INT64)
        snprintf(id, STREAM_ID_MAX, "%" PRId64, *(const int64_t *)((const char *)message + field->offset));
}

static void stream_call_ended(struct stream_call *call)
{
    struct edge_stream *stream = &call->stream;
    const struct status *st = &call->base.base.status;
    struct edge_call base = call->base; /* in the request's memory, and freed with it */
    if (!stream->silent && !stream->begun && st->code != OK &&
        !(stream->is_sse && call->comes_back && st->code == OUT_OF_RANGE)) {
        stream_release(stream);
        edge_fail_call(base.request, &call->base.base);
    } else {
        if (st->code == OK)
            stream_write_end(stream, call->reason);
        else if (call->comes_back && st->code == OUT_OF_RANGE)
            stream_write_gap(stream, "OUT_OF_RANGE", st->text);
        else
            stream_write_error(stream, &call->base.base);
        stream_close(stream);
    }
    base.edge->calls--;
    edge_check_drained(base.edge);
}

static void stream_call_came(const ProtobufCMessage *message, void *data)
{
    struct stream_call *call = data;
    if (!message) {
        stream_call_ended(call);
        return;
    }
    if (call->stream.silent)
        return;
    const char *reason = stream_reason_of(message);
    call->reason = reason ? reason : call->reason;
    stream_write_message(&call->stream, NULL, message);
}

void stream_begin(struct edge *edge, struct http_request *request, const struct rpc_principal *principal,
                  ProtobufCService *stub, const struct rpc_method *method, const ProtobufCMessage *message)
{
    char name[METHOD_NAME_MAX];
    snprintf(name, sizeof name, "%s/%s", method->service, method->name);
    struct stream_call *call =
        (struct stream_call *)edge_call_create(edge, request, principal, true, sizeof(struct stream_call));
    if (!call)
        return;
    call->reason =
        stream_has_reasons(stub->descriptor->methods[method->index].output) ? REASON_NOT_SHOWN : REASON_DEFAULT;
    const char *last = http_request_header(request, "last-event-id"),
               *query = strchr(http_request_target(request), '?');
    call->comes_back =
        (last && *last) || (query && transcode_parameter(query + 1, "after", http_request_arena(request)));
    if (!stream_open(&call->stream, &stream_call_ops, edge, request, principal, name, 1)) {
        edge->calls--; /* the request was answered, and the call with it */
        return;
    }
    stub->invoke(stub, method->index, message, stream_call_came, &call->base.base);
}
