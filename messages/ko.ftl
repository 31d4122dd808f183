# 사람이 읽는 문장, 한국어.


## task: 세션이 하는 말 (crates/clerks/src/task)

task-started = [harness] 작업을 시작했습니다!
task-row-task = 작업
task-row-mode = 모드
task-row-model = 모델
task-row-style = 진행 방식
task-row-phase = 단계
task-row-round = 라운드
task-row-branch = 브랜치
task-row-scope = 범위
task-row-directory = 디렉터리
task-row-verifier = 검증자
task-row-language = 언어
task-row-test = 테스트
task-row-build = 빌드
task-row-lint = 린트
task-row-types = 타입 검사
task-row-output = 출력 위치
task-none = 없음
task-verifier-model = { $model }: 실행할 명령이 없어 모델이 변경 내용을 읽고 확인합니다
task-verifier-commands = Windlass가 명령을 직접 실행합니다(실행할 수 있는 명령이 하나도 없을 때만 모델 { $model } 사용)
task-dear-verifier = ⚠ 검증자가 { $model }(으)로 설정되었습니다 — 기계적 검증에는 비용이 큽니다. 보통 haiku로 충분합니다.
task-label-plan-ready = 계획 — 준비됨
task-label-planning = 계획 — 진행 중
task-label-plan-done = 계획 — 완료
task-label-generate-ready = 구현 — 준비됨
task-label-generating = 구현 — 진행 중
task-label-generate-done = 구현 — 완료
task-label-verify-ready = 검증 — 준비됨
task-label-verifying = 검증 — 검사 실행 중
task-label-verify-done = 검증 — 완료
task-label-evaluate-ready = 평가 — 준비됨
task-label-evaluating = 평가 — 진행 중
task-label-evaluate-done = 평가 — 완료
task-label-completed = 완료됨
task-phase-plan = [harness] 단계: 계획
task-phase-generate = [harness] 단계: 구현
    구현 에이전트를 실행합니다...
task-phase-verify = [harness] 단계: 검증 (레이어 1 — 기계적 검사)
task-phase-evaluate = [harness] 단계: 평가 (레이어 2+3)
    평가 에이전트를 실행합니다...
task-done = ✓ { $line }
task-not-done = ✗ { $line }
task-planned = ✓ 구현 계획: { $line }
task-reviewed = ✓ 검토: { $line }
task-coded = ✓ 코드: { $line }
task-proposed = ✓ 제안 { $count }건이 작성되었습니다
task-criticised = ✓ 상호 비평 { $count }건이 완료되었습니다
task-advised = ✓ 검토: 조언자 { $count }명이 완료했습니다
task-unparsed = [harness] ⚠ 한 줄 응답을 해석하지 못했습니다 — 신뢰도를 Unknown으로 처리합니다
task-conventions-rich = [harness] 컨벤션: 내용이 충분한 CLAUDE.md를 찾았습니다. .harness/conventions.md로 복사했습니다
task-conventions-kept = [harness] 컨벤션: 스펙 단계에서 남긴 파일을 .harness/conventions.md로 복사했습니다
task-conventions-skipped = [harness] 컨벤션: 건너뜀.
task-scanned = [harness] 컨벤션: 조사 결과를 .harness/conventions.md에 저장했습니다
task-scan-missing = 컨벤션 조사는 끝났지만 결과 파일이 없습니다.
task-notes-unreadable = { $path } 파일을 읽지 못했습니다: { $error }. 계획 단계에는 조사 메모 없이 진행합니다.
task-plan-complete = [harness] 계획이 완료되었습니다.
task-generate-complete = [harness] 구현이 완료되었습니다.
task-verify-complete = [harness] 검증(레이어 1)이 완료되었습니다.
    {"  "}결과 : { $result }
    {"  "}{ $line }
task-evaluate-complete = [harness] 평가가 완료되었습니다.
task-completed = [harness] ✓ QA PASS — 작업이 완료되었습니다.
task-completed-open = [harness] 남은 문제를 기록한 채 완료했습니다. qa_report.md를 확인하세요
task-rest-plan = 스펙: { $path }
    세션을 여기서 마쳐도 됩니다. 다음: windlass task generate
task-rest-generate = 세션을 여기서 마쳐도 됩니다. 다음: windlass task verify
task-rest-verify = 세션을 여기서 마쳐도 됩니다. 다음: windlass task evaluate
task-rest-evaluate = 세션을 여기서 마쳐도 됩니다. 다음: windlass resume
task-retry-layer1 = [harness] 검증(레이어 1) FAIL — 구현을 다시 시도합니다 ({ $attempt }/3회)
    {"  "}{ $line }
task-retry-layer2 = [harness] 평가(레이어 2) FAIL — 구현을 다시 시도합니다 ({ $attempt }/2회)
    {"  "}{ $line }
task-spent-layer1 = [harness] 검증(레이어 1) FAIL — 재시도 횟수를 모두 썼습니다 ({ $most }/{ $most })
    {"  "}마지막 오류: { $error }
    {"  "}참고: { $path }
task-spent-layer2 = [harness] 평가(레이어 2) FAIL — 재시도 횟수를 모두 썼습니다 ({ $most }/{ $most })
    {"  "}실패 항목: { $items }
task-spec-at = 스펙: { $path }
task-spec-edited = { $path } 파일이 화면에 표시된 뒤에 수정되었습니다: `modify`, 이어서 `edited`로 답하고 다시 확인하세요
task-autofix-model = [harness] ℹ 자동 수정 모델: { $model }
task-low-confidence = ⚠ 신뢰도가 낮습니다 — 적용하기 전에 diff를 꼼꼼히 확인하세요.
task-patch-empty = [harness] ⚠ 패치 파일이 비어 있거나 diff 블록이 없습니다 — 적용을 건너뜁니다
task-path-excluded = [harness] ⚠ 경로 검증 실패: { $path } — 제안자 입력에서 제외했습니다
task-no-paths = [harness] ⚠ 유효한 파일 경로가 없습니다 — 제안자 입력이 비어 있게 됩니다
task-docs-path = [harness] ⚠ 복구한 docs_path가 검증에 실패했습니다: { $path }
task-other-skill = 이 디렉터리에서 /{ $skill } 스킬 세션이 진행 중입니다.
task-corrupt = { $path }: { $flaw }; { $aside }(으)로 보관했습니다
task-v1 = [harness] 이전 세션(v1)을 찾았습니다.
task-evidence = 근거:
task-read-only = 모델이 읽고 확인함({ $came }): { $line }
task-all-skipped = 실행할 수 있는 검사가 없었습니다: 결과에는 '건너뜀'으로 표시됩니다
task-open-layer1 = 레이어 1이 실패한 상태에서 계속 진행했습니다
task-open-accepted = 평가에서 나온 문제를 둔 채 그대로 받아들였습니다
task-open-rounds = 라운드를 모두 썼고 문제가 남아 있습니다
task-open-limits = 범위나 파일 수 제한을 넘었고, 이를 허용했습니다
task-set-aside = { $path } 파일은 저널에서 다시 만들어집니다: 다른 사람이 쓴 내용은 { $aside }에 옮겨 두었습니다
task-unwritten = { $path } 파일을 쓰지 못했습니다: { $why }
task-cleared = 이전 세션의 파일 { $count }개를 지웠습니다. 내용은 `windlass log --full`에 남아 있습니다.
task-left-alone = Windlass가 쓴 내용과 달라서 그대로 두었습니다: { $files }
task-artifacts-gone = 삭제함: { $path }
task-guard = { $path } 경로는 삭제하지 않습니다: { $why }
task-not-staged = { $file } 파일을 스테이징하지 못했습니다: { $error }. 스펙 산출물이 git 기록에 남지 않을 수 있습니다.
task-lane-kept = 작업 트리에 변경 내용을 적용할 수 없었습니다. 변경은 보관되어 있습니다: `windlass lanes list`로 확인하고 `windlass lanes restore`로 원하는 곳에 꺼낼 수 있습니다.
task-output-base = 출력 위치 { $path }에 있는 것:
task-output-row = { $name }: 파일 { $count }개
task-memory = /memory 스킬의 팀 지식이 들어 있습니다.
task-take = 가져오기: git merge --ff-only { $branch }
task-take-by = 가져오기: { $command }
task-given = 변경 내용은 커밋 없이 작업 트리에 있습니다. 산출물 위치: { $docs }
task-next-generate = 계획이 완료되었습니다. 구현을 시작할까요? → windlass task generate
task-next-verify = 구현이 완료되었습니다. 검증을 시작할까요? → windlass task verify
task-next-evaluate = 검증이 완료되었습니다. 평가를 시작할까요? → windlass task evaluate
task-next-finish = 평가가 완료되었습니다. 마무리할까요? → windlass resume
task-next-resume = 계속할까요? → windlass resume

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
ask-default = { $name }: { $value } (묻지 않았습니다: { $flag }로 선택할 수 있습니다)
