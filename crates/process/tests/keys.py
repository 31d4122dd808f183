# Keys of the kernel, for tests: `hold PROGRAM ARGS…` becomes a program whose session has a key, `take` prints that key.
import ctypes, os, platform, sys

ADD_KEY, KEYCTL = {"x86_64": (248, 250)}.get(platform.machine(), (217, 219))
JOIN_SESSION_KEYRING, SEARCH, READ = 1, 10, 11
SESSION_KEYRING = ctypes.c_long(-3)
KIND, NAME, SECRET = b"user", b"windlass-test", b"SECRET of a session"

libc = ctypes.CDLL(None, use_errno=True)


def call(*args):
    came = libc.syscall(*args)
    if came < 0:
        raise SystemExit(os.strerror(ctypes.get_errno()))
    return came


if sys.argv[1] == "hold":
    call(KEYCTL, JOIN_SESSION_KEYRING, None)
    call(ADD_KEY, KIND, NAME, SECRET, len(SECRET), SESSION_KEYRING)
    os.execvp(sys.argv[2], sys.argv[2:])
else:
    key = call(KEYCTL, SEARCH, SESSION_KEYRING, KIND, NAME, 0)
    held = ctypes.create_string_buffer(100)
    length = call(KEYCTL, READ, key, held, len(held))
    print(held.raw[:length].decode())
