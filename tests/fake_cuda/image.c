/* SPDX-License-Identifier: MIT */
/* The kernels of an image, from its machine code: a container of several (PTX too), each an ELF
 * file with a section .text.NAME and attributes in .nv.info.NAME for every kernel. The forms are
 * NVIDIA's own; numbers that this file knows are those that nvcc 13 writes. */
#include "fake.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CONTAINER_MAGIC 0xba55ed50U

/* Where things are in the container. */
enum {
    CONTAINER_HEADER = 16, /* magic, version, header size; 8 bytes: size of what follows */
    ENTRY_HEADER = 64,     /* the least of them; its true size is in it */
    ENTRY_MACHINE_CODE = 2
};

/* Bytes that are counted with a kernel's shared memory, but are not its own. */
#define SHARED_OF_SYSTEM 1024

/* Attributes: a format, a number, then two bytes that are the value, or the size of the value. */
enum {
    FORMAT_SIZED = 4,
    MAXIMAL_THREADS = 0x05, /* three words */
    PARAMETER = 0x17,       /* a word, number, offset, and in the third word the size */
    REGISTERS = 0x2f        /* the kernel's symbol, the number */
};

static uint64_t read_number(const unsigned char *bytes, int size)
{
    uint64_t number = 0;

    memcpy(&number, bytes, (size_t)size); /* all that CUDA runs on is little-endian */
    return number;
}

/* An ELF file in memory, and its sections. */
typedef struct elf_file {
    const unsigned char *bytes;
    const Elf64_Shdr *sections;
    const char *names;
    int count;
} elf_file;

static bool open_elf(const unsigned char *bytes, size_t size, elf_file *elf)
{
    Elf64_Ehdr header;

    if (size < sizeof header || memcmp(bytes, ELFMAG, SELFMAG) != 0)
        return false;
    memcpy(&header, bytes, sizeof header);
    if (header.e_shoff % 8 || header.e_shoff + header.e_shnum * sizeof(Elf64_Shdr) > size ||
        header.e_shstrndx >= header.e_shnum || (uintptr_t)bytes % 8)
        return false;
    elf->bytes = bytes;
    elf->sections = (const Elf64_Shdr *)(const void *)(bytes + header.e_shoff);
    elf->count = header.e_shnum;
    elf->names = (const char *)bytes + elf->sections[header.e_shstrndx].sh_offset;
    return true;
}

static const Elf64_Shdr *find_section(const elf_file *elf, const char *prefix, const char *name)
{
    const size_t length = strlen(prefix);
    int i;

    for (i = 0; i < elf->count; i++) {
        const char *found = elf->names + elf->sections[i].sh_name;

        if (strncmp(found, prefix, length) == 0 && strcmp(found + length, name) == 0)
            return &elf->sections[i];
    }
    return NULL;
}

/* The next attribute of a section from *at on; NULL behind the last. */
static const unsigned char *next_attribute(const elf_file *elf, const Elf64_Shdr *section,
                                           size_t *at)
{
    const unsigned char *attribute = elf->bytes + section->sh_offset + *at;

    if (*at + 4 > section->sh_size)
        return NULL;
    *at += 4 + (attribute[0] == FORMAT_SIZED ? (size_t)read_number(attribute + 2, 2) : 0);
    return *at <= section->sh_size ? attribute : NULL;
}

static void read_attributes(const elf_file *elf, fake_kernel *kernel)
{
    const Elf64_Shdr *section = find_section(elf, ".nv.info.", kernel->name);
    const unsigned char *attribute;
    size_t at = 0;

    while (section && (attribute = next_attribute(elf, section, &at)) != NULL) {
        if (attribute[1] == MAXIMAL_THREADS)
            kernel->most_threads =
                (int)(read_number(attribute + 4, 4) * read_number(attribute + 8, 4) *
                      read_number(attribute + 12, 4));
        if (attribute[1] == PARAMETER) {
            const uint64_t number = read_number(attribute + 8, 2);

            if (number < FAKE_PARAMETERS)
                kernel->parameter_bytes[number] = (int)(read_number(attribute + 12, 4) >> 18);
            kernel->parameters++;
        }
    }
}

static void read_registers(const elf_file *elf, uint64_t symbol, fake_kernel *kernel)
{
    const Elf64_Shdr *section = find_section(elf, ".nv.info", "");
    const unsigned char *attribute;
    size_t at = 0;

    while (section && (attribute = next_attribute(elf, section, &at)) != NULL)
        if (attribute[1] == REGISTERS && read_number(attribute + 4, 4) == symbol)
            kernel->registers = (int)read_number(attribute + 8, 4);
}

static int list_kernels(const elf_file *elf, fake_module *module)
{
    static const char prefix[] = ".text.";
    int i;

    for (i = 0; i < elf->count; i++) {
        const Elf64_Shdr *section = &elf->sections[i], *shared;
        const char *name = elf->names + section->sh_name;
        fake_kernel *kernel;

        if (strncmp(name, prefix, strlen(prefix)) != 0)
            continue;
        if (!(kernel = calloc(1, sizeof *kernel)))
            return FAKE_OUT_OF_MEMORY;
        snprintf(kernel->name, sizeof kernel->name, "%s", name + strlen(prefix));
        kernel->most_threads = FAKE_THREADS;
        read_attributes(elf, kernel);
        read_registers(elf, section->sh_info & 0xffffff, kernel);
        shared = find_section(elf, ".nv.shared.", kernel->name);
        kernel->shared = shared ? (int)shared->sh_size - SHARED_OF_SYSTEM : 0;
        kernel->next = module->kernels;
        module->kernels = kernel;
    }
    return FAKE_SUCCESS;
}

int fake_image_read(const void *image, int compute, fake_module *module)
{
    const unsigned char *bytes = image;
    uint64_t at = CONTAINER_HEADER, end;
    bool compressed = false;
    elf_file elf;

    if (read_number(bytes, 4) != CONTAINER_MAGIC)
        return FAKE_SUCCESS; /* of a build without kernels */
    end = CONTAINER_HEADER + read_number(bytes + 8, 8);
    while (at + ENTRY_HEADER <= end) {
        const unsigned char *entry = bytes + at;
        const uint64_t header = read_number(entry + 4, 4), size = read_number(entry + 8, 8);

        at += header + size;
        if (read_number(entry, 2) != ENTRY_MACHINE_CODE ||
            (int)read_number(entry + 28, 4) != compute)
            continue;
        if (open_elf(entry + header, size, &elf)) {
            module->readable = true;
            return list_kernels(&elf, module);
        }
        compressed = true;
    }
    return compressed ? FAKE_SUCCESS : FAKE_NO_BINARY;
}
