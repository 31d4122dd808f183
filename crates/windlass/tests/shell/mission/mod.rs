//! `windlass mission`: a queue of features, built in lanes and landed, as a user drives it.

mod before;
mod branch;
mod checkouts;
mod conflicts;
mod decide;
mod example;
mod features;
mod finale;
mod forty;
mod memory;
mod people;
mod retry;
mod rig;
mod settings;
mod startup;
mod steps;
mod ui;
