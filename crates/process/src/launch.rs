//! Starting one program: the only unsafe code of Windlass.
//!
//! `std::process::Command` can do all of this with a `pre_exec` hook, but with such a hook it
//! forks, and a fork copies the page tables of Windlass: at 12 MB of memory that almost doubles
//! the time a program takes to start and end. So we do what `posix_spawn` does inside the C
//! library, which offers no way to set a parent-death signal: a child that borrows our memory
//! (`CLONE_VM`) while the thread that made it is held (`CLONE_VFORK`) until the child has become
//! the new program or has given up.
//!
//! What makes that sound:
//!
//! - The child has a stack of its own, and only the held thread shares its thread-local storage.
//! - Every signal is blocked in the launching thread, and so in the child, until the child has put
//!   all signals back to their defaults: no handler of ours ever runs in it. The thread that
//!   launches does nothing else with signals; a [`Launcher`] cannot leave it.
//! - The child makes system calls and nothing else: no allocation, no lock, no panic. Everything
//!   it needs lies ready in [`Orders`].
//! - Descriptors, working directory, umask, signal actions and limits are the child's own copies:
//!   what it does to them does not reach us.

use std::{
    ffi::{CStr, CString, c_char, c_int, c_void},
    io,
    marker::PhantomData,
    os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd, RawFd},
    ptr,
    sync::atomic::{AtomicI32, Ordering::Relaxed},
};

use rustix::process::{WaitId, WaitIdOptions, waitid};

use crate::token::Token;

/// The child makes a dozen shallow calls; unoptimised code needs the most.
const STACK_BYTES: usize = 128 * 1024;
/// The highest signal that Linux knows. A set of them has 8 bytes; an action at most 64, and all
/// zeros is the default one.
const SIGNAL_MAX: c_int = 64;

/// Everything the kernel has to be told.
pub(crate) struct Plan {
    pub(crate) path: CString,
    pub(crate) args: Vec<CString>,
    pub(crate) env: Vec<CString>,
    pub(crate) directory: CString,
    /// What becomes its descriptors 0, 1 and 2. None of these is one of those numbers here.
    pub(crate) stdio: [OwnedFd; 3],
    pub(crate) umask: u32,
    /// The signal it gets when we die.
    pub(crate) orphaned: c_int,
    /// What becomes its descriptor 3, if it is to have one. It is none of those numbers here either.
    pub(crate) fourth: Option<OwnedFd>,
    /// Doors of the control groups that it is to be in.
    pub(crate) groups: Vec<OwnedFd>,
}

/// A program that runs. Its process is ours to collect.
pub(crate) struct Launched {
    pub(crate) pid: i32,
    pub(crate) pidfd: OwnedFd,
}

/// A program that does not.
#[derive(Debug)]
pub(crate) struct NotLaunched {
    pub(crate) step: Step,
    pub(crate) source: io::Error,
}

/// How far it came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    MakeProcess,
    LeaveSession,
    DieWithParent,
    EnterGroup,
    ConnectStdio,
    CloseFiles,
    EnterDirectory,
    BecomeProgram,
}

const STEPS: [Step; 8] = [
    Step::MakeProcess,
    Step::LeaveSession,
    Step::DieWithParent,
    Step::EnterGroup,
    Step::ConnectStdio,
    Step::CloseFiles,
    Step::EnterDirectory,
    Step::BecomeProgram,
];

/// Starts programs from the thread that made it, and from no other: the parent-death signal goes
/// by threads, and that thread's signals are blocked for good.
pub(crate) struct Launcher {
    stack: Vec<u8>,
    marks: Marks,
    stays_here: PhantomData<*const ()>,
}

/// Whether tokens can be given as a limit too. They cannot where somebody has lowered the hard
/// limit; the environment has to do then.
#[derive(Clone, Copy)]
enum Marks {
    Limit,
    EnvironmentOnly,
}

/// What the child reads, and the two numbers it leaves behind if it fails.
struct Orders {
    path: *const c_char,
    args: *const *const c_char,
    env: *const *const c_char,
    directory: *const c_char,
    stdio: [RawFd; 3],
    /// Below nought if there is none.
    fourth: RawFd,
    groups: *const RawFd,
    groups_len: usize,
    umask: libc::mode_t,
    orphaned: c_int,
    limit: Option<libc::rlim_t>,
    parent: libc::pid_t,
    step: AtomicI32,
    errno: AtomicI32,
}

impl Launcher {
    #[expect(unsafe_code, reason = "signals can be blocked by no safe call")]
    pub(crate) fn new() -> io::Result<Launcher> {
        let mut all = std::mem::MaybeUninit::<libc::sigset_t>::uninit();
        // SAFETY: `sigfillset` initialises the set, which then is read and outlives the call.
        let failed = unsafe {
            libc::sigfillset(all.as_mut_ptr());
            libc::pthread_sigmask(libc::SIG_BLOCK, all.as_ptr(), ptr::null_mut())
        };
        if failed != 0 {
            return Err(io::Error::from_raw_os_error(failed));
        }
        let hard = rustix::process::getrlimit(rustix::process::Resource::Locks).maximum;
        Ok(Launcher {
            stack: vec![0; STACK_BYTES],
            marks: if hard.is_none() { Marks::Limit } else { Marks::EnvironmentOnly },
            stays_here: PhantomData,
        })
    }

    /// Starts a program and returns once it runs: from here on it is in a session of its own, dies
    /// with this thread, has default signals, and no files but its three.
    pub(crate) fn launch(&mut self, plan: &Plan, token: Token) -> Result<Launched, NotLaunched> {
        let pointers = |texts: &[CString]| -> Vec<*const c_char> {
            texts.iter().map(|text| text.as_ptr()).chain([ptr::null()]).collect()
        };
        let (args, env) = (pointers(&plan.args), pointers(&plan.env));
        let groups: Vec<RawFd> = plan.groups.iter().map(AsRawFd::as_raw_fd).collect();
        let orders = Orders {
            path: plan.path.as_ptr(),
            args: args.as_ptr(),
            env: env.as_ptr(),
            directory: plan.directory.as_ptr(),
            stdio: [0, 1, 2].map(|at: usize| plan.stdio[at].as_raw_fd()),
            fourth: plan.fourth.as_ref().map_or(-1, AsRawFd::as_raw_fd),
            groups: groups.as_ptr(),
            groups_len: groups.len(),
            umask: plan.umask,
            orphaned: plan.orphaned,
            limit: match self.marks {
                Marks::Limit => Some(token.limit()),
                Marks::EnvironmentOnly => None,
            },
            parent: rustix::process::getpid().as_raw_nonzero().get(),
            step: AtomicI32::new(0),
            errno: AtomicI32::new(0),
        };
        let launched = self
            .make_process(&orders)
            .map_err(|source| NotLaunched { step: Step::MakeProcess, source })?;
        match orders.errno.load(Relaxed) {
            0 => Ok(launched),
            errno => {
                // It has given up and waits to be collected.
                let _ = waitid(WaitId::PidFd(launched.pidfd.as_fd()), WaitIdOptions::EXITED);
                let step = usize::try_from(orders.step.load(Relaxed)).unwrap_or(0);
                Err(NotLaunched {
                    step: STEPS.get(step).copied().unwrap_or(Step::BecomeProgram),
                    source: io::Error::from_raw_os_error(errno),
                })
            }
        }
    }

    #[expect(unsafe_code, reason = "see the top of this file")]
    fn make_process(&mut self, orders: &Orders) -> io::Result<Launched> {
        let flags = libc::CLONE_VM | libc::CLONE_VFORK | libc::CLONE_PIDFD | libc::SIGCHLD;
        let mut pidfd: c_int = -1;
        let end = self.stack.as_mut_ptr_range().end;
        // SAFETY: `end` is one past the stack's last byte; rounding it down by less than 16 bytes
        // stays inside. The stack is borrowed by nobody else until the call returns, which is when
        // the child has left our memory. `follow` gets the orders it expects; they live as long.
        let pid = unsafe {
            let top = end.sub(end.addr() % 16);
            libc::clone(
                follow,
                top.cast(),
                flags,
                ptr::from_ref(orders).cast_mut().cast::<c_void>(),
                &raw mut pidfd,
            )
        };
        if pid < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the call has succeeded, so this is a new descriptor that nobody else knows.
        let pidfd = unsafe { OwnedFd::from_raw_fd(pidfd) };
        Ok(Launched { pid, pidfd })
    }
}

/// The whole life of the child until it is the new program.
#[expect(unsafe_code, reason = "see the top of this file")]
extern "C" fn follow(orders: *mut c_void) -> c_int {
    // SAFETY: `make_process` passes its orders, which outlive the child's stay in our memory.
    let orders = unsafe { &*orders.cast::<Orders>() };
    // SAFETY: the pointers in the orders are as `obey` wants them; we are the new process.
    let step = unsafe { obey(orders) };
    // SAFETY: reads the error number of the call that has just failed.
    let errno = unsafe { *libc::__errno_location() };
    orders.step.store(step as i32, Relaxed);
    // Nought would mean success. It cannot be: only a failed call brings us here.
    orders.errno.store(if errno == 0 { libc::EIO } else { errno }, Relaxed);
    // SAFETY: ends this process and nothing else, without running anybody's exit handlers.
    unsafe { libc::_exit(127) }
}

/// Does what was ordered, and returns only if a step failed.
///
/// # Safety
///
/// To be called in the new process alone. The orders' texts end in a zero byte and its lists in a
/// null pointer.
#[expect(unsafe_code, reason = "see the top of this file")]
unsafe fn obey(orders: &Orders) -> Step {
    // SAFETY: plain system calls on values of our own, in a process that has nothing to lose.
    unsafe {
        // First, while all signals are blocked: an ignored signal would stay ignored, and a
        // handler of ours must never run here. Asked of the kernel itself, because the C library
        // keeps two signals to itself. KILL and STOP cannot be changed, and need not be.
        let default = [0_u64; 8];
        for signal in 1..=SIGNAL_MAX {
            let nothing = ptr::null_mut::<u64>();
            libc::syscall(libc::SYS_rt_sigaction, signal, default.as_ptr(), nothing, 8);
        }
        if libc::setsid() < 0 {
            return Step::LeaveSession;
        }
        if libc::prctl(libc::PR_SET_PDEATHSIG, orders.orphaned) < 0 {
            return Step::DieWithParent;
        }
        for at in 0..orders.groups_len {
            // Whoever writes a nought there is in.
            if libc::write(*orders.groups.add(at), c"0".as_ptr().cast(), 1) < 0 {
                return Step::EnterGroup;
            }
        }
        // The parent may have died before that call. Then nobody would ever tell us.
        if libc::getppid() != orders.parent {
            libc::_exit(127);
        }
        for (wanted, given) in (0..).zip(orders.stdio) {
            if libc::dup2(given, wanted) < 0 {
                return Step::ConnectStdio;
            }
        }
        let mut first: libc::c_uint = 3;
        if orders.fourth >= 0 {
            if libc::dup2(orders.fourth, 3) < 0 {
                return Step::ConnectStdio;
            }
            first = 4;
        }
        let cloexec = libc::CLOSE_RANGE_CLOEXEC;
        if libc::syscall(libc::SYS_close_range, first, libc::c_uint::MAX, cloexec) < 0 {
            return Step::CloseFiles;
        }
        if libc::chdir(orders.directory) < 0 {
            return Step::EnterDirectory;
        }
        libc::umask(orders.umask);
        if let Some(limit) = orders.limit {
            // Belt and braces with the environment, so a refusal is no reason to give up.
            let limit = libc::rlimit { rlim_cur: limit, rlim_max: libc::RLIM_INFINITY };
            libc::setrlimit(libc::RLIMIT_LOCKS, &raw const limit);
        }
        let mut none: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&raw mut none);
        libc::sigprocmask(libc::SIG_SETMASK, &raw const none, ptr::null_mut());
        libc::execve(orders.path, orders.args, orders.env);
    }
    Step::BecomeProgram
}

/// How much the kernel would have to take over for a plan.
pub(crate) fn bytes(plan: &Plan) -> usize {
    let texts = plan.args.iter().chain(&plan.env);
    texts.map(|text: &CString| CStr::to_bytes_with_nul(text).len()).sum()
}
