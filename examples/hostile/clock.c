/* Looks for the machine's clock behind the host's: by the code and the data that the kernel maps into each program. */

#define _GNU_SOURCE
#include <elf.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static time_t host;

static void *find(void *base, const char *wanted)
{
	Elf64_Ehdr *file = base;
	Elf64_Phdr *parts = (void *)((char *)base + file->e_phoff);
	Elf64_Sym *symbols = NULL;
	const char *names = NULL;
	uint32_t *hash = NULL;
	for (int i = 0; i < file->e_phnum; i++) {
		if (parts[i].p_type != PT_DYNAMIC)
			continue;
		for (Elf64_Dyn *entry = (void *)((char *)base + parts[i].p_offset); entry->d_tag; entry++) {
			void *at = (char *)base + entry->d_un.d_ptr;
			if (entry->d_tag == DT_SYMTAB)
				symbols = at;
			if (entry->d_tag == DT_STRTAB)
				names = at;
			if (entry->d_tag == DT_HASH)
				hash = at;
		}
	}
	for (unsigned i = 0; symbols && names && i < (hash ? hash[1] : 16); i++)
		if (!strcmp(names + symbols[i].st_name, wanted))
			return (char *)base + symbols[i].st_value;
	return NULL;
}

/* In a process of its own, which may crash. */
static void attempt(const char *what, int (*sees)(void))
{
	fflush(stdout);
	pid_t child = fork();
	if (child == 0)
		_exit(sees() ? 1 : 0);
	int status = 0;
	waitpid(child, &status, 0);
	int escaped = WIFEXITED(status) && WEXITSTATUS(status) == 1;
	printf("%s %s\n", escaped ? "ESCAPED" : "refused", what);
}

static int is_another(time_t seconds)
{
	return seconds > host + 1000 || seconds < host - 1000;
}

static int by_code(void *base)
{
	int (*clock)(int, struct timespec *) = find(base, "__vdso_clock_gettime");
	struct timespec now = {host, 0};
	if (clock)
		clock(CLOCK_REALTIME, &now);
	return is_another(now.tv_sec);
}

static int vdso_forgotten(void)
{
	void *base = (void *)getauxval(AT_SYSINFO_EHDR);
	for (int advice = 0; advice < 26; advice++)
		if (advice != MADV_DONTFORK)
			madvise(base, 8192, advice);
	return by_code(base);
}

static int vdso_mapped_again(void)
{
	static const long codes[] = {0x2001, 0x2002, 0x2003};
	void *base = (void *)getauxval(AT_SYSINFO_EHDR);
	munmap(base, 8192);
	for (int i = 0; i < 3; i++)
		if (!syscall(SYS_arch_prctl, codes[i], (char *)base + 0x100000) && codes[i] == 0x2003)
			return by_code((char *)base + 0x100000);
	return 0;
}

static int vdso_moved(void)
{
	void *base = (void *)getauxval(AT_SYSINFO_EHDR);
	void *moved = mremap(base, 8192, 8192, MREMAP_MAYMOVE | MREMAP_FIXED, (char *)base - 0x400000);
	return moved == MAP_FAILED ? 0 : by_code(moved);
}

/* Words of the kernel's own clock that may be seconds since 1970. */
static int vvar(void)
{
	char line[512];
	FILE *maps = fopen("/proc/self/maps", "r");
	while (fgets(line, sizeof line, maps)) {
		unsigned long start, end;
		if (!strstr(line, "[vvar") || sscanf(line, "%lx-%lx", &start, &end) != 2)
			continue;
		for (uint64_t *word = (void *)start; word < (uint64_t *)(start + 4096); word++)
			if (*word > 1000000000 && *word < 4000000000 && is_another(*word))
				return 1;
	}
	return 0;
}

static int vsyscall(void)
{
	struct timeval now = {host, 0};
	((int (*)(struct timeval *, void *))0xffffffffff600000)(&now, NULL);
	time_t again = ((time_t (*)(time_t *))0xffffffffff600400)(NULL);
	return is_another(now.tv_sec) || is_another(again);
}

static int addresses(void)
{
	return personality(0) != -1 && !(personality(0xffffffff) & ADDR_NO_RANDOMIZE);
}

static volatile int rang;
static void ring(int signal)
{
	rang = signal;
}

/* A limit of processor time ends in a signal, by the machine's clock. */
static int processor_time(void)
{
	struct rlimit limit = {1, 100};
	signal(SIGXCPU, ring);
	if (setrlimit(RLIMIT_CPU, &limit) && syscall(SYS_prlimit64, 0, RLIMIT_CPU, &limit, NULL))
		return 0;
	for (volatile long i = 0; i < 4000000000L && !rang; i++)
		;
	return rang;
}

/* The page that the host's clock is on belongs to the supervisor, too. */
static int page(void)
{
	struct timespec now;
	syscall(SYS_clock_gettime, CLOCK_REALTIME, &now);
	int found = 0;
	for (int file = 3; file < 20000; file++)
		found |= ftruncate(file, 0) == 0;
	clock_gettime(CLOCK_REALTIME, &now);
	return found;
}

int main(int count, char **words)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	host = syscall(SYS_time, NULL);
	/* At once, before the C library has read the clock in this process. */
	attempt("clock page by its descriptor", page);
	attempt("vDSO by madvise", vdso_forgotten);
	attempt("vDSO mapped again", vdso_mapped_again);
	attempt("vDSO moved", vdso_moved);
	attempt("[vvar]", vvar);
	attempt("vsyscall", vsyscall);
	attempt("addresses by personality", addresses);
	attempt("processor time by its limit", processor_time);
	if (count > 1) {
		personality(0);
		execl("/proc/self/exe", words[0], NULL);
	}
	return 0;
}
