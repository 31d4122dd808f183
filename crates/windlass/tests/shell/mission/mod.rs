//! `windlass mission`: a queue of features, built in lanes and landed, as a user drives it.

mod features;
mod forty;
mod memory;
mod people;
mod rig;
mod settings;
mod startup;
mod steps;
mod ui;
