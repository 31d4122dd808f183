//! What every call to git is held to.
//!
//! A repository may name programs in many places of its configuration, and an agent may write the
//! configuration of its lane. Three walls stand against that. Calls that read or write files of a
//! work tree use a git directory of ours, so no configuration of anybody else is in force there,
//! and a driver that `.gitattributes` names means nothing. Calls that must stand in the person's
//! git directory only read and move refs. And all calls carry these settings, which outrank every
//! configuration file, with the person's global and system files left out.

use std::ffi::OsString;

/// Settings that outrank every file. Each either names no program where git would look for one, or
/// keeps git from doing something nobody asked for.
const PINNED: &[(&str, &str)] = &[
    // Programs.
    ("core.hooksPath", "/dev/null"),
    ("core.fsmonitor", "false"),
    ("core.editor", "true"),
    ("core.pager", "cat"),
    ("core.sshCommand", "false"),
    ("core.gitProxy", ""),
    ("core.askPass", ""),
    ("core.alternateRefsCommand", "false"),
    ("sequence.editor", "true"),
    ("credential.helper", ""),
    ("diff.external", ""),
    ("interactive.diffFilter", ""),
    ("gpg.program", "false"),
    ("gpg.ssh.program", "false"),
    ("gpg.x509.program", "false"),
    ("commit.gpgSign", "false"),
    ("tag.gpgSign", "false"),
    ("log.showSignature", "false"),
    ("uploadpack.packObjectsHook", ""),
    ("protocol.allow", "never"),
    ("protocol.ext.allow", "never"),
    // Work in the background, and files that nobody expects.
    ("gc.auto", "0"),
    ("gc.autoDetach", "false"),
    ("maintenance.auto", "false"),
    ("submodule.recurse", "false"),
    ("core.splitIndex", "false"),
    ("core.untrackedCache", "false"),
    ("core.multiPackIndex", "true"),
    ("index.sparse", "false"),
    ("core.sparseCheckout", "false"),
    // The same result everywhere.
    ("core.quotePath", "false"),
    ("core.safecrlf", "false"),
    ("core.checkStat", "default"),
    ("core.trustctime", "true"),
    ("core.protectHFS", "false"),
    ("core.protectNTFS", "false"),
    ("core.bigFileThreshold", "16m"),
    ("core.compression", "1"),
    ("i18n.commitEncoding", "UTF-8"),
    ("diff.algorithm", "myers"),
    ("diff.indentHeuristic", "true"),
    ("diff.renames", "false"),
    ("diff.noprefix", "false"),
    ("diff.mnemonicPrefix", "false"),
    ("merge.conflictStyle", "merge"),
    ("merge.renames", "true"),
    ("color.ui", "false"),
    ("advice.detachedHead", "false"),
    // Objects are handed to the disk as they are written; the ref that makes them count is written
    // last and waited for, and everything before it with it.
    ("core.fsync", "committed,reference,-index"),
    ("core.fsyncMethod", "writeout-only"),
    // A lock that another git holds is waited for this long, and never broken.
    ("core.filesRefLockTimeout", "2000"),
    ("core.packedRefsTimeout", "2000"),
];

/// Those of them that say how a remote is reached and who asks: a call that goes there has the person's own instead.
const REACHING: [&str; 5] =
    ["core.sshCommand", "core.gitProxy", "core.askPass", "credential.helper", "protocol.allow"];

/// How a remote may be reached: nothing that is a program of its own, and nothing that others can read on the way.
pub(crate) const PROTOCOLS: &str = "https:ssh:file";

/// Settings for all calls but those that ask what the person's own git would see.
const OURS: &[(&str, &str)] =
    &[("core.attributesFile", "/dev/null"), ("core.excludesFile", "/dev/null")];

/// Variables that every call has. Calls that look for the person's own settings (`theirs`) see
/// their global and system files; no other call does.
pub(crate) fn environment(theirs: bool) -> impl Iterator<Item = (OsString, OsString)> {
    let always = [
        ("LC_ALL", "C"),
        ("TZ", "UTC"),
        ("GIT_TERMINAL_PROMPT", "0"),
        ("GIT_OPTIONAL_LOCKS", "0"),
        ("GIT_NO_REPLACE_OBJECTS", "1"),
        ("GIT_NO_LAZY_FETCH", "1"),
        ("GIT_GRAFT_FILE", "/dev/null"),
        ("GIT_ALLOW_PROTOCOL", ""),
        ("GIT_PAGER", "cat"),
        ("GIT_EDITOR", "true"),
        ("GIT_ASKPASS", ""),
        ("GIT_ADVICE", "0"),
    ];
    let ours: &[(&str, &str)] = if theirs {
        &[]
    } else {
        &[
            ("GIT_CONFIG_NOSYSTEM", "1"),
            ("GIT_CONFIG_GLOBAL", "/dev/null"),
            ("GIT_ATTR_NOSYSTEM", "1"),
        ]
    };
    always.into_iter().chain(ours.iter().copied()).map(|(k, v)| (k.into(), v.into()))
}

/// The pinned settings and `more`, as variables: unlike `-c` they can carry any name and value.
pub(crate) fn config(
    theirs: bool,
    reaches: bool,
    more: &[(String, OsString)],
) -> Vec<(OsString, OsString)> {
    let ours = if theirs { &[] } else { OURS };
    let pinned = PINNED.iter().filter(|(key, _)| !(reaches && REACHING.contains(key))).chain(ours);
    let pinned = pinned.map(|(key, value)| (OsString::from(key), OsString::from(value)));
    let more = more.iter().map(|(key, value)| (key.into(), value.clone()));
    let all: Vec<(OsString, OsString)> = pinned.chain(more).collect();
    let mut env = vec![("GIT_CONFIG_COUNT".into(), all.len().to_string().into())];
    for (at, (key, value)) in all.into_iter().enumerate() {
        env.push((format!("GIT_CONFIG_KEY_{at}").into(), key));
        env.push((format!("GIT_CONFIG_VALUE_{at}").into(), value));
    }
    env
}
