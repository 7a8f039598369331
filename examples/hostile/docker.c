/* Runs a command as Docker's default seccomp profile does for a container without further privileges, as far as namespaces, mounts and
 * other processes go. */

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define ANSWER(error) BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (error))
#define REFUSE(call) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##call, 0, 1), ANSWER(EPERM)
/* All flags of namespaces. */
#define NAMESPACES 0x7e020000

int main(int count, char **words)
{
	static struct sock_filter rules[] = {
		LOAD(nr),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone3, 0, 1), ANSWER(ENOSYS),
		REFUSE(unshare), REFUSE(setns), REFUSE(mount), REFUSE(umount2), REFUSE(pivot_root), REFUSE(chroot),
		REFUSE(mount_setattr), REFUSE(move_mount), REFUSE(open_tree), REFUSE(fsopen), REFUSE(fsmount), REFUSE(fsconfig),
		REFUSE(pidfd_getfd), REFUSE(bpf), REFUSE(perf_event_open), REFUSE(userfaultfd), REFUSE(sethostname), REFUSE(setdomainname),
		REFUSE(keyctl), REFUSE(add_key), REFUSE(request_key), REFUSE(io_uring_setup),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 0, 3), LOAD(args[0]),
		BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, NAMESPACES, 0, 1), ANSWER(EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {sizeof rules / sizeof *rules, rules};
	if (count < 2 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)) {
		perror("docker");
		return 1;
	}
	execvp(words[1], words + 1);
	perror(words[1]);
	return 127;
}
