"""What the kernel tells about processes and CPUs."""
import ctypes
import os
import platform
import resource
import signal
import time

LIBC = ctypes.CDLL(None, use_errno=True)
TICKS = os.sysconf("SC_CLK_TCK")
PR_SET_PDEATHSIG = 1
FILES_WANTED = 16_384


def choose_cpus():
    """The CPU of the proxy and the CPU of the load; the same one where there is only one."""
    usable = sorted(os.sched_getaffinity(0))
    return usable[0], usable[min(1, len(usable) - 1)]


def raise_file_limit():
    """Lets this process and its children open many sockets; returns how many."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = FILES_WANTED if hard == resource.RLIM_INFINITY else min(hard, FILES_WANTED)
    resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
    return wanted


def pinned(cpu):
    """What a child does before it becomes the program: stay on `cpu`, and end when the runner ends."""
    def prepare():
        os.sched_setaffinity(0, {cpu})
        LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
    return prepare


def process_tree(root):
    """`root` and every process below it."""
    children = {}
    for name in filter(str.isdigit, os.listdir("/proc")):
        stat = read(f"/proc/{name}/stat")
        if stat:
            parent = int(stat.rpartition(")")[2].split()[1])
            children.setdefault(parent, []).append(int(name))
    found = [root]
    for pid in found:  # grows while it is walked
        found += children.get(pid, [])
    return found


def cpu_ns(pids):
    """CPU time these processes have used, user and system, in nanoseconds."""
    total = 0
    for pid in pids:
        clock = ctypes.c_int()
        if LIBC.clock_getcpuclockid(pid, ctypes.byref(clock)) == 0:
            try:
                total += time.clock_gettime_ns(clock.value)
            except OSError:
                pass  # it ended in between
    return total


def thread_cpu_ns(pids):
    """CPU time by thread name; threads of the same name are added up, numbers at the end of a name do not count."""
    total = {}
    for pid in pids:
        folder = f"/proc/{pid}/task"
        for thread in os.listdir(folder) if os.path.isdir(folder) else []:
            spent = read(f"{folder}/{thread}/schedstat")
            name = read(f"{folder}/{thread}/comm").strip().rstrip("0123456789-")
            if spent and name:
                total[name] = total.get(name, 0) + int(spent.split()[0])
    return total


def memory_kb(pids, field):
    """Sum of a field of /proc/PID/status, such as VmRSS or VmHWM, in KiB."""
    total = 0
    for pid in pids:
        for line in read(f"/proc/{pid}/status").splitlines():
            if line.startswith(field + ":"):
                total += int(line.split()[1])
    return total


def forget_peak(pids):
    """Makes VmHWM start again from what is in use now."""
    for pid in pids:
        try:
            with open(f"/proc/{pid}/clear_refs", "w") as file:
                file.write("5")
        except OSError:
            pass


def busy_seconds(cpu):
    """Seconds this CPU has been busy since it was started, with anything."""
    for line in read("/proc/stat").splitlines():
        name, *ticks = line.split()
        if name == f"cpu{cpu}":
            user, nice, system, _idle, _wait, irq, softirq, steal = map(int, ticks[:8])
            return (user + nice + system + irq + softirq + steal) / TICKS
    return 0.0


def describe():
    """What a reader needs to know about the machine, without its name."""
    models = [line.partition(":")[2].strip() for line in read("/proc/cpuinfo").splitlines() if line.startswith("model name")]
    congestion = read("/proc/sys/net/ipv4/tcp_congestion_control").strip()
    return {"cpu": models[0] if models else platform.machine(), "cpus": os.cpu_count(), "kernel": platform.release(), "tcp": congestion}


def read(path):
    """The text of a file of /proc; empty when the process is gone."""
    try:
        with open(path) as file:
            return file.read()
    except OSError:
        return ""
