/* A lock that burdens or misleads picklock itself, in the way that its first argument names, and then answers like any other. */

#define _GNU_SOURCE
#include <arpa/inet.h>
#include <fcntl.h>
#include <netdb.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static char **self;

static void *vdso(void)
{
	return (void *)getauxval(AT_SYSINFO_EHDR);
}

static void page(void)
{
	struct timespec now;
	syscall(SYS_clock_gettime, 0, &now);
	for (int file = 3; file < 20000; file++)
		ftruncate(file, 0);
	clock_gettime(0, &now);
}

static void vdso_forgotten(void)
{
	madvise(vdso(), 8192, MADV_DONTNEED);
}

static void vdso_unmapped(void)
{
	munmap(vdso(), 8192);
	syscall(SYS_arch_prctl, 0x2003, vdso());
}

static void vdso_overwritten(void)
{
	if (!mprotect(vdso(), 8192, PROT_READ | PROT_WRITE | PROT_EXEC))
		memset(vdso(), 0xc3, 8192);
}

static void page_replaced(void)
{
	void *at = (void *)0x6f0000000000;
	struct timespec now;
	clock_gettime(0, &now);
	mprotect(at, 4096, PROT_NONE);
	munmap(at, 4096);
	mmap(at, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	memset(at, 0xff, 4096);
}

static void again(const char *way)
{
	char *words[] = {self[0], (char *)way, NULL};
	execv("/proc/self/exe", words);
}

static void random_addresses(void)
{
	personality(0);
	again("nothing");
}

static void nothing(void)
{
}

static void shared_mappings(void)
{
	for (int i = 0; i < 12; i++) {
		char *at = mmap(NULL, 1L << 30, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
		for (long byte = 0; at != MAP_FAILED && i < 1 && byte < 1L << 28; byte += 4096)
			at[byte] = 1;
	}
}

static void memfds(void)
{
	for (int i = 0; i < 100; i++) {
		int file = syscall(SYS_memfd_create, "x", 0);
		if (file >= 0)
			ftruncate(file, 256 << 20);
	}
}

static void segments(void)
{
	for (int i = 0; i < 12; i++)
		shmget(IPC_PRIVATE, 1L << 30, 0600);
}

static void processes(void)
{
	for (int i = 0; i < 400; i++)
		if (fork() == 0)
			pause();
}

static void *wait_for_good(void *ignored)
{
	pause();
	return ignored;
}

static void threads(void)
{
	pthread_t thread;
	for (int i = 0; i < 400; i++)
		pthread_create(&thread, NULL, wait_for_good, NULL);
}

static void output(void)
{
	static char text[1 << 16];
	memset(text, 'x', sizeof text);
	for (int i = 0; i < 200; i++)
		write(2, text, sizeof text);
}

static void escapes(void)
{
	static const char text[] = "\033]0;title\007\033[2J\r\b\x9b\xff\xfe\n[picklock] ok\n\xe2\x80\xae\n";
	write(2, text, sizeof text);
}

static void closed(void)
{
	syscall(SYS_close_range, 3, ~0U, 0);
	close(2);
}

static void computes(void)
{
	for (volatile unsigned long i = 0;; i++)
		;
}

static void calls(void)
{
	for (;;)
		syscall(SYS_getppid);
}

static void stops(void)
{
	kill(getpid(), SIGSTOP);
	kill(-1, SIGKILL);
	raise(SIGTSTP);
}

static void execs(void)
{
	int times = self[2] ? atoi(self[2]) : 0;
	char next[16];
	snprintf(next, sizeof next, "%d", times + 1);
	char *words[] = {self[0], "execs", next, NULL};
	if (times < 200)
		execv("/proc/self/exe", words);
}

static void lends(void)
{
	if (vfork() == 0)
		_exit(0);
}

static void *execs_beside(void *ignored)
{
	again("nothing");
	return ignored;
}

static void execs_in_thread(void)
{
	pthread_t thread;
	pthread_create(&thread, NULL, execs_beside, NULL);
	pause();
}

static void no_descriptors(void)
{
	struct rlimit none = {3, 3};
	setrlimit(RLIMIT_NOFILE, &none);
	again("nothing");
}

static void full(void)
{
	static char text[1 << 20];
	char name[64];
	for (int i = 0; i < 300; i++) {
		snprintf(name, sizeof name, "/dev/shm/%d", i);
		int file = open(name, O_CREAT | O_WRONLY, 0600);
		for (int part = 0; part < 300 && write(file, text, sizeof text) > 0; part++)
			;
	}
}

static void renamed(void)
{
	prctl(PR_SET_NAME, "a) R 1 (\nb");
	prctl(PR_SET_DUMPABLE, 0);
}

static void odd_file(void)
{
	if (!strstr(self[0], "odd")) {
		char command[4096];
		snprintf(command, sizeof command, "cp '%s' '/dev/shm/odd\n[vdso] name'", self[0]);
		char *words[] = {"/dev/shm/odd\n[vdso] name", "odd-file", NULL};
		if (!system(command))
			execv(words[0], words);
	}
}

static void strict(void)
{
	if (fork() == 0) {
		prctl(PR_SET_SECCOMP, 1);
		again("nothing");
	}
}

static void mappings(void)
{
	for (int i = 0; i < 60000; i++)
		mmap(NULL, 4096, i % 2 ? PROT_READ : PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

static void signals(void)
{
	for (int signal = 1; signal < 65; signal++)
		if (signal != SIGKILL && signal != SIGSTOP)
			sigaction(signal, &(struct sigaction){.sa_handler = SIG_IGN}, NULL);
	for (int i = 0; i < 10000; i++)
		raise(1 + i % 31 == SIGKILL || 1 + i % 31 == SIGSTOP ? SIGUSR1 : 1 + i % 31);
}

static void processor_time(void)
{
	struct rlimit second = {1, 1};
	setrlimit(RLIMIT_CPU, &second);
}

static void directories(void)
{
	chdir("/dev/shm");
	for (int i = 0; i < 2000 && !mkdir("d", 0700) && !chdir("d"); i++)
		;
}

static void environment(void)
{
	char text[1 << 16];
	for (int number = 1; number < 5; number++) {
		snprintf(text, 64, "/proc/%d/environ", number);
		int file = open(text, O_RDONLY), length = file < 0 ? 0 : read(file, text, sizeof text);
		for (int i = 0; i < length; i++)
			text[i] = text[i] ? text[i] : ' ';
		write(2, text, length > 0 ? length : 0);
	}
}

static void reads(void)
{
	char *names[] = {"/proc/kmsg", "/dev/kmsg", "/proc/kcore", "/sys/class/zram-control/hot_add", "/proc/sysrq-trigger", "/dev/mem"};
	char text[64];
	for (unsigned i = 0; i < sizeof names / sizeof *names; i++) {
		int file = open(names[i], O_RDONLY | O_NONBLOCK);
		if (file >= 0 && read(file, text, sizeof text) > 0)
			fprintf(stderr, "ESCAPED %s\n", names[i]);
	}
}

static const struct {
	const char *name;
	void (*does)(void);
} ways[] = {
	{"nothing", nothing}, {"page", page}, {"vdso-forgotten", vdso_forgotten}, {"vdso-unmapped", vdso_unmapped},
	{"vdso-overwritten", vdso_overwritten}, {"page-replaced", page_replaced}, {"random-addresses", random_addresses},
	{"shared-mappings", shared_mappings}, {"memfds", memfds}, {"segments", segments}, {"processes", processes}, {"threads", threads},
	{"output", output}, {"escapes", escapes}, {"closed", closed}, {"computes", computes}, {"calls", calls}, {"stops", stops},
	{"execs", execs}, {"lends", lends}, {"execs-in-thread", execs_in_thread}, {"no-descriptors", no_descriptors}, {"full", full},
	{"renamed", renamed}, {"odd-file", odd_file}, {"strict", strict}, {"mappings", mappings}, {"signals", signals},
	{"processor-time", processor_time}, {"directories", directories}, {"environment", environment}, {"reads", reads},
};

/* Asks the first store; true if it agrees. */
static int ask(const char *text)
{
	char host[64] = "", reply[256];
	const char *stores = getenv("PICKLOCK_STORES");
	struct addrinfo kind = {.ai_family = AF_INET, .ai_socktype = SOCK_STREAM}, *found = NULL;
	if (!stores || sscanf(stores, "redis://%63[^:]", host) != 1 || getaddrinfo(host, "6379", &kind, &found))
		return 0;
	int store = socket(AF_INET, SOCK_STREAM, 0);
	int agrees = !connect(store, found->ai_addr, found->ai_addrlen) && write(store, text, strlen(text)) > 0 &&
		     read(store, reply, sizeof reply) > 0 && (reply[0] == '+' || reply[0] == ':');
	close(store);
	freeaddrinfo(found);
	return agrees;
}

int main(int count, char **words)
{
	char line[256];
	self = words;
	if (count < 2) {
		for (unsigned i = 0; i < sizeof ways / sizeof *ways; i++)
			puts(ways[i].name);
		return 0;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	for (unsigned i = 0; i < sizeof ways / sizeof *ways; i++)
		if (!strcmp(words[1], ways[i].name))
			ways[i].does();
	while (fgets(line, sizeof line, stdin)) {
		if (!strncmp(line, "acquire", 7))
			puts(ask("*6\r\n$3\r\nSET\r\n$1\r\nk\r\n$1\r\n1\r\n$2\r\nNX\r\n$2\r\nPX\r\n$4\r\n1000\r\n") ? "granted" : "refused");
		else
			puts(ask("*2\r\n$3\r\nDEL\r\n$1\r\nk\r\n") ? "released" : "error no answer");
	}
	return 0;
}
