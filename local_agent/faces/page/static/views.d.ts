// What the agent tells the page.  Written by `python -m tests.page_types`: change the views.

/** How long people took to decide. */
export interface ApprovalWaits {
  readonly bounds_s: ReadonlyArray<number>;
  readonly approved: WaitTimes;
  readonly rejected: WaitTimes;
  readonly expired: WaitTimes;
}

/** What a check of every byte of the log came to. */
export interface AuditCheck {
  readonly ok: boolean;
  readonly entries: number;
  readonly signed_to: number;
  readonly gateway_keeps: number;
  readonly renewed: number | null;
  readonly broken_at: number | null;
  readonly what: string | null;
}

/** One entry. */
export interface AuditEntry {
  readonly seq: number;
  readonly at: number;
  readonly event: string;
  readonly tasks: ReadonlyArray<string>;
  readonly facts: ReadonlyArray<AuditFact>;
  readonly left: number;
}

/** One fact of an entry, as text with nothing hidden in it. */
export interface AuditFact {
  readonly name: string;
  readonly value: string;
}

/** How the audit log stands. */
export interface AuditStanding {
  readonly entries: number;
  readonly gateway_keeps: number;
  readonly forked_at: number | null;
}

/** One page of the audit log, the newest entry first. */
export interface AuditView {
  readonly standing: AuditStanding;
  readonly entries: ReadonlyArray<AuditEntry>;
  readonly before: number | null;
}

/** How a change or an undo ended. */
export interface Change {
  readonly code?: string | null;
  readonly drift?: ReadonlyArray<string>;
  readonly undoes?: string | null;
  readonly files?: ReadonlyArray<WrittenFile>;
  readonly mixture?: Mixture | null;
}

/** How the connection to the gateway stands; as `local_agent.link.condition`. */
export interface Connection {
  readonly url: string | null;
  readonly state: string;
  readonly why: string;
  readonly since_ms: number;
  readonly retry_s: number;
  readonly skew_s: number;
}

/** How much a model is shown at most. */
export interface ContextLimits {
  readonly max_files: number;
  readonly max_file_bytes: number;
  readonly max_total_bytes: number;
}

/** What was collected for a model, and what was not; as `propose.context` accounts for it. */
export interface ContextView {
  readonly used: ReadonlyArray<ShownPiece>;
  readonly left_out: ReadonlyArray<LeftOutFile>;
  readonly left_out_more: number;
  readonly not_listed: Readonly<Record<string, number>>;
  readonly listing_truncated: boolean;
  readonly bytes: number;
  readonly files: number;
  readonly limits: ContextLimits;
}

/** How the tasks that were asked on one day ended, counted. */
export interface DayOutcomes {
  readonly day: string;
  readonly completed: number;
  readonly failed: number;
  readonly rejected: number;
  readonly expired: number;
  readonly refused: number;
  readonly cancelled: number;
  readonly drifted: number;
  readonly unknown: number;
  readonly open: number;
}

/** How a task ended; nothing of it before. */
export interface Ending {
  readonly said?: Readonly<Record<string, string>> | null;
  readonly run?: Run | null;
  readonly change?: Change | null;
  readonly sync?: Sync | null;
}

/** One line, without its end and with nothing hidden in it. */
export interface FileLine {
  readonly number: number;
  readonly text: string;
  readonly left: number;
}

/** A file, or one page of a text. */
export interface FileView {
  readonly workspace: string;
  readonly path: string;
  readonly kind: "text" | "image" | "binary";
  readonly size: number;
  readonly media_type: string;
  readonly utf8: boolean;
  readonly line_ends: "none" | "lf" | "crlf" | "mixed";
  readonly unended: boolean;
  readonly lines: ReadonlyArray<FileLine>;
  readonly next_line: number | null;
  readonly line_count: number | null;
  readonly stopped: boolean;
  readonly dump: ReadonlyArray<HexRow>;
}

/** One name in a folder. */
export interface FolderEntry {
  readonly name: string;
  readonly kind: "folder" | "file" | "link" | "other";
  readonly size: number | null;
  readonly refused: "" | "denied" | "name";
}

/** One page of a folder: folders first, then the rest, each by name without regard to case. */
export interface FolderView {
  readonly workspace: string;
  readonly path: string;
  readonly entries: ReadonlyArray<FolderEntry>;
  readonly total: number;
  readonly complete: boolean;
  readonly more: boolean;
  readonly after: string;
}

/** Sixteen bytes. */
export interface HexRow {
  readonly offset: number;
  readonly hex: string;
  readonly text: string;
}

/** What a model was not shown, and why. */
export interface LeftOutFile {
  readonly path: string;
  readonly why: string;
  readonly size: number;
}

/** A task in a list. */
export interface ListedTask extends TaskRow {
  readonly expires_at: number | null;
}

/** What each file is of a change that was cut off and then edited. */
export interface Mixture {
  readonly new?: ReadonlyArray<string>;
  readonly old?: ReadonlyArray<string>;
  readonly foreign?: ReadonlyArray<string>;
  readonly beside?: ReadonlyArray<string>;
}

/** How much a model was shown. */
export interface ModelContext {
  readonly files: number;
  readonly bytes: number;
}

/** What one model used on one day. */
export interface ModelDay {
  readonly day: string;
  readonly model: string;
  readonly used: ModelUse;
}

/** How a model last failed, and when. */
export interface ModelFailure {
  readonly at: number;
  readonly code: string;
}

/** All models that are configured, with what they used in the last days. */
export interface ModelList {
  readonly days: number;
  readonly models: ReadonlyArray<ModelView>;
}

/** What a model has used in some days. */
export interface ModelUse {
  readonly turns: number;
  readonly failed: number;
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly cost: number | null;
  readonly currency: string;
}

/** A model that is configured. */
export interface ModelView {
  readonly name: string;
  readonly kind: string;
  readonly model: string;
  readonly asked: boolean;
  readonly key: string | null;
  readonly needs_key: boolean;
  readonly used: ModelUse;
  readonly last_failure: ModelFailure | null;
}

/** A folder that the agent works in. */
export interface OpenWorkspace {
  readonly name: string;
  readonly path: string;
  readonly default: boolean;
  readonly disclosure: string;
  readonly policy: PolicyStanding;
}

/** What a command printed. */
export interface Output {
  readonly lines?: number;
  readonly tail?: string;
  readonly before?: number;
  readonly log_sha256?: string | null;
}

/** How an approval stands. */
export interface PageApproval {
  readonly approval_id: string;
  readonly code: string;
  readonly approver: string | null;
  readonly decided_at: number | null;
  readonly state: string;
  readonly blocked: string;
  readonly can_narrow: boolean;
  readonly can_check: boolean;
  readonly unreadable: Text | null;
}

/** What a tab needs before it can show anything. */
export interface PageBoot {
  readonly words: Readonly<Record<string, string>>;
  readonly lang: string;
  readonly theme: string;
  readonly prefix: string;
  readonly verbs: ReadonlyArray<PageVerb>;
  readonly status: StatusView;
  readonly passkeys: boolean;
  readonly life: string;
  readonly cursor: number;
}

/** A file that changes, without its lines. */
export interface PageFile {
  readonly path: string;
  readonly op: "add" | "modify" | "delete" | "rename" | "copy";
  readonly old_path: string | null;
  readonly is_text: boolean;
  readonly added: number;
  readonly removed: number;
  readonly rows: number;
  readonly hunks: number;
  readonly notes: ReadonlyArray<Text>;
  readonly marks: ReadonlyArray<PageMark>;
}

/** What in a file deserves a second look, and at which line it first occurs. */
export interface PageMark {
  readonly line: number;
  readonly what: Text;
}

/** One entry of a task's time line. */
export interface PageMoment {
  readonly seq: number;
  readonly at: number;
  readonly state: string | null;
  readonly message: string;
}

/** A playbook. */
export interface PagePlaybook {
  readonly name: string;
  readonly origin: string;
  readonly instead: boolean;
  readonly about: Text;
  readonly risk: string;
  readonly keywords: ReadonlyArray<string>;
  readonly steps: ReadonlyArray<PageStep>;
  readonly broken: Text | null;
}

/** All playbooks, and the newest runs. */
export interface PagePlaybooks {
  readonly playbooks: ReadonlyArray<PagePlaybook>;
  readonly runs: ReadonlyArray<PageRun>;
}

/** A question as a person must see it; as `QuestionView`, with what a page can draw. */
export interface PageQuestion {
  readonly action: "run_command" | "apply_diff" | "undo" | "git_sync" | "disclose" | "steps";
  readonly title: Text;
  readonly high_risk: boolean;
  readonly code: string;
  readonly expires_at: number;
  readonly machine: string;
  readonly workspace: string;
  readonly place: string;
  readonly commit: string | null;
  readonly afar: boolean;
  readonly asked_by: Text;
  readonly request: string;
  readonly parts: ReadonlyArray<ReadonlyArray<Readonly<Record<string, unknown>>>>;
  readonly check: Verdict | null;
  readonly afterwards: Text;
  readonly undo: Text;
  readonly lasts: boolean;
  readonly reasons: ReadonlyArray<Text>;
  readonly approve: Text;
}

/** A task in the page's list. */
export interface PageRow extends ListedTask {
  readonly run: string | null;
  readonly is_step: boolean;
}

/** A page of the list. */
export interface PageRows {
  readonly tasks: ReadonlyArray<PageRow>;
  readonly more: boolean;
}

/** A run of a playbook, in a list. */
export interface PageRun {
  readonly task_id: string;
  readonly short_id: string;
  readonly task_name: string;
  readonly status: string;
  readonly client: string;
  readonly started_at: number | null;
  readonly current_step: number;
  readonly dry_run: boolean;
  readonly ended: string | null;
}

/** A step of a playbook, as its author wrote it. */
export interface PageStep {
  readonly name: string;
  readonly type: string;
  readonly description: string;
  readonly tool: string | null;
  readonly condition: string | null;
}

/** All of a task. */
export interface PageTask {
  readonly task: ShownTask;
  readonly row: PageRow;
  readonly kind: string | null;
  readonly timeline: ReadonlyArray<PageMoment>;
  readonly streaming: string;
  readonly approval: PageApproval | null;
  readonly question: PageQuestion | null;
  readonly files: ReadonlyArray<PageFile>;
  readonly steps: ReadonlyArray<PageRow>;
}

/** A command of the chat, for completion. */
export interface PageVerb {
  readonly name: string;
  readonly en: string;
  readonly zh: string;
  readonly summary: Text;
}

/** All of them, oldest first. */
export interface PasskeyList {
  readonly passkeys: ReadonlyArray<PasskeyView>;
  readonly codes_in: string;
}

/** A passkey that may approve. */
export interface PasskeyView {
  readonly name: string;
  readonly code: string;
  readonly created_at: number;
  readonly last_used_at: number | null;
}

/** How the policy of a workspace stands. */
export interface PolicyStanding {
  readonly state: "none" | "in-force" | "broken";
  readonly code: string | null;
  readonly file: string | null;
  readonly key: string | null;
}

/** Why something cannot be read now: the code of the error, and its facts as text. */
export interface Problem {
  readonly code: string;
  readonly facts: Readonly<Record<string, string>>;
}

/** One file of a proposed change, counted by us. */
export interface ProposedFile {
  readonly path: string;
  readonly additions: number;
  readonly deletions: number;
  readonly encoding: string | null;
}

/** How a command ended. */
export interface Run {
  readonly command?: string;
  readonly sandbox?: string;
  readonly started?: boolean;
  readonly code?: string | null;
  readonly exit_code?: number | null;
  readonly signal?: number | null;
  readonly duration_ms?: number;
  readonly survivors?: number;
  readonly drift?: ReadonlyArray<string>;
  readonly report?: Readonly<Record<string, unknown>> | null;
  readonly output?: Output;
  readonly files?: TouchedFiles | null;
}

/** Of which run of a playbook a task asks something. */
export interface RunPart {
  readonly run: string;
  readonly playbook: string;
  readonly step: number | null;
  readonly total: number;
  readonly name: string;
}

/** A step of a run. */
export interface RunStepView {
  readonly number: number | null;
  readonly name: string;
  readonly type: string;
  readonly status: string;
  readonly started_at: number | null;
  readonly completed_at: number | null;
  readonly error: string | null;
  readonly task: string | null;
  readonly is_doubted: boolean;
}

/** The run of a playbook that a task carries. */
export interface RunView {
  readonly run_id: string;
  readonly playbook: string;
  readonly status: string;
  readonly steps: ReadonlyArray<RunStepView>;
}

/** One setting. */
export interface SettingView {
  readonly name: string;
  readonly key: string;
  readonly value: string | null;
  readonly source: "default" | "file" | "environment" | "start";
  readonly where: string;
  readonly changed: boolean;
  readonly after_restart: string | null;
}

/** All settings of the agent. */
export interface SettingsView {
  readonly file: string | null;
  readonly problem: Problem | null;
  readonly settings: ReadonlyArray<SettingView>;
}

/** One piece of text that a model was shown. */
export interface ShownPiece {
  readonly kind: string;
  readonly path: string;
  readonly first_line: number;
  readonly lines: number;
  readonly bytes: number;
  readonly why: string;
  readonly cut: boolean;
}

/** A task that somebody looks at. */
export interface ShownTask extends TaskView {
  readonly retry_of_short_id: string | null;
  readonly left_to_undo: ReadonlyArray<string> | null;
  readonly playbook_run: RunView | null;
}

/** What a model said, apart from our words. */
export interface Speech {
  readonly model: string;
  readonly text: string;
  readonly no_edits: boolean;
  readonly not_taken: ReadonlyArray<string>;
  readonly commands: ReadonlyArray<string>;
}

/** How long tasks were in one state, of those that have left it. */
export interface StateTimes {
  readonly state: string;
  readonly count: number;
  readonly median_ms: number | null;
  readonly p90_ms: number | null;
}

/** The last days. */
export interface StatisticsView {
  readonly days: ReadonlyArray<string>;
  readonly outcomes: ReadonlyArray<DayOutcomes>;
  readonly states: ReadonlyArray<StateTimes>;
  readonly approvals: ApprovalWaits;
  readonly models: ReadonlyArray<ModelDay>;
}

/** How the agent is doing, on one screen. */
export interface StatusView extends Surroundings {
  readonly model: string | null;
  readonly audit: AuditStanding;
  readonly open_tasks: number;
  readonly approvals: ReadonlyArray<WaitingTask>;
}

/** What the agent stands in: machine, gateway, key, workspaces and sandbox. */
export interface Surroundings {
  readonly machine: string;
  readonly gateway: Connection;
  readonly key_storage: string | null;
  readonly public_key: string;
  readonly workspaces: ReadonlyArray<OpenWorkspace>;
  readonly stray_policies: ReadonlyArray<string>;
  readonly sandbox: string;
  readonly sandbox_reason: string;
  readonly windows: WindowsStanding;
  readonly settings: string;
}

/** How a commit and push ended. */
export interface Sync {
  readonly code?: string | null;
  readonly drift?: ReadonlyArray<string>;
  readonly committed?: string | null;
  readonly pushed?: boolean | null;
}

/** What every list tells of a task. */
export interface TaskRow {
  readonly task_id: string;
  readonly short_id: string;
  readonly source: string;
  readonly channel: string;
  readonly claimed_user: string;
  readonly text: string;
  readonly workspace: string | null;
  readonly state: string;
  readonly reason: string | null;
  readonly summary: string | null;
  readonly created_at: number;
  readonly updated_at: number;
  readonly retry_of: string | null;
  readonly rests: boolean;
  readonly version: number | null;
  readonly replaced_by: string | null;
  readonly part: RunPart | null;
}

/** A task with what was proposed and how it ended. */
export interface TaskView extends TaskRow, Ending {
  readonly proposed: string | null;
  readonly details: string | null;
  readonly own: string | null;
  readonly speech: Speech | null;
  readonly answered: boolean;
  readonly proposal: string | null;
  readonly files: ReadonlyArray<ProposedFile>;
  readonly files_more: number;
  readonly revises: string | null;
  readonly turns: ReadonlyArray<Turn>;
  readonly shown: ModelContext | null;
}

/** The same words in both languages. */
export interface Text {
  readonly en: string;
  readonly zh: string;
}

/** One file that changed while a command ran. */
export interface TouchedFile {
  readonly path: string;
  readonly change: "new" | "changed" | "deleted";
  readonly link?: boolean;
  readonly surface?: boolean;
}

/** The files that changed while a command ran, counted, and the first of them. */
export interface TouchedFiles {
  readonly new?: number;
  readonly changed?: number;
  readonly deleted?: number;
  readonly incomplete?: boolean;
  readonly rights_taken?: ReadonlyArray<string>;
  readonly listed?: ReadonlyArray<TouchedFile>;
}

/** One turn of a model; as `local_agent.store.turns` keeps it. */
export interface Turn {
  readonly model: string;
  readonly at: number;
  readonly duration_ms: number;
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly calls: number;
  readonly outcome: string;
}

/** How trying it out stands or ended, in words. */
export interface Verdict {
  readonly mark: string;
  readonly tone: "plain" | "strong" | "quiet" | "good" | "danger" | "alarm" | "quoted";
  readonly said: Text;
}

/** How long approvals waited that ended in one way. */
export interface WaitTimes {
  readonly counts: ReadonlyArray<number>;
  readonly count: number;
  readonly median_ms: number | null;
}

/** A task that waits for a decision, until a moment. */
export interface WaitingTask extends TaskRow {
  readonly expires_at: number;
  readonly risk: string;
}

/** Whether approvals are asked in windows. */
export interface WindowsStanding {
  readonly state: string;
  readonly why: string;
}

/** The folders that the agent works in. */
export interface WorkspacesView {
  readonly workspaces: ReadonlyArray<OpenWorkspace>;
  readonly stray_policies: ReadonlyArray<string>;
  readonly problem: Problem | null;
}

/** One file of a change that was carried out. */
export interface WrittenFile {
  readonly op: "add" | "modify" | "delete" | "rename" | "copy";
  readonly path: string;
  readonly old_path?: string | null;
}
