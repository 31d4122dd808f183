//! `windlass issues`: a tracker's issues, one after another, as a user drives it. The tracker is a folder of Markdown files, or a
//! pretended Linear or GitHub on loopback.

mod away;
mod beside;
mod claims;
mod crowd;
mod example;
mod flags;
mod follow;
mod groups;
mod hostile;
mod injections;
mod keys;
mod limited;
mod loops;
mod pulls;
mod rig;
mod said;
mod seed;
mod struck;
mod trackers;
mod webhooks;
