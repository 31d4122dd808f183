//! One test binary, so that tests link in seconds: a module for each verb, and one for the shape of
//! the workspace.

mod completions;
mod dependencies;
mod documents;
mod examples;
mod help;
mod output;
mod rooms;
mod seed_map;
mod windlass;
mod workflow_check;
mod workflow_list;
mod workflow_show;
mod workflow_show_mermaid;
mod workflow_simulate;
