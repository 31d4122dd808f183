# What a person reads, in English: what every other language falls back to.
# A value is put in as it is given. Where a plural depends on a number: { NUMBER($n) -> [one] … *[other] … }


## task: what a session says (crates/clerks/src/task)

taskline-started = [harness] Task started!
taskline-row-task = Task
taskline-row-mode = Mode
taskline-row-model = Model
taskline-row-style = Style
taskline-row-phase = Phase
taskline-row-round = Round
taskline-row-branch = Branch
taskline-row-scope = Scope
taskline-row-directory = Directory
taskline-row-verifier = Verifier
taskline-row-language = Language
taskline-row-test = Test
taskline-row-build = Build
taskline-row-lint = Lint
taskline-row-types = TypeCheck
taskline-row-output = Output
taskline-none = none
taskline-verifier-model = { $model }: it reads the change, as there is no command to run
taskline-verifier-commands = Windlass runs the commands itself (a model, { $model }, only if none can be run)
taskline-dear-verifier = ⚠ Verifier set to { $model } — high cost for mechanical verification. haiku is usually sufficient.
taskline-label-plan-ready = Plan — ready
taskline-label-planning = Plan — in progress
taskline-label-plan-done = Plan — complete
taskline-label-generate-ready = Generate — ready
taskline-label-generating = Generate — in progress
taskline-label-generate-done = Generate — complete
taskline-label-verify-ready = Verify — ready
taskline-label-verifying = Verify — running checks
taskline-label-verify-done = Verify — complete
taskline-label-evaluate-ready = Evaluate — ready
taskline-label-evaluating = Evaluate — in progress
taskline-label-evaluate-done = Evaluate — complete
taskline-label-completed = Completed
taskline-phase-plan = [harness] Phase: Plan
taskline-phase-generate = [harness] Phase: Generate
    Dispatching generator sub-agent...
taskline-phase-verify = [harness] Phase: Verify (Layer 1 — Mechanical)
taskline-phase-evaluate = [harness] Phase: Evaluate (Layer 2+3)
    Dispatching evaluator sub-agent...
taskline-done = ✓ { $line }
taskline-not-done = ✗ { $line }
taskline-planned = ✓ Plan: { $line }
taskline-reviewed = ✓ Review: { $line }
taskline-coded = ✓ Code: { $line }
taskline-proposed = ✓ { $count } proposals generated
taskline-criticised = ✓ { $count } cross-critiques completed
taskline-advised = ✓ Reviews: { $count } advisors completed
taskline-unparsed = [harness] ⚠ 1-line return parse failed — fallback: confidence Unknown
taskline-conventions-rich = [harness] Conventions: CLAUDE.md detected (rich). Copied to .harness/conventions.md
taskline-conventions-kept = [harness] Conventions: as the spec left them. Copied to .harness/conventions.md
taskline-conventions-skipped = [harness] Conventions: skipped.
taskline-scanned = [harness] Conventions: scanned and saved to .harness/conventions.md
taskline-scan-missing = Convention scan completed but output file not found.
taskline-notes-unreadable = Failed to read { $path }: { $error }. Discovery Notes will be empty for planner injection.
taskline-plan-complete = [harness] Plan complete.
taskline-generate-complete = [harness] Generate complete.
taskline-verify-complete = [harness] Verify (Layer 1) complete.
    {"  "}Result : { $result }
    {"  "}{ $line }
taskline-evaluate-complete = [harness] Evaluate complete.
taskline-completed = [harness] ✓ QA PASS — task complete.
taskline-completed-open = [harness] Completed with open issues on record. See qa_report.md
taskline-rest-plan = Spec: { $path }
    This session can end here. Next: windlass task generate
taskline-rest-generate = This session can end here. Next: windlass task verify
taskline-rest-verify = This session can end here. Next: windlass task evaluate
taskline-rest-evaluate = This session can end here. Next: windlass resume
taskline-retry-layer1 = [harness] Verify (Layer 1) FAIL — retrying Generator (attempt { $attempt }/3)
    {"  "}{ $line }
taskline-retry-layer2 = [harness] Evaluate FAIL (Layer 2) — retrying Generator (attempt { $attempt }/2)
    {"  "}{ $line }
taskline-spent-layer1 = [harness] Verify (Layer 1) FAIL — max retries reached ({ $most }/{ $most })
    {"  "}Latest error: { $error }
    {"  "}See: { $path }
taskline-spent-layer2 = [harness] Evaluate FAIL (Layer 2) — max retries reached ({ $most }/{ $most })
    {"  "}Failing items: { $items }
taskline-spec-at = Spec: { $path }
taskline-spec-edited = { $path } was edited since it was shown: answer `modify`, then `edited`, and see it again
taskline-autofix-model = [harness] ℹ Auto-fix model: { $model }
taskline-low-confidence = ⚠ Low confidence — review the diff carefully before applying.
taskline-patching = [harness] Applying patch to: { $files }
taskline-patch-refused = [harness] ✗ Diff path validation failed: { $path }
taskline-patch-failed = Apply failed — reverted to pre-apply state.
taskline-patch-empty = [harness] ⚠ Patch file is empty or has no diff block — apply skipped
taskline-path-excluded = [harness] ⚠ Path validation failed: { $path } — excluded from Proposer input
taskline-no-paths = [harness] ⚠ No valid file paths found — Proposer input will be empty
taskline-docs-path = [harness] ⚠ Recovered docs_path failed validation: { $path }
taskline-other-skill = A /{ $skill } skill session is active in this directory.
taskline-corrupt = { $path }: { $flaw }; it is kept as { $aside }
taskline-v1 = [harness] Previous session detected (v1).
taskline-label-gen-ready = Generate — ready
taskline-label-eval-ready = Evaluate — ready
taskline-v1-elsewhere = It is not migrated. `windlass task` goes on with it as it was begun.
taskline-v1-evaluate = [harness] Phase: Evaluate (Layer 3)
    Dispatching evaluator sub-agent...
taskline-v1-start = Start afresh: windlass task "…"
taskline-committed = What this session has changed counts as far as it is committed: on { $branch }, or, if there is no such branch, where you are. Changes in your working tree that are not committed are not looked at, so commit them before you resume.
taskline-v1-steps = A session without a version has no steps of its own: it goes on where it was, to its end.
taskline-open-unproved = the project's own commands fail on it, and it was gone on with
taskline-cleans = `code_only` removes { $docs } and .harness/, as far as they are as Windlass wrote them
taskline-evidence = Evidence:
taskline-read-only = read by a model ({ $came }): { $line }
taskline-all-skipped = no check has passed: what lands is marked as skipped
taskline-open-layer1 = layer 1 had failed when it was gone on with
taskline-open-accepted = accepted as it is, with what the evaluation found
taskline-open-rounds = all rounds were used up, and issues remain
taskline-open-limits = it goes beyond its scope or its number of files, and that was allowed
taskline-set-aside = { $path } is written from the journal: what somebody else wrote there is now in { $aside }
taskline-unwritten = { $path } could not be written: { $why }
taskline-cleared = The earlier session's files are gone from here; they are kept, as they were, in { $path }
taskline-left-alone = Left alone, because they are not as Windlass wrote them: { $files }
taskline-artifacts-gone = Removed: { $path }
taskline-guard = { $path } is not removed: { $why }
taskline-not-staged = Failed to stage { $file }: { $error }. Spec artifact may not be in git history.
taskline-lane-kept = Your checkout could not take the change. It is kept in its lane (`windlass lanes list`); once this is over, `windlass lanes restore` writes it anywhere.
taskline-output-base = The output base { $path } holds:
taskline-output-row = { $name }: { $count } files
taskline-memory = Contains team knowledge from /memory skill.
taskline-take = Take it: git merge { $branch }
taskline-take-by = Take it: { $command }
taskline-given = The change is in your working tree, without a commit. Artifacts are in { $docs }
taskline-next-generate = Plan complete. Run generate? → windlass task generate
taskline-next-verify = Generate complete. Run verify? → windlass task verify
taskline-next-evaluate = Verify complete. Run evaluate? → windlass task evaluate
taskline-next-finish = Evaluate complete. Finish? → windlass resume
taskline-next-resume = Go on? → windlass resume

## mission: what a mission says (crates/clerks/src/mission)

missionline-checkpoint = Checkpoint { $name }: { $path }
missionline-broken = What was claimed does not hold any more, now that all has landed:
missionline-escalated = Escalated: { $stuck } stuck, { $blocked } blocked: { $path }
missionline-not-together = Escalated: the final checks failed: { $path }
missionline-held = What a person has to decide: { $path }
missionline-red = the check `{ $check }` fails on the branch as it is, without any of this work: until it passes there, it cannot tell what a feature breaks
missionline-red-still = The check `{ $check }` failed without this work as well, so it did not tell what these break: { $features }
missionline-plan-rejected = Escalated: the plan was rejected: { $path }
missionline-plan-denied = Escalated: the plan was denied: { $path }
missionline-plan-unusable = Escalated: the plan cannot be worked on: { $path }
missionline-spent = { $counts } — { $spent } dollars after { $iterations } iterations
missionline-spent-of = { $counts } — { $spent } of { $cap } dollars after { $iterations } iterations
missionline-passed = { $count } passed
missionline-under-way = { $count } under way
missionline-failed = { $count } failed
missionline-blocked = { $count } blocked
missionline-left-out = { $count } left out
missionline-none-begun = none begun
missionline-counts = { $counts } of { $total } features
missionline-more = … and { $count } more
missionline-plan = The plan has { $features } features with { $claims } claims; { $mechanical } of { $assertions } assertions are checked by command.
missionline-free = { $free } features depend on nothing.
missionline-free-one = { $free } feature depends on nothing.
missionline-no-pages = the step `ui-qa`: no assertion of { $path } has a line `ui:`, so Windlass takes no steps in a browser: add some below the assertions that a person sees (docs/formats.md)
missionline-plan-next = Edit .harness/features.json and .harness/validation-contract.md as you like; `windlass mission` starts on them.

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
ask-waits = a question waits: `windlass gates` shows it, `windlass answer` takes the answer
answer-next = `windlass resume` goes on
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
face-planned = planned for { $spent }
face-stopped = stopped: `windlass resume` goes on
face-exhausted = a budget is spent: raise it in windlass.toml, commit that, then `windlass resume`
face-used-up = { $dollars } of { $most } dollars, { $tokens } of { $tokens_most } tokens, { $calls } of { $calls_most } calls, { $time } of { $time_most } are used up: `[budget] run` in windlass.toml
face-cut-off = of that, { $dollars } dollars and { $tokens } tokens were set aside for calls that were cut off ({ $count }): nobody knows what those used, so all of it counts; `[budget] invocation` says how much is set aside for one
face-escalated = it needs a person to go on: what for stands above, and `windlass log --full` tells more
face-not-all-done = it came to its end, and not everything was done: `windlass log --full` tells why
face-stuck = nothing can go on: this is a defect of Windlass, please report it
face-report = what became of each, with a picture: `windlass report { $run } --html report.html`
face-edit = Open { $path } in your editor; when you close it, it is read again
face-default = (default)
face-did-you-mean = did you mean `{ $option }`? Say more for an answer in your own words.

live-units = { $done } of { $total } { $called }s done
live-spent-of = { $spent } of { $cap }
live-forecast = about { $forecast } in the end and { $time } left
live-failed = { $count } failed
live-skipped = { $count } skipped
live-blocked = { $count } blocked
live-waiting = { $count } waiting for a person
live-landing = landing: { $units }
live-to-land = waiting to land: { $units }
live-idle = waiting
live-more = and { $count } more

forecast-before = about { $likely } and { $time }, or { $most } and { $longest } if much goes wrong: { $units } { $called }s, { $lanes } at a time, going by earlier runs ({ $runs })
forecast-asks = { $least } to { $asks } invocations of agents: { $units } { $called }s, { $lanes } at a time, from one attempt each to as many as they have; conflicts, questions and what is added come on top. In dollars it can be told once { $done } are done; until then at most { $unit } for each, { $most } and { $longest } in all
forecast-unknown = nobody knows what { $units } { $called }s will take, { $lanes } at a time: there is no earlier run to go by; at most { $most } and { $longest }

## What happens, line by line. The unit and the stage stand before it.

tell-part = { $called } { $part }
tell-attempt = attempt { $attempt }
tell-check-pass = check { $name }: pass
tell-check-fail = check { $name }: fail
tell-check-failed-before = check { $name }: fails, as it does without this work
tell-check-not-installed = check { $name }: skipped: its command is not installed
tell-check-no-command = check { $name }: skipped: there is no such command
tell-check-skipped = check { $name }: skipped
tell-landed = landed { $commit } on { $branch }
tell-spent = { $dollars } of { $most } dollars, { $tokens } of { $tokens_most } tokens: `[budget] unit` in windlass.toml
tell-waits-beside = { $commit } is ready and waits beside { $branch }
tell-take-it = take it with: { $command }
tell-cut-off = effect { $effect } was cut off
tell-edits-kept = its edits are kept: { $command }
tell-rebuilt = the branch has moved: rebuilt there
tell-conflict = the branch has moved, and there is a conflict
tell-not-together = its checks fail with what has landed: rebuilt on that
tell-queued = waits to land with what comes next
tell-together-pass = { $units }: pass together
tell-together-fail = { $units }: fail together
tell-lane-kept = what was in its lane is kept: { $command }
tell-by-hand = changed by hand
tell-conflicts-in = conflicts in { $files }
tell-picture = a picture of { $assertion }, { $name }: { $file }
tell-foreseen = would conflict with { $other } in { $files }
tell-foreseen-over = no conflict with { $other } is foreseen any more
tell-held-back = waits until { $other } has landed or is given up: the two would conflict
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
log-browsed = seen in the browser
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
status-failed = { $unit } failed — { $title }
status-said-last = { $role } said last: { $text }
status-kept = what was built of it is kept: { $command }
status-holds = { $unit } waits at { $stage }: { $why }
status-holds-itself = the run itself waits: { $why }
status-holds-next = `windlass redo STAGE --unit UNIT` starts a stage over, `windlass skip UNIT --reason WHY` gives a unit up, `windlass resume` goes on
status-foreseen = { $unit } would conflict with { $other } in { $files }
status-to-be-taken = { $commit } waits to be taken: { $command }
status-given-up = { $commit } waited to be taken and is on no branch any more: it was given up
status-open = { $count } open: `windlass gates`
status-next-mission = why stands in { $path }; `windlass mission` tries everything again that has not passed, and the final checks
status-next = `windlass log { $run } --full` tells why

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
