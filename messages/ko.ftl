# 사람이 읽는 문장, 한국어.


## task: 세션이 하는 말 (crates/clerks/src/task)

taskline-started = [harness] 작업을 시작했습니다!
taskline-row-task = 작업
taskline-row-mode = 모드
taskline-row-model = 모델
taskline-row-style = 진행 방식
taskline-row-phase = 단계
taskline-row-round = 라운드
taskline-row-branch = 브랜치
taskline-row-scope = 범위
taskline-row-directory = 디렉터리
taskline-row-verifier = 검증자
taskline-row-language = 언어
taskline-row-test = 테스트
taskline-row-build = 빌드
taskline-row-lint = 린트
taskline-row-types = 타입 검사
taskline-row-output = 출력 위치
taskline-none = 없음
taskline-verifier-model = { $model }: 실행할 명령이 없어 모델이 변경 내용을 읽고 확인합니다
taskline-verifier-commands = Windlass가 명령을 직접 실행합니다(실행할 수 있는 명령이 하나도 없을 때만 모델 { $model } 사용)
taskline-dear-verifier = ⚠ 검증자가 { $model }(으)로 설정되었습니다 — 기계적 검증에는 비용이 큽니다. 보통 haiku로 충분합니다.
taskline-label-plan-ready = 계획 — 준비됨
taskline-label-planning = 계획 — 진행 중
taskline-label-plan-done = 계획 — 완료
taskline-label-generate-ready = 구현 — 준비됨
taskline-label-generating = 구현 — 진행 중
taskline-label-generate-done = 구현 — 완료
taskline-label-verify-ready = 검증 — 준비됨
taskline-label-verifying = 검증 — 검사 실행 중
taskline-label-verify-done = 검증 — 완료
taskline-label-evaluate-ready = 평가 — 준비됨
taskline-label-evaluating = 평가 — 진행 중
taskline-label-evaluate-done = 평가 — 완료
taskline-label-completed = 완료됨
taskline-phase-plan = [harness] 단계: 계획
taskline-phase-generate = [harness] 단계: 구현
    구현 에이전트를 실행합니다...
taskline-phase-verify = [harness] 단계: 검증 (레이어 1 — 기계적 검사)
taskline-phase-evaluate = [harness] 단계: 평가 (레이어 2+3)
    평가 에이전트를 실행합니다...
taskline-done = ✓ { $line }
taskline-not-done = ✗ { $line }
taskline-planned = ✓ 구현 계획: { $line }
taskline-reviewed = ✓ 검토: { $line }
taskline-coded = ✓ 코드: { $line }
taskline-proposed = ✓ 제안 { $count }건이 작성되었습니다
taskline-criticised = ✓ 상호 비평 { $count }건이 완료되었습니다
taskline-advised = ✓ 검토: 조언자 { $count }명이 완료했습니다
taskline-unparsed = [harness] ⚠ 한 줄 응답을 해석하지 못했습니다 — 신뢰도를 Unknown으로 처리합니다
taskline-conventions-rich = [harness] 컨벤션: 내용이 충분한 CLAUDE.md를 찾았습니다. .harness/conventions.md로 복사했습니다
taskline-conventions-kept = [harness] 컨벤션: 스펙 단계에서 남긴 파일을 .harness/conventions.md로 복사했습니다
taskline-conventions-skipped = [harness] 컨벤션: 건너뜀.
taskline-scanned = [harness] 컨벤션: 조사 결과를 .harness/conventions.md에 저장했습니다
taskline-scan-missing = 컨벤션 조사는 끝났지만 결과 파일이 없습니다.
taskline-notes-unreadable = { $path } 파일을 읽지 못했습니다: { $error }. 계획 단계에는 조사 메모 없이 진행합니다.
taskline-plan-complete = [harness] 계획이 완료되었습니다.
taskline-generate-complete = [harness] 구현이 완료되었습니다.
taskline-verify-complete = [harness] 검증(레이어 1)이 완료되었습니다.
    {"  "}결과 : { $result }
    {"  "}{ $line }
taskline-evaluate-complete = [harness] 평가가 완료되었습니다.
taskline-completed = [harness] ✓ QA PASS — 작업이 완료되었습니다.
taskline-completed-open = [harness] 남은 문제를 기록한 채 완료했습니다. qa_report.md를 확인하세요
taskline-rest-plan = 스펙: { $path }
    세션을 여기서 마쳐도 됩니다. 다음: windlass task generate
taskline-rest-generate = 세션을 여기서 마쳐도 됩니다. 다음: windlass task verify
taskline-rest-verify = 세션을 여기서 마쳐도 됩니다. 다음: windlass task evaluate
taskline-rest-evaluate = 세션을 여기서 마쳐도 됩니다. 다음: windlass resume
taskline-retry-layer1 = [harness] 검증(레이어 1) FAIL — 구현을 다시 시도합니다 ({ $attempt }/3회)
    {"  "}{ $line }
taskline-retry-layer2 = [harness] 평가(레이어 2) FAIL — 구현을 다시 시도합니다 ({ $attempt }/2회)
    {"  "}{ $line }
taskline-spent-layer1 = [harness] 검증(레이어 1) FAIL — 재시도 횟수를 모두 썼습니다 ({ $most }/{ $most })
    {"  "}마지막 오류: { $error }
    {"  "}참고: { $path }
taskline-spent-layer2 = [harness] 평가(레이어 2) FAIL — 재시도 횟수를 모두 썼습니다 ({ $most }/{ $most })
    {"  "}실패 항목: { $items }
taskline-spec-at = 스펙: { $path }
taskline-spec-edited = { $path } 파일이 화면에 표시된 뒤에 수정되었습니다: `modify`, 이어서 `edited`로 답하고 다시 확인하세요
taskline-autofix-model = [harness] ℹ 자동 수정 모델: { $model }
taskline-low-confidence = ⚠ 신뢰도가 낮습니다 — 적용하기 전에 diff를 꼼꼼히 확인하세요.
taskline-patching = [harness] 패치를 적용합니다: { $files }
taskline-patch-refused = [harness] ✗ Diff 경로 검증 실패: { $path }
taskline-patch-failed = 적용에 실패했습니다 — 적용 전 상태로 되돌렸습니다.
taskline-patch-empty = [harness] ⚠ 패치 파일이 비어 있거나 diff 블록이 없습니다 — 적용을 건너뜁니다
taskline-path-excluded = [harness] ⚠ 경로 검증 실패: { $path } — 제안자 입력에서 제외했습니다
taskline-no-paths = [harness] ⚠ 유효한 파일 경로가 없습니다 — 제안자 입력이 비어 있게 됩니다
taskline-docs-path = [harness] ⚠ 복구한 docs_path가 검증에 실패했습니다: { $path }
taskline-other-skill = 이 디렉터리에서 /{ $skill } 스킬 세션이 진행 중입니다.
taskline-corrupt = { $path }: { $flaw }; { $aside }(으)로 보관했습니다
taskline-v1 = [harness] 이전 세션(v1)을 찾았습니다.
taskline-label-gen-ready = 구현 — 준비됨
taskline-label-eval-ready = 평가 — 준비됨
taskline-v1-elsewhere = 이 세션은 새 형식으로 바꾸지 않습니다. `windlass task`를 실행하면 시작한 방식 그대로 이어서 합니다.
taskline-v1-evaluate = [harness] 단계: 평가 (레이어 3)
    평가 에이전트를 실행합니다...
taskline-v1-start = 새로 시작하기: windlass task "…"
taskline-committed = 이 세션이 바꾼 내용은 { $branch } 브랜치에, 그런 브랜치가 없으면 현재 체크아웃에 커밋된 것만 인정됩니다. 작업 트리에 커밋하지 않은 변경은 보지 않으니, 이어서 하기 전에 커밋하세요.
taskline-v1-steps = 버전 표시가 없는 세션에는 따로 실행하는 단계가 없습니다. 멈춘 곳부터 끝까지 이어서 진행합니다.
taskline-open-unproved = 프로젝트의 검사 명령이 실패한 상태에서 계속 진행했습니다
taskline-cleans = `code_only`를 선택하면 { $docs }와 .harness/에서 Windlass가 쓴 그대로인 파일을 삭제합니다
taskline-evidence = 근거:
taskline-read-only = 모델이 읽고 확인함({ $came }): { $line }
taskline-all-skipped = 통과한 검사가 없습니다: 결과에는 '건너뜀'으로 표시됩니다
taskline-open-layer1 = 레이어 1이 실패한 상태에서 계속 진행했습니다
taskline-open-accepted = 평가에서 나온 문제를 둔 채 그대로 받아들였습니다
taskline-open-rounds = 라운드를 모두 썼고 문제가 남아 있습니다
taskline-open-limits = 범위나 파일 수 제한을 넘었고, 이를 허용했습니다
taskline-set-aside = { $path } 파일은 저널에서 다시 만들어집니다: 다른 사람이 쓴 내용은 { $aside }에 옮겨 두었습니다
taskline-unwritten = { $path } 파일을 쓰지 못했습니다: { $why }
taskline-cleared = 이전 세션의 파일을 치웠습니다. 원래 그대로 { $path }에 보관했습니다
taskline-left-alone = Windlass가 쓴 내용과 달라서 그대로 두었습니다: { $files }
taskline-artifacts-gone = 삭제함: { $path }
taskline-guard = { $path } 경로는 삭제하지 않습니다: { $why }
taskline-not-staged = { $file } 파일을 스테이징하지 못했습니다: { $error }. 스펙 산출물이 git 기록에 남지 않을 수 있습니다.
taskline-lane-kept = 작업 트리에 변경 내용을 적용할 수 없었습니다. 변경은 레인에 보관되어 있습니다(`windlass lanes list`). 작업이 끝난 뒤에는 `windlass lanes restore`로 원하는 곳에 꺼낼 수 있습니다.
taskline-output-base = 출력 위치 { $path }에 있는 것:
taskline-output-row = { $name }: 파일 { $count }개
taskline-memory = /memory 스킬의 팀 지식이 들어 있습니다.
taskline-take = 가져오기: git merge { $branch }
taskline-take-by = 가져오기: { $command }
taskline-given = 변경 내용은 커밋 없이 작업 트리에 있습니다. 산출물 위치: { $docs }
taskline-next-generate = 계획이 완료되었습니다. 구현을 시작할까요? → windlass task generate
taskline-next-verify = 구현이 완료되었습니다. 검증을 시작할까요? → windlass task verify
taskline-next-evaluate = 검증이 완료되었습니다. 평가를 시작할까요? → windlass task evaluate
taskline-next-finish = 평가가 완료되었습니다. 마무리할까요? → windlass resume
taskline-next-resume = 계속할까요? → windlass resume

## mission: 미션이 하는 말 (crates/clerks/src/mission)

missionline-checkpoint = 체크포인트 { $name }: { $path }
missionline-broken = 모두 반영된 지금, 주장한 것 가운데 더는 성립하지 않는 것:
missionline-escalated = 사람에게 넘김: 막다른 기능 { $stuck }개, 막힌 기능 { $blocked }개: { $path }
missionline-not-together = 사람에게 넘김: 마지막 검사가 실패했습니다: { $path }
missionline-held = 사람이 결정해야 할 것: { $path }
missionline-red = `{ $check }` 검사는 이 작업이 없는 지금의 브랜치에서도 실패합니다. 거기서 통과하기 전에는 기능이 무엇을 망가뜨리는지 알려 주지 못합니다
missionline-red-still = `{ $check }` 검사는 이 작업이 없어도 실패했으므로 다음 기능이 무엇을 망가뜨리는지 알려 주지 못했습니다: { $features }
missionline-plan-rejected = 사람에게 넘김: 계획이 거절되었습니다: { $path }
missionline-plan-denied = 사람에게 넘김: 계획이 승인되지 않았습니다: { $path }
missionline-plan-unusable = 사람에게 넘김: 이 계획으로는 작업할 수 없습니다: { $path }
missionline-spent = { $counts } — { $iterations }번 반복에 { $spent }달러
missionline-spent-of = { $counts } — { $iterations }번 반복에 { $spent }/{ $cap }달러
missionline-passed = 통과 { $count }
missionline-under-way = 진행 중 { $count }
missionline-failed = 실패 { $count }
missionline-blocked = 막힘 { $count }
missionline-left-out = 제외 { $count }
missionline-none-begun = 아직 시작하지 않음
missionline-counts = 기능 { $total }개 중 { $counts }
missionline-more = … 그 밖에 { $count }개
missionline-plan = 계획: 기능 { $features }개, 주장 { $claims }개. 단언 { $assertions }개 중 { $mechanical }개는 명령으로 확인합니다.
missionline-free = 기능 { $free }개는 아무것에도 의존하지 않습니다.
missionline-free-one = 기능 { $free }개는 아무것에도 의존하지 않습니다.
missionline-no-pages = `ui-qa` 단계: { $path }의 어느 단언에도 `ui:` 줄이 없어 Windlass가 브라우저에서 밟을 단계가 없습니다. 화면에 보이는 단언 아래에 적어 주세요 (docs/formats.md)
missionline-plan-next = .harness/features.json과 .harness/validation-contract.md를 원하는 대로 고치세요. `windlass mission`이 그대로 시작합니다.

## task: 세션을 시작하기 전에 묻는 것 (crates/windlass/src/commands/task)

ask-mode = 워크플로 모드를 선택하세요:
ask-mode-standard = standard (권장)
ask-mode-standard-about = 전문가 2명이 분석하고 종합합니다. 토큰 약 1.5배. 균형 잡힌 깊이
ask-mode-single = single
ask-mode-single-about = 에이전트 1명. 빠르고 토큰을 아낍니다. 단순한 작업에 적합
ask-mode-multi = multi
ask-mode-multi-about = 전문가 3명과 상호 비평. 토큰 약 2~2.5배. 가장 깊은 분석
ask-models = 하위 에이전트가 쓸 모델 구성을 선택하세요:
ask-models-default = default
ask-models-default-about = 설정된 모델을 그대로 사용
ask-models-all-opus = all-opus
ask-models-all-opus-about = 모든 하위 에이전트가 Opus 사용(최고 품질)
ask-models-balanced = balanced (권장)
ask-models-balanced-about = 구현은 Sonnet, 조언과 평가는 Opus(비용 효율적)
ask-models-economy = economy
ask-models-economy-about = 구현은 Haiku, 조언과 평가는 Sonnet(최대 절감)
ask-task = 무엇을 할까요?
ask-taken = `{ $answer }`(은)는 쓸 수 없습니다: { $why }
ask-given-up = 세 번 모두 쓸 수 없는 답이었습니다: { $value }(으)로 진행합니다
ask-session = [harness] 이전 세션이 있습니다. 이어서 할까요, 다시 시작할까요, 멈출까요?
ask-session-resume = 이어서 하기
ask-session-resume-about = { $phase }부터 계속
ask-session-restart = 다시 시작
ask-session-restart-about = 그 작업을 끝내고(결과물은 보관됨) 이 작업을 시작
ask-session-stop = 멈추기
ask-session-stop-about = 그 작업을 끝내고(결과물은 보관됨) 멈춤
ask-same = 이 작업은 이미 진행 중입니다. 이어서 할까요, 다른 이름으로 새로 시작할까요?
ask-same-resume = 이어서 하기
ask-same-resume-about = { $phase }부터 계속
ask-same-new = 새로 시작
ask-same-new-about = 그 작업을 끝내고(결과물은 보관됨) { $slug }(으)로 시작
ask-waits = 답변을 기다리는 질문이 있습니다: `windlass gates`로 보고 `windlass answer`로 답해 주세요
answer-next = `windlass resume`으로 계속합니다
ask-default = { $name }: { $value } (묻지 않았습니다: { $flag }로 선택할 수 있습니다)

# 값은 받은 그대로 들어간다. 선택지의 키(proceed, stop …)와 파일·브랜치 이름은 영어 그대로 둔다.

## 질문

asked-in-own-words = 직접 입력
asked-noted = 작업 담당에게 전달되며, 같은 질문을 다시 드립니다

## 실행의 시작, 진행, 끝

face-no-cap = 한도 없음
face-no-limit = 제한 없음
face-hours = { $hours }시간
face-caps = 최대: 실행 전체 { $run }, { $hours } / { $called }마다 { $unit } / 호출마다 { $invocation }
face-left-behind = 남아 있던 프로세스 { $count }개를 종료했습니다
face-not-taken = 아직 가져오지 않음: { $command }
face-tally = 전체 { $total }개 중 완료 { $done }, 실패 { $failed }, 건너뜀 { $skipped }, 막힘 { $blocked }; { $spent }
face-open = 열린 질문: { $question }
face-interrupted = 중단됨: `windlass resume`으로 멈춘 곳에서 계속할 수 있습니다
face-waiting = 답변을 기다리는 중: `windlass gates`로 질문을 보고 `windlass answer`로 답해 주세요
face-planned = 계획 비용: { $spent }
face-stopped = 멈춤: `windlass resume`으로 계속할 수 있습니다
face-exhausted = 예산을 모두 썼습니다: windlass.toml에서 늘려 커밋한 뒤 `windlass resume`을 실행하세요
face-used-up = 사용량: { $dollars }/{ $most }달러, 토큰 { $tokens }/{ $tokens_most }, 호출 { $calls }/{ $calls_most }, 시간 { $time }/{ $time_most } (windlass.toml의 `[budget] run`)
face-cut-off = 그중 { $dollars }달러와 토큰 { $tokens }개는 도중에 끊긴 호출 { $count }건을 위해 잡아 둔 것입니다. 실제 사용량을 알 수 없어 모두 사용한 것으로 칩니다. 호출 하나에 잡아 두는 양은 `[budget] invocation`에 있습니다
face-escalated = 계속하려면 사람이 필요합니다: 이유는 위에 있으며, `windlass log --full`에서 더 볼 수 있습니다
face-not-all-done = 끝났지만 완료되지 않은 것이 있습니다: 이유는 `windlass log --full`에 있습니다
face-stuck = 더 진행할 수 없습니다: Windlass의 결함이니 알려 주세요
face-report = 각각의 결과와 그림: `windlass report { $run } --html report.html`
face-edit = { $path } 파일을 편집기로 엽니다. 편집기를 닫으면 다시 읽습니다
face-default = (기본값)
face-did-you-mean = `{ $option }`을(를) 뜻하셨나요? 직접 답하려면 조금 더 길게 적어 주세요.

live-units = { $called } { $done }/{ $total } 완료
live-spent-of = { $spent } / 한도 { $cap }
live-forecast = 최종 약 { $forecast }, 약 { $time } 남음
live-failed = 실패 { $count }
live-skipped = 건너뜀 { $count }
live-blocked = 막힘 { $count }
live-waiting = 사람을 기다림 { $count }
live-landing = 반영 중: { $units }
live-to-land = 반영 대기: { $units }
live-idle = 대기 중
live-more = 외 { $count }개

forecast-before = 약 { $likely }, { $time }. 일이 많이 꼬이면 { $most }, { $longest }: { $called } { $units }개, 한 번에 { $lanes }개, 이전 실행 { $runs }번 기준
forecast-asks = 에이전트 호출 { $least }~{ $asks }번: { $called } { $units }개, 한 번에 { $lanes }개, 각각 한 번에 되는 경우부터 허용된 시도를 다 쓰는 경우까지이며 충돌, 질문, 도중에 더해지는 일은 따로입니다. 비용은 { $done }개가 끝나면 알 수 있습니다. 그 전까지 하나에 최대 { $unit }, 전체 최대 { $most }, { $longest }
forecast-unknown = { $called } { $units }개를 한 번에 { $lanes }개씩 하는 데 얼마나 들지 알 수 없습니다: 기준이 될 이전 실행이 없습니다. 최대 { $most }, { $longest }

## 일어난 일, 한 줄씩. 앞에 단위와 단계가 붙는다.

tell-part = { $called ->
    [task] 작업
    [group] 그룹
   *[other] { $called }
    } { $part }
tell-attempt = { $attempt }번째 시도
tell-check-pass = 검사 { $name }: 통과
tell-check-fail = 검사 { $name }: 실패
tell-check-failed-before = 검사 { $name }: 실패 (이 작업이 없어도 실패함)
tell-check-not-installed = 검사 { $name }: 건너뜀: 명령이 설치되어 있지 않습니다
tell-check-no-command = 검사 { $name }: 건너뜀: 그런 명령이 없습니다
tell-check-skipped = 검사 { $name }: 건너뜀
tell-landed = { $commit } 커밋이 { $branch }에 반영됨
tell-spent = { $dollars }/{ $most }달러, 토큰 { $tokens }/{ $tokens_most }: windlass.toml의 `[budget] unit`
tell-waits-beside = { $commit } 커밋이 준비되어 { $branch } 옆에서 대기 중
tell-take-it = 가져오려면: { $command }
tell-cut-off = 작업 { $effect }이(가) 도중에 끊겼습니다
tell-edits-kept = 수정한 내용은 보관됨: { $command }
tell-rebuilt = 브랜치가 이동함: 그 위에서 다시 구성했습니다
tell-conflict = 브랜치가 이동했고 충돌이 있습니다
tell-not-together = 이미 반영된 내용과 합치면 검사가 실패함: 그 위에서 다시 구성했습니다
tell-queued = 다음 차례와 함께 반영되기를 기다립니다
tell-together-pass = { $units }: 함께 통과함
tell-together-fail = { $units }: 함께 실패함
tell-lane-kept = 레인에 있던 내용은 보관됨: { $command }
tell-by-hand = 사람이 직접 수정함
tell-conflicts-in = 충돌: { $files }
tell-picture = { $assertion } 화면 ({ $name }): { $file }
tell-foreseen = { $other } 과(와) 충돌할 것으로 보임: { $files }
tell-foreseen-over = { $other } 과(와)의 충돌은 더 이상 예상되지 않음
tell-held-back = { $other } 이(가) 반영되거나 포기될 때까지 기다림: 두 작업이 충돌할 것입니다
tell-begins = 시작 — { $title }
tell-by = — { $who }: { $reason }
tell-asks = 질문 (gate { $gate })
tell-answered = { $answer } ({ $who })
tell-policy = 워크플로 정책
tell-waits = 대기: { $why }
tell-why-person = 사람이 여기서 멈추기로 했습니다
tell-why-rest = 예정된 멈춤입니다
tell-why-trouble = 사람이 확인해야 합니다
tell-why-broke = 예산을 모두 썼습니다
tell-why-unproved = 이 변경에 대한 { $stage } 증명이 없습니다
tell-why-landed = 이미 한 번 반영되었습니다
tell-overridden = { $verdict }, { $who }의 직접 결정: { $reason }
tell-redone = { $who }의 요청으로 다시 실행
tell-stops = { $who }: 진행 중인 단위까지만 하고 멈춥니다
tell-pauses = { $who }: 멈춥니다. 새로 시작하지 않습니다
tell-goes-on = { $who }: 계속합니다
tell-cancels = { $who }: 실행을 취소합니다
tell-caps-raised = { $who }: 한도를 올렸습니다
tell-limited = { $instant }까지 제공자의 제한이 풀리기를 기다립니다

log-prompt = 프롬프트
log-printed = 출력
log-printed-before = 출력 (이 작업이 없을 때)
log-browsed = 브라우저에서 본 것
log-shown = 보여 준 내용
log-said = 말한 내용
log-errors = 오류 출력

## 상태

status-dollars = { $amount }달러
status-under-way = 진행 중
status-limited = 제한이 풀리기를 기다리는 중
status-stopped = 멈춤
status-waiting = 답변을 기다리는 중
status-exhausted = 예산을 모두 씀
status-escalated = 사람이 필요함
status-resting = 쉬는 중
status-stuck = 진행 불가
status-run-done = 완료
status-run-failed = 실패
status-run-escalated = 사람에게 넘김
status-run-rejected = 거절됨
status-run-stopped = 멈춤
status-run-cancelled = 취소됨
status-unit-done = 완료
status-unit-failed = 실패
status-unit-skipped = 건너뜀
status-unit-blocked = 막힘
status-unit-unfinished = 미완료
status-because-of = ({ $unit } 때문)
status-unreadable = { $run }을(를) 읽을 수 없습니다: { $error }
status-damaged = `windlass journal verify`가 손상된 곳을 알려 줍니다
status-held = { $what } 실행 중 (pid { $pid })
status-nothing-running = 실행 중인 것이 없습니다
status-no-run = 열린 실행이 없습니다
status-cut-off = 도중에 끊김: `windlass resume`으로 계속할 수 있습니다
status-untidy = { $standing }, 아직 정리되지 않음: `windlass resume`이 정리합니다
status-until = { $standing } ({ $instant }까지)
status-tally = { $total }개 중 { $done }개 완료, 실패 { $failed }, 건너뜀 { $skipped }, 막힘 { $blocked }; { $spent }
status-at = { $unit }: { $stage } — { $title }
status-blocked = { $unit } 막힘{ $because } — { $title }
status-failed = { $unit } 실패 — { $title }
status-said-last = { $role }의 마지막 말: { $text }
status-kept = 만들어진 것은 보관되어 있습니다: { $command }
status-holds = { $unit }: { $stage }에서 대기 중 — { $why }
status-holds-itself = 실행 자체가 대기 중: { $why }
status-holds-next = `windlass redo STAGE --unit UNIT`은 단계를 다시 시작하고, `windlass skip UNIT --reason 이유`는 작업을 포기하며, `windlass resume`은 계속합니다
status-foreseen = { $unit } 이(가) { $other } 과(와) 충돌할 것으로 보임: { $files }
status-to-be-taken = { $commit } 가져오기를 기다리는 중: { $command }
status-given-up = { $commit } 가져오기를 기다렸으나 이제 어느 브랜치에도 없습니다: 포기한 것입니다
status-open = 열린 질문 { $count }개: `windlass gates`
status-next-mission = 이유는 { $path }에 있습니다. `windlass mission`이 통과하지 못한 것과 마지막 검사를 모두 다시 시도합니다
status-next = 이유는 `windlass log { $run } --full`로 볼 수 있습니다

## 기다리는 질문, 답변, 요청

gates-none = 열린 질문이 없습니다
gates-needs-reason = (--text로 이유를 적어야 함)
gates-answer-with = 답하려면: windlass answer { $gate } KEY, 또는 --text '직접 쓴 답'
answer-taken = { $gate } 질문에 답했습니다
wish-cancel = { $run }을(를) 취소했습니다
wish-pause = { $run }은(는) 새로 시작하지 않습니다
wish-stop = { $run }은(는) 진행 중인 단위까지만 하고 멈춥니다
wish-redo = { $run }이(가) 그 단계를 다시 시작합니다
wish-skip = { $run }이(가) 그 단위를 건너뜁니다
wish-override = { $run }이(가) 그 판정을 받아들입니다

## 워크플로 task의 질문 (workflows/task.toml)

gate-task-session-conflict = 진행 중인 /{ $session_skill } 세션이 있습니다. 삭제하고 /workflow를 시작할까요?
    .delete = 삭제하고 시작
    .delete-about = .harness/를 삭제하고 /workflow를 진행합니다
    .cancel = 취소
    .cancel-about = 기존 세션을 그대로 두고 중단합니다

gate-task-session-corrupt = state.json을 읽을 수 없어 다른 이름으로 옮겨 두었습니다. 새로 시작할까요?
    .yes = 새로 시작
    .yes-about = 주어진 작업을 처음부터 시작합니다
    .stop = 중단
    .stop-about = 멈추고 옮겨 둔 파일을 확인합니다

gate-task-session-gate = [harness] 이전 세션이 있습니다. 이어서 할까요, 새로 시작할까요, 중단할까요?
    .resume = 이어서 하기
    .resume-about = { $session_phase } 단계부터 계속합니다
    .restart = 새로 시작
    .restart-about = .harness/를 삭제하고 처음부터 시작합니다
    .stop = 중단
    .stop-about = .harness/를 삭제하고 멈춥니다

gate-task-ask-scan = 내용이 충분한 CLAUDE.md가 없습니다. 코드베이스를 훑어 프로젝트 컨벤션(DB, API, 파일 구조, 테스트 패턴)을 자동으로 파악할까요? Planner가 기존 패턴에 맞추는 데 도움이 됩니다.
    .scan = 스캔
    .scan-about = 컨벤션 스캐너 서브 에이전트를 실행합니다
    .skip = 건너뛰기
    .skip-about = 컨벤션 정보 없이 진행합니다

gate-task-scan-failed = 출력 파일이 없습니다. 다시 시도할까요, 건너뛸까요?
    .retry = 다시 시도
    .retry-about = 스캐너를 다시 실행합니다
    .skip = 건너뛰기
    .skip-about = 컨벤션 없이 진행합니다

gate-task-take-its-word = 이전 세션의 QA 보고서는 PASS라고 하지만, Windlass가 직접 확인한 것은 없습니다. 다시 검증할까요, 그대로 받아들일까요?
    .again-please = 다시 검증
    .again-please-about = 넘겨받은 작업에 verify와 evaluate를 실행합니다
    .accept = 그대로 수용
    .accept-about = 이전 세션의 판정을 믿고 마칩니다
    .stop = 중단
    .stop-about = 워크플로를 멈춥니다

gate-task-spec-gate = 위 스펙을 검토해 주세요. 구현에는 많은 토큰이 듭니다. 진행하려면 확인해 주세요.
    .proceed = 진행
    .proceed-about = 스펙대로 구현을 시작합니다
    .modify = 수정
    .modify-about = 스펙을 고친 뒤 다시 확인합니다
    .stop = 중단
    .stop-about = 워크플로를 멈춥니다

gate-task-edit-spec = spec.md를 직접 고치거나, 무엇을 바꿀지 알려 주세요.
    .edited = 수정 완료
    .edited-about = spec.md를 다시 읽어 보여 드립니다
    .other = 바꿀 내용 말하기
    .other-about = 말씀하신 내용을 스펙에 반영해 다시 보여 드립니다
    .stop = 중단
    .stop-about = 워크플로를 멈춥니다

gate-task-limits-gate = 3번 시도한 뒤에도 변경이 범위나 파일 수 제한을 벗어납니다.
    .allow = 허용
    .allow-about = 변경을 그대로 두고 검증으로 넘어갑니다
    .manual = 직접 수정 후 계속
    .manual-about = 레인에서 줄이면 다시 측정합니다
    .stop = 중단
    .stop-about = 워크플로를 멈춥니다

gate-task-verify-gate = 3번 시도했지만 기계적 검증에 실패했습니다.
    .autofix = 자동 수정 제안
    .autofix-about = AI(Opus)가 실패를 분석해 최소한의 diff를 제안합니다 (1회만 가능)
    .continue = Evaluator로 계속
    .continue-about = 남은 검증 문제를 건너뛰고 QA로 진행합니다
    .manual = 직접 수정 후 계속
    .manual-about = 레인에서 고치면 다시 검증합니다
    .stop = 중단
    .stop-about = 직접 처리할 수 있도록 멈춥니다. verify_report.md를 확인하세요

gate-task-patch-gate = 수정안이 만들어졌습니다 (신뢰도: { $propose_confidence }). 패치를 적용할까요?
    .apply = 패치 적용
    .apply-about = 제안된 diff를 적용하고 Layer 1 검증을 다시 실행합니다 (재시도 횟수는 그대로)
    .reject = 거절
    .reject-about = 제안을 버리고 이전 질문으로 돌아갑니다 (자동 수정 선택지는 숨겨짐)
    .stop = 중단
    .stop-about = 직접 처리할 수 있도록 멈춥니다

gate-task-qa-layer2 = 2번 재시도했지만 Layer 2 구조 검증에 실패했습니다.
    .fix = 수정
    .fix-about = 다음 라운드를 실행합니다
    .accept = 그대로 수용
    .accept-about = 고치지 않고 마칩니다
    .stop = 중단
    .stop-about = 워크플로를 멈춥니다

gate-task-qa-layer3 = QA 결과: FAIL (Layer 3).
    .fix = 수정
    .fix-about = 다음 라운드에서 FAIL 항목을 고칩니다
    .accept = 그대로 수용
    .accept-about = 고치지 않고 마칩니다
    .stop = 중단
    .stop-about = 워크플로를 멈춥니다

gate-task-rounds-spent = [harness] 최대 라운드에 도달했습니다. 남은 문제는 qa_report.md에 있습니다.
    .complete = 완료
    .complete-about = 남은 문제를 기록에 남기고 마칩니다
    .stop = 중단
    .stop-about = 워크플로를 멈춥니다

gate-task-commit-gate = 구현이 끝났습니다. 어떻게 마무리할까요?
    .code-only = 코드만 커밋 (권장)
    .code-only-about = 산출물을 정리하고 코드 변경만 커밋합니다
    .all = 모두 커밋
    .all-about = 산출물까지 모두 커밋합니다
    .nothing = 커밋 안 함
    .nothing-about = .harness/만 정리하고 변경은 작업 트리에 남깁니다

gate-task-refused-gate = 작업 트리에 변경 내용을 적용할 수 없었습니다. 어떻게 마무리할까요?
    .give-again = 다시 시도
    .give-again-about = 이제 작업 트리가 깨끗합니다: 커밋 없이 변경 내용을 적용합니다
    .code-only = 코드만 커밋
    .code-only-about = 산출물을 정리하고 코드 변경만 커밋합니다
    .all = 모두 커밋
    .all-about = 산출물까지 모두 커밋합니다
    .leave = 그대로 두기
    .leave-about = 마칩니다. 변경 내용은 보관되며 꺼내는 방법을 알려 드립니다

gate-task-conflict-gate = 그사이 브랜치에 들어간 변경과 충돌합니다. 직접 해결할까요, 중단할까요?
    .manual = 직접 수정 후 계속
    .manual-about = 레인에서 충돌을 해결하면 다시 검증합니다
    .stop = 중단
    .stop-about = 워크플로를 멈춥니다

gate-task-remove-gate = docs/는 git이 무시하는 경로이므로 모든 산출물이 영구히 삭제됩니다. 위에 나열된 출력 디렉터리 전체를 삭제할까요?
    .yes = 예
    .yes-about = 나열된 것을 모두 삭제합니다
    .no = 아니요
    .no-about = 그대로 둡니다

## 워크플로 mission의 질문 (workflows/mission.toml)

gate-mission-plan-grant = 체크포인트 { $input_post_planner }: 계획을 세우고 검토했습니다. 승인할까요?
    .grant = 승인
    .grant-about = 기능 구현을 시작합니다
    .deny = 거절
    .deny-about = 계획을 거절합니다. 실행은 7로 끝납니다

gate-mission-merge-grant = 체크포인트 { $input_pre_merge }: 기능 { $unit_id }: { $unit_title } — 병합할까요?
    .grant = 승인
    .grant-about = 마지막 검사를 통과하면 병합합니다
    .rework = 다시 작업
    .rework-about = 바꿀 점을 말하면 작업 담당이 다시 시도합니다
    .stop = 중단
    .stop-about = 레인을 그대로 두고 나중에 결정합니다

gate-mission-feature-grant = 체크포인트 { $input_post_feature }: 기능 { $unit_id } 처리가 끝났습니다. 다음으로 넘어갈까요?
    .grant = 승인
    .grant-about = 계속합니다
    .stop = 중단
    .stop-about = 상태를 저장하고 끝냅니다

gate-mission-done-grant = 체크포인트 { $input_pre_done }: 모든 기능의 처리가 끝났습니다. 마칠까요?
    .grant = 승인
    .grant-about = 스모크 검사를 실행하고 마칩니다
    .stop = 중단
    .stop-about = 상태를 저장하고 끝냅니다

## 워크플로 autopilot의 질문 (workflows/autopilot.toml)

gate-autopilot-session-corrupt = 세션 상태를 읽을 수 없어 다른 이름으로 옮겨 두었습니다. 새로 시작할까요?
    .yes = 예
    .yes-about = 이 스펙을 첫 페이즈부터 시작합니다
    .stop = 중단
    .stop-about = 옮겨 둔 파일을 먼저 확인합니다

gate-autopilot-no-order = 스펙에 '### Phase N: Name' 제목을 가진 '## Implementation Order' 섹션이 없습니다. 스펙에 페이즈를 표시할까요, 로드맵 파일을 지정할까요?
    .added = 추가함
    .added-about = 스펙에 섹션을 추가했습니다: 다시 읽습니다
    .roadmap = 로드맵
    .roadmap-about = 로드맵 파일에서 페이즈를 가져옵니다
    .stop = 중단
    .stop-about = 상태를 저장하고 끝냅니다

gate-autopilot-approve-skeleton = 이 계획 골격을 승인할까요? (yes / revise / stop)
    .yes = 승인
    .yes-about = 이 골격대로 페이즈를 계획합니다
    .revise = 수정
    .revise-about = 바꿀 점을 말하면 새 골격을 보여 드립니다
    .stop = 중단
    .stop-about = 상태를 저장하고 끝냅니다

gate-autopilot-plan-missing = Planner가 기대한 결과를 내지 못했습니다. 계획 단계를 다시 시도할까요, 중단할까요?
    .retry = 다시 시도
    .retry-about = 계획 단계를 다시 실행합니다
    .stop = 중단
    .stop-about = 상태를 저장하고 끝냅니다

gate-autopilot-approve-plan = 이 계획을 승인하고 실행을 시작할까요? (yes / revise / skip / stop)
    .yes = 승인
    .yes-about = 실행을 시작합니다
    .revise = 수정
    .revise-about = 계획 파일을 고친 뒤 다시 확인합니다
    .skip = 페이즈 건너뛰기
    .skip-about = 이 페이즈를 빼며, 이후에도 실행하지 않습니다
    .stop = 중단
    .stop-about = 상태를 저장하고 끝냅니다. 나중에 이어서 할 수 있습니다

gate-autopilot-edit-plan = 계획 파일을 직접 고친 뒤 계속해 주세요.
    .edited = 수정 완료
    .edited-about = 계획을 다시 읽어 보여 드립니다
    .stop = 중단
    .stop-about = 상태를 저장하고 끝냅니다

gate-autopilot-verify-missing = Verifier가 기대한 결과를 내지 못했습니다. 검증 단계를 다시 시도할까요, 중단할까요?
    .retry = 다시 시도
    .retry-about = 검증 단계를 다시 실행합니다
    .stop = 중단
    .stop-about = 상태를 저장하고 끝냅니다

gate-autopilot-verify-failed = 리뷰 전에 이 문제들을 고칠까요? (fix / skip / stop)
    .fix = 수정
    .fix-about = 새 재시도 횟수로 해당 문제만 고칩니다
    .skip = 검증 건너뛰기
    .skip-about = 경고를 기록하고 리뷰로 넘어갑니다
    .stop = 중단
    .stop-about = 상태를 저장하고 끝냅니다

gate-autopilot-review-missing = Reviewer가 기대한 결과를 내지 못했습니다. 리뷰 단계를 다시 시도할까요, 중단할까요?
    .retry = 다시 시도
    .retry-about = 리뷰를 다시 실행합니다
    .stop = 중단
    .stop-about = 상태를 저장하고 끝냅니다

gate-autopilot-review-blocked = 이 페이즈를 마치기 전에 blocking 지적 사항을 처리할까요? (fix / override / stop)
    .fix = 수정
    .fix-about = blocking 지적 사항을 고칩니다
    .override = 무시하고 진행
    .override-about = 지적 사항을 기록에 남기고 페이즈를 마칩니다
    .stop = 중단
    .stop-about = 상태를 저장하고 끝냅니다

gate-autopilot-conflict-gate = 그사이 브랜치에 들어간 변경과 이 페이즈가 충돌합니다. 어떻게 할까요? (manual / stop)
    .manual = 직접 수정 후 계속
    .manual-about = 레인에서 충돌을 해결하면 다른 작업과 똑같이 검증합니다
    .stop = 중단
    .stop-about = 상태를 저장하고 끝냅니다

gate-autopilot-choose = [checkpoint:decision] { $task_title }: 어느 쪽으로 할까요?
    .other = 선택 입력
    .other-about = 기록한 뒤 Executor에게 전달합니다
    .stop = 중단
    .stop-about = 상태를 저장하고 끝냅니다

gate-autopilot-act = [checkpoint:human-action] { $task_title }: 직접 처리한 뒤 확인해 주세요.
    .confirmed = 완료
    .confirmed-about = 처리했습니다: 실행을 계속합니다
    .stop = 중단
    .stop-about = 상태를 저장하고 끝냅니다

gate-autopilot-do-missing = Executor가 기대한 결과를 내지 못했습니다. 작업을 다시 시도할까요, 중단할까요?
    .retry = 다시 시도
    .retry-about = 작업을 다시 실행합니다
    .stop = 중단
    .stop-about = 상태를 저장하고 끝냅니다

gate-autopilot-confirm = [checkpoint:human-verify] { $task_title }: 이대로 맞나요?
    .confirmed = 확인
    .confirmed-about = 커밋하고 계속합니다
    .redo = 다시 하기
    .redo-about = 무엇이 잘못됐는지 알려 주시면 Executor가 다시 시도합니다
    .stop = 중단
    .stop-about = 상태를 저장하고 끝냅니다

gate-autopilot-exhausted-gate = 어떻게 할까요? (manual / revise / stop)
    .manual = 직접 수정 후 계속
    .manual-about = 레인에서 고치면 다른 작업과 똑같이 검증합니다
    .revise = 계획 수정
    .revise-about = 계획을 고친 뒤 다시 승인합니다
    .stop = 중단
    .stop-about = 상태를 저장하고 끝냅니다

gate-autopilot-go-on = 페이즈 { $unit_id }: { $unit_title } 완료. 계속할까요? (yes / stop)
    .yes = 예
    .yes-about = 다음 페이즈를 진행합니다
    .reorder = 순서 변경
    .reorder-about = 스펙의 페이즈 순서를 고쳤습니다: 다시 읽습니다
    .stop = 중단
    .stop-about = 상태를 저장하고 끝냅니다

gate-autopilot-reorder-gate = 남은 페이즈를 이 순서로 실행할까요? (yes / no)
    .yes = 예
    .yes-about = 완료했거나 건너뛴 페이즈는 다시 실행하지 않습니다
    .no = 아니요
    .no-about = 원래 순서를 유지합니다

gate-autopilot-final-missing = 최종 리뷰가 기대한 결과를 내지 못했습니다. 다시 시도할까요, 중단할까요?
    .retry = 다시 시도
    .retry-about = 최종 리뷰를 다시 실행합니다
    .stop = 중단
    .stop-about = 상태를 저장하고 끝냅니다

gate-autopilot-final-blocked = 마치기 전에 blocking 지적 사항을 처리할까요? (fix / override / stop)
    .fix = 수정
    .fix-about = 고치고 확인한 뒤 다시 리뷰합니다
    .override = 무시하고 진행
    .override-about = 지적 사항을 남긴 채 마칩니다. 이유를 적어 주세요
    .stop = 중단
    .stop-about = 상태를 저장하고 끝냅니다. 여기서 이어서 할 수 있습니다

gate-autopilot-final-stuck = 어떻게 할까요? (manual / stop)
    .manual = 직접 수정 후 계속
    .manual-about = 레인에서 고치면 다시 확인하고 리뷰합니다
    .stop = 중단
    .stop-about = 상태를 저장하고 끝냅니다

gate-autopilot-final-conflict = 그사이 브랜치에 들어간 변경과 수정 내용이 충돌합니다. 어떻게 할까요? (manual / stop)
    .manual = 직접 수정 후 계속
    .manual-about = 레인에서 충돌을 해결하면 다시 확인하고 리뷰합니다
    .stop = 중단
    .stop-about = 상태를 저장하고 끝냅니다

gate-autopilot-offer-pr = PR을 만들까요? (yes / no)
    .yes = 예
    .yes-about = 준비된 제목과 설명으로 만듭니다
    .no = 아니요
    .no-about = 브랜치까지만 둡니다

## task-v1: 버전이 없는 이전 세션의 질문

gate-task-v1-spec-gate = 위 스펙을 검토해 주세요. 구현에는 많은 토큰이 듭니다. 진행하려면 확인해 주세요.
    .proceed = 진행
    .proceed-about = 스펙대로 구현을 시작합니다
    .modify = 수정
    .modify-about = 스펙을 고친 뒤 다시 확인합니다
    .stop = 중단
    .stop-about = 워크플로를 멈춥니다
gate-task-v1-edit-spec = spec.md를 직접 고치거나, 무엇을 바꿀지 알려 주세요.
    .edited = 수정 완료
    .edited-about = spec.md를 다시 읽어 보여 드립니다
    .other = 바꿀 내용 말하기
    .other-about = 말씀하신 내용을 스펙에 반영해 다시 보여 드립니다
    .stop = 중단
    .stop-about = 워크플로를 멈춥니다
gate-task-v1-limits-gate = 3번 시도한 뒤에도 변경이 범위나 파일 수 제한을 벗어납니다.
    .allow = 허용
    .allow-about = 변경을 그대로 두고 검증으로 넘어갑니다
    .manual = 직접 수정 후 계속
    .manual-about = 레인에서 줄이면 다시 측정합니다
    .stop = 중단
    .stop-about = 워크플로를 멈춥니다
gate-task-v1-verify-gate = 3번 시도했지만 기계적 검증에 실패했습니다.
    .continue = Evaluator로 계속
    .continue-about = 남은 검증 문제를 건너뛰고 QA로 진행합니다
    .manual = 직접 수정 후 계속
    .manual-about = 레인에서 고치면 다시 검증합니다
    .stop = 중단
    .stop-about = 직접 처리할 수 있도록 멈춥니다. verify_report.md를 확인하세요
gate-task-v1-rounds-spent = [harness] 최대 라운드에 도달했습니다. 남은 문제는 qa_report.md에 있습니다.
    .complete = 완료
    .complete-about = 남은 문제를 기록에 남기고 마칩니다
    .stop = 중단
    .stop-about = 워크플로를 멈춥니다
gate-task-v1-commit-gate = 구현이 끝났습니다. 어떻게 마무리할까요?
    .code-only = 코드만 커밋 (권장)
    .code-only-about = 산출물을 정리하고 코드 변경만 커밋합니다
    .all = 모두 커밋
    .all-about = 산출물까지 모두 커밋합니다
    .nothing = 커밋 안 함
    .nothing-about = .harness/만 정리하고 변경은 작업 트리에 남깁니다
gate-task-v1-conflict-gate = 그사이 브랜치에 들어간 변경과 충돌합니다. 직접 해결할까요, 중단할까요?
    .manual = 직접 수정 후 계속
    .manual-about = 레인에서 충돌을 해결하면 다시 검증합니다
    .stop = 중단
    .stop-about = 워크플로를 멈춥니다
gate-task-v1-session-gate = [harness] 이전 세션(v1)이 있습니다. 이어서 할까요, 새로 시작할까요, 중단할까요?
    .resume = 이어서 하기
    .resume-about = { $session_phase } 단계부터 계속합니다
    .restart = 새로 시작
    .restart-about = .harness/를 삭제하고 처음부터 시작합니다
    .stop = 중단
    .stop-about = .harness/를 삭제하고 멈춥니다
gate-task-v1-unproved = 이 세션에는 검증 단계가 없고, 프로젝트의 명령이 이 변경에서 실패합니다.
    .continue = Evaluator로 계속
    .continue-about = 실패한 명령은 그대로 두고 QA로 진행합니다
    .manual = 직접 수정 후 계속
    .manual-about = 레인에서 고치면 명령을 다시 실행합니다
    .stop = 중단
    .stop-about = 직접 처리할 수 있도록 멈춥니다
gate-task-v1-qa-gate = QA 결과: FAIL (Layer 3).
    .fix = 수정
    .fix-about = 다음 라운드에서 FAIL 항목을 고칩니다
    .accept = 그대로 수용
    .accept-about = 고치지 않고 마칩니다
    .stop = 중단
    .stop-about = 워크플로를 멈춥니다
