//! The real agents, as they are published, against a scripted model server on loopback: inside the sandbox, through the
//! whole of Windlass. Needs what `scripts/agents`, `scripts/bubblewrap` and, for `local`, `scripts/local-model` install.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod acp;
mod actor;
#[path = "../shared/agents.rs"]
mod agents;
mod alive;
mod answers;
#[path = "../shared/bubblewrap.rs"]
mod bubblewrap;
mod builtin;
mod by_hand;
mod cache;
mod canary;
mod caps;
mod demo;
mod ends;
mod further;
mod handed;
mod hostile;
mod issues;
mod kills;
mod limits;
mod local;
mod meeting;
mod mission;
mod nobody;
mod person;
mod probes;
mod prompts;
mod resumed;
mod rig;
#[path = "../shell/scratch.rs"]
#[expect(dead_code, reason = "the tests of the shell need more of it")]
mod scratch;
mod signals;
mod task;
mod work;
