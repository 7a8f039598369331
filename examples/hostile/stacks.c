/* Misleads those who read its stack: what its file and its debug information name is never to be opened, and what they compute never ends.
 * WAY says how. Then it talks to the store, so that its stack is read. */

#define _GNU_SOURCE
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FIFO 1
#define ZEROES 2
#define LOOP 3
#define KERNEL_LOG 4
#define ENVIRONMENT 5
#define PIPE 6

static void talk(void)
{
	char reply[64];
	struct sockaddr_in to = {AF_INET, htons(6379), {inet_addr("10.0.0.9")}, {0}};
	int store = socket(AF_INET, SOCK_STREAM, 0);
	if (connect(store, (void *)&to, sizeof to))
		_exit(1);
	static const char ping[] = "*1\r\n$4\r\nPING\r\n";
#if WAY == LOOP
	/* The frame is where a program says that jumps to itself. */
	__asm__ volatile(".cfi_escape 0x0f, 0x03, 0x2f, 0xfd, 0xff");
#endif
#if WAY == KERNEL_LOG
#line 1 "/proc/kmsg"
	write(store, ping, sizeof ping - 1);
#elif WAY == ENVIRONMENT
#line 1 "/dev/shm/source.c"
	write(store, ping, sizeof ping - 1);
#elif WAY == PIPE
#line 1 "/dev/shm/pipe.c"
	write(store, ping, sizeof ping - 1);
#else
	write(store, ping, sizeof ping - 1);
#endif
	if (read(store, reply, sizeof reply) <= 0)
		_exit(1);
}

int main(int count, char **words)
{
	const char *home = getenv("HOME");
	char copy[256], deleted[300], command[700];
	snprintf(copy, sizeof copy, "%s/copy", home);
	snprintf(deleted, sizeof deleted, "%s (deleted)", copy);
	if (count == 1 && (WAY == FIFO || WAY == ZEROES)) {
		/* A program of its own, whose file is gone while it runs. */
		snprintf(command, sizeof command, "cp '%s' '%s'", words[0], copy);
		if (system(command))
			return 1;
		execl(copy, copy, "again", NULL);
	}
	unlink(copy);
	if (WAY == FIFO && mkfifo(deleted, 0600))
		return 1;
	if (WAY == ZEROES && symlink("/dev/zero", deleted))
		return 1;
	if (WAY == ENVIRONMENT && symlink("/proc/self/environ", "/dev/shm/source.c"))
		return 1;
	if (WAY == PIPE && mkfifo("/dev/shm/pipe.c", 0600))
		return 1;
	talk();
	printf("done\n");
	return 0;
}
