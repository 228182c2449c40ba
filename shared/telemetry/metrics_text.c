/* The text exposition format 0.0.4: https://prometheus.io/docs/instrumenting/exposition_formats/ */
#include "telemetry/metrics_priv.h"

#include <math.h>
#include <string.h>

static const char *const kinds[] = {"counter", "gauge", "histogram"};

static void write_escaped(struct buffer *out, const char *text, bool quote)
{
    for (; *text; text++) {
        if (*text == '\\')
            buffer_print(out, "\\\\");
        else if (*text == '\n')
            buffer_print(out, "\\n");
        else if (*text == '"' && quote)
            buffer_print(out, "\\\"");
        else
            buffer_put(out, *text);
    }
}

static void write_head(struct buffer *out, const struct metric *metric)
{
    buffer_printf(out, "# HELP %s ", metric->name);
    write_escaped(out, metric->help, false);
    buffer_printf(out, "\n# TYPE %s %s\n", metric->name, kinds[metric->kind]);
}

static void metrics_text_write_number(struct buffer *out, double value)
{
    if (value == floor(value) && fabs(value) < 9e15)
        buffer_printf(out, "%lld", (long long)value);
    else
        buffer_printf(out, "%.15g", value);
}

/* {a="1",b="2",le="0.5"}; `values` one after the other. */
static void write_labels(struct buffer *out, const struct metric *metric, const char *values, const double *bound)
{
    if (!metric->labels[0] && !bound)
        return;
    const char *separator = "{";
    for (const char *const *label = metric->labels; *label; label++) {
        buffer_printf(out, "%s%s=\"", separator, *label);
        write_escaped(out, values, true);
        buffer_put(out, '"');
        values += strlen(values) + 1;
        separator = ",";
    }
    if (bound) {
        buffer_printf(out, "%sle=\"", separator);
        if (isinf(*bound))
            buffer_print(out, "+Inf");
        else
            metrics_text_write_number(out, *bound);
        buffer_put(out, '"');
    }
    buffer_put(out, '}');
}

static void write_sample(struct buffer *out, const struct metric *metric, const char *suffix, const char *values,
                         const double *bound, double value)
{
    buffer_print(out, metric->name);
    buffer_print(out, suffix);
    write_labels(out, metric, values, bound);
    buffer_put(out, ' ');
    metrics_text_write_number(out, value);
    buffer_put(out, '\n');
}

static double scale_of(const struct metric *metric)
{
    return metric->scale != 0 ? metric->scale : 1;
}

static bool is_untouched(const struct metrics *metrics, const struct metric *metric, const struct metric_series *series)
{
    for (size_t i = 0; i < metric_cells(metric); i++)
        if (metrics_value(metrics, series->cell + (uint32_t)i))
            return false;
    return true;
}

static void write_family(const struct metrics *metrics, struct buffer *out, const struct metric_family *family)
{
    const struct metric *metric = family->metric;
    write_head(out, metric);
    for (const struct metric_series *series = family->first; series; series = series->next) {
        if (series == family->first && family->label_count && is_untouched(metrics, metric, series))
            continue; /* "other" shows when it was needed */
        if (metric->kind == METRIC_HISTOGRAM) {
            int64_t count = 0;
            for (size_t i = 0; i <= metric->bound_count; i++) {
                count += metrics_value(metrics, series->cell + (uint32_t)i);
                double bound = i < metric->bound_count ? (double)metric->bounds[i] * scale_of(metric) : INFINITY;
                write_sample(out, metric, "_bucket", series->values, &bound, (double)count);
            }
            int64_t sum = metrics_value(metrics, series->cell + (uint32_t)metric->bound_count + 1);
            write_sample(out, metric, "_sum", series->values, NULL, (double)sum * scale_of(metric));
            write_sample(out, metric, "_count", series->values, NULL, (double)count);
        } else
            write_sample(out, metric, "", series->values, NULL,
                         (double)metrics_value(metrics, series->cell) * scale_of(metric));
    }
}

void metrics_show(struct buffer *out, const struct metric *metric, const char *const *values, double value)
{
    write_head(out, metric);
    metrics_show_more(out, metric, values, value);
}

void metrics_show_more(struct buffer *out, const struct metric *metric, const char *const *values, double value)
{
    char flat[METRIC_LABELS_MAX * METRIC_LABEL_VALUE_MAX];
    size_t size = 0;
    for (size_t i = 0; i < metric_label_count(metric); i++) {
        size_t length = strnlen(values[i], METRIC_LABEL_VALUE_MAX - 1);
        memcpy(flat + size, values[i], length);
        flat[size + length] = '\0';
        size += length + 1;
    }
    write_sample(out, metric, "", flat, NULL, value);
}

void metrics_write(struct metrics *metrics, struct buffer *out)
{
    struct metrics_registry *registry = metrics->registry;
    pthread_mutex_lock(&registry->lock);
    for (const struct metric_family *family = registry->families; family; family = family->next)
        write_family(metrics, out, family);
    for (const struct metrics_collector *collector = registry->collectors; collector; collector = collector->next)
        collector->collect(out, collector->data);
    pthread_mutex_unlock(&registry->lock);
}
