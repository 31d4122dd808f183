# What a person reads, in English: what every other language falls back to.
# A value is put in as it is given. Where a plural depends on a number: { NUMBER($n) -> [one] … *[other] … }


## task: what a session says (crates/clerks/src/task)

task-started = [harness] Task started!
task-row-task = Task
task-row-mode = Mode
task-row-model = Model
task-row-style = Style
task-row-phase = Phase
task-row-round = Round
task-row-branch = Branch
task-row-scope = Scope
task-row-directory = Directory
task-row-verifier = Verifier
task-row-language = Language
task-row-test = Test
task-row-build = Build
task-row-lint = Lint
task-row-types = TypeCheck
task-row-output = Output
task-none = none
task-verifier-model = { $model }: it reads the change, as there is no command to run
task-verifier-commands = Windlass runs the commands itself (a model, { $model }, only if none can be run)
task-dear-verifier = ⚠ Verifier set to { $model } — high cost for mechanical verification. haiku is usually sufficient.
task-label-plan-ready = Plan — ready
task-label-planning = Plan — in progress
task-label-plan-done = Plan — complete
task-label-generate-ready = Generate — ready
task-label-generating = Generate — in progress
task-label-generate-done = Generate — complete
task-label-verify-ready = Verify — ready
task-label-verifying = Verify — running checks
task-label-verify-done = Verify — complete
task-label-evaluate-ready = Evaluate — ready
task-label-evaluating = Evaluate — in progress
task-label-evaluate-done = Evaluate — complete
task-label-completed = Completed
task-phase-plan = [harness] Phase: Plan
task-phase-generate = [harness] Phase: Generate
    Dispatching generator sub-agent...
task-phase-verify = [harness] Phase: Verify (Layer 1 — Mechanical)
task-phase-evaluate = [harness] Phase: Evaluate (Layer 2+3)
    Dispatching evaluator sub-agent...
task-done = ✓ { $line }
task-not-done = ✗ { $line }
task-planned = ✓ Plan: { $line }
task-reviewed = ✓ Review: { $line }
task-coded = ✓ Code: { $line }
task-proposed = ✓ { $count } proposals generated
task-criticised = ✓ { $count } cross-critiques completed
task-advised = ✓ Reviews: { $count } advisors completed
task-unparsed = [harness] ⚠ 1-line return parse failed — fallback: confidence Unknown
task-conventions-rich = [harness] Conventions: CLAUDE.md detected (rich). Copied to .harness/conventions.md
task-conventions-kept = [harness] Conventions: as the spec left them. Copied to .harness/conventions.md
task-conventions-skipped = [harness] Conventions: skipped.
task-scanned = [harness] Conventions: scanned and saved to .harness/conventions.md
task-scan-missing = Convention scan completed but output file not found.
task-notes-unreadable = Failed to read { $path }: { $error }. Discovery Notes will be empty for planner injection.
task-plan-complete = [harness] Plan complete.
task-generate-complete = [harness] Generate complete.
task-verify-complete = [harness] Verify (Layer 1) complete.
    {"  "}Result : { $result }
    {"  "}{ $line }
task-evaluate-complete = [harness] Evaluate complete.
task-completed = [harness] ✓ QA PASS — task complete.
task-completed-open = [harness] Completed with open issues on record. See qa_report.md
task-rest-plan = Spec: { $path }
    This session can end here. Next: windlass task generate
task-rest-generate = This session can end here. Next: windlass task verify
task-rest-verify = This session can end here. Next: windlass task evaluate
task-rest-evaluate = This session can end here. Next: windlass resume
task-retry-layer1 = [harness] Verify (Layer 1) FAIL — retrying Generator (attempt { $attempt }/3)
    {"  "}{ $line }
task-retry-layer2 = [harness] Evaluate FAIL (Layer 2) — retrying Generator (attempt { $attempt }/2)
    {"  "}{ $line }
task-spent-layer1 = [harness] Verify (Layer 1) FAIL — max retries reached ({ $most }/{ $most })
    {"  "}Latest error: { $error }
    {"  "}See: { $path }
task-spent-layer2 = [harness] Evaluate FAIL (Layer 2) — max retries reached ({ $most }/{ $most })
    {"  "}Failing items: { $items }
task-spec-at = Spec: { $path }
task-spec-edited = { $path } was edited since it was shown: answer `modify`, then `edited`, and see it again
task-autofix-model = [harness] ℹ Auto-fix model: { $model }
task-low-confidence = ⚠ Low confidence — review the diff carefully before applying.
task-patch-empty = [harness] ⚠ Patch file is empty or has no diff block — apply skipped
task-path-excluded = [harness] ⚠ Path validation failed: { $path } — excluded from Proposer input
task-no-paths = [harness] ⚠ No valid file paths found — Proposer input will be empty
task-docs-path = [harness] ⚠ Recovered docs_path failed validation: { $path }
task-other-skill = A /{ $skill } skill session is active in this directory.
task-corrupt = { $path }: { $flaw }; it is kept as { $aside }
task-v1 = [harness] Previous session detected (v1).
task-evidence = Evidence:
task-read-only = read by a model ({ $came }): { $line }
task-all-skipped = no check could be run: what lands is marked as skipped
task-open-layer1 = layer 1 had failed when it was gone on with
task-open-accepted = accepted as it is, with what the evaluation found
task-open-rounds = all rounds were used up, and issues remain
task-open-limits = it goes beyond its scope or its number of files, and that was allowed
task-set-aside = { $path } is written from the journal: what somebody else wrote there is now in { $aside }
task-unwritten = { $path } could not be written: { $why }
task-cleared = The earlier session's { $count } files are gone; `windlass log --full` still has what was in them.
task-left-alone = Left alone, because they are not as Windlass wrote them: { $files }
task-artifacts-gone = Removed: { $path }
task-guard = { $path } is not removed: { $why }
task-not-staged = Failed to stage { $file }: { $error }. Spec artifact may not be in git history.
task-lane-kept = Your checkout could not take the change. It is kept: `windlass lanes list` names it, `windlass lanes restore` writes it anywhere.
task-output-base = The output base { $path } holds:
task-output-row = { $name }: { $count } files
task-memory = Contains team knowledge from /memory skill.
task-take = Take it: git merge --ff-only { $branch }
task-take-by = Take it: { $command }
task-given = The change is in your working tree, without a commit. Artifacts are in { $docs }
task-next-generate = Plan complete. Run generate? → windlass task generate
task-next-verify = Generate complete. Run verify? → windlass task verify
task-next-evaluate = Verify complete. Run evaluate? → windlass task evaluate
task-next-finish = Evaluate complete. Finish? → windlass resume
task-next-resume = Go on? → windlass resume

## task: what is asked before a session begins (crates/windlass/src/commands/task)

ask-mode = Select workflow mode:
ask-mode-standard = standard (Recommended)
ask-mode-standard-about = 2 specialists analyze + synthesize. ~1.5x tokens. Balanced depth
ask-mode-single = single
ask-mode-single-about = 1 agent. Fast, token-saving. Best for simple tasks
ask-mode-multi = multi
ask-mode-multi-about = 3 specialists + cross-critique. ~2-2.5x tokens. Deepest analysis
ask-models = Select model configuration for sub-agents:
ask-models-default = default
ask-models-default-about = Inherit parent model, no changes
ask-models-all-opus = all-opus
ask-models-all-opus-about = All sub-agents use Opus (highest quality)
ask-models-balanced = balanced (Recommended)
ask-models-balanced-about = Sonnet executor + Opus advisor/evaluator (cost-efficient)
ask-models-economy = economy
ask-models-economy-about = Haiku executor + Sonnet advisor/evaluator (max savings)
ask-task = What should be done?
ask-taken = `{ $answer }` cannot be taken: { $why }
ask-given-up = Three answers could not be taken: it is { $value }
ask-session = [harness] Previous session detected. Resume, restart, or stop?
ask-session-resume = Resume
ask-session-resume-about = Continue from { $phase }
ask-session-restart = Restart
ask-session-restart-about = End that task (its work is kept) and start this one
ask-session-stop = Stop
ask-session-stop-about = End that task (its work is kept) and halt
ask-same = This task is under way already. Resume it, or begin anew under another name?
ask-same-resume = Resume
ask-same-resume-about = Continue from { $phase }
ask-same-new = New
ask-same-new-about = End that task (its work is kept) and begin as { $slug }
ask-default = { $name }: { $value } (nobody was asked: { $flag } chooses)

## Questions. Those of a workflow are in its definition; what every question may have:

asked-in-own-words = in your own words
asked-noted = Noted for whoever works on it; you are asked again

## A run begins, goes on and ends

face-no-cap = no cap
face-no-limit = no limit
face-hours = { $hours } hours
face-caps = at most { $run } and { $hours } for the run, { $unit } for each { $called }, { $invocation } for each invocation
face-left-behind = ended { $count } processes that were left behind
face-not-taken = not taken yet: { $command }
face-tally = { $done } done, { $failed } failed, { $skipped } skipped, { $blocked } blocked of { $total }; { $spent }
face-open = open: { $question }
face-interrupted = interrupted: `windlass resume` goes on where it was
face-waiting = waiting for an answer: `windlass gates` shows the questions, `windlass answer` takes the answers
face-stopped = stopped: `windlass resume` goes on
face-exhausted = a budget is spent: raise it in windlass.toml, commit that, then `windlass resume`
face-escalated = it needs a person to go on: what for stands above, and `windlass log --full` tells more
face-not-all-done = it came to its end, and not everything was done: `windlass log --full` tells why
face-stuck = nothing can go on: this is a defect of Windlass, please report it
face-default = (default)
face-did-you-mean = did you mean `{ $option }`? Say more for an answer in your own words.

live-units = { $over } of { $total } { $called }s
live-spent-of = { $spent } of { $cap }
live-forecast = probably { $forecast } in the end
live-more = and { $count } more

## What happens, line by line. The unit and the stage stand before it.

tell-task = task { $task }
tell-attempt = attempt { $attempt }
tell-check-pass = check { $name }: pass
tell-check-fail = check { $name }: fail
tell-check-failed-before = check { $name }: fails, as it does without this work
tell-check-not-installed = check { $name }: skipped: its command is not installed
tell-check-no-command = check { $name }: skipped: there is no such command
tell-check-skipped = check { $name }: skipped
tell-landed = landed { $commit } on { $branch }
tell-waits-beside = { $commit } is ready and waits beside { $branch }
tell-take-it = take it with: { $command }
tell-cut-off = effect { $effect } was cut off
tell-edits-kept = its edits are kept: { $command }
tell-rebuilt = the branch has moved: rebuilt there
tell-conflict = the branch has moved, and there is a conflict
tell-lane-kept = what was in its lane is kept: { $command }
tell-by-hand = changed by hand
tell-conflicts-in = conflicts in { $files }
tell-begins = begins — { $title }
tell-by = by { $who }: { $reason }
tell-asks = asks (gate { $gate })
tell-answered = { $answer }, by { $who }
tell-policy = the workflow's policy
tell-waits = waits: { $why }
tell-why-person = a person chose to pause here
tell-why-rest = a planned halt
tell-why-trouble = a person must look at it
tell-why-broke = its budget is spent
tell-why-unproved = { $stage } has not been proved for this change
tell-why-landed = it has landed once already
tell-overridden = { $verdict }, by { $who }'s own decision: { $reason }
tell-redone = once more, says { $who }
tell-stops = { $who } stops it after the units under way
tell-pauses = { $who } stops it: nothing new is started
tell-goes-on = { $who } goes on
tell-cancels = { $who } cancels the run
tell-caps-raised = { $who } has raised the caps
tell-limited = it waits for its provider until { $instant }

log-prompt = prompt
log-printed = printed
log-printed-before = printed, without this work
log-shown = shown
log-said = said
log-errors = errors

## How things stand

status-dollars = { $amount } dollars
status-under-way = under way
status-limited = waiting for a limit to pass
status-stopped = stopped
status-waiting = waiting for an answer
status-exhausted = a budget is spent
status-escalated = needs a person
status-resting = resting
status-stuck = stuck
status-run-done = done
status-run-failed = failed
status-run-escalated = escalated
status-run-rejected = rejected
status-run-stopped = stopped
status-run-cancelled = cancelled
status-unit-done = done
status-unit-failed = failed
status-unit-skipped = skipped
status-unit-blocked = blocked
status-unit-unfinished = unfinished
status-because-of = because of { $unit }
status-unreadable = { $run } cannot be read: { $error }
status-damaged = `windlass journal verify` says where it is damaged
status-held = held by { $what } (pid { $pid })
status-nothing-running = nothing is running here
status-no-run = no run is open
status-cut-off = cut off: `windlass resume` goes on
status-untidy = { $standing }, and not tidied up yet: `windlass resume` does that
status-until = { $standing }, until { $instant }
status-tally = { $done } of { $total } done, { $failed } failed, { $skipped } skipped, { $blocked } blocked; { $spent }
status-at = { $unit } at { $stage } — { $title }
status-blocked = { $unit } blocked{ $because } — { $title }
status-to-be-taken = { $commit } waits to be taken: { $command }
status-open = { $count } open: `windlass gates`

## Questions that wait, answers and wishes

gates-none = no question is open
gates-needs-reason = (needs --text with a reason)
gates-answer-with = answer with: windlass answer { $gate } KEY, or --text 'your own words'
answer-taken = { $gate } is answered
wish-cancel = { $run } is cancelled
wish-pause = { $run } starts nothing new
wish-stop = { $run } stops after the units under way
wish-redo = { $run } starts that stage over
wish-skip = { $run } leaves that unit out
wish-override = { $run } takes that verdict
