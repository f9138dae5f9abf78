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

/** How often something was done, with which outcome, how long it took in all, and how many tokens it cost. */
export interface Activity {
  what: string;
  kind: string;
  outcome: string;
  count: number;
  seconds: number;
  tokens: number;
}

/**
 * Add a fact about a person by hand. If the fact's key, such as "city", can have only one value, the new fact
 * replaces the old fact.
 */
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
  /** The day from which the fact is true. Default: now. */
  valid_from?: string | null;
  /** The day on which the fact stops being true. */
  valid_to?: string | null;
  /** Whom the fact is about, such as "brother", if it is not about the user. */
  subject?: string | null;
  /** The id of the user who makes the statement or change. Default: the person whom it is about. */
  speaker?: string | null;
}

/** Add a name of a person. The `kind` of a name is "display", "nickname", "alias" or "mention". */
export interface AddNameIn {
  /** The name. */
  name: string;
  /** The kind of name: display, nickname, alias or mention. */
  kind?: "display" | "nickname" | "alias" | "mention";
}

/** What `add` did: the message in the log, and whether the message was new. */
export interface Added {
  message: Message;
  new: boolean;
  kept: "new" | "known" | "edited" | "refused" | "erased";
  degraded: Degraded | null;
}

/** Several people match a name equally well: ask the user which person is meant. */
export interface Ambiguous {
  candidates: Candidate[];
}

/** The result of a command, such as "remember …" or "forget …". */
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
 * Archive (summarise) all messages of the conversation now, except the last exchange (a message and its reply). If
 * there is nothing to archive, the result is None. If summarising fails, the messages are not archived, and the error
 * says why.
 */
export interface ArchiveIn {
  /** The owner of the chat. For a channel (group chat), leave out `user`. */
  user?: string | null;
}

/** Answer a question about a person, with the facts and messages that support the answer. */
export interface AskIn {
  /** The question, in plain words. */
  question: string;
  /** Use only what was said in the conversation with this id. */
  conversation?: string | null;
}

/**
 * One removal, move or merge: who made it (the id of a key, or "program"), when, of which kind, and how many items.
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
  /** The owner of the chat. For a channel (group chat), leave out `user`. */
  user?: string | null;
  messages: DraftIn[];
  /**
   * What to do if a message is already stored with a different text: refuse the new text, or store it as a new
   * version.
   */
  on_edit?: "refuse" | "version";
  conversation: string;
}

/** Messages for several conversations: either all are stored or none. */
export interface BatchesIn {
  /** The messages of each conversation. */
  batches: BatchIn[];
}

/** How many tokens a context may have in all, and how many each section of the context may have. */
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

/** A person that a name may refer to, the name that matches, and the reason in words. */
export interface Candidate {
  member: string;
  name: string;
  why: string;
}

/** A document to store or, without a value, to remove. */
export interface ChangeIn {
  namespace: string[];
  key: string;
  value?: Record<string, unknown> | null;
  user?: string | null;
  texts?: string[] | null;
  /** When the stored text expires: a time span from now (10m, 2h, 7d), or a time with its UTC offset. */
  expires?: string | null;
}

/** Changes of documents: all are made, or none; with a `tag`, only if the namespace is as it was. */
export interface ChangesIn {
  /** The documents to store and to remove. Either all changes are made or none. */
  changes: ChangeIn[];
  /** The namespace that `tag` belongs to. */
  namespace?: string[] | null;
  /** The namespace's `tag` when you read it. If the tag has changed since, nothing is stored (412). */
  tag?: string | null;
}

/** The shape every chat model takes. */
export interface ChatMessage {
  role: string;
  content: string;
}

/** Messages that left the window together: from which turn to which turn, why, and when. */
export interface Chunk {
  first: number;
  last: number;
  reason: string;
  archived_at: string;
}

/**
 * Carry out a message that is a command to everword, such as "remember …", "forget …" or "what do you know about
 * me?". If the message is not a command to everword, the result is None.
 */
export interface CommandIn {
  /** The message, which may be a command. */
  text: string;
  /** The id of the message's author. Default: the user of the chat. */
  author?: string | null;
  /** The names by which people address everword. */
  names?: string[];
  /** Whether the message is for everword, even without one of the `names`. */
  addressed?: boolean;
  /** The message's id on its chat platform. A message whose id is already stored is not stored again. */
  platform_id?: string | null;
  /** The owner of the chat. For a channel (group chat), leave out `user`. */
  user?: string | null;
}

/** What is sent to a model, with the receipt that explains the choice. */
export interface Context {
  messages: ChatMessage[];
  receipt: Receipt;
}

/** What is to be answered, and how much the context may hold. */
export interface ContextIn {
  /** The message to answer. */
  text: string;
  /** The user's id, which you choose. */
  user?: string | null;
  /**
   * How many tokens the context may have: "standard" (30,000), "compact" (8,000), or an object with limits of your
   * own.
   */
  budget?: BudgetIn | "standard" | "compact";
  /** Your own system prompt, which comes first. */
  system?: string | null;
  /** Whether the context tells the model how to ask for more (by markers in its reply). */
  markers?: boolean;
}

/** One thread of messages: a chat with one `user`, or a channel with many people (`user` is None). */
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
  /** For the next page, send this as `cursor`. Null on the last page. */
  next?: string | null;
}

/** The store cannot be written at present, so everword buffers messages in memory. */
export interface Degraded {
  held: number;
  since: string;
  reason: string;
  is_over: boolean;
}

/** Permanently remove the messages that match all given arguments, and everything derived from these messages. */
export interface DeleteIn {
  /** Remove only messages from before this time. */
  before?: string | null;
  /** Remove only messages of this user. */
  user?: string | null;
  /** Remove only messages that contain this phrase. */
  query?: string | null;
  /** If true, nothing changes: the result says what would change. */
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

/**
 * A summary of what a user said in the channels of a space on a day. A digest without a `user` summarises a channel.
 */
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
 * A JSON object that is stored under a key in a namespace. `user` is the document's owner, if it has one. Search sets
 * `score`. The document is hidden from `expires_at` on, if this time is set.
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

/** A JSON object to store under a key. */
export interface DocumentIn {
  /** A JSON object. */
  value: Record<string, unknown>;
  /** The document's owner. `erase` removes the owner's documents. */
  user?: string | null;
  /** The texts by which search finds the document. Default: all texts in `value`. */
  texts?: string[] | null;
  /** When the stored text expires: a time span from now (10m, 2h, 7d), or a time with its UTC offset. */
  expires?: string | null;
}

/** A page of the documents of a namespace, ordered by key. The `tag` is for the whole namespace. */
export interface DocumentPage {
  items: Document[];
  /** For the next page, send this as `cursor`. Null on the last page. */
  next?: string | null;
  /** Send this `tag` with changes that you want only if the namespace is still unchanged. */
  tag: string;
}

/** The work is done. */
export interface Done {
  done?: boolean;
}

/** A message to store. */
export interface DraftIn {
  role: "user" | "assistant" | "system" | "tool";
  content: string;
  author?: string | null;
  /** The user whose memory the message belongs to. Default: the conversation's user. */
  user?: string | null;
  /** When the message was said, with its UTC offset. Default: now. */
  time?: string | null;
  /** The message's id in another system. A message whose id is already stored is not stored again. */
  platform_id?: string | null;
  metadata?: Record<string, unknown>;
  id?: string | null;
  /** When the stored text expires: a time span from now (10m, 2h, 7d), or a time with its UTC offset. */
  expires?: string | null;
  /** The id or platform id of the message that the new message answers. */
  reply_to?: string | null;
}

/** Change the value of a fact. The old value stays in the history, with its times; `undo` restores the old value. */
export interface EditFactIn {
  /** The new value. */
  value: string;
  /** The day from which the fact is true. Default: now. */
  valid_from?: string | null;
  /** The day on which the fact stops being true. */
  valid_to?: string | null;
  /** The id of the user who makes the statement or change. Default: the person whom it is about. */
  speaker?: string | null;
}

/**
 * Replace the text of a message and, if you pass `metadata`, the message's metadata. Identify the message by its id,
 * its turn (a number) or its platform id.
 */
export interface EditMessageIn {
  /** The new text. */
  text: string;
  /** New metadata. Default: the old metadata. */
  metadata?: Record<string, unknown> | null;
  /** The owner of the chat. For a channel (group chat), leave out `user`. */
  user?: string | null;
}

/** A summary of messages (level 1), or of summaries of the level below (`parts`). */
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

/** What `erase` removed. An erasure does not name the erased person. */
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
 * How much data of one kind has expired, because it is older than `before`. `waiting` counts data that is removed
 * only after every view (derived data) has processed it.
 */
export interface Expired {
  kind: string;
  before: string;
  count: number;
  waiting: number;
}

/** A sentence of a summary, with the turn that it comes from, its author and its time. */
export interface ExtractLine {
  turn: number;
  role: "user" | "assistant" | "system" | "tool" | "";
  author: string;
  text: string;
  time: string | null;
  kind: string;
  leans: number;
}

/**
 * One thing known about a person, with the time in which it was true. A fact that is no longer true stays stored,
 * with its times.
 */
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

/** A change of a person's facts by hand: a fact was added, edited or deleted. */
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
  /** For the next page, send this as `cursor`. Null on the last page. */
  next?: string | null;
}

/** One fault in the log, with its place. */
export interface Fault {
  space: string;
  conversation: string;
  turn: number;
  problem: string;
}

/** Remove the statements and facts in a person's profile that match the words in `what`. Returns what was removed. */
export interface ForgetIn {
  /** What to forget, in plain words. */
  what: string;
  /** The id of the user who makes the statement or change. Default: the person whom it is about. */
  speaker?: string | null;
  /** The id of the stored message in which somebody asked for the change. */
  message?: string | null;
}

/** What `forget` removed. To restore it, pass `id` to `undo`. */
export interface Forgotten {
  id: string | null;
  statements: Statement[];
  facts: Fact[];
  everything: boolean;
  found: boolean;
}

/** A message or fact that search found, with its score and the parts of the score. */
export interface Hit {
  message: Message;
  score: number;
  parts: Record<string, number>;
  relevance: number;
  kind: "message" | "fact";
  fact: Fact | null;
}

/**
 * One line of a receipt: a message or a similar text, its tier, its tokens, and why the context contains it or not.
 */
export interface Item {
  id: string;
  tokens: number;
  reason: string;
  tier: number;
}

/** A person in a space. A person's id counts as one of the names. */
export interface Member {
  id: string;
  names: Name[];
}

/** A page of members. */
export interface MemberPage {
  items: Member[];
  /** For the next page, send this as `cursor`. Null on the last page. */
  next?: string | null;
}

/** The answer to a question about a person, with the facts and messages that support the answer, best first. */
export interface MemoryAnswer {
  text: string;
  known: boolean;
  made_by: string;
  facts: Fact[];
  messages: Message[];
  user: string;
}

/**
 * Merge two topics: the topic `other` becomes part of the first topic. Returns the merged topic. `undo_merge`
 * separates two merged topics again.
 */
export interface MergeTopicsIn {
  /** The id of the topic that becomes part of the first topic. */
  other: string;
  /** The owner of the chat. For a channel (group chat), leave out `user`. */
  user?: string | null;
}

/** Merge two users who are the same person: everything of one user is given to the other user. */
export interface MergeUsersIn {
  /** The id of the user who receives everything. */
  into: string;
  /** If true, nothing changes: the result says what would change. */
  dry_run?: boolean;
}

/** One message in the log. Of an erased message, only its place and its seal (hashes) are left. */
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
  /** For the next page, send this as `cursor`. Null on the last page. */
  next?: string | null;
}

/** Messages for one conversation, in order: either all are stored or none. */
export interface MessagesIn {
  /** The owner of the chat. For a channel (group chat), leave out `user`. */
  user?: string | null;
  /** The messages, in order. */
  messages: DraftIn[];
  /**
   * What to do if a message is already stored with a different text: refuse the new text, or store it as a new
   * version.
   */
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

/**
 * Rename a conversation (`to`), give the conversation to another user (`user`), or both, for example when a guest
 * signs in.
 */
export interface MoveConversationIn {
  /** The new id of the conversation. */
  to?: string | null;
  /** The id of the new owner. Default: the owner does not change. */
  user?: string | null;
  /** If true, nothing changes: the result says what would change. */
  dry_run?: boolean;
}

/**
 * A name of a person, with the times when it was first and last seen, if they are known. A name that its owner no
 * longer uses is kept, because other people may still use it.
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
  /** For the next page, send this as `cursor`. Null on the last page. */
  next?: string | null;
}

/** What is known about a person: facts and remembered statements. As text, a profile is what a context shows. */
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

/**
 * Rate a topic: 1 if the topic matters, -1 if it does not. The rating changes the topic's importance, which affects
 * how long the topic stays active.
 */
export interface RateTopicIn {
  /** 1 if the topic matters, -1 if it does not. */
  score: 1 | -1;
  /** The owner of the chat. For a channel (group chat), leave out `user`. */
  user?: string | null;
}

/** Delete a view (data derived from the log, such as facts or topics) and build it again. */
export interface RebuildIn {
  /** The view: index, tiers, topics, window, episodes, facts, digests or titles. */
  view: string;
}

/** What a context contains, at which tier, what was left out, why, and how many tokens each section has. */
export interface Receipt {
  tokenizer: string;
  budget: Budget;
  tokens: number;
  sections: Section[];
  repeated: number;
}

/**
 * Permanently replace secrets (API keys, passwords, card numbers) in stored messages by placeholders. By default,
 * everword redacts all messages of the space; `user` or `conversation` limits the redaction. If everword replaces
 * secrets in a message, everword removes the message's older versions. With `dry_run`, nothing changes: the result
 * says how many messages contain secrets.
 */
export interface RedactIn {
  /** Redact only the messages of this user. */
  user?: string | null;
  /** Redact only the conversation with this id. */
  conversation?: string | null;
  /** If true, nothing changes: the result says what would change. */
  dry_run?: boolean;
}

/** What `redact` replaced by placeholders, or on a dry run would replace. */
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

/** A fact that a model found in a message and that everword did not store, with the reason. */
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
 * Store a statement about a person, in the third person ("Alex likes tea"). The new statement replaces stored
 * statements that it contradicts. Returns the statements about the person that are true now.
 */
export interface RememberIn {
  /** One or more statements: "Alex lives in Berlin". */
  text: string;
  /** The id of the user who makes the statement or change. Default: the person whom it is about. */
  speaker?: string | null;
  /** The id of the stored message in which somebody asked for the change. */
  message?: string | null;
  /** When the stored text expires: a time span from now (10m, 2h, 7d), or a time with its UTC offset. */
  expires?: string | null;
}

export interface RemoveDocumentOut {
  removed: boolean;
}

/**
 * A model's reply: the text, the stored message, the receipt of the last context, and every round (call of the
 * model).
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
  /** The user's id, which you choose. */
  user?: string | null;
  /**
   * How many tokens the context may have: "standard" (30,000), "compact" (8,000), or an object with limits of your
   * own.
   */
  budget?: BudgetIn | "standard" | "compact";
  /** Your own system prompt, which comes first. */
  system?: string | null;
  /** The id of the message's author. Default: the user of the chat. */
  author?: string | null;
  /** The message's id on its chat platform. A message whose id is already stored is not stored again. */
  platform_id?: string | null;
  /** Whether to send the reply in pieces, as server-sent events. */
  stream?: boolean;
}

/** The one person that a name refers to, and the reason. */
export interface Resolved {
  member: string;
  why: string;
}

/**
 * Permanently remove data that has expired or is older than the settings `retain_…` allow, in all spaces or in one
 * space. With `dry_run`, the default, nothing is removed: the result lists what would be removed.
 */
export interface RetainIn {
  /** If true, nothing changes: the result says what would change. */
  dry_run?: boolean;
}

/**
 * What `retain` removed, or on a dry run would remove, of each kind of data that is not kept for ever. `left` is as
 * in `Erasure`.
 */
export interface Retained {
  at: string;
  dry_run: boolean;
  expired: Expired[];
  left: string[];
}

/** The result of `retry`: how many skipped messages were processed again, and how many still fail. */
export interface Retried {
  tried: number;
  left: number;
}

/**
 * Retry messages that a view (derived data, such as facts) has skipped because of a failure. You can limit the retry
 * to one space, conversation or view.
 */
export interface RetryIn {
  /** The view: index, tiers, topics, window, episodes, facts, digests or titles. */
  view?: string | null;
  /** Use only what was said in the conversation with this id. */
  conversation?: string | null;
}

/** One call of the model within a turn: what the model asked for, what it was given, and what the call cost. */
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
  /** The user's id, which you choose. */
  user?: string | null;
  /** How important the message is, from 0 to 1. */
  importance?: number;
  /** The id of the message's author. Default: the user of the chat. */
  author?: string | null;
  /** When the message was said, with its UTC offset. Default: now. */
  time?: string | null;
}

/**
 * Search the documents of a namespace and of the namespaces below it. With a `query`, the documents nearest to the
 * query in meaning and words come first. Without a `query`, the most recently changed documents come first.
 */
export interface SearchDocumentsIn {
  /** The parts of the namespace, outermost first. */
  namespace?: string[];
  /** What to look for, in plain words. */
  query?: string | null;
  /** Conditions that a document's value must meet, with `$eq $ne $gt $gte $lt $lte`. */
  where?: Record<string, unknown> | null;
  /** How many items to return, at most. */
  limit?: number;
  /** How many items to skip. */
  offset?: number;
}

/** Find messages by word and by meaning, best match first, in a space or in one user's memory. */
export interface SearchIn {
  /** What to look for, in plain words. */
  query: string;
  /** Search only the memory of this user. */
  user?: string | null;
  /** Use only what was said in the conversation with this id. */
  conversation?: string | null;
  /** user, assistant, system or tool. */
  role?: "user" | "assistant" | "system" | "tool" | null;
  /** Only messages from this time on. */
  after?: string | null;
  /** Only messages before this time. */
  before?: string | null;
  /** How many items to return, at most. */
  limit?: number;
  /** Only hits with at least this relevance. 0.5 leaves out hits that have nothing to do with the query. */
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
 * One part of a context: its name, its tokens, the items in it, and the items that were left out. A `note` can say,
 * for example, that nothing relevant was found.
 */
export interface Section {
  name: string;
  tokens: number;
  items: Item[];
  left_out: Item[];
  note: string;
}

/**
 * Set the time zone in which a space's days begin and end. `name` is the IANA name of a time zone, such as
 * "Europe/Berlin". A space without a time zone of its own uses the setting `time_zone`.
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
 * Every view has caught up with the log. `set_aside` counts this space's messages that were skipped because a view
 * failed on them.
 */
export interface Settled {
  done: boolean;
  set_aside: number;
}

/** A space. */
export interface SpaceOut {
  space: string;
}

/** Messages of a conversation, from the turn `first` to the turn `last`, from which a digest was made. */
export interface Span {
  conversation: string;
  first: number;
  last: number;
}

/**
 * In a group chat, move messages and their replies from their thread into a new thread. Returns the new thread. After
 * the split, new messages may join either of the two threads. To reverse a split, join the new and the old thread
 * with `merge_topics`.
 */
export interface SplitTopicIn {
  /** The numbers of the messages to move. */
  turns: number[];
  /** The owner of the chat. For a channel (group chat), leave out `user`. */
  user?: string | null;
}

/**
 * Rewrite a follow-up question, with the help of the last messages, so that the question can be understood alone. A
 * question that can already be understood alone is returned unchanged.
 */
export interface StandaloneIn {
  /** The question, in plain words. */
  question: string;
  /** The owner of the chat. For a channel (group chat), leave out `user`. */
  user?: string | null;
}

export interface StandaloneOut {
  question: string;
}

/** One sentence about a user, in the third person. */
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

/** What is in a store, and the progress of its views (derived data). */
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

/**
 * Add your own tags to a topic. With `remove`, the given tags are removed from the topic. `search_topics` finds
 * topics by their tags. A rebuild of the topics keeps your tags.
 */
export interface TagTopicIn {
  /** The tags. */
  tags: string[];
  /** Whether to remove the tags from the topic, instead of adding them. */
  remove?: boolean;
  /** The owner of the chat. For a channel (group chat), leave out `user`. */
  user?: string | null;
}

/** A topic: messages of a conversation about the same subject. */
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

/** A topic that search found, with its score and the turns of its messages that match best, best first. */
export interface TopicHit {
  topic: Topic;
  score: number;
  turns: number[];
}

/** A message of a topic: its turn, its author and its text. */
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
  /** For the next page, send this as `cursor`. Null on the last page. */
  next?: string | null;
}

/** The figures of a topic. */
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
 * Undo a call of `forget`, `add_fact`, `edit_fact` or `delete_fact`. `id` is the id that the call returned. Returns
 * what was restored.
 */
export interface UndoIn {
  /** The id that `forget`, `add_fact`, `edit_fact` or `delete_fact` returned. */
  id: string;
}

/**
 * Nobody matches a name. The suggestions are names with a similar spelling: ask the user whether one of them is
 * meant.
 */
export interface Unknown {
  suggestions: Candidate[];
}

/**
 * Undo the merge of a topic into another topic. The merge can have been automatic or made by `merge_topics`. After
 * `undo_merge`, the two topics are not merged automatically again. Returns the separated topic.
 */
export interface UnmergeTopicIn {
  /** The owner of the chat. For a channel (group chat), leave out `user`. */
  user?: string | null;
}

/**
 * What `verify` found. `root` is a hash of all conversations: write it down outside the store, to prove later that
 * nothing was changed.
 */
export interface Verification {
  conversations: number;
  messages: number;
  erased: number;
  faults: Fault[];
  root: string;
}

/**
 * What a message said before it was edited, from when until when, and who edited it (the id of a key, or "program").
 */
export interface Version {
  content: string;
  metadata: Record<string, unknown>;
  since: string;
  until: string;
  by: string;
}

/**
 * The progress of a view (derived data): how many messages are still to process, how many conversations wait after a
 * failure, and the last error.
 */
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
   * List the conversations of a space, or of one user in the space; the conversation with the newest message comes
   * first. If a conversation gets a message while you read the pages of the list, the conversation moves to the first
   * page. To find conversations that got messages while you read the list, read the first page again at the end. The
   * API key needs the scope `read`.
   */
  conversations(query: { user?: string | null; cursor?: string | null; limit?: number } = {}, options: CallOptions = {}): Promise<ConversationPage> {
    return this.#server.ask("GET", ["v1", "conversations"], { query }, options);
  }

  /**
   * Store messages, in order. When the server answers, the messages are on disk. The result of each message has a
   * field `kept`, which says whether the message was new. The API key needs the scope `write`.
   */
  addMessages(conversation: string, body: MessagesIn, options: CallOptions = {}): Promise<Added[]> {
    return this.#server.ask("POST", ["v1", "conversations", conversation, "messages"], { body, repeatable: true }, options);
  }

  /**
   * Get the last messages of a conversation, in order. To get earlier messages, pass the answer's `next` as `cursor`.
   * A page of very long messages can have fewer messages than `limit`. The API key needs the scope `read`.
   */
  history(conversation: string, query: { user?: string | null; cursor?: string | null; limit?: number; versions?: boolean } = {}, options: CallOptions = {}): Promise<MessagePage> {
    return this.#server.ask("GET", ["v1", "conversations", conversation, "messages"], { query }, options);
  }

  /**
   * Store messages of several conversations in one transaction: either all of the messages or none. The API key needs
   * the scope `write`.
   */
  addBatches(body: BatchesIn, options: CallOptions = {}): Promise<(Added[])[]> {
    return this.#server.ask("POST", ["v1", "messages"], { body, repeatable: true }, options);
  }

  /**
   * Build a context for `text`: the messages to send to a model, with a receipt. Unlike `GET
   * /v1/conversations/{id}/context`, `POST` accepts a text of any length and your own token budget. The API key needs
   * the scope `read`.
   */
  context(conversation: string, body: ContextIn, options: CallOptions = {}): Promise<Context> {
    return this.#server.ask("POST", ["v1", "conversations", conversation, "context"], { body }, options);
  }

  /**
   * Run a whole turn: store the message, ask the model, and store and return the model's reply. The API key needs the
   * scopes `read` and `write`.
   */
  reply(conversation: string, body: Omit<ReplyIn, "stream">, options: CallOptions = {}): Promise<Reply> {
    return this.#server.ask("POST", ["v1", "conversations", conversation, "reply"], { body, repeatable: true }, options);
  }

  /** The same, piece by piece: `for await (const piece of memory.stream(…))`. */
  stream(conversation: string, body: Omit<ReplyIn, "stream">, options: CallOptions = {}): AsyncGenerator<string, Reply, undefined> {
    return this.#server.pieces(["v1", "conversations", conversation, "reply"], { body: { ...body, stream: true }, repeatable: true }, options);
  }

  /**
   * Replace the text of a message and, if you pass `metadata`, the message's metadata. Identify the message by its
   * id, its turn (a number) or its platform id. The API key needs the scopes `read` and `write`.
   */
  editMessage(conversation: string, message: string, body: EditMessageIn, query: { by?: "id" | "turn" } = {}, options: CallOptions = {}): Promise<Message> {
    return this.#server.ask("PATCH", ["v1", "conversations", conversation, "messages", message], { body, query, repeatable: true }, options);
  }

  /**
   * Permanently remove a message and everything derived from it. Identify the message by its id, its turn (a number)
   * or its platform id. A fact from the removed message stays if another message also states this fact. With
   * `dry_run`, nothing is removed: the result says what would be removed from the log and from each view (derived
   * data). The API key needs the scopes `read` and `admin`.
   */
  deleteMessage(conversation: string, message: string, query: { by?: "id" | "turn"; dry_run?: boolean; user?: string | null } = {}, options: CallOptions = {}): Promise<Deletion> {
    return this.#server.ask("DELETE", ["v1", "conversations", conversation, "messages", message], { query, repeatable: true }, options);
  }

  /**
   * Find messages by word and by meaning, best match first, in a space or in one user's memory. The API key needs the
   * scope `read`.
   */
  search(body: SearchIn, options: CallOptions = {}): Promise<Hit[]> {
    return this.#server.ask("POST", ["v1", "search"], { body }, options);
  }

  /**
   * Delete a view (data derived from the log, such as facts or topics) and build it again. The API key needs the
   * scope `admin`.
   */
  rebuild(body: RebuildIn, options: CallOptions = {}): Promise<Done> {
    return this.#server.ask("POST", ["v1", "rebuild"], { body, repeatable: true }, options);
  }

  /**
   * Retry messages that a view (derived data, such as facts) has skipped because of a failure. You can limit the
   * retry to one space, conversation or view. The API key needs the scope `admin`.
   */
  retry(body: RetryIn = {}, options: CallOptions = {}): Promise<Retried> {
    return this.#server.ask("POST", ["v1", "retry"], { body, repeatable: true }, options);
  }

  /**
   * Check that no message in the log was changed and that no message is missing. The API key needs the scopes `read`
   * and `admin`.
   */
  verify(options: CallOptions = {}): Promise<Verification> {
    return this.#server.ask("GET", ["v1", "verify"], {}, options);
  }

  /**
   * Get statistics: counts of stored data, the progress of each view (derived data), and the use of models, caches
   * and fallbacks. The API key needs the scope `read`.
   */
  stats(options: CallOptions = {}): Promise<Stats> {
    return this.#server.ask("GET", ["v1", "stats"], {}, options);
  }

  /**
   * List what is known about a person, now or at a given time, most important fact first. The API key needs the scope
   * `read`.
   */
  facts(user: string, query: { query?: string | null; as_of?: string | null; category?: "identity" | "relationship" | "work" | "place" | "health" | "possession" | "preference" | "constraint" | "instruction" | "plan" | "event" | "other" | null; cursor?: string | null; limit?: number } = {}, options: CallOptions = {}): Promise<FactPage> {
    return this.#server.ask("GET", ["v1", "users", user, "facts"], { query }, options);
  }

  /**
   * Add a fact about a person by hand. If the fact's key, such as "city", can have only one value, the new fact
   * replaces the old fact. The API key needs the scopes `read` and `write`.
   */
  addFact(user: string, body: AddFactIn, options: CallOptions = {}): Promise<FactChange> {
    return this.#server.ask("POST", ["v1", "users", user, "facts"], { body, repeatable: true }, options);
  }

  /**
   * List the facts that a model found in a person's messages but that everword did not accept, oldest first. Each
   * fact in the list comes with the reason why everword did not accept the fact. The API key needs the scope `read`.
   */
  refusedFacts(user: string, options: CallOptions = {}): Promise<RefusedFact[]> {
    return this.#server.ask("GET", ["v1", "users", user, "refused-facts"], {}, options);
  }

  /**
   * List every value that the fact `key`, such as "city", has had, oldest first. Each value has the period in which
   * the value was true. The API key needs the scope `read`.
   */
  factHistory(user: string, query: { key: string }, options: CallOptions = {}): Promise<Fact[]> {
    return this.#server.ask("GET", ["v1", "users", user, "fact-history"], { query }, options);
  }

  /** List the messages that a fact came from, oldest first. The API key needs the scope `read`. */
  why(user: string, fact: string, options: CallOptions = {}): Promise<Message[]> {
    return this.#server.ask("GET", ["v1", "users", user, "facts", fact, "why"], {}, options);
  }

  /** Get a fact by its id, even if the fact is no longer true. The API key needs the scope `read`. */
  fact(user: string, fact: string, options: CallOptions = {}): Promise<Fact> {
    return this.#server.ask("GET", ["v1", "users", user, "facts", fact], {}, options);
  }

  /**
   * Change the value of a fact. The old value stays in the history, with its times; `undo` restores the old value.
   * The API key needs the scopes `read` and `write`.
   */
  editFact(user: string, fact: string, body: EditFactIn, options: CallOptions = {}): Promise<FactChange> {
    return this.#server.ask("PATCH", ["v1", "users", user, "facts", fact], { body, repeatable: true }, options);
  }

  /**
   * Remove a fact. A removed fact returns only if somebody states the fact again. The API key needs the scopes `read`
   * and `write`.
   */
  deleteFact(user: string, fact: string, query: { speaker?: string | null } = {}, options: CallOptions = {}): Promise<FactChange> {
    return this.#server.ask("DELETE", ["v1", "users", user, "facts", fact], { query, repeatable: true }, options);
  }

  /**
   * Store a statement about a person, in the third person ("Alex likes tea"). The new statement replaces stored
   * statements that it contradicts. Returns the statements about the person that are true now. The API key needs the
   * scopes `read` and `write`.
   */
  remember(user: string, body: RememberIn, options: CallOptions = {}): Promise<Statement[]> {
    return this.#server.ask("POST", ["v1", "users", user, "remember"], { body, repeatable: true }, options);
  }

  /**
   * Remove the statements and facts in a person's profile that match the words in `what`. Returns what was removed.
   * The API key needs the scopes `read` and `write`.
   */
  forget(user: string, body: ForgetIn, options: CallOptions = {}): Promise<Forgotten> {
    return this.#server.ask("POST", ["v1", "users", user, "forget"], { body, repeatable: true }, options);
  }

  /**
   * Undo a call of `forget`, `add_fact`, `edit_fact` or `delete_fact`. `id` is the id that the call returned. Returns
   * what was restored. The API key needs the scopes `read` and `write`.
   */
  undo(user: string, body: UndoIn, options: CallOptions = {}): Promise<Forgotten> {
    return this.#server.ask("POST", ["v1", "users", user, "undo"], { body, repeatable: true }, options);
  }

  /**
   * Get what is known about a person: what the person said about themselves, and what others said about the person in
   * channels. The API key needs the scope `read`.
   */
  profile(user: string, query: { wait?: number | null } = {}, options: CallOptions = {}): Promise<Profile> {
    return this.#server.ask("GET", ["v1", "users", user, "profile"], { query }, options);
  }

  /**
   * Summarise what each person, or one `user`, said in the channels of a space on a `day` (default: today). The API
   * key needs the scope `read`.
   */
  digests(space: string, query: { day?: string | null; user?: string | null; conversation?: string | null; week?: boolean; wait?: number | null } = {}, options: CallOptions = {}): Promise<Digest[]> {
    return this.#server.ask("GET", ["v1", "spaces", space, "digests"], { query }, options);
  }

  /**
   * Set the time zone in which a space's days begin and end. `name` is the IANA name of a time zone, such as
   * "Europe/Berlin". A space without a time zone of its own uses the setting `time_zone`. The API key needs the scope
   * `admin`.
   */
  setTimeZone(space: string, body: SetTimeZoneIn, options: CallOptions = {}): Promise<Done> {
    return this.#server.ask("PUT", ["v1", "spaces", space, "time-zone"], { body }, options);
  }

  /**
   * Add a name of a person. The `kind` of a name is "display", "nickname", "alias" or "mention". The API key needs
   * the scopes `read` and `write`.
   */
  addName(user: string, body: AddNameIn, options: CallOptions = {}): Promise<Done> {
    return this.#server.ask("POST", ["v1", "users", user, "names"], { body }, options);
  }

  /**
   * Remove a name of a person. A removed display name comes back when the person sends a message under this name. The
   * API key needs the scope `write`.
   */
  removeName(user: string, name: string, options: CallOptions = {}): Promise<Done> {
    return this.#server.ask("DELETE", ["v1", "users", user, "names", name], {}, options);
  }

  /**
   * List the users of a space who have written a message or have been given a name. The API key needs the scope
   * `read`.
   */
  people(query: { cursor?: string | null; limit?: number } = {}, options: CallOptions = {}): Promise<MemberPage> {
    return this.#server.ask("GET", ["v1", "people"], { query }, options);
  }

  /**
   * Find the person that a name, nickname, alias, mention or id refers to. The result is one person, several
   * candidates, or nobody. The API key needs the scope `read`.
   */
  whoIs(query: { name: string; speaker?: string | null }, options: CallOptions = {}): Promise<Resolved | Ambiguous | Unknown> {
    return this.#server.ask("GET", ["v1", "who-is"], { query }, options);
  }

  /**
   * Answer a question about a person, with the facts and messages that support the answer. The API key needs the
   * scope `read`.
   */
  ask(user: string, body: AskIn, options: CallOptions = {}): Promise<MemoryAnswer> {
    return this.#server.ask("POST", ["v1", "users", user, "ask"], { body }, options);
  }

  /**
   * Permanently remove the messages that match all given arguments, and everything derived from these messages. The
   * API key needs the scopes `read` and `admin`.
   */
  delete(body: DeleteIn = {}, options: CallOptions = {}): Promise<Deletion> {
    return this.#server.ask("POST", ["v1", "delete"], { body, repeatable: true }, options);
  }

  /** Permanently remove a person's messages and everything derived from them. The API key needs the scope `admin`. */
  erase(user: string, options: CallOptions = {}): Promise<Erasure> {
    return this.#server.ask("POST", ["v1", "users", user, "erase"], { repeatable: true }, options);
  }

  /**
   * Permanently remove data that has expired or is older than the settings `retain_…` allow, in all spaces or in one
   * space. With `dry_run`, the default, nothing is removed: the result lists what would be removed. The API key needs
   * the scopes `read` and `admin`.
   */
  retain(body: RetainIn = {}, options: CallOptions = {}): Promise<Retained> {
    return this.#server.ask("POST", ["v1", "retain"], { body, repeatable: true }, options);
  }

  /**
   * List the last removals and moves in a space, newest first. Each entry says who removed or moved which kind of
   * data, when, and how many items. The API key needs the scopes `read` and `admin`.
   */
  audit(query: { limit?: number } = {}, options: CallOptions = {}): Promise<AuditLine[]> {
    return this.#server.ask("GET", ["v1", "audit"], { query }, options);
  }

  /**
   * Permanently replace secrets (API keys, passwords, card numbers) in stored messages by placeholders. By default,
   * everword redacts all messages of the space; `user` or `conversation` limits the redaction. If everword replaces
   * secrets in a message, everword removes the message's older versions. With `dry_run`, nothing changes: the result
   * says how many messages contain secrets. The API key needs the scopes `read` and `admin`.
   */
  redact(body: RedactIn = {}, options: CallOptions = {}): Promise<Redaction> {
    return this.#server.ask("POST", ["v1", "redact"], { body, repeatable: true }, options);
  }

  /**
   * Rename a conversation (`to`), give the conversation to another user (`user`), or both, for example when a guest
   * signs in. The API key needs the scopes `read` and `admin`.
   */
  moveConversation(conversation: string, body: MoveConversationIn = {}, options: CallOptions = {}): Promise<Move> {
    return this.#server.ask("POST", ["v1", "conversations", conversation, "move"], { body, repeatable: true }, options);
  }

  /**
   * Merge two users who are the same person: everything of one user is given to the other user. The API key needs the
   * scopes `read` and `admin`.
   */
  mergeUsers(user: string, body: MergeUsersIn, options: CallOptions = {}): Promise<Move> {
    return this.#server.ask("POST", ["v1", "users", user, "merge"], { body, repeatable: true }, options);
  }

  /**
   * Reverse the move of a conversation or the merge of two users. A move or merge cannot be reversed after some of
   * the moved data was removed or moved again. The API key needs the scopes `read` and `admin`.
   */
  undoMove(move: string, query: { dry_run?: boolean } = {}, options: CallOptions = {}): Promise<Move> {
    return this.#server.ask("POST", ["v1", "moves", move, "undo"], { query, repeatable: true }, options);
  }

  /**
   * Carry out a message that is a command to everword, such as "remember …", "forget …" or "what do you know about
   * me?". If the message is not a command to everword, the result is None. The API key needs the scopes `read` and
   * `write`.
   */
  command(conversation: string, body: CommandIn, options: CallOptions = {}): Promise<Answer | null> {
    return this.#server.ask("POST", ["v1", "conversations", conversation, "command"], { body, repeatable: true }, options);
  }

  /**
   * Get the conversation itself: its title, its user, how many messages it has had, and the time of the last message.
   * If the conversation does not exist, the error is `NotFound`. The API key needs the scope `read`.
   */
  conversation(conversation: string, query: { user?: string | null } = {}, options: CallOptions = {}): Promise<Conversation> {
    return this.#server.ask("GET", ["v1", "conversations", conversation], { query }, options);
  }

  /**
   * Permanently remove all messages of a conversation and everything derived from them. The API key needs the scopes
   * `read` and `admin`.
   */
  deleteConversation(conversation: string, query: { user?: string | null; dry_run?: boolean } = {}, options: CallOptions = {}): Promise<Deletion> {
    return this.#server.ask("DELETE", ["v1", "conversations", conversation], { query, repeatable: true }, options);
  }

  /**
   * Archive (summarise) all messages of the conversation now, except the last exchange (a message and its reply). If
   * there is nothing to archive, the result is None. If summarising fails, the messages are not archived, and the
   * error says why. The API key needs the scopes `read` and `write`.
   */
  archive(conversation: string, body: ArchiveIn = {}, options: CallOptions = {}): Promise<Chunk | null> {
    return this.#server.ask("POST", ["v1", "conversations", conversation, "archive"], { body }, options);
  }

  /** List the groups of messages that were archived together, oldest first. The API key needs the scope `read`. */
  archived(conversation: string, query: { user?: string | null } = {}, options: CallOptions = {}): Promise<Chunk[]> {
    return this.#server.ask("GET", ["v1", "conversations", conversation, "archived"], { query }, options);
  }

  /**
   * List the summaries of archived messages, highest level first. A summary that became part of a larger summary is
   * listed only inside the larger summary. The API key needs the scope `read`.
   */
  episodes(conversation: string, query: { user?: string | null } = {}, options: CallOptions = {}): Promise<Episode[]> {
    return this.#server.ask("GET", ["v1", "conversations", conversation, "episodes"], { query }, options);
  }

  /**
   * Rewrite a follow-up question, with the help of the last messages, so that the question can be understood alone. A
   * question that can already be understood alone is returned unchanged. The API key needs the scope `read`.
   */
  standalone(conversation: string, body: StandaloneIn, options: CallOptions = {}): Promise<StandaloneOut> {
    return this.#server.ask("POST", ["v1", "conversations", conversation, "standalone"], { body }, options);
  }

  /**
   * List the topics of the conversation, highest priority first. With `faded`, the list also includes faded topics,
   * which are no longer active. The API key needs the scope `read`.
   */
  topics(conversation: string, query: { faded?: boolean; user?: string | null; cursor?: string | null; limit?: number } = {}, options: CallOptions = {}): Promise<TopicPage> {
    return this.#server.ask("GET", ["v1", "conversations", conversation, "topics"], { query }, options);
  }

  /**
   * Store a message and add it to its topic. A message can open a new topic, or make an inactive (faded) topic active
   * again. Returns the topic. The API key needs the scopes `read` and `write`.
   */
  addToTopic(conversation: string, body: SaidIn, options: CallOptions = {}): Promise<Topic> {
    return this.#server.ask("POST", ["v1", "conversations", conversation, "topics"], { body, repeatable: true }, options);
  }

  /**
   * Get a topic's messages to send to a model: the topic's summary, if there is one, and the messages that the
   * summary does not cover. By default, you get the messages of the conversation's current topic. If the conversation
   * has no messages yet, the result is empty. The API key needs the scope `read`.
   */
  topicContext(conversation: string, topic: string, query: { user?: string | null } = {}, options: CallOptions = {}): Promise<TopicContextOut> {
    return this.#server.ask("GET", ["v1", "conversations", conversation, "topics", topic, "context"], { query }, options);
  }

  /**
   * List every message of a topic, in order. To leave out messages that are part of the topic's summary, set
   * `include_compressed` to false. The API key needs the scope `read`.
   */
  topicHistory(conversation: string, topic: string, query: { include_compressed?: boolean; user?: string | null } = {}, options: CallOptions = {}): Promise<TopicMessage[]> {
    return this.#server.ask("GET", ["v1", "conversations", conversation, "topics", topic, "messages"], { query }, options);
  }

  /**
   * Get the figures of a topic: counts of messages, importance and age. By default, you get the figures of the
   * conversation's current topic. The API key needs the scope `read`.
   */
  topicStats(conversation: string, topic: string, query: { user?: string | null } = {}, options: CallOptions = {}): Promise<TopicStats> {
    return this.#server.ask("GET", ["v1", "conversations", conversation, "topics", topic, "stats"], { query }, options);
  }

  /**
   * Find the topics in this conversation that match a query, best match first, including faded topics. The query is
   * compared with each topic's messages, title and tags. The API key needs the scope `read`.
   */
  searchTopics(conversation: string, query: { query: string; limit?: number; user?: string | null }, options: CallOptions = {}): Promise<TopicHit[]> {
    return this.#server.ask("GET", ["v1", "conversations", conversation, "topic-search"], { query }, options);
  }

  /**
   * Merge two topics: the topic `other` becomes part of the first topic. Returns the merged topic. `undo_merge`
   * separates two merged topics again. The API key needs the scopes `read` and `write`.
   */
  mergeTopics(conversation: string, topic: string, body: MergeTopicsIn, options: CallOptions = {}): Promise<Topic> {
    return this.#server.ask("POST", ["v1", "conversations", conversation, "topics", topic, "merge"], { body, repeatable: true }, options);
  }

  /**
   * Undo the merge of a topic into another topic. The merge can have been automatic or made by `merge_topics`. After
   * `undo_merge`, the two topics are not merged automatically again. Returns the separated topic. The API key needs
   * the scopes `read` and `write`.
   */
  unmergeTopic(conversation: string, topic: string, body: UnmergeTopicIn = {}, options: CallOptions = {}): Promise<Topic> {
    return this.#server.ask("POST", ["v1", "conversations", conversation, "topics", topic, "unmerge"], { body, repeatable: true }, options);
  }

  /**
   * In a group chat, move messages and their replies from their thread into a new thread. Returns the new thread.
   * After the split, new messages may join either of the two threads. To reverse a split, join the new and the old
   * thread with `merge_topics`. The API key needs the scopes `read` and `write`.
   */
  splitTopic(conversation: string, topic: string, body: SplitTopicIn, options: CallOptions = {}): Promise<Topic> {
    return this.#server.ask("POST", ["v1", "conversations", conversation, "topics", topic, "split"], { body, repeatable: true }, options);
  }

  /**
   * Add your own tags to a topic. With `remove`, the given tags are removed from the topic. `search_topics` finds
   * topics by their tags. A rebuild of the topics keeps your tags. The API key needs the scopes `read` and `write`.
   */
  tagTopic(conversation: string, topic: string, body: TagTopicIn, options: CallOptions = {}): Promise<Topic> {
    return this.#server.ask("POST", ["v1", "conversations", conversation, "topics", topic, "tags"], { body, repeatable: true }, options);
  }

  /**
   * Rate a topic: 1 if the topic matters, -1 if it does not. The rating changes the topic's importance, which affects
   * how long the topic stays active. The API key needs the scopes `read` and `write`.
   */
  rateTopic(conversation: string, topic: string, body: RateTopicIn, options: CallOptions = {}): Promise<Topic> {
    return this.#server.ask("POST", ["v1", "conversations", conversation, "topics", topic, "feedback"], { body, repeatable: true }, options);
  }

  /**
   * Permanently remove a document. The result says whether the document existed. The API key needs the scope `write`.
   */
  removeDocument(space: string, key: string, query: { namespace: string[] }, options: CallOptions = {}): Promise<RemoveDocumentOut> {
    return this.#server.ask("DELETE", ["v1", "spaces", space, "documents", key], { query, repeatable: true }, options);
  }

  /**
   * Get the document that is stored under a key. If no document is stored under the key, the status is 404. The API
   * key needs the scope `read`.
   */
  document(space: string, key: string, query: { namespace: string[] }, options: CallOptions = {}): Promise<Document> {
    return this.#server.ask("GET", ["v1", "spaces", space, "documents", key], { query }, options);
  }

  /**
   * Store a JSON object under a key, and replace any document that is stored under the key. The API key needs the
   * scope `write`.
   */
  putDocument(space: string, key: string, body: DocumentIn, query: { namespace: string[] }, options: CallOptions = {}): Promise<Document> {
    return this.#server.ask("PUT", ["v1", "spaces", space, "documents", key], { body, query, repeatable: true }, options);
  }

  /**
   * Search the documents of a namespace and of the namespaces below it. With a `query`, the documents nearest to the
   * query in meaning and words come first. Without a `query`, the most recently changed documents come first. The API
   * key needs the scope `read`.
   */
  searchDocuments(space: string, body: SearchDocumentsIn = {}, options: CallOptions = {}): Promise<Document[]> {
    return this.#server.ask("POST", ["v1", "spaces", space, "document-search"], { body }, options);
  }

  /**
   * Get the API key's own space. If a request names no space, the server uses the API key's own space. The API key
   * needs the scope `read`.
   */
  space(options: CallOptions = {}): Promise<SpaceOut> {
    return this.#server.ask("GET", ["v1", "space"], {}, options);
  }

  /**
   * Wait until every view (derived data, such as facts) is up to date with the log. If a view is not up to date after
   * `timeout` seconds, the status is 409. If your API key opens all spaces, the 409 error says which views are
   * behind, and why. The API key needs the scope `write`.
   */
  settle(body: SettleIn = {}, options: CallOptions = {}): Promise<Settled> {
    return this.#server.ask("POST", ["v1", "settle"], { body }, options);
  }

  /**
   * Export every message of a user's memory, in order, as JSON Lines that `everword import` reads. With `salvage`,
   * the export skips messages that cannot be read, instead of failing. The export contains placeholders for secrets,
   * such as API keys, unless `secrets` is true. The API key needs the scope `read`.
   */
  exportUser(user: string, query: { salvage?: boolean; secrets?: boolean } = {}, options: CallOptions = {}): AsyncGenerator<string, void, undefined> {
    return this.#server.lines("GET", ["v1", "users", user, "export"], { query }, options, "application/x-ndjson");
  }

  /**
   * Export every message of a space, of a user's memory or of a conversation, in order, one message per line.
   * `salvage` and `secrets` work as in `GET /v1/users/{id}/export`. The API key needs the scope `read`.
   */
  export(query: { user?: string | null; conversation?: string | null; salvage?: boolean; secrets?: boolean } = {}, options: CallOptions = {}): AsyncGenerator<string, void, undefined> {
    return this.#server.lines("GET", ["v1", "export"], { query }, options, "application/x-ndjson");
  }

  /**
   * List the documents of one namespace, ordered by key. The answer also has a `tag`, which changes when any document
   * of the namespace changes. The API key needs the scope `read`.
   */
  documents(space: string, query: { namespace: string[]; cursor?: string | null; limit?: number }, options: CallOptions = {}): Promise<DocumentPage> {
    return this.#server.ask("GET", ["v1", "spaces", space, "documents"], { query }, options);
  }

  /**
   * Store and remove several documents in one transaction. With a `tag`, everword makes the changes only if the
   * namespace has not changed since you read the tag. If the namespace has changed, the status is 412. The API key
   * needs the scope `write`.
   */
  changeDocuments(space: string, body: ChangesIn, options: CallOptions = {}): Promise<Document[]> {
    return this.#server.ask("POST", ["v1", "spaces", space, "documents"], { body, repeatable: true }, options);
  }

  /** List the namespaces that have documents, in order. The API key needs the scope `read`. */
  namespaces(space: string, query: { prefix?: string[]; suffix?: string[]; depth?: number | null; cursor?: string | null; limit?: number } = {}, options: CallOptions = {}): Promise<NamespacePage> {
    return this.#server.ask("GET", ["v1", "spaces", space, "namespaces"], { query }, options);
  }
}
