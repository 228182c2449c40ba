/* The rules of readers of rows, after the descriptor: protobuf-c takes any number for an enum and leaves a sub-message
 * out that was not sent. */
#include "rows.h"

#include "renga/v1/log.pb-c.h"
#include "rpc/message_field.h"

#include <stdio.h>
#include <string.h>

#define TIME_MAX_MS (INT64_C(1) << 48)
#define STEP_MAX    (INT64_C(1) << 48)

static bool row_is_wrong(char what[ROW_WRONG_MAX], const ProtobufCMessage *message, const char *field, const char *how)
{
    snprintf(what, ROW_WRONG_MAX, "%s.%s %s", message->descriptor->short_name, field, how);
    return false;
}

/* ---- sub-messages that must be there ----------------------------------------------------------------------------- */

static const struct {
    const ProtobufCMessageDescriptor *type;
    const char *field;
} required[] = {
    {&renga__v1__run_begun__descriptor, "request"},  {&renga__v1__hand_update__descriptor, "request"},
    {&renga__v1__run_snapshot__descriptor, "begun"}, {&renga__v1__run_snapshot__descriptor, "run"},
    {&renga__v1__run_row__descriptor, "run"},
};

static bool row_requires(const ProtobufCMessage *message, const char *field)
{
    for (size_t i = 0; i < sizeof required / sizeof *required; i++)
        if (required[i].type == message->descriptor && strcmp(required[i].field, field) == 0)
            return true;
    return false;
}

/* ---- numbers ----------------------------------------------------------------------------------------------------- */

static bool time_fits(const ProtobufCMessage *message, int64_t ms, char what[ROW_WRONG_MAX])
{
    return (ms >= 0 && ms <= TIME_MAX_MS) || row_is_wrong(what, message, "time", "is no time");
}

static bool check_record(const Renga__V1__LogRecord *record, char what[ROW_WRONG_MAX])
{
    if (record->time_ms == 0)
        return row_is_wrong(what, &record->base, "time_ms", "is missing");
    if (record->begun && record->run == 0)
        return row_is_wrong(what, &record->base, "run", "is missing");
    return time_fits(&record->base, record->time_ms, what);
}

static bool check_snapshot(const Renga__V1__ThreadSnapshot *snapshot, char what[ROW_WRONG_MAX])
{
    if (snapshot->has_run && (snapshot->n_runs == 0 || !snapshot->root))
        return row_is_wrong(what, &snapshot->base, "has_run", "is set, but there is no run, or no graph");
    if (snapshot->root && !*snapshot->graph_version)
        return row_is_wrong(what, &snapshot->base, "graph_version", "is missing");
    return time_fits(&snapshot->base, snapshot->created_ms, what) &&
           time_fits(&snapshot->base, snapshot->updated_ms, what);
}

static bool check_frame(const Renga__V1__FrameSnapshot *frame, char what[ROW_WRONG_MAX])
{
    return (frame->step >= 0 && frame->step <= STEP_MAX) || row_is_wrong(what, &frame->base, "step", "is out of range");
}

static bool row_check_run(const Renga__V1__Run *run, char what[ROW_WRONG_MAX])
{
    return time_fits(&run->base, run->created_ms, what) && time_fits(&run->base, run->updated_ms, what) &&
           time_fits(&run->base, run->started_ms, what) && time_fits(&run->base, run->ended_ms, what) &&
           ((run->step >= 0 && run->step <= STEP_MAX) || row_is_wrong(what, &run->base, "step", "is out of range"));
}

static bool check_run_snapshot(const Renga__V1__RunSnapshot *snapshot, char what[ROW_WRONG_MAX])
{
    if (snapshot->worked_ms < 0 || snapshot->worked_ms > TIME_MAX_MS)
        return row_is_wrong(what, &snapshot->base, "worked_ms", "is no time");
    return (snapshot->steps_before >= 0 && snapshot->steps_before <= STEP_MAX) ||
           row_is_wrong(what, &snapshot->base, "steps_before", "is out of range");
}

static bool check_due(const Renga__V1__DueSnapshot *due, char what[ROW_WRONG_MAX])
{
    return (due->due_step >= -STEP_MAX && due->due_step <= STEP_MAX) ||
           row_is_wrong(what, &due->base, "due_step", "is out of range");
}

static bool check_begun(const Renga__V1__RunBegun *begun, char what[ROW_WRONG_MAX])
{
    size_t size = strlen(begun->run_id);
    return (size > 0 && size < ID_MAX) || row_is_wrong(what, &begun->base, "run_id", "is no name of a run");
}

static bool check_own(const ProtobufCMessage *message, char what[ROW_WRONG_MAX])
{
    const ProtobufCMessageDescriptor *type = message->descriptor;
    if (type == &renga__v1__log_record__descriptor)
        return check_record((const void *)message, what);
    if (type == &renga__v1__thread_snapshot__descriptor)
        return check_snapshot((const void *)message, what);
    if (type == &renga__v1__frame_snapshot__descriptor)
        return check_frame((const void *)message, what);
    if (type == &renga__v1__run_begun__descriptor)
        return check_begun((const void *)message, what);
    if (type == &renga__v1__run_snapshot__descriptor)
        return check_run_snapshot((const void *)message, what);
    if (type == &renga__v1__due_snapshot__descriptor)
        return check_due((const void *)message, what);
    return type != &renga__v1__run__descriptor || row_check_run((const void *)message, what);
}

/* ---- by descriptor ----------------------------------------------------------------------------------------------- */

static bool enum_is_known(const ProtobufCFieldDescriptor *field, int value)
{
    return protobuf_c_enum_descriptor_get_value(field->descriptor, value) != NULL;
}

static bool row_check_member(const ProtobufCMessage *message, const ProtobufCFieldDescriptor *field, const void *at,
                             char what[ROW_WRONG_MAX])
{
    if (field->type == PROTOBUF_C_TYPE_ENUM)
        return enum_is_known(field, *(const int *)at) ||
               row_is_wrong(what, message, field->name, "has a value that this release does not know");
    const ProtobufCMessage *inner = *(ProtobufCMessage *const *)at;
    if (inner)
        return row_check(inner, what);
    return !row_requires(message, field->name) || row_is_wrong(what, message, field->name, "is missing");
}

static bool row_check_list(const ProtobufCMessage *message, const ProtobufCFieldDescriptor *field, const char *at,
                           char what[ROW_WRONG_MAX])
{
    size_t count = *message_field_count(message, field), each = message_field_size(field);
    const char *list = *(const char *const *)at;
    for (size_t i = 0; i < count; i++)
        if (!row_check_member(message, field, list + i * each, what))
            return false;
    return true;
}

static bool row_check_field(const ProtobufCMessage *message, const ProtobufCFieldDescriptor *field,
                            char what[ROW_WRONG_MAX])
{
    const char *at = (const char *)message + field->offset;
    if (field->type != PROTOBUF_C_TYPE_ENUM && field->type != PROTOBUF_C_TYPE_MESSAGE)
        return true;
    if (field->flags & PROTOBUF_C_FIELD_FLAG_ONEOF && *message_field_chosen(message, field) != field->id)
        return true;
    if (field->label == PROTOBUF_C_LABEL_REPEATED)
        return row_check_list(message, field, at, what);
    return row_check_member(message, field, at, what);
}

/* As deep as RPC_WIRE_DEPTH_MAX: rpc_wire_check has seen the bytes. */
bool row_check(const ProtobufCMessage *message, char what[ROW_WRONG_MAX])
{
    const ProtobufCMessageDescriptor *type = message->descriptor;
    for (unsigned i = 0; i < type->n_fields; i++)
        if (!row_check_field(message, &type->fields[i], what))
            return false;
    return check_own(message, what);
}
