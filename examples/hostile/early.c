/* Reads the clock and the randomness of a new program before its first call: it has no C library that calls first. */

#include <elf.h>
#include <stdint.h>

static long call(long number, long a, long b, long c)
{
	long result;
	__asm__ volatile("syscall" : "=a"(result) : "a"(number), "D"(a), "S"(b), "d"(c) : "rcx", "r11", "memory");
	return result;
}

static void print(const char *what, uint64_t value)
{
	char line[64];
	int length = 0, digits = 0;
	char reversed[32];
	while (what[length])
		line[length] = what[length], length++;
	do
		reversed[digits++] = '0' + value % 10, value /= 10;
	while (value);
	while (digits)
		line[length++] = reversed[--digits];
	line[length++] = '\n';
	call(1, 1, (long)line, length);
}

static int same(const char *one, const char *other)
{
	while (*one && *one == *other)
		one++, other++;
	return *one == *other;
}

static void *find(char *base, const char *wanted)
{
	Elf64_Ehdr *file = (void *)base;
	Elf64_Phdr *parts = (void *)(base + file->e_phoff);
	Elf64_Sym *symbols = 0;
	char *names = 0;
	for (int i = 0; i < file->e_phnum; i++) {
		if (parts[i].p_type != PT_DYNAMIC)
			continue;
		for (Elf64_Dyn *entry = (void *)(base + parts[i].p_offset); entry->d_tag; entry++) {
			if (entry->d_tag == DT_SYMTAB)
				symbols = (void *)(base + entry->d_un.d_ptr);
			if (entry->d_tag == DT_STRTAB)
				names = base + entry->d_un.d_ptr;
		}
	}
	for (int i = 0; symbols && names && i < 16; i++)
		if (same(names + symbols[i].st_name, wanted))
			return base + symbols[i].st_value;
	return 0;
}

struct time {
	int64_t seconds, nanoseconds;
};

void begin(long *stack)
{
	long *word = stack + 1 + *stack + 1;
	while (*word++)
		;
	char *code = 0;
	uint64_t *random = 0;
	for (; word[0]; word += 2) {
		if (word[0] == 33) /* AT_SYSINFO_EHDR */
			code = (void *)word[1];
		if (word[0] == 25) /* AT_RANDOM */
			random = (void *)word[1];
	}
	uint64_t drawn = random[0];
	struct time now = {0, 0};
	int (*clock)(int, struct time *) = code ? find(code, "__vdso_clock_gettime") : 0;
	if (clock)
		clock(0, &now);
	print("seconds ", now.seconds);
	print("random ", drawn);
	call(231, 0, 0, 0);
}

__asm__(".globl _start\n_start: mov %rsp, %rdi\nand $-16, %rsp\ncall begin\n");
