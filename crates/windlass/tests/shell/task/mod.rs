//! `windlass task`, as a person does it. What each kind of flow prints is kept beside these files.

mod attacks;
mod endings;
mod evaluate;
mod flags;
mod gates;
mod modes;
mod plan;
mod recovery;
mod rig;
mod steps;
mod terminal;
mod verify;
mod words;
