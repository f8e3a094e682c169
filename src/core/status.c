/* SPDX-License-Identifier: MIT */
#include "core/status.h"

#include <stdarg.h>
#include <stdio.h>

#define PGI_STRINGIFY_(x) #x
#define PGI_STRINGIFY(x)  PGI_STRINGIFY_(x)

const char *poolgrad_version(void)
{
    return PGI_STRINGIFY(POOLGRAD_VERSION_MAJOR) "." PGI_STRINGIFY(
        POOLGRAD_VERSION_MINOR) "." PGI_STRINGIFY(POOLGRAD_VERSION_PATCH);
}

const char *poolgrad_status_text(poolgrad_status status)
{
    switch (status) {
    case POOLGRAD_OK:
        return "success";
    case POOLGRAD_ERR_NULL:
        return "null pointer";
    case POOLGRAD_ERR_STRUCT_SIZE:
        return "unknown struct size";
    case POOLGRAD_ERR_ENUM:
        return "unknown enum value";
    case POOLGRAD_ERR_OPTION:
        return "unknown option value";
    case POOLGRAD_ERR_SYNTAX:
        return "problem string syntax";
    case POOLGRAD_ERR_RANK:
        return "unsupported rank";
    case POOLGRAD_ERR_ATTRIBUTE:
        return "bad attribute";
    case POOLGRAD_ERR_SHAPE:
        return "shape mismatch";
    case POOLGRAD_ERR_OVERFLOW:
        return "size overflow";
    case POOLGRAD_ERR_BOX:
        return "bad box";
    case POOLGRAD_ERR_LAYOUT:
        return "elements share memory";
    case POOLGRAD_ERR_MISALIGNED:
        return "misaligned pointer";
    case POOLGRAD_ERR_OVERLAP:
        return "overlapping memory";
    case POOLGRAD_ERR_WORKSPACE:
        return "workspace too small";
    case POOLGRAD_ERR_INDEX:
        return "index outside its window";
    case POOLGRAD_ERR_POINTER:
        return "memory of another device";
    case POOLGRAD_ERR_MEMORY:
        return "out of memory";
    case POOLGRAD_ERR_UNSUPPORTED:
        return "not supported here";
    case POOLGRAD_ERR_DEVICE:
        return "device failure";
    }
    return "unknown status";
}

poolgrad_status pgi_fail(poolgrad_error *error, poolgrad_status status, const char *format, ...)
{
    if (error) {
        va_list arguments;

        error->status = status;
        error->reserved = 0;
        error->position = -1;
        va_start(arguments, format);
        vsnprintf(error->message, sizeof error->message, format, arguments);
        va_end(arguments);
    }
    return status;
}

poolgrad_status pgi_ok(poolgrad_error *error)
{
    if (error) {
        error->status = POOLGRAD_OK;
        error->reserved = 0;
        error->position = -1;
        error->message[0] = '\0';
    }
    return POOLGRAD_OK;
}
