/**
 * A client of an everword server: `const memory = new Everword("http://127.0.0.1:8000", { key })`.
 *
 * What stands below the line "generated" is written by scripts/typescript.py from the server's OpenAPI description. A
 * write carries an idempotency key, so that it can be sent again after a lost answer and is done once.
 */

export interface ClientOptions {
  /** What `everword keys create` showed; a server on loopback may need none. */
  key?: string;
  /** The space of calls that name none; without it, the key's own. */
  space?: string;
  /** Milliseconds for each answer, or for the next piece of one: 90,000 if left out. */
  timeout?: number;
  /** Another `fetch`. */
  fetch?: typeof fetch;
}

/** What each call takes besides its arguments. */
export interface CallOptions {
  space?: string;
  /** Your own: within a day, the same request with it is done once. */
  idempotencyKey?: string;
  signal?: AbortSignal;
}

/** What the server refused, or that it could not be reached. */
export class EverwordError extends Error {
  /**
   * @param code for a program: "not_found", "invalid_input" and others; "unreachable" if there was no answer
   * @param status of HTTP; 0 if there was no answer
   * @param fields what is wrong with which field, if the request was not valid
   */
  constructor(
    readonly code: string,
    message: string,
    readonly status: number = 0,
    readonly fields: ReadonlyArray<Record<string, string>> = [],
    options?: ErrorOptions,
  ) {
    super(message, options);
    this.name = "EverwordError";
  }
}

/** Every item of a list that comes in pages: `for await (const fact of everyItem(cursor => memory.facts("alex", { cursor })))`. */
export async function* everyItem<T>(
  getPage: (cursor: string | undefined) => Promise<{ items: T[]; next?: string | null }>,
): AsyncGenerator<T, void, undefined> {
  let cursor: string | undefined;
  do {
    const page = await getPage(cursor);
    yield* page.items;
    cursor = page.next ?? undefined;
  } while (cursor !== undefined);
}

const TRIES = 4;
const PAUSE = 200; // milliseconds before the second try; then twice as long
const LONGEST_PAUSE = 5_000;
const AT_WORK = "in_progress"; // the first try goes on there
const TRANSIENT = new Set(["store_busy", "too_many", AT_WORK, "unavailable"]);
const GATEWAY = new Set([502, 503, 504]); // of a proxy before the server

type Query = Record<string, unknown>;

interface Call {
  query?: object;
  body?: unknown;
  repeatable?: boolean;
}

async function readProblem(response: Response): Promise<EverwordError> {
  try {
    return problemError(JSON.parse(await response.text()), response.status);
  } catch {
    const text = `the server answered ${response.status}, and not as one of everword's would; is the address right?`;
    return new EverwordError("no_problem", text, response.status);
  }
}

function problemError(problem: any, status: number): EverwordError {
  if (typeof problem?.code !== "string") throw new TypeError("not a problem");
  return new EverwordError(problem.code, String(problem.detail), problem.status ?? status, problem.errors ?? []);
}

function isTransient(error: EverwordError): boolean {
  return error.code === "no_problem" ? GATEWAY.has(error.status) : TRANSIENT.has(error.code);
}

function pauseAfter(attempt: number, response: Response): number {
  const seconds = Number(response.headers.get("retry-after") ?? "");
  return seconds > 0 ? Math.min(seconds * 1000, LONGEST_PAUSE) : (PAUSE * 2 ** attempt) / 2;
}

function sleep(milliseconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(done, milliseconds);
    function done() {
      signal?.removeEventListener("abort", stop);
      resolve();
    }
    function stop() {
      clearTimeout(timer);
      reject(signal?.reason);
    }
    signal?.addEventListener("abort", stop, { once: true });
  });
}

/** A path with each part quoted, so that no id can change the path: not by a slash, nor by dots. */
function buildPath(parts: string[]): string {
  if (parts.some(part => /^\.{0,2}$/.test(part))) throw new EverwordError("invalid_input", "an id must not be empty, . or ..");
  return parts.map(encodeURIComponent).join("/");
}

class Connection {
  readonly #url: string;
  readonly #key: string;
  readonly #space: string | undefined;
  readonly #timeout: number;
  readonly #fetch: typeof fetch;

  constructor(url: string, options: ClientOptions = {}) {
    if (!/^https?:\/\/[^?#]+$/.test(url)) throw new TypeError("the address must begin with http:// or https://, without ? and #");
    this.#url = url.replace(/\/+$/, "").replace(/\/v1$/, "");
    this.#key = options.key ?? "";
    this.#space = options.space;
    this.#timeout = options.timeout ?? 90_000;
    this.#fetch = options.fetch ?? ((...args) => fetch(...args));
  }

  async ask<T>(method: string, parts: string[], call: Call, options: CallOptions): Promise<T> {
    const send = this.#prepare(method, parts, call, options, "application/json");
    const deadline = Date.now() + this.#timeout;
    for (let attempt = 1; ; attempt++) {
      let response: Response;
      let text = "";
      try {
        response = await send(AbortSignal.timeout(this.#timeout));
        if (response.ok) text = await response.text();
      } catch (error) {
        const isFinal = attempt >= TRIES || (error as Error)?.name === "TimeoutError" || options.signal?.aborted;
        if (isFinal) throw this.#unreachable(error, options.signal);
        await sleep((PAUSE * 2 ** attempt) / 2, options.signal);
        continue;
      }
      if (response.ok) return this.#parse(text) as T;
      const problem = await readProblem(response);
      if (problem.code === AT_WORK && Date.now() < deadline) attempt--;
      else if (attempt >= TRIES || !isTransient(problem)) throw problem;
      await sleep(pauseAfter(Math.max(attempt, 1), response), options.signal);
    }
  }

  /** The lines of an answer, as they come. */
  async *lines(
    method: string,
    parts: string[],
    call: Call,
    options: CallOptions,
    accept: string,
  ): AsyncGenerator<string, void, undefined> {
    const stop = new AbortController();
    const send = this.#prepare(method, parts, call, options, accept);
    const startTimer = () => setTimeout(() => stop.abort(new DOMException("no answer in time", "TimeoutError")), this.#timeout);
    let timer = startTimer();
    try {
      const response = await send(stop.signal);
      if (!response.ok) throw await readProblem(response);
      const decoder = new TextDecoder();
      const reader = response.body!.getReader();
      let rest = "";
      for (;;) {
        const { done, value } = await reader.read();
        clearTimeout(timer);
        timer = startTimer();
        const pieces = (rest + decoder.decode(value, { stream: !done })).split("\n");
        rest = pieces.pop() ?? "";
        for (const line of pieces) yield line.replace(/\r$/, "");
        if (done) break;
      }
      if (rest) yield rest;
    } catch (error) {
      throw error instanceof EverwordError ? error : this.#unreachable(error, options.signal);
    } finally {
      clearTimeout(timer);
      stop.abort();
    }
  }

  /** The pieces of a streamed reply; the whole reply is what the generator returns. */
  async *pieces<T>(parts: string[], call: Call, options: CallOptions): AsyncGenerator<string, T, undefined> {
    let event = "";
    for await (const line of this.lines("POST", parts, call, options, "text/event-stream")) {
      const colon = line.indexOf(":");
      const name = line.slice(0, colon);
      const value = line.slice(colon + 1).replace(/^ /, "");
      if (name === "event") event = value;
      else if (name === "data" && event === "text") yield (this.#parse(value) as { text: string }).text;
      else if (name === "data" && event === "done") return this.#parse(value) as T;
      else if (name === "data" && event === "error") throw problemError(this.#parse(value), 500);
    }
    throw new EverwordError("unreachable", "the reply ended in the middle");
  }

  #prepare(method: string, parts: string[], call: Call, options: CallOptions, accept: string) {
    const query = new URLSearchParams();
    const space = options.space ?? this.#space;
    for (const [name, value] of Object.entries({ ...(call.query as Query), space })) {
      for (const part of Array.isArray(value) ? value : [value]) {
        if (part !== undefined && part !== null) query.append(name, part instanceof Date ? part.toISOString() : String(part));
      }
    }
    const headers: Record<string, string> = { accept };
    if (this.#key) headers.authorization = `Bearer ${this.#key}`;
    if (call.repeatable) headers["idempotency-key"] = options.idempotencyKey ?? crypto.randomUUID();
    if (call.body !== undefined) headers["content-type"] = "application/json";
    const body = call.body === undefined ? undefined : JSON.stringify(call.body);
    const search = query.size ? `?${query}` : "";
    const url = `${this.#url}/${buildPath(parts)}${search}`;
    return (signal: AbortSignal) => {
      const signals = options.signal ? AbortSignal.any([signal, options.signal]) : signal;
      return this.#fetch(url, { method, headers, body, signal: signals, redirect: "error" });
    };
  }

  #parse(text: string): unknown {
    try {
      return JSON.parse(text);
    } catch (error) {
      throw new EverwordError("no_problem", `${this.#url} answered as no everword server would`, 200, [], { cause: error });
    }
  }

  #unreachable(error: unknown, signal?: AbortSignal): unknown {
    if (signal?.aborted) return signal.reason;
    return new EverwordError("unreachable", `${this.#url} did not answer; is the server running there?`, 0, [], { cause: error });
  }
}

// -- generated

/** How often something was done, with what outcome, how long it took in all, and the tokens it cost. */
export interface Activity {
  what: string;
  kind: string;
  outcome: string;
  count: number;
  seconds: number;
  tokens: number;
}

/** Add a fact about a person, by hand. If the key can have only one value, the new fact replaces the old one. */
export interface AddFactIn {
  /**
   * The kind of fact: identity, relationship, work, place, health, possession, preference, constraint, instruction,
   * plan, event or other.
   */
  category: "identity" | "relationship" | "work" | "place" | "health" | "possession" | "preference" | "constraint" | "instruction" | "plan" | "event" | "other";
  /** What the fact is about: "city", "allergies". */
  key: string;
  /** What the fact says: "Delft", "peanuts". */
  value: string;
  /** The day from which it is true. Now if left out. */
  valid_from?: string | null;
  /** The day on which it ends. */
  valid_to?: string | null;
  /** Whom it is about, if not the person: "brother". */
  subject?: string | null;
  /** Who says or does it. The person themselves if left out. */
  speaker?: string | null;
}

/** Add a name of a person: "display", "nickname", "alias" or "mention". */
export interface AddNameIn {
  /** The name. */
  name: string;
  /** The kind of name: display, nickname, alias or mention. */
  kind?: "display" | "nickname" | "alias" | "mention";
}

/**
 * What `add` did: the message as it is in the log, and whether it was new or known already. `kept` is that of the
 * message. If the message was removed from the log before, it is not stored again: it is `erased`. If it is only held
 * in memory, it is `degraded`.
 */
export interface Added {
  message: Message;
  new: boolean;
  kept: "new" | "known" | "edited" | "refused" | "erased";
  degraded: Degraded | null;
}

/** Several members fit equally well: the caller asks which. */
export interface Ambiguous {
  candidates: Candidate[];
}

/** The result of a command. `text` is the answer to the person who gave it; `message` is the command in the log. */
export interface Answer {
  kind: "remember" | "forget" | "ask";
  text: string;
  message: Message;
  person: string | null;
  statements: Statement[];
  facts: Fact[];
  forgotten: Forgotten | null;
  candidates: Candidate[];
}

/**
 * Archive the window now, whatever the settings say: all messages but the last exchange. Returns None if nothing was
 * left to archive. If summarising fails, the messages stay where they are, and the error says why.
 */
export interface ArchiveIn {
  /** Whose chat it is. Leave it out for a channel. */
  user?: string | null;
}

/** Answer a question about a person from facts and messages, and name those that the answer uses. */
export interface AskIn {
  /** The question, in plain words. */
  question: string;
  /** Only what was said in this conversation. */
  conversation?: string | null;
}

/**
 * One removal: by whom (the id of a key, or "program"), when, of what kind, and how many. Moves and merges have a
 * line too, although nothing goes.
 */
export interface AuditLine {
  space: string;
  id: string;
  at: string;
  kind: "erase" | "delete" | "retention" | "move" | "merge" | "undo" | "redact";
  by: string;
  what: string;
  count: number;
}

/** Messages for one conversation of several. */
export interface BatchIn {
  /** Whose chat it is. Leave it out for a channel of many. */
  user?: string | null;
  messages: DraftIn[];
  /** What to do with another text for a known message. */
  on_edit?: "refuse" | "version";
  conversation: string;
}

/** Messages for several conversations: all are kept, or none. */
export interface BatchesIn {
  /** The messages of each conversation. */
  batches: BatchIn[];
}

/** How many tokens a context may have, and how many of them each section may have. */
export interface Budget {
  total: number;
  system: number;
  profile: number;
  summaries: number;
  retrieved: number;
  topic: number;
  recent: number | null;
  pairs: number;
  fixed: boolean;
}

/** How many tokens a context may have, and how many of them each section. */
export interface BudgetIn {
  total?: number;
  system?: number;
  profile?: number;
  summaries?: number;
  retrieved?: number;
  topic?: number;
  recent?: number | null;
  pairs?: number;
  fixed?: boolean;
}

/** A member that a name may mean, the name that fits, and why, in words for the person who is asked. */
export interface Candidate {
  member: string;
  name: string;
  why: string;
}

/** A document to be kept, or without a value, to be removed. */
export interface ChangeIn {
  namespace: string[];
  key: string;
  value?: Record<string, unknown> | null;
  user?: string | null;
  texts?: string[] | null;
  /** When it ends: a span from now (10m, 2h, 7d), or a time with its offset. */
  expires?: string | null;
}

/** Changes of documents: all are made, or none; with a `tag`, only if the namespace is as it was. */
export interface ChangesIn {
  /** What to put and what to remove. All of it is done, or nothing. */
  changes: ChangeIn[];
  /** The namespace that the tag belongs to. */
  namespace?: string[] | null;
  /** Its `tag` when you read it; if it has changed since, nothing is done (412). */
  tag?: string | null;
}

/** The shape every chat model takes. */
export interface ChatMessage {
  role: string;
  content: string;
}

/** A run of messages that left the window together: from which turn to which, why, and when. */
export interface Chunk {
  first: number;
  last: number;
  reason: string;
  archived_at: string;
}

/**
 * Carry out a message that is a command to the memory (remember, forget, tell what is known). Returns None if it is
 * not a command.
 */
export interface CommandIn {
  /** The message, which may be a command. */
  text: string;
  /** Who wrote it, by their id. The user of the chat if left out. */
  author?: string | null;
  /** The names that the memory answers to. */
  names?: string[];
  /** Whether the message is for the memory, even if it names nobody. */
  addressed?: boolean;
  /** The id that the platform gave the message. A known id is not stored again. */
  platform_id?: string | null;
  /** Whose chat it is. Leave it out for a channel. */
  user?: string | null;
}

/** What is sent to the model, and the receipt for it. */
export interface Context {
  messages: ChatMessage[];
  receipt: Receipt;
}

/** What is to be answered, and how much the context may hold. */
export interface ContextIn {
  /** The message to answer. */
  text: string;
  /** The user, by the id that you chose. */
  user?: string | null;
  /** How many tokens the context may have: a `Budget`, "standard" or "compact". */
  budget?: BudgetIn | "standard" | "compact";
  /** Your own system prompt. It comes first. */
  system?: string | null;
  /** Tell the model how to ask for more by markers, which `reply` serves. */
  markers?: boolean;
}

/** One thread of messages: a chat with one `user`, or a channel with many (`user` is None). */
export interface Conversation {
  space: string;
  id: string;
  user: string | null;
  created_at: string;
  changed_at: string;
  turns: number;
  last_message_at: string | null;
  title: string;
}

/** A page of conversations. */
export interface ConversationPage {
  items: Conversation[];
  /** Send it as `cursor` to go on; null if this was all. */
  next?: string | null;
}

/**
 * The store takes no messages at present. `held` says how many are held in memory, `since` when, and `reason` why.
 */
export interface Degraded {
  held: number;
  since: string;
  reason: string;
  is_over: boolean;
}

/** Remove for good the messages that fit all arguments, and everything derived from them. */
export interface DeleteIn {
  /** Only messages that were said before this time. */
  before?: string | null;
  /** Only messages of this user. */
  user?: string | null;
  /** Only messages that contain this phrase. */
  query?: string | null;
  /** Only report what would be done. */
  dry_run?: boolean;
}

/** What `delete` removed, or on a dry run would remove. */
export interface Deletion {
  id: string;
  space: string;
  at: string;
  dry_run: boolean;
  messages: number;
  conversations: Record<string, number>;
  views: Record<string, number>;
  left: string[];
}

/** What a member of a space did on a day. If `kind` is "week", it covers the six days that end with `last`. */
export interface Digest {
  space: string;
  user: string;
  kind: "day" | "week";
  first: string;
  last: string;
  text: string;
  made_by: string;
  made_at: string;
  pending: boolean;
  sources: Span[];
}

/**
 * A JSON object under a key in a namespace. `user` is its owner, if it has one. `score` is set by a search. It is
 * gone at `expires_at`, if that is set.
 */
export interface Document {
  space: string;
  namespace: string[];
  key: string;
  value: Record<string, unknown>;
  user: string | null;
  created_at: string;
  updated_at: string;
  score: number | null;
  expires_at: string | null;
}

/** A JSON object to be kept under a key. */
export interface DocumentIn {
  /** A JSON object. */
  value: Record<string, unknown>;
  /** Its owner, for `erase`. */
  user?: string | null;
  /** The texts that search compares with. All texts of the value if left out. */
  texts?: string[] | null;
  /** When it ends: a span from now (10m, 2h, 7d), or a time with its offset. */
  expires?: string | null;
}

/** Some of the documents of a namespace, in order of key; the `tag` is of all of them. */
export interface DocumentPage {
  items: Document[];
  /** Send it as `cursor` to go on; null if this was all. */
  next?: string | null;
  /** Send it with changes that are right only as long as the namespace is as it is. */
  tag: string;
}

/** It is done. */
export interface Done {
  done?: boolean;
}

/** A message on its way into the log. */
export interface DraftIn {
  role: "user" | "assistant" | "system" | "tool";
  content: string;
  author?: string | null;
  /** Whose memory it belongs to; the conversation's user if none is named. */
  user?: string | null;
  /** When it was said, with its offset; now if left out. */
  time?: string | null;
  /** The id that another system gave it. A known id is not stored again. */
  platform_id?: string | null;
  metadata?: Record<string, unknown>;
  id?: string | null;
  /** When it ends: a span from now (10m, 2h, 7d), or a time with its offset. */
  expires?: string | null;
  /** The message it answers: its id, or its platform id. */
  reply_to?: string | null;
}

/** Give a fact another value. The old one stays as history, with its times; `undo` brings it back. */
export interface EditFactIn {
  /** What the fact says from now on. */
  value: string;
  /** The day from which it is true. Now if left out. */
  valid_from?: string | null;
  /** The day on which it ends. */
  valid_to?: string | null;
  /** Who says or does it. The person themselves if left out. */
  speaker?: string | null;
}

/**
 * Give a message a new text, and new metadata if you pass any. Name the message by its id, its turn (a number) or its
 * platform id.
 */
export interface EditMessageIn {
  /** The new text. */
  text: string;
  /** New metadata. If left out, the old metadata stays. */
  metadata?: Record<string, unknown> | null;
  /** Whose chat it is. Leave it out for a channel. */
  user?: string | null;
}

/** A summary of a run of turns (level 1), or of episodes of the level below, which are its `parts`. */
export interface Episode {
  space: string;
  conversation: string;
  level: number;
  first: number;
  last: number;
  began: string;
  ended: string;
  summary: string;
  made_by: string;
  pending: boolean;
  active: boolean;
  parts: Episode[];
  lines: ExtractLine[];
  id: string;
}

/** What `erase` removed. The person is not named here: that is the point. */
export interface Erasure {
  id: string;
  space: string;
  at: string;
  messages: number;
  conversations: number;
  entries: number;
  left: string[];
}

/**
 * What has expired of one kind of memory: what is older than `before`. `waiting` counts what goes only when every
 * view has read it.
 */
export interface Expired {
  kind: string;
  before: string;
  count: number;
  waiting: number;
}

/** A sentence of a summary: from which turn it is, who said it and when. */
export interface ExtractLine {
  turn: number;
  role: "user" | "assistant" | "system" | "tool" | "";
  author: string;
  text: string;
  time: string | null;
  kind: string;
  leans: number;
}

/** One thing known about a person, and since when. A fact that no longer holds stays, with its times. */
export interface Fact {
  space: string;
  user: string;
  id: string;
  category: "identity" | "relationship" | "work" | "place" | "health" | "possession" | "preference" | "constraint" | "instruction" | "plan" | "event" | "other";
  key: string;
  value: string;
  confidence: number;
  importance: number;
  speaker: string;
  conversation: string;
  turn: number;
  said_at: string;
  recorded_at: string;
  sources: string[];
  subject: string | null;
  audience: string | null;
  active: boolean;
  valid_from: string | null;
  valid_to: string | null;
  retired_at: string | null;
  retired_by: string | null;
  also_heard_in: string[];
}

/** What somebody decided about the facts of a person: they added one, edited it or deleted it. */
export interface FactChange {
  id: string;
  kind: "add" | "edit" | "delete";
  speaker: string;
  changed_at: string;
  fact: Fact | null;
  retired: Fact[];
}

/** A page of facts. */
export interface FactPage {
  items: Fact[];
  /** Send it as `cursor` to go on; null if this was all. */
  next?: string | null;
}

/** One thing wrong with the log, named so that it can be found. */
export interface Fault {
  space: string;
  conversation: string;
  turn: number;
  problem: string;
}

/** Remove the statements and facts that fit the words from a person's profile. Returns what was removed. */
export interface ForgetIn {
  /** What to forget, in plain words. */
  what: string;
  /** Who says or does it. The person themselves if left out. */
  speaker?: string | null;
  /** The id of the stored message that asked for it. */
  message?: string | null;
}

/**
 * What `forget` did. `id` brings it back (`memory.undo`). If `everything` is true, the words meant all that is known:
 * then nothing was forgotten, and you should ask what is meant.
 */
export interface Forgotten {
  id: string | null;
  statements: Statement[];
  facts: Fact[];
  everything: boolean;
  found: boolean;
}

/** A message that search found, its score, and the parts the score is made of; or a fact. */
export interface Hit {
  message: Message;
  score: number;
  parts: Record<string, number>;
  relevance: number;
  kind: "message" | "fact";
  fact: Fact | null;
}

/** One line of a receipt: which message (or the like), at which tier, how many tokens, and why it is in or out. */
export interface Item {
  id: string;
  tokens: number;
  reason: string;
  tier: number;
}

/** Somebody in a space. The id counts as a name, too. */
export interface Member {
  id: string;
  names: Name[];
}

/** A page of members. */
export interface MemberPage {
  items: Member[];
  /** Send it as `cursor` to go on; null if this was all. */
  next?: string | null;
}

/** The answer to a question about a person, and the facts and messages it rests on, best first. */
export interface MemoryAnswer {
  text: string;
  known: boolean;
  made_by: string;
  facts: Fact[];
  messages: Message[];
  user: string;
}

/** Make two topics one: the other becomes part of the first, which is returned. `undo_merge` separates them. */
export interface MergeTopicsIn {
  /** The topic that goes into the first, by its id. */
  other: string;
  /** Whose chat it is. Leave it out for a channel. */
  user?: string | null;
}

/** Give everything of one user to another, when both are one person. */
export interface MergeUsersIn {
  /** The user who keeps everything. */
  into: string;
  /** Only report what would be done. */
  dry_run?: boolean;
}

/** One message, as the log keeps it. Of an erased message only its place and its seal stay. */
export interface Message {
  space: string;
  conversation: string;
  turn: number;
  id: string;
  role: "user" | "assistant" | "system" | "tool";
  author: string;
  user: string | null;
  content: string;
  time: string;
  platform_id: string | null;
  metadata: Record<string, unknown>;
  erased: boolean;
  expires_at: string | null;
  versions: Version[];
  secrets: SecretMark[];
  reply_to: string | null;
}

/** A page of messages. */
export interface MessagePage {
  items: Message[];
  /** Send it as `cursor` to go on; null if this was all. */
  next?: string | null;
}

/** Messages for one conversation, in order: all are kept, or none. */
export interface MessagesIn {
  /** Whose chat it is. Leave it out for a channel of many. */
  user?: string | null;
  /** The messages, in order. */
  messages: DraftIn[];
  /** What to do with another text for a known message. */
  on_edit?: "refuse" | "version";
}

/** What `move_conversation`, `merge_users` or `undo_move` did, or on a dry run would do. */
export interface Move {
  id: string;
  space: string;
  at: string;
  kind: "move" | "merge" | "undo";
  dry_run: boolean;
  user: string | null;
  into: string | null;
  conversations: Record<string, string>;
  moved: Record<string, number>;
}

/** Rename a conversation (`to`), give it to another user (`user`), or both, for example when a guest signs in. */
export interface MoveConversationIn {
  /** The new id of the conversation. */
  to?: string | null;
  /** The new owner. The owner stays if left out. */
  user?: string | null;
  /** Only report what would be done. */
  dry_run?: boolean;
}

/**
 * A name of a member, and when it was first and last seen, if that is known. A name that its owner no longer uses is
 * kept: somebody else may still use it.
 */
export interface Name {
  text: string;
  kind: "id" | "mention" | "display" | "nickname" | "alias";
  since: string | null;
  seen: string | null;
}

/** A page of namespaces. */
export interface NamespacePage {
  items: (string[])[];
  /** Send it as `cursor` to go on; null if this was all. */
  next?: string | null;
}

/** What is known about a person: facts, and statements to remember. As text, it is what a context shows. */
export interface Profile {
  user: string;
  name: string;
  facts: Fact[];
  statements: Statement[];
  text: string;
  today: Digest | null;
  history: Digest | null;
  context: string;
}

/** Say that a topic matters (+1) or does not (-1). This changes its importance, and so how long it stays active. */
export interface RateTopicIn {
  /** 1 for a good topic, -1 for a bad one. */
  score: 1 | -1;
  /** Whose chat it is. Leave it out for a channel. */
  user?: string | null;
}

/** Delete a view and build it again from the log. */
export interface RebuildIn {
  /** The view: index, tiers, topics, window, episodes, facts, digests or titles. */
  view: string;
}

/**
 * What a context contains and at which tier, what it left out and why, and the tokens of each section. About
 * `repeated` tokens at the start of a sent prompt are those of the last prompt that this process sent in the
 * conversation: the model's server may have kept what it computed of them.
 */
export interface Receipt {
  tokenizer: string;
  budget: Budget;
  tokens: number;
  sections: Section[];
  repeated: number;
}

/**
 * Replace the secrets in stored messages (API keys, passwords, cards) by placeholders, for good: in all of a space,
 * in one user's memory or in one conversation. Older versions of these messages are removed. With `dry_run`, only
 * report how many messages contain secrets.
 */
export interface RedactIn {
  /** Only in the messages of this user. */
  user?: string | null;
  /** Only in this conversation. */
  conversation?: string | null;
  /** Only report what would be done. */
  dry_run?: boolean;
}

/**
 * What `redact` replaced by placeholders, or on a dry run would replace. `messages` says in how many messages,
 * `conversations` how many of each conversation, and `kinds` how many have each kind of secret. `left` is as in
 * `Erasure`. `id` is empty if nothing was replaced.
 */
export interface Redaction {
  id: string;
  space: string;
  at: string;
  dry_run: boolean;
  messages: number;
  conversations: Record<string, number>;
  kinds: Record<string, number>;
  left: string[];
}

/** A fact that a model found in a message and that is not kept, and why. */
export interface RefusedFact {
  space: string;
  user: string;
  category: "identity" | "relationship" | "work" | "place" | "health" | "possession" | "preference" | "constraint" | "instruction" | "plan" | "event" | "other";
  key: string;
  value: string;
  kind: "unsure" | "unimportant" | "incomplete" | "invalid" | "about_assistant" | "about_nobody" | "only_asked" | "denied" | "not_said" | "secret";
  reason: string;
  speaker: string;
  conversation: string;
  turn: number;
  message: string;
  said_at: string;
  subject: string | null;
  audience: string | null;
}

/**
 * Store a statement about a person, in the third person. It replaces statements that it contradicts. Returns the
 * statements that are true now.
 */
export interface RememberIn {
  /** One or more statements: "Alex lives in Berlin". */
  text: string;
  /** Who says or does it. The person themselves if left out. */
  speaker?: string | null;
  /** The id of the stored message that asked for it. */
  message?: string | null;
  /** When it ends: a span from now (10m, 2h, 7d), or a time with its offset. */
  expires?: string | null;
}

export interface RemoveDocumentOut {
  removed: boolean;
}

/**
 * What the model answered: the text, the message in the log, the last context's receipt, and every round. If the turn
 * could not be written and is held in memory, it is `degraded`.
 */
export interface Reply {
  text: string;
  message: Message;
  receipt: Receipt;
  rounds: Round[];
  degraded: Degraded | null;
}

/** A turn: what is said, and how the model is to be asked. */
export interface ReplyIn {
  /** The message to answer. */
  text: string;
  /** The user, by the id that you chose. */
  user?: string | null;
  /** How many tokens the context may have: a `Budget`, "standard" or "compact". */
  budget?: BudgetIn | "standard" | "compact";
  /** Your own system prompt. It comes first. */
  system?: string | null;
  /** Who wrote it, by their id. The user of the chat if left out. */
  author?: string | null;
  /** The id that the platform gave the message. A known id is not stored again. */
  platform_id?: string | null;
  /** Answer by server-sent events, piece by piece. */
  stream?: boolean;
}

/** The one member a name means, and why. */
export interface Resolved {
  member: string;
  why: string;
}

/**
 * Remove what has expired and what is older than the settings `retain_…` allow, in all spaces or one. With `dry_run`,
 * the default, only list it.
 */
export interface RetainIn {
  /** Only report what would be done. */
  dry_run?: boolean;
}

/**
 * What `retain` removed, or on a dry run would remove, of each kind that is not kept for ever. `left` is as in
 * `Erasure`.
 */
export interface Retained {
  at: string;
  dry_run: boolean;
  expired: Expired[];
  left: string[];
}

/** What became of messages that were set aside: how many were tried again, and how many still fail. */
export interface Retried {
  tried: number;
  left: number;
}

/** Try again the messages that views failed on and set aside: those of one space, conversation or view, or all. */
export interface RetryIn {
  /** The view: index, tiers, topics, window, episodes, facts, digests or titles. */
  view?: string | null;
  /** Only what was said in this conversation. */
  conversation?: string | null;
}

/** One call of the model within a turn: what it asked for, what it was given, and what the call cost. */
export interface Round {
  number: number;
  raised: ([number, number])[];
  searches: string[];
  found: string[];
  tokens_in: number;
  tokens_out: number;
  model: string;
}

/** A message for its topic. */
export interface SaidIn {
  /** user or assistant. */
  role: "user" | "assistant";
  /** The text of the message. */
  text: string;
  /** The user, by the id that you chose. */
  user?: string | null;
  /** How important the message is, from 0 to 1. */
  importance?: number;
  /** Who wrote it, by their id. The user of the chat if left out. */
  author?: string | null;
  /** When it was said, with its offset. Now if left out. */
  time?: string | null;
}

/**
 * The documents of a namespace and of those below it. With a `query`, those nearest to it in meaning and words come
 * first; without one, those changed last.
 */
export interface SearchDocumentsIn {
  /** The names of the namespace, outermost first. */
  namespace?: string[];
  /** What to look for, in plain words. */
  query?: string | null;
  /** Conditions on the values: `$eq $ne $gt $gte $lt $lte`. */
  where?: Record<string, unknown> | null;
  /** How many at most. */
  limit?: number;
  /** How many to skip. */
  offset?: number;
}

/** Find messages by word and by meaning, best first, in a space or in one user's memory. */
export interface SearchIn {
  /** What to look for, in plain words. */
  query: string;
  /** Only in the memory of this user. */
  user?: string | null;
  /** Only what was said in this conversation. */
  conversation?: string | null;
  /** user, assistant, system or tool. */
  role?: "user" | "assistant" | "system" | "tool" | null;
  /** Only messages from this time on. */
  after?: string | null;
  /** Only messages before this time. */
  before?: string | null;
  /** How many at most. */
  limit?: number;
  /** Only hits with at least this relevance; 0.5 leaves out what has nothing to do with the query. */
  floor?: number | null;
  /** What to look for: messages, facts or both. */
  kinds?: ("message" | "fact")[];
}

/** One secret in a text: its kind in plain words ("API key"), and the characters it takes up. */
export interface SecretMark {
  kind: string;
  start: number;
  end: number;
  path: string;
}

/**
 * One part of a context: its name, its tokens, what is in it and what was left out. A `note` may say, for example,
 * that nothing relevant was found.
 */
export interface Section {
  name: string;
  tokens: number;
  items: Item[];
  left_out: Item[];
  note: string;
}

/**
 * Set the time zone in which a space's days begin and end, by its IANA name: "Europe/Berlin". Without one, the
 * setting `time_zone` is used.
 */
export interface SetTimeZoneIn {
  /** The name of the time zone: "Europe/Berlin". */
  name: string;
}

/** How long to wait for views to catch up. */
export interface SettleIn {
  /** How many seconds to wait. */
  timeout?: number;
}

/**
 * Every view has caught up with the log, but for messages that views failed on and have set aside: so many of this
 * space.
 */
export interface Settled {
  done: boolean;
  set_aside: number;
}

/** A space. */
export interface SpaceOut {
  space: string;
}

/** Messages of a conversation, from the turn `first` to the turn `last`: a source of a digest. */
export interface Span {
  conversation: string;
  first: number;
  last: number;
}

/**
 * Move messages of a group, with the replies to them, out of their thread into a new one, which is returned. Later
 * messages may join either. `merge_topics` puts them together again.
 */
export interface SplitTopicIn {
  /** The numbers of the messages to move. */
  turns: number[];
  /** Whose chat it is. Leave it out for a channel. */
  user?: string | null;
}

/**
 * Rewrite a follow-up question with the last messages, so that it can be understood alone. A question that is already
 * clear is returned unchanged.
 */
export interface StandaloneIn {
  /** The question, in plain words. */
  question: string;
  /** Whose chat it is. Leave it out for a channel. */
  user?: string | null;
}

export interface StandaloneOut {
  question: string;
}

/**
 * One sentence about a user, in the third person. `speaker` said it, last at `said_at`; `sources` are the messages.
 */
export interface Statement {
  space: string;
  user: string;
  id: string;
  text: string;
  speaker: string;
  said_at: string;
  sources: string[];
  audience: string | null;
  active: boolean;
  retired_at: string | null;
  retired_by: string | null;
  expires_at: string | null;
}

/**
 * What is in a store, and how far its views are. It is `degraded` if this process holds messages that it could not
 * write yet. `users` counts those with something in the index. `secrets` says how many messages contain each kind of
 * secret, or a placeholder for one.
 */
export interface Stats {
  store: string;
  spaces: number;
  conversations: number;
  users: number;
  messages: number;
  erased: number;
  characters: number;
  first: string | null;
  last: string | null;
  entries: number;
  embedder: string | null;
  views: ViewState[];
  activity: Activity[];
  degraded: Degraded | null;
  secrets: Record<string, number>;
}

/** Give a topic tags of your own; with `remove`, take them away. Search finds them, and a rebuild keeps them. */
export interface TagTopicIn {
  /** The tags. */
  tags: string[];
  /** Whether to remove the tags instead. */
  remove?: boolean;
  /** Whose chat it is. Leave it out for a channel. */
  user?: string | null;
}

/** A topic as it is now. `id` is made of the turn that opened it. */
export interface Topic {
  id: string;
  title: string;
  summary: string;
  kind: "short-term" | "transitioning" | "long-term";
  /** seconds */
  half_life: number;
  priority: number;
  importance: number;
  accesses: number;
  messages: number;
  packed: number;
  created_at: string;
  last_active_at: string;
  tags: string[];
  current: boolean;
  faded: boolean;
  merged: string[];
  made_by: string;
}

export interface TopicContextOut {
  messages: ChatMessage[];
}

/** A topic that a search found: its score, and the turns of its messages that fit best, best first. */
export interface TopicHit {
  topic: Topic;
  score: number;
  turns: number[];
}

/**
 * A message of a topic's history: whose turn it was, and what was said. In a group, a topic is a thread: `answers` is
 * the turn of the message that this one most likely answers, or None if it begins the thread. `why` is the reason.
 */
export interface TopicMessage {
  turn: number;
  role: "user" | "assistant" | "system" | "tool";
  author: string;
  content: string;
  time: string;
  answers: number | null;
  why: string;
}

/** A page of topics. */
export interface TopicPage {
  items: Topic[];
  /** Send it as `cursor` to go on; null if this was all. */
  next?: string | null;
}

/** A topic in figures. */
export interface TopicStats {
  topic_id: string;
  topic_title: string;
  active_messages: number;
  compressed_messages: number;
  total_messages: number;
  has_summary: boolean;
  importance_score: number;
  access_count: number;
  memory_type: "short-term" | "transitioning" | "long-term";
  half_life_days: number;
  age_seconds: number;
  inactive_seconds: number;
}

/**
 * Take back a `forget`, or a change of a fact by hand, by the `id` that the call returned. Returns what came back.
 */
export interface UndoIn {
  /** The id of what `forget`, `add_fact`, `edit_fact` or `delete_fact` returned. */
  id: string;
}

/** Nobody fits. The suggestions have a similar spelling: the caller may ask whether one of them is meant. */
export interface Unknown {
  suggestions: Candidate[];
}

/**
 * Separate a topic from the one it was merged into, automatically or by `merge_topics`. The two stay apart from now
 * on. Returns the topic.
 */
export interface UnmergeTopicIn {
  /** Whose chat it is. Leave it out for a channel. */
  user?: string | null;
}

/**
 * What `verify` found. `root` covers every conversation: note it elsewhere, to prove later that nothing was changed.
 */
export interface Verification {
  conversations: number;
  messages: number;
  erased: number;
  faults: Fault[];
  root: string;
}

/**
 * What a message said before it was edited: from when until when, and who replaced it (the id of a key, or
 * "program").
 */
export interface Version {
  content: string;
  metadata: Record<string, unknown>;
  since: string;
  until: string;
  by: string;
}

/** How far a view has got: messages behind the log, conversations waiting after a failure, and the last error. */
export interface ViewState {
  view: string;
  behind: number;
  waiting: number;
  leased: number;
  error: string | null;
  standing_in: number;
  set_aside: number;
  waits: string | null;
}

/** A memory on a server. */
export class Everword {
  readonly #server: Connection;

  constructor(url: string, options: ClientOptions = {}) {
    this.#server = new Connection(url, options);
  }

  /**
   * The conversations of a space, or of one user in it, the one with the newest message first. A conversation that
   * gets a message while you read the pages moves to the front: no later page has it again, and if no page had it
   * yet, the first page has it now. Needs the scope `read`.
   */
  conversations(query: { user?: string | null; cursor?: string | null; limit?: number } = {}, options: CallOptions = {}): Promise<ConversationPage> {
    return this.#server.ask("GET", ["v1", "conversations"], { query }, options);
  }

  /**
   * Keep messages, in order. When this answers, they are on the disk. If the store is unavailable and the setting
   * `hold_messages` allows it, they are held in memory, and `degraded` says so. `kept` says whether each was new. If
   * the id or `platform_id` of a message is known with another text, the stored one stays ("refused"), unless
   * `on_edit` asks for a new version ("edited"). Needs the scope `write`.
   */
  addMessages(conversation: string, body: MessagesIn, options: CallOptions = {}): Promise<Added[]> {
    return this.#server.ask("POST", ["v1", "conversations", conversation, "messages"], { body, repeatable: true }, options);
  }

  /**
   * The last messages, in order; `next` leads to those before them. If messages are very long, a page has fewer of
   * them. Needs the scope `read`.
   */
  history(conversation: string, query: { user?: string | null; cursor?: string | null; limit?: number; versions?: boolean } = {}, options: CallOptions = {}): Promise<MessagePage> {
    return this.#server.ask("GET", ["v1", "conversations", conversation, "messages"], { query }, options);
  }

  /** Keep messages of several conversations in one transaction: all of them, or none. Needs the scope `write`. */
  addBatches(body: BatchesIn, options: CallOptions = {}): Promise<(Added[])[]> {
    return this.#server.ask("POST", ["v1", "messages"], { body, repeatable: true }, options);
  }

  /** The same as GET, for texts of any length and with your own budget. Needs the scope `read`. */
  context(conversation: string, body: ContextIn, options: CallOptions = {}): Promise<Context> {
    return this.#server.ask("POST", ["v1", "conversations", conversation, "context"], { body }, options);
  }

  /**
   * The whole turn: keep the message, ask the model, keep and return its reply. Needs the scopes `read` and `write`.
   */
  reply(conversation: string, body: Omit<ReplyIn, "stream">, options: CallOptions = {}): Promise<Reply> {
    return this.#server.ask("POST", ["v1", "conversations", conversation, "reply"], { body, repeatable: true }, options);
  }

  /** The same, piece by piece: `for await (const piece of memory.stream(…))`. */
  stream(conversation: string, body: Omit<ReplyIn, "stream">, options: CallOptions = {}): AsyncGenerator<string, Reply, undefined> {
    return this.#server.pieces(["v1", "conversations", conversation, "reply"], { body: { ...body, stream: true }, repeatable: true }, options);
  }

  /**
   * Give a message a new text, and new metadata if you pass any. Name the message by its id, its turn (a number) or
   * its platform id. Needs the scopes `read` and `write`.
   */
  editMessage(conversation: string, message: string, body: EditMessageIn, query: { by?: "id" | "turn" } = {}, options: CallOptions = {}): Promise<Message> {
    return this.#server.ask("PATCH", ["v1", "conversations", conversation, "messages", message], { body, query, repeatable: true }, options);
  }

  /**
   * Remove a message and everything derived from it, for good. Name the message by its id, its turn (a number) or its
   * platform id. A fact that another message states too stays. With `dry_run`, only report what would be removed from
   * which view. Needs the scopes `read` and `admin`.
   */
  deleteMessage(conversation: string, message: string, query: { by?: "id" | "turn"; dry_run?: boolean; user?: string | null } = {}, options: CallOptions = {}): Promise<Deletion> {
    return this.#server.ask("DELETE", ["v1", "conversations", conversation, "messages", message], { query, repeatable: true }, options);
  }

  /** Find messages by word and by meaning, best first, in a space or in one user's memory. Needs the scope `read`. */
  search(body: SearchIn, options: CallOptions = {}): Promise<Hit[]> {
    return this.#server.ask("POST", ["v1", "search"], { body }, options);
  }

  /** Delete a view and build it again from the log. Needs the scope `admin`. */
  rebuild(body: RebuildIn, options: CallOptions = {}): Promise<Done> {
    return this.#server.ask("POST", ["v1", "rebuild"], { body, repeatable: true }, options);
  }

  /**
   * Try again the messages that views failed on and set aside: those of one space, conversation or view, or all.
   * Needs the scope `admin`.
   */
  retry(body: RetryIn = {}, options: CallOptions = {}): Promise<Retried> {
    return this.#server.ask("POST", ["v1", "retry"], { body, repeatable: true }, options);
  }

  /** Prove that no message in the log was changed and none is missing. Needs the scopes `read` and `admin`. */
  verify(options: CallOptions = {}): Promise<Verification> {
    return this.#server.ask("GET", ["v1", "verify"], {}, options);
  }

  /**
   * What is in the store, how far its views are, and what models, caches and fallbacks did. Needs the scope `read`.
   */
  stats(options: CallOptions = {}): Promise<Stats> {
    return this.#server.ask("GET", ["v1", "stats"], {}, options);
  }

  /** What is known about a person, now or at a given time, most important first. Needs the scope `read`. */
  facts(user: string, query: { query?: string | null; as_of?: string | null; category?: "identity" | "relationship" | "work" | "place" | "health" | "possession" | "preference" | "constraint" | "instruction" | "plan" | "event" | "other" | null; cursor?: string | null; limit?: number } = {}, options: CallOptions = {}): Promise<FactPage> {
    return this.#server.ask("GET", ["v1", "users", user, "facts"], { query }, options);
  }

  /**
   * Add a fact about a person, by hand. If the key can have only one value, the new fact replaces the old one. Needs
   * the scopes `read` and `write`.
   */
  addFact(user: string, body: AddFactIn, options: CallOptions = {}): Promise<FactChange> {
    return this.#server.ask("POST", ["v1", "users", user, "facts"], { body, repeatable: true }, options);
  }

  /**
   * Facts that a model found in a person's messages and that were not accepted, oldest first, each with the reason.
   * Needs the scope `read`.
   */
  refusedFacts(user: string, options: CallOptions = {}): Promise<RefusedFact[]> {
    return this.#server.ask("GET", ["v1", "users", user, "refused-facts"], {}, options);
  }

  /** Every value a key has had, oldest first, with the times at which it was true. Needs the scope `read`. */
  factHistory(user: string, query: { key: string }, options: CallOptions = {}): Promise<Fact[]> {
    return this.#server.ask("GET", ["v1", "users", user, "fact-history"], { query }, options);
  }

  /** The messages a fact came from, oldest first. Needs the scope `read`. */
  why(user: string, fact: string, options: CallOptions = {}): Promise<Message[]> {
    return this.#server.ask("GET", ["v1", "users", user, "facts", fact, "why"], {}, options);
  }

  /** One fact by its id, even if it is no longer true. Needs the scope `read`. */
  fact(user: string, fact: string, options: CallOptions = {}): Promise<Fact> {
    return this.#server.ask("GET", ["v1", "users", user, "facts", fact], {}, options);
  }

  /**
   * Give a fact another value. The old one stays as history, with its times; `undo` brings it back. Needs the scopes
   * `read` and `write`.
   */
  editFact(user: string, fact: string, body: EditFactIn, options: CallOptions = {}): Promise<FactChange> {
    return this.#server.ask("PATCH", ["v1", "users", user, "facts", fact], { body, repeatable: true }, options);
  }

  /** Remove a fact. It does not come back unless somebody says it again. Needs the scopes `read` and `write`. */
  deleteFact(user: string, fact: string, query: { speaker?: string | null } = {}, options: CallOptions = {}): Promise<FactChange> {
    return this.#server.ask("DELETE", ["v1", "users", user, "facts", fact], { query, repeatable: true }, options);
  }

  /**
   * Store a statement about a person, in the third person. It replaces statements that it contradicts. Returns the
   * statements that are true now. Needs the scopes `read` and `write`.
   */
  remember(user: string, body: RememberIn, options: CallOptions = {}): Promise<Statement[]> {
    return this.#server.ask("POST", ["v1", "users", user, "remember"], { body, repeatable: true }, options);
  }

  /**
   * Remove the statements and facts that fit the words from a person's profile. Returns what was removed. Needs the
   * scopes `read` and `write`.
   */
  forget(user: string, body: ForgetIn, options: CallOptions = {}): Promise<Forgotten> {
    return this.#server.ask("POST", ["v1", "users", user, "forget"], { body, repeatable: true }, options);
  }

  /**
   * Take back a `forget`, or a change of a fact by hand, by the `id` that the call returned. Returns what came back.
   * Needs the scopes `read` and `write`.
   */
  undo(user: string, body: UndoIn, options: CallOptions = {}): Promise<Forgotten> {
    return this.#server.ask("POST", ["v1", "users", user, "undo"], { body, repeatable: true }, options);
  }

  /**
   * What is known about a person: what they said about themselves, and what others said about them in channels. Needs
   * the scope `read`.
   */
  profile(user: string, query: { wait?: number | null } = {}, options: CallOptions = {}): Promise<Profile> {
    return this.#server.ask("GET", ["v1", "users", user, "profile"], { query }, options);
  }

  /**
   * Summarise a day in the channels of a space, for each member who spoke or for one `user`. The day is today unless
   * you name one. Needs the scope `read`.
   */
  digests(space: string, query: { day?: string | null; user?: string | null; conversation?: string | null; week?: boolean; wait?: number | null } = {}, options: CallOptions = {}): Promise<Digest[]> {
    return this.#server.ask("GET", ["v1", "spaces", space, "digests"], { query }, options);
  }

  /**
   * Set the time zone in which a space's days begin and end, by its IANA name: "Europe/Berlin". Without one, the
   * setting `time_zone` is used. Needs the scope `admin`.
   */
  setTimeZone(space: string, body: SetTimeZoneIn, options: CallOptions = {}): Promise<Done> {
    return this.#server.ask("PUT", ["v1", "spaces", space, "time-zone"], { body }, options);
  }

  /** Add a name of a person: "display", "nickname", "alias" or "mention". Needs the scopes `read` and `write`. */
  addName(user: string, body: AddNameIn, options: CallOptions = {}): Promise<Done> {
    return this.#server.ask("POST", ["v1", "users", user, "names"], { body }, options);
  }

  /**
   * Remove a name of a person. A display name comes back with the next message that has it. Needs the scope `write`.
   */
  removeName(user: string, name: string, options: CallOptions = {}): Promise<Done> {
    return this.#server.ask("DELETE", ["v1", "users", user, "names", name], {}, options);
  }

  /** Everybody who has spoken in a space, or was given a name there. Needs the scope `read`. */
  people(query: { cursor?: string | null; limit?: number } = {}, options: CallOptions = {}): Promise<MemberPage> {
    return this.#server.ask("GET", ["v1", "people"], { query }, options);
  }

  /**
   * Find whom a name, nickname, alias, mention or id means: one person, several to choose from, or nobody. Needs the
   * scope `read`.
   */
  whoIs(query: { name: string; speaker?: string | null }, options: CallOptions = {}): Promise<Resolved | Ambiguous | Unknown> {
    return this.#server.ask("GET", ["v1", "who-is"], { query }, options);
  }

  /**
   * Answer a question about a person from facts and messages, and name those that the answer uses. Needs the scope
   * `read`.
   */
  ask(user: string, body: AskIn, options: CallOptions = {}): Promise<MemoryAnswer> {
    return this.#server.ask("POST", ["v1", "users", user, "ask"], { body }, options);
  }

  /**
   * Remove for good the messages that fit all arguments, and everything derived from them. Needs the scopes `read`
   * and `admin`.
   */
  delete(body: DeleteIn = {}, options: CallOptions = {}): Promise<Deletion> {
    return this.#server.ask("POST", ["v1", "delete"], { body, repeatable: true }, options);
  }

  /** Remove a person's messages and all that was derived from them, for good. Needs the scope `admin`. */
  erase(user: string, options: CallOptions = {}): Promise<Erasure> {
    return this.#server.ask("POST", ["v1", "users", user, "erase"], { repeatable: true }, options);
  }

  /**
   * Remove what has expired and what is older than the settings `retain_…` allow, in all spaces or one. With
   * `dry_run`, the default, only list it. Needs the scopes `read` and `admin`.
   */
  retain(body: RetainIn = {}, options: CallOptions = {}): Promise<Retained> {
    return this.#server.ask("POST", ["v1", "retain"], { body, repeatable: true }, options);
  }

  /**
   * The last removals and moves in a space, newest first: by whom, when, of what kind and how many. Needs the scopes
   * `read` and `admin`.
   */
  audit(query: { limit?: number } = {}, options: CallOptions = {}): Promise<AuditLine[]> {
    return this.#server.ask("GET", ["v1", "audit"], { query }, options);
  }

  /**
   * Replace the secrets in stored messages (API keys, passwords, cards) by placeholders, for good: in all of a space,
   * in one user's memory or in one conversation. Older versions of these messages are removed. With `dry_run`, only
   * report how many messages contain secrets. Needs the scopes `read` and `admin`.
   */
  redact(body: RedactIn = {}, options: CallOptions = {}): Promise<Redaction> {
    return this.#server.ask("POST", ["v1", "redact"], { body, repeatable: true }, options);
  }

  /**
   * Rename a conversation (`to`), give it to another user (`user`), or both, for example when a guest signs in. Needs
   * the scopes `read` and `admin`.
   */
  moveConversation(conversation: string, body: MoveConversationIn = {}, options: CallOptions = {}): Promise<Move> {
    return this.#server.ask("POST", ["v1", "conversations", conversation, "move"], { body, repeatable: true }, options);
  }

  /** Give everything of one user to another, when both are one person. Needs the scopes `read` and `admin`. */
  mergeUsers(user: string, body: MergeUsersIn, options: CallOptions = {}): Promise<Move> {
    return this.#server.ask("POST", ["v1", "users", user, "merge"], { body, repeatable: true }, options);
  }

  /**
   * Take back a move or a merge, unless something that it moved has since been removed or moved again. Needs the
   * scopes `read` and `admin`.
   */
  undoMove(move: string, query: { dry_run?: boolean } = {}, options: CallOptions = {}): Promise<Move> {
    return this.#server.ask("POST", ["v1", "moves", move, "undo"], { query, repeatable: true }, options);
  }

  /**
   * Carry out a message that is a command to the memory (remember, forget, tell what is known). Returns None if it is
   * not a command. Needs the scopes `read` and `write`.
   */
  command(conversation: string, body: CommandIn, options: CallOptions = {}): Promise<Answer | null> {
    return this.#server.ask("POST", ["v1", "conversations", conversation, "command"], { body, repeatable: true }, options);
  }

  /**
   * The conversation itself: its title, whose it is, how many messages it has had and when the last one was said.
   * Raises `NotFound` if nothing was ever said in it. Needs the scope `read`.
   */
  conversation(conversation: string, query: { user?: string | null } = {}, options: CallOptions = {}): Promise<Conversation> {
    return this.#server.ask("GET", ["v1", "conversations", conversation], { query }, options);
  }

  /**
   * Remove all messages of a conversation and all that was derived from them, for good. Needs the scopes `read` and
   * `admin`.
   */
  deleteConversation(conversation: string, query: { user?: string | null; dry_run?: boolean } = {}, options: CallOptions = {}): Promise<Deletion> {
    return this.#server.ask("DELETE", ["v1", "conversations", conversation], { query, repeatable: true }, options);
  }

  /**
   * Archive the window now, whatever the settings say: all messages but the last exchange. Returns None if nothing
   * was left to archive. If summarising fails, the messages stay where they are, and the error says why. Needs the
   * scopes `read` and `write`.
   */
  archive(conversation: string, body: ArchiveIn = {}, options: CallOptions = {}): Promise<Chunk | null> {
    return this.#server.ask("POST", ["v1", "conversations", conversation, "archive"], { body }, options);
  }

  /** The groups of messages that were archived together, oldest first. Needs the scope `read`. */
  archived(conversation: string, query: { user?: string | null } = {}, options: CallOptions = {}): Promise<Chunk[]> {
    return this.#server.ask("GET", ["v1", "conversations", conversation, "archived"], { query }, options);
  }

  /**
   * The active summaries of messages that left the window, highest level first, each with its parts. Needs the scope
   * `read`.
   */
  episodes(conversation: string, query: { user?: string | null } = {}, options: CallOptions = {}): Promise<Episode[]> {
    return this.#server.ask("GET", ["v1", "conversations", conversation, "episodes"], { query }, options);
  }

  /**
   * Rewrite a follow-up question with the last messages, so that it can be understood alone. A question that is
   * already clear is returned unchanged. Needs the scope `read`.
   */
  standalone(conversation: string, body: StandaloneIn, options: CallOptions = {}): Promise<StandaloneOut> {
    return this.#server.ask("POST", ["v1", "conversations", conversation, "standalone"], { body }, options);
  }

  /**
   * The topics of the conversation, the most current first; with `faded`, also those that have left the active set.
   * Needs the scope `read`.
   */
  topics(conversation: string, query: { faded?: boolean; user?: string | null; cursor?: string | null; limit?: number } = {}, options: CallOptions = {}): Promise<TopicPage> {
    return this.#server.ask("GET", ["v1", "conversations", conversation, "topics"], { query }, options);
  }

  /**
   * Store a message and add it to its topic. It can open a new topic or bring back a faded one. Returns the topic.
   * Needs the scopes `read` and `write`.
   */
  addToTopic(conversation: string, body: SaidIn, options: CallOptions = {}): Promise<Topic> {
    return this.#server.ask("POST", ["v1", "conversations", conversation, "topics"], { body, repeatable: true }, options);
  }

  /**
   * The part of a topic to send to a model: its summary, if it has one, and the messages of its active set. Without
   * an id, you get the current topic. The result is empty if nothing was said yet. Needs the scope `read`.
   */
  topicContext(conversation: string, topic: string, query: { user?: string | null } = {}, options: CallOptions = {}): Promise<TopicContextOut> {
    return this.#server.ask("GET", ["v1", "conversations", conversation, "topics", topic, "context"], { query }, options);
  }

  /**
   * Every message of a topic, in order; without `include_compressed`, only those of its active set. Needs the scope
   * `read`.
   */
  topicHistory(conversation: string, topic: string, query: { include_compressed?: boolean; user?: string | null } = {}, options: CallOptions = {}): Promise<TopicMessage[]> {
    return this.#server.ask("GET", ["v1", "conversations", conversation, "topics", topic, "messages"], { query }, options);
  }

  /** The figures of a topic, by default of the current one. Needs the scope `read`. */
  topicStats(conversation: string, topic: string, query: { user?: string | null } = {}, options: CallOptions = {}): Promise<TopicStats> {
    return this.#server.ask("GET", ["v1", "conversations", conversation, "topics", topic, "stats"], { query }, options);
  }

  /**
   * The topics of this conversation that a query is about, best first, faded ones too. Their messages, titles and
   * tags are searched. Needs the scope `read`.
   */
  searchTopics(conversation: string, query: { query: string; limit?: number; user?: string | null }, options: CallOptions = {}): Promise<TopicHit[]> {
    return this.#server.ask("GET", ["v1", "conversations", conversation, "topic-search"], { query }, options);
  }

  /**
   * Make two topics one: the other becomes part of the first, which is returned. `undo_merge` separates them. Needs
   * the scopes `read` and `write`.
   */
  mergeTopics(conversation: string, topic: string, body: MergeTopicsIn, options: CallOptions = {}): Promise<Topic> {
    return this.#server.ask("POST", ["v1", "conversations", conversation, "topics", topic, "merge"], { body, repeatable: true }, options);
  }

  /**
   * Separate a topic from the one it was merged into, automatically or by `merge_topics`. The two stay apart from now
   * on. Returns the topic. Needs the scopes `read` and `write`.
   */
  unmergeTopic(conversation: string, topic: string, body: UnmergeTopicIn = {}, options: CallOptions = {}): Promise<Topic> {
    return this.#server.ask("POST", ["v1", "conversations", conversation, "topics", topic, "unmerge"], { body, repeatable: true }, options);
  }

  /**
   * Move messages of a group, with the replies to them, out of their thread into a new one, which is returned. Later
   * messages may join either. `merge_topics` puts them together again. Needs the scopes `read` and `write`.
   */
  splitTopic(conversation: string, topic: string, body: SplitTopicIn, options: CallOptions = {}): Promise<Topic> {
    return this.#server.ask("POST", ["v1", "conversations", conversation, "topics", topic, "split"], { body, repeatable: true }, options);
  }

  /**
   * Give a topic tags of your own; with `remove`, take them away. Search finds them, and a rebuild keeps them. Needs
   * the scopes `read` and `write`.
   */
  tagTopic(conversation: string, topic: string, body: TagTopicIn, options: CallOptions = {}): Promise<Topic> {
    return this.#server.ask("POST", ["v1", "conversations", conversation, "topics", topic, "tags"], { body, repeatable: true }, options);
  }

  /**
   * Say that a topic matters (+1) or does not (-1). This changes its importance, and so how long it stays active.
   * Needs the scopes `read` and `write`.
   */
  rateTopic(conversation: string, topic: string, body: RateTopicIn, options: CallOptions = {}): Promise<Topic> {
    return this.#server.ask("POST", ["v1", "conversations", conversation, "topics", topic, "feedback"], { body, repeatable: true }, options);
  }

  /** Remove a document for good, and say whether there was one. Needs the scope `write`. */
  removeDocument(space: string, key: string, query: { namespace: string[] }, options: CallOptions = {}): Promise<RemoveDocumentOut> {
    return this.#server.ask("DELETE", ["v1", "spaces", space, "documents", key], { query, repeatable: true }, options);
  }

  /** The document under a key; 404 if there is none. Needs the scope `read`. */
  document(space: string, key: string, query: { namespace: string[] }, options: CallOptions = {}): Promise<Document> {
    return this.#server.ask("GET", ["v1", "spaces", space, "documents", key], { query }, options);
  }

  /** Store a JSON object under a key. It replaces the one that was there. Needs the scope `write`. */
  putDocument(space: string, key: string, body: DocumentIn, query: { namespace: string[] }, options: CallOptions = {}): Promise<Document> {
    return this.#server.ask("PUT", ["v1", "spaces", space, "documents", key], { body, query, repeatable: true }, options);
  }

  /**
   * The documents of a namespace and of those below it. With a `query`, those nearest to it in meaning and words come
   * first; without one, those changed last. Needs the scope `read`.
   */
  searchDocuments(space: string, body: SearchDocumentsIn = {}, options: CallOptions = {}): Promise<Document[]> {
    return this.#server.ask("POST", ["v1", "spaces", space, "document-search"], { body }, options);
  }

  /** The key's own space, which is used for requests that name none. Needs the scope `read`. */
  space(options: CallOptions = {}): Promise<SpaceOut> {
    return this.#server.ask("GET", ["v1", "space"], {}, options);
  }

  /**
   * Wait until every view has caught up with the log. If the time runs out before that, the status is 409; the answer
   * to a key for all spaces also says why. Needs the scope `write`.
   */
  settle(body: SettleIn = {}, options: CallOptions = {}): Promise<Settled> {
    return this.#server.ask("POST", ["v1", "settle"], { body }, options);
  }

  /**
   * Every message of a user's memory, in order, as JSON Lines that `everword import` reads. `salvage` leaves out
   * messages that cannot be read; `secrets` includes secrets, which are otherwise placeholder `salvage` leaves out
   * messages that cannot be read; `secrets` includes secrets, which are otherwise placeholders. Needs the scope
   * `read`.
   */
  exportUser(user: string, query: { salvage?: boolean; secrets?: boolean } = {}, options: CallOptions = {}): AsyncGenerator<string, void, undefined> {
    return this.#server.lines("GET", ["v1", "users", user, "export"], { query }, options, "application/x-ndjson");
  }

  /**
   * Every message of a space, or of one user's memory, or of one conversation, in order: one a line. `salvage` leaves
   * out messages that cannot be read; `secrets` includes secrets, which are otherwise placeholders. Needs the scope
   * `read`.
   */
  export(query: { user?: string | null; conversation?: string | null; salvage?: boolean; secrets?: boolean } = {}, options: CallOptions = {}): AsyncGenerator<string, void, undefined> {
    return this.#server.lines("GET", ["v1", "export"], { query }, options, "application/x-ndjson");
  }

  /** The documents of one namespace, in order of key, with a tag of all of them. Needs the scope `read`. */
  documents(space: string, query: { namespace: string[]; cursor?: string | null; limit?: number }, options: CallOptions = {}): Promise<DocumentPage> {
    return this.#server.ask("GET", ["v1", "spaces", space, "documents"], { query }, options);
  }

  /**
   * Store and remove several documents in one transaction. With a `tag`, this happens only if the namespace has not
   * changed (412). Needs the scope `write`.
   */
  changeDocuments(space: string, body: ChangesIn, options: CallOptions = {}): Promise<Document[]> {
    return this.#server.ask("POST", ["v1", "spaces", space, "documents"], { body, repeatable: true }, options);
  }

  /** The namespaces that have documents, in order. Needs the scope `read`. */
  namespaces(space: string, query: { prefix?: string[]; suffix?: string[]; depth?: number | null; cursor?: string | null; limit?: number } = {}, options: CallOptions = {}): Promise<NamespacePage> {
    return this.#server.ask("GET", ["v1", "spaces", space, "namespaces"], { query }, options);
  }
}
