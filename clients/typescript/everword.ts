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
  /** Whom the fact is about, if not the person: "brother". */
  subject?: string | null;
  /** The id of whoever says or does this. Default: the person themselves. */
  speaker?: string | null;
}

/** Add a name of a person. The `kind` of a name is "display", "nickname", "alias" or "mention". */
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
 * Archive (summarise) all messages now, except the last exchange (a message and its reply). If there is nothing to
 * archive, the result is None. If summarising fails, the messages are not archived, and the error says why.
 */
export interface ArchiveIn {
  /** The user whose chat the conversation is. Leave `user` out for a channel. */
  user?: string | null;
}

/**
 * Answer a question about a person from facts and messages. Returns the answer to the question, with the facts and
 * messages that support the answer.
 */
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
  /** The user whose chat the conversation is. Leave `user` out for a channel. */
  user?: string | null;
  messages: DraftIn[];
  /** What to do if a message is already stored with a different text. */
  on_edit?: "refuse" | "version";
  conversation: string;
}

/** Messages for several conversations: either all are stored or none. */
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

/** A document to store or, without a value, to remove. */
export interface ChangeIn {
  namespace: string[];
  key: string;
  value?: Record<string, unknown> | null;
  user?: string | null;
  texts?: string[] | null;
  /** When the entry expires: a time span from now (10m, 2h, 7d), or a time with its UTC offset. */
  expires?: string | null;
}

/** Changes of documents: all are made, or none; with a `tag`, only if the namespace is as it was. */
export interface ChangesIn {
  /** The documents to store and to remove. Either all changes are made or none. */
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
  /** The message's id on its platform. A message with a known id is not stored again. */
  platform_id?: string | null;
  /** The user whose chat the conversation is. Leave `user` out for a channel. */
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
  /** The user's id, which you choose. */
  user?: string | null;
  /** How many tokens the context may have: a `Budget`, "standard" or "compact". */
  budget?: BudgetIn | "standard" | "compact";
  /** Your own system prompt, which comes first. */
  system?: string | null;
  /** Whether the context tells the model how to ask for more by writing markers. */
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
  /** For the next page, send this as `cursor`. Null on the last page. */
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

/** Permanently remove the messages that match all given arguments, and everything derived from these messages. */
export interface DeleteIn {
  /** Only messages from before this time. */
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

/** A JSON object to store under a key. */
export interface DocumentIn {
  /** A JSON object. */
  value: Record<string, unknown>;
  /** The document's owner. `erase` removes the owner's documents. */
  user?: string | null;
  /** The texts that search compares with. Default: all texts of the value. */
  texts?: string[] | null;
  /** When the entry expires: a time span from now (10m, 2h, 7d), or a time with its UTC offset. */
  expires?: string | null;
}

/** A page of the documents of a namespace, ordered by key. The `tag` is for the whole namespace. */
export interface DocumentPage {
  items: Document[];
  /** For the next page, send this as `cursor`. Null on the last page. */
  next?: string | null;
  /** Send this `tag` with changes that are right only while the namespace is unchanged. */
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
  /** The message's id in another system. A message with a known id is not stored again. */
  platform_id?: string | null;
  metadata?: Record<string, unknown>;
  id?: string | null;
  /** When the entry expires: a time span from now (10m, 2h, 7d), or a time with its UTC offset. */
  expires?: string | null;
  /** The message that this one answers, by id or platform id. */
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
  /** The id of whoever says or does this. Default: the person themselves. */
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
  /** The user whose chat the conversation is. Leave `user` out for a channel. */
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
  /** For the next page, send this as `cursor`. Null on the last page. */
  next?: string | null;
}

/** One thing wrong with the log, named so that it can be found. */
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
  /** The id of whoever says or does this. Default: the person themselves. */
  speaker?: string | null;
  /** The id of the stored message that asked for this. */
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
  /** For the next page, send this as `cursor`. Null on the last page. */
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

/**
 * Merge two topics: the topic `other` becomes part of the first topic. Returns the first topic. `undo_merge`
 * separates two merged topics again.
 */
export interface MergeTopicsIn {
  /** The id of the topic that becomes part of the first topic. */
  other: string;
  /** The user whose chat the conversation is. Leave `user` out for a channel. */
  user?: string | null;
}

/** Merge two users who are the same person: everything of one user is given to the other user. */
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
  /** For the next page, send this as `cursor`. Null on the last page. */
  next?: string | null;
}

/** Messages for one conversation, in order: either all are stored or none. */
export interface MessagesIn {
  /** The user whose chat the conversation is. Leave `user` out for a channel. */
  user?: string | null;
  /** The messages, in order. */
  messages: DraftIn[];
  /** What to do if a message is already stored with a different text. */
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
  /** For the next page, send this as `cursor`. Null on the last page. */
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

/**
 * Rate a topic: 1 if the topic matters, -1 if it does not. The rating changes the topic's importance, which affects
 * how long the topic stays active.
 */
export interface RateTopicIn {
  /** 1 if the topic matters, -1 if it does not. */
  score: 1 | -1;
  /** The user whose chat the conversation is. Leave `user` out for a channel. */
  user?: string | null;
}

/** Delete a view (data derived from the log, such as facts or topics) and build it again. */
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
 * Permanently replace secrets (API keys, passwords, card numbers) in stored messages by placeholders. You can choose
 * one user's memory or one conversation; by default, all messages of the space are searched for secrets. If everword
 * replaces secrets in a message, everword removes the message's older versions. With `dry_run`, nothing changes: the
 * result says how many messages contain secrets.
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
 * Store a statement about a person, in the third person ("Alex likes tea"). The new statement replaces stored
 * statements that it contradicts. Returns the statements about the person that are true now.
 */
export interface RememberIn {
  /** One or more statements: "Alex lives in Berlin". */
  text: string;
  /** The id of whoever says or does this. Default: the person themselves. */
  speaker?: string | null;
  /** The id of the stored message that asked for this. */
  message?: string | null;
  /** When the entry expires: a time span from now (10m, 2h, 7d), or a time with its UTC offset. */
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
  /** The user's id, which you choose. */
  user?: string | null;
  /** How many tokens the context may have: a `Budget`, "standard" or "compact". */
  budget?: BudgetIn | "standard" | "compact";
  /** Your own system prompt, which comes first. */
  system?: string | null;
  /** The id of the message's author. Default: the user of the chat. */
  author?: string | null;
  /** The message's id on its platform. A message with a known id is not stored again. */
  platform_id?: string | null;
  /** Whether to send the reply in pieces, as server-sent events. */
  stream?: boolean;
}

/** The one member a name means, and why. */
export interface Resolved {
  member: string;
  why: string;
}

/**
 * Permanently remove data that has expired or is older than the settings `retain_…` allow, in all spaces or in one
 * space. With `dry_run`, the default, nothing is removed: the result lists what would be removed.
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

/**
 * Retry messages that a view (derived data, such as facts) has skipped because of a failure. You can limit the retry
 * to one space, conversation or view.
 */
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
  /** Conditions on the values, with `$eq $ne $gt $gte $lt $lte`. */
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
 * Set the time zone in which a space's days begin and end. Give the time zone's IANA name, such as "Europe/Berlin". A
 * space without a time zone of its own uses the setting `time_zone`.
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

/** Messages of a conversation, from the turn `first` to the turn `last`: a source of a digest. */
export interface Span {
  conversation: string;
  first: number;
  last: number;
}

/**
 * In a group chat, move messages, with the replies to them, out of their thread into a new thread. Returns the new
 * thread. After the split, new messages may join either of the two threads. To reverse a split, join the new and the
 * old thread with `merge_topics`.
 */
export interface SplitTopicIn {
  /** The numbers of the messages to move. */
  turns: number[];
  /** The user whose chat the conversation is. Leave `user` out for a channel. */
  user?: string | null;
}

/**
 * Rewrite a follow-up question, with the help of the last messages, so that the question can be understood alone. A
 * question that can already be understood alone is returned unchanged.
 */
export interface StandaloneIn {
  /** The question, in plain words. */
  question: string;
  /** The user whose chat the conversation is. Leave `user` out for a channel. */
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

/**
 * Add your own tags to a topic or, with `remove`, remove the given tags from the topic. `search_topics` finds topics
 * by their tags. A rebuild of the topics keeps your tags.
 */
export interface TagTopicIn {
  /** The tags. */
  tags: string[];
  /** Whether to remove the tags instead. */
  remove?: boolean;
  /** The user whose chat the conversation is. Leave `user` out for a channel. */
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
  /** For the next page, send this as `cursor`. Null on the last page. */
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
 * Undo a call of `forget`, `add_fact`, `edit_fact` or `delete_fact`, by the `id` that the call returned. Returns what
 * was restored.
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
 * Undo the merge of a topic into another topic, whether the merge was automatic or made by `merge_topics`. After
 * `undo_merge`, the two topics are not merged automatically again. Returns the separated topic.
 */
export interface UnmergeTopicIn {
  /** The user whose chat the conversation is. Leave `user` out for a channel. */
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
   * List the conversations of a space, or of one user in the space; the conversation with the newest message comes
   * first. If a conversation gets a message while you read the pages of the list, the conversation moves to the first
   * page. After the last page, read the first page again to find conversations that got messages meanwhile. Needs the
   * scope `read`.
   */
  conversations(query: { user?: string | null; cursor?: string | null; limit?: number } = {}, options: CallOptions = {}): Promise<ConversationPage> {
    return this.#server.ask("GET", ["v1", "conversations"], { query }, options);
  }

  /**
   * Store messages, in order. When the server answers, the messages are on disk. The result of each message has a
   * field `kept`, which says whether the message was new. Needs the scope `write`.
   */
  addMessages(conversation: string, body: MessagesIn, options: CallOptions = {}): Promise<Added[]> {
    return this.#server.ask("POST", ["v1", "conversations", conversation, "messages"], { body, repeatable: true }, options);
  }

  /**
   * Get the last messages of a conversation, in order. To get earlier messages, pass the answer's `next` as `cursor`.
   * A page of very long messages has fewer messages than `limit`. Needs the scope `read`.
   */
  history(conversation: string, query: { user?: string | null; cursor?: string | null; limit?: number; versions?: boolean } = {}, options: CallOptions = {}): Promise<MessagePage> {
    return this.#server.ask("GET", ["v1", "conversations", conversation, "messages"], { query }, options);
  }

  /**
   * Store messages of several conversations in one transaction: either all of the messages or none. Needs the scope
   * `write`.
   */
  addBatches(body: BatchesIn, options: CallOptions = {}): Promise<(Added[])[]> {
    return this.#server.ask("POST", ["v1", "messages"], { body, repeatable: true }, options);
  }

  /**
   * Build a context for a message as `GET` on this path does, but for a text of any length and with your own token
   * budget. Needs the scope `read`.
   */
  context(conversation: string, body: ContextIn, options: CallOptions = {}): Promise<Context> {
    return this.#server.ask("POST", ["v1", "conversations", conversation, "context"], { body }, options);
  }

  /**
   * Run a whole turn: store the message, ask the model, and store and return the model's reply. Needs the scopes
   * `read` and `write`.
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
   * id, its turn (a number) or its platform id. Needs the scopes `read` and `write`.
   */
  editMessage(conversation: string, message: string, body: EditMessageIn, query: { by?: "id" | "turn" } = {}, options: CallOptions = {}): Promise<Message> {
    return this.#server.ask("PATCH", ["v1", "conversations", conversation, "messages", message], { body, query, repeatable: true }, options);
  }

  /**
   * Permanently remove a message and everything derived from it. Identify the message by its id, its turn (a number)
   * or its platform id. A fact from the removed message stays if another message also states this fact. With
   * `dry_run`, nothing is removed: the result says what would be removed from the log and from each view (derived
   * data). Needs the scopes `read` and `admin`.
   */
  deleteMessage(conversation: string, message: string, query: { by?: "id" | "turn"; dry_run?: boolean; user?: string | null } = {}, options: CallOptions = {}): Promise<Deletion> {
    return this.#server.ask("DELETE", ["v1", "conversations", conversation, "messages", message], { query, repeatable: true }, options);
  }

  /**
   * Find messages by word and by meaning, best match first, in a space or in one user's memory. Needs the scope
   * `read`.
   */
  search(body: SearchIn, options: CallOptions = {}): Promise<Hit[]> {
    return this.#server.ask("POST", ["v1", "search"], { body }, options);
  }

  /**
   * Delete a view (data derived from the log, such as facts or topics) and build it again. Needs the scope `admin`.
   */
  rebuild(body: RebuildIn, options: CallOptions = {}): Promise<Done> {
    return this.#server.ask("POST", ["v1", "rebuild"], { body, repeatable: true }, options);
  }

  /**
   * Retry messages that a view (derived data, such as facts) has skipped because of a failure. You can limit the
   * retry to one space, conversation or view. Needs the scope `admin`.
   */
  retry(body: RetryIn = {}, options: CallOptions = {}): Promise<Retried> {
    return this.#server.ask("POST", ["v1", "retry"], { body, repeatable: true }, options);
  }

  /** Check that no message in the log was changed and that none is missing. Needs the scopes `read` and `admin`. */
  verify(options: CallOptions = {}): Promise<Verification> {
    return this.#server.ask("GET", ["v1", "verify"], {}, options);
  }

  /**
   * Get statistics: counts of stored data, the progress of each view (derived data), and the use of models, caches
   * and fallbacks. Needs the scope `read`.
   */
  stats(options: CallOptions = {}): Promise<Stats> {
    return this.#server.ask("GET", ["v1", "stats"], {}, options);
  }

  /** List what is known about a person, now or at a given time, most important fact first. Needs the scope `read`. */
  facts(user: string, query: { query?: string | null; as_of?: string | null; category?: "identity" | "relationship" | "work" | "place" | "health" | "possession" | "preference" | "constraint" | "instruction" | "plan" | "event" | "other" | null; cursor?: string | null; limit?: number } = {}, options: CallOptions = {}): Promise<FactPage> {
    return this.#server.ask("GET", ["v1", "users", user, "facts"], { query }, options);
  }

  /**
   * Add a fact about a person by hand. If the fact's key, such as "city", can have only one value, the new fact
   * replaces the old fact. Needs the scopes `read` and `write`.
   */
  addFact(user: string, body: AddFactIn, options: CallOptions = {}): Promise<FactChange> {
    return this.#server.ask("POST", ["v1", "users", user, "facts"], { body, repeatable: true }, options);
  }

  /**
   * List the facts that a model found in a person's messages but that everword did not accept, oldest first. Each
   * fact in the list comes with the reason why everword did not accept the fact. Needs the scope `read`.
   */
  refusedFacts(user: string, options: CallOptions = {}): Promise<RefusedFact[]> {
    return this.#server.ask("GET", ["v1", "users", user, "refused-facts"], {}, options);
  }

  /**
   * List every value that a fact's key, such as "city", has had, oldest first, each with the times at which the value
   * was true. Needs the scope `read`.
   */
  factHistory(user: string, query: { key: string }, options: CallOptions = {}): Promise<Fact[]> {
    return this.#server.ask("GET", ["v1", "users", user, "fact-history"], { query }, options);
  }

  /** List the messages that a fact came from, oldest first. Needs the scope `read`. */
  why(user: string, fact: string, options: CallOptions = {}): Promise<Message[]> {
    return this.#server.ask("GET", ["v1", "users", user, "facts", fact, "why"], {}, options);
  }

  /** Get a fact by its id, even if the fact is no longer true. Needs the scope `read`. */
  fact(user: string, fact: string, options: CallOptions = {}): Promise<Fact> {
    return this.#server.ask("GET", ["v1", "users", user, "facts", fact], {}, options);
  }

  /**
   * Change the value of a fact. The old value stays in the history, with its times; `undo` restores the old value.
   * Needs the scopes `read` and `write`.
   */
  editFact(user: string, fact: string, body: EditFactIn, options: CallOptions = {}): Promise<FactChange> {
    return this.#server.ask("PATCH", ["v1", "users", user, "facts", fact], { body, repeatable: true }, options);
  }

  /**
   * Remove a fact. A removed fact returns only if somebody states the fact again. Needs the scopes `read` and
   * `write`.
   */
  deleteFact(user: string, fact: string, query: { speaker?: string | null } = {}, options: CallOptions = {}): Promise<FactChange> {
    return this.#server.ask("DELETE", ["v1", "users", user, "facts", fact], { query, repeatable: true }, options);
  }

  /**
   * Store a statement about a person, in the third person ("Alex likes tea"). The new statement replaces stored
   * statements that it contradicts. Returns the statements about the person that are true now. Needs the scopes
   * `read` and `write`.
   */
  remember(user: string, body: RememberIn, options: CallOptions = {}): Promise<Statement[]> {
    return this.#server.ask("POST", ["v1", "users", user, "remember"], { body, repeatable: true }, options);
  }

  /**
   * Remove the statements and facts in a person's profile that match the words in `what`. Returns what was removed.
   * Needs the scopes `read` and `write`.
   */
  forget(user: string, body: ForgetIn, options: CallOptions = {}): Promise<Forgotten> {
    return this.#server.ask("POST", ["v1", "users", user, "forget"], { body, repeatable: true }, options);
  }

  /**
   * Undo a call of `forget`, `add_fact`, `edit_fact` or `delete_fact`, by the `id` that the call returned. Returns
   * what was restored. Needs the scopes `read` and `write`.
   */
  undo(user: string, body: UndoIn, options: CallOptions = {}): Promise<Forgotten> {
    return this.#server.ask("POST", ["v1", "users", user, "undo"], { body, repeatable: true }, options);
  }

  /**
   * Get what is known about a person: what the person said about themselves, and what others said about the person in
   * channels. Needs the scope `read`.
   */
  profile(user: string, query: { wait?: number | null } = {}, options: CallOptions = {}): Promise<Profile> {
    return this.#server.ask("GET", ["v1", "users", user, "profile"], { query }, options);
  }

  /**
   * Summarise a day in the channels of a space, for each member who spoke or for one `user`. The default of `day` is
   * today. Needs the scope `read`.
   */
  digests(space: string, query: { day?: string | null; user?: string | null; conversation?: string | null; week?: boolean; wait?: number | null } = {}, options: CallOptions = {}): Promise<Digest[]> {
    return this.#server.ask("GET", ["v1", "spaces", space, "digests"], { query }, options);
  }

  /**
   * Set the time zone in which a space's days begin and end. Give the time zone's IANA name, such as "Europe/Berlin".
   * A space without a time zone of its own uses the setting `time_zone`. Needs the scope `admin`.
   */
  setTimeZone(space: string, body: SetTimeZoneIn, options: CallOptions = {}): Promise<Done> {
    return this.#server.ask("PUT", ["v1", "spaces", space, "time-zone"], { body }, options);
  }

  /**
   * Add a name of a person. The `kind` of a name is "display", "nickname", "alias" or "mention". Needs the scopes
   * `read` and `write`.
   */
  addName(user: string, body: AddNameIn, options: CallOptions = {}): Promise<Done> {
    return this.#server.ask("POST", ["v1", "users", user, "names"], { body }, options);
  }

  /**
   * Remove a name of a person. A removed display name returns with the next message whose author has this name. Needs
   * the scope `write`.
   */
  removeName(user: string, name: string, options: CallOptions = {}): Promise<Done> {
    return this.#server.ask("DELETE", ["v1", "users", user, "names", name], {}, options);
  }

  /** List the users of a space who have written a message or have been given a name. Needs the scope `read`. */
  people(query: { cursor?: string | null; limit?: number } = {}, options: CallOptions = {}): Promise<MemberPage> {
    return this.#server.ask("GET", ["v1", "people"], { query }, options);
  }

  /**
   * Find the person that a name, nickname, alias, mention or id refers to. The result is one person, several
   * candidates, or nobody. Needs the scope `read`.
   */
  whoIs(query: { name: string; speaker?: string | null }, options: CallOptions = {}): Promise<Resolved | Ambiguous | Unknown> {
    return this.#server.ask("GET", ["v1", "who-is"], { query }, options);
  }

  /**
   * Answer a question about a person from facts and messages. Returns the answer to the question, with the facts and
   * messages that support the answer. Needs the scope `read`.
   */
  ask(user: string, body: AskIn, options: CallOptions = {}): Promise<MemoryAnswer> {
    return this.#server.ask("POST", ["v1", "users", user, "ask"], { body }, options);
  }

  /**
   * Permanently remove the messages that match all given arguments, and everything derived from these messages. Needs
   * the scopes `read` and `admin`.
   */
  delete(body: DeleteIn = {}, options: CallOptions = {}): Promise<Deletion> {
    return this.#server.ask("POST", ["v1", "delete"], { body, repeatable: true }, options);
  }

  /** Permanently remove a person's messages and everything derived from them. Needs the scope `admin`. */
  erase(user: string, options: CallOptions = {}): Promise<Erasure> {
    return this.#server.ask("POST", ["v1", "users", user, "erase"], { repeatable: true }, options);
  }

  /**
   * Permanently remove data that has expired or is older than the settings `retain_…` allow, in all spaces or in one
   * space. With `dry_run`, the default, nothing is removed: the result lists what would be removed. Needs the scopes
   * `read` and `admin`.
   */
  retain(body: RetainIn = {}, options: CallOptions = {}): Promise<Retained> {
    return this.#server.ask("POST", ["v1", "retain"], { body, repeatable: true }, options);
  }

  /**
   * List the last removals and moves in a space, newest first. Each entry says who removed or moved which kind of
   * data, when, and how many items. Needs the scopes `read` and `admin`.
   */
  audit(query: { limit?: number } = {}, options: CallOptions = {}): Promise<AuditLine[]> {
    return this.#server.ask("GET", ["v1", "audit"], { query }, options);
  }

  /**
   * Permanently replace secrets (API keys, passwords, card numbers) in stored messages by placeholders. You can
   * choose one user's memory or one conversation; by default, all messages of the space are searched for secrets. If
   * everword replaces secrets in a message, everword removes the message's older versions. With `dry_run`, nothing
   * changes: the result says how many messages contain secrets. Needs the scopes `read` and `admin`.
   */
  redact(body: RedactIn = {}, options: CallOptions = {}): Promise<Redaction> {
    return this.#server.ask("POST", ["v1", "redact"], { body, repeatable: true }, options);
  }

  /**
   * Rename a conversation (`to`), give the conversation to another user (`user`), or both, for example when a guest
   * signs in. Needs the scopes `read` and `admin`.
   */
  moveConversation(conversation: string, body: MoveConversationIn = {}, options: CallOptions = {}): Promise<Move> {
    return this.#server.ask("POST", ["v1", "conversations", conversation, "move"], { body, repeatable: true }, options);
  }

  /**
   * Merge two users who are the same person: everything of one user is given to the other user. Needs the scopes
   * `read` and `admin`.
   */
  mergeUsers(user: string, body: MergeUsersIn, options: CallOptions = {}): Promise<Move> {
    return this.#server.ask("POST", ["v1", "users", user, "merge"], { body, repeatable: true }, options);
  }

  /**
   * Reverse the move of a conversation or the merge of two users. A move or merge cannot be reversed after some of
   * the moved data was removed or moved again. Needs the scopes `read` and `admin`.
   */
  undoMove(move: string, query: { dry_run?: boolean } = {}, options: CallOptions = {}): Promise<Move> {
    return this.#server.ask("POST", ["v1", "moves", move, "undo"], { query, repeatable: true }, options);
  }

  /**
   * Carry out a message that is a command to everword, such as "remember …", "forget …" or "what do you know about
   * me?". If the message is not a command to everword, the result is None. Needs the scopes `read` and `write`.
   */
  command(conversation: string, body: CommandIn, options: CallOptions = {}): Promise<Answer | null> {
    return this.#server.ask("POST", ["v1", "conversations", conversation, "command"], { body, repeatable: true }, options);
  }

  /**
   * Get the conversation itself: its title, its user, how many messages it has had, and the time of the last message.
   * If the conversation does not exist, the error is `NotFound`. Needs the scope `read`.
   */
  conversation(conversation: string, query: { user?: string | null } = {}, options: CallOptions = {}): Promise<Conversation> {
    return this.#server.ask("GET", ["v1", "conversations", conversation], { query }, options);
  }

  /**
   * Permanently remove all messages of a conversation and everything derived from them. Needs the scopes `read` and
   * `admin`.
   */
  deleteConversation(conversation: string, query: { user?: string | null; dry_run?: boolean } = {}, options: CallOptions = {}): Promise<Deletion> {
    return this.#server.ask("DELETE", ["v1", "conversations", conversation], { query, repeatable: true }, options);
  }

  /**
   * Archive (summarise) all messages now, except the last exchange (a message and its reply). If there is nothing to
   * archive, the result is None. If summarising fails, the messages are not archived, and the error says why. Needs
   * the scopes `read` and `write`.
   */
  archive(conversation: string, body: ArchiveIn = {}, options: CallOptions = {}): Promise<Chunk | null> {
    return this.#server.ask("POST", ["v1", "conversations", conversation, "archive"], { body }, options);
  }

  /** List the groups of messages that were archived together, oldest first. Needs the scope `read`. */
  archived(conversation: string, query: { user?: string | null } = {}, options: CallOptions = {}): Promise<Chunk[]> {
    return this.#server.ask("GET", ["v1", "conversations", conversation, "archived"], { query }, options);
  }

  /**
   * List the summaries of archived messages, highest level first, without summaries that are part of another summary.
   * Each summary in the list contains the summaries that it was made from. Needs the scope `read`.
   */
  episodes(conversation: string, query: { user?: string | null } = {}, options: CallOptions = {}): Promise<Episode[]> {
    return this.#server.ask("GET", ["v1", "conversations", conversation, "episodes"], { query }, options);
  }

  /**
   * Rewrite a follow-up question, with the help of the last messages, so that the question can be understood alone. A
   * question that can already be understood alone is returned unchanged. Needs the scope `read`.
   */
  standalone(conversation: string, body: StandaloneIn, options: CallOptions = {}): Promise<StandaloneOut> {
    return this.#server.ask("POST", ["v1", "conversations", conversation, "standalone"], { body }, options);
  }

  /**
   * List the topics of the conversation, highest priority first. With `faded`, the list also includes faded topics,
   * which are no longer active. Needs the scope `read`.
   */
  topics(conversation: string, query: { faded?: boolean; user?: string | null; cursor?: string | null; limit?: number } = {}, options: CallOptions = {}): Promise<TopicPage> {
    return this.#server.ask("GET", ["v1", "conversations", conversation, "topics"], { query }, options);
  }

  /**
   * Store a message and add it to its topic. A message can open a new topic, or make an inactive (faded) topic active
   * again. Returns the topic. Needs the scopes `read` and `write`.
   */
  addToTopic(conversation: string, body: SaidIn, options: CallOptions = {}): Promise<Topic> {
    return this.#server.ask("POST", ["v1", "conversations", conversation, "topics"], { body, repeatable: true }, options);
  }

  /**
   * Get a topic's messages to send to a model: the topic's summary, if there is one, and the messages that the
   * summary does not cover. Without a topic's id, you get the messages of the conversation's current topic. If the
   * conversation has no messages yet, the result is empty. Needs the scope `read`.
   */
  topicContext(conversation: string, topic: string, query: { user?: string | null } = {}, options: CallOptions = {}): Promise<TopicContextOut> {
    return this.#server.ask("GET", ["v1", "conversations", conversation, "topics", topic, "context"], { query }, options);
  }

  /**
   * List every message of a topic, in order. To leave out messages that are part of the topic's summary, set
   * `include_compressed` to false. Needs the scope `read`.
   */
  topicHistory(conversation: string, topic: string, query: { include_compressed?: boolean; user?: string | null } = {}, options: CallOptions = {}): Promise<TopicMessage[]> {
    return this.#server.ask("GET", ["v1", "conversations", conversation, "topics", topic, "messages"], { query }, options);
  }

  /**
   * Get the figures of a topic: counts of messages, importance and age. Without a topic's id, you get the figures of
   * the conversation's current topic. Needs the scope `read`.
   */
  topicStats(conversation: string, topic: string, query: { user?: string | null } = {}, options: CallOptions = {}): Promise<TopicStats> {
    return this.#server.ask("GET", ["v1", "conversations", conversation, "topics", topic, "stats"], { query }, options);
  }

  /**
   * Find the topics in this conversation that match a query, best match first, including faded topics. The query is
   * compared with each topic's messages, title and tags. Needs the scope `read`.
   */
  searchTopics(conversation: string, query: { query: string; limit?: number; user?: string | null }, options: CallOptions = {}): Promise<TopicHit[]> {
    return this.#server.ask("GET", ["v1", "conversations", conversation, "topic-search"], { query }, options);
  }

  /**
   * Merge two topics: the topic `other` becomes part of the first topic. Returns the first topic. `undo_merge`
   * separates two merged topics again. Needs the scopes `read` and `write`.
   */
  mergeTopics(conversation: string, topic: string, body: MergeTopicsIn, options: CallOptions = {}): Promise<Topic> {
    return this.#server.ask("POST", ["v1", "conversations", conversation, "topics", topic, "merge"], { body, repeatable: true }, options);
  }

  /**
   * Undo the merge of a topic into another topic, whether the merge was automatic or made by `merge_topics`. After
   * `undo_merge`, the two topics are not merged automatically again. Returns the separated topic. Needs the scopes
   * `read` and `write`.
   */
  unmergeTopic(conversation: string, topic: string, body: UnmergeTopicIn = {}, options: CallOptions = {}): Promise<Topic> {
    return this.#server.ask("POST", ["v1", "conversations", conversation, "topics", topic, "unmerge"], { body, repeatable: true }, options);
  }

  /**
   * In a group chat, move messages, with the replies to them, out of their thread into a new thread. Returns the new
   * thread. After the split, new messages may join either of the two threads. To reverse a split, join the new and
   * the old thread with `merge_topics`. Needs the scopes `read` and `write`.
   */
  splitTopic(conversation: string, topic: string, body: SplitTopicIn, options: CallOptions = {}): Promise<Topic> {
    return this.#server.ask("POST", ["v1", "conversations", conversation, "topics", topic, "split"], { body, repeatable: true }, options);
  }

  /**
   * Add your own tags to a topic or, with `remove`, remove the given tags from the topic. `search_topics` finds
   * topics by their tags. A rebuild of the topics keeps your tags. Needs the scopes `read` and `write`.
   */
  tagTopic(conversation: string, topic: string, body: TagTopicIn, options: CallOptions = {}): Promise<Topic> {
    return this.#server.ask("POST", ["v1", "conversations", conversation, "topics", topic, "tags"], { body, repeatable: true }, options);
  }

  /**
   * Rate a topic: 1 if the topic matters, -1 if it does not. The rating changes the topic's importance, which affects
   * how long the topic stays active. Needs the scopes `read` and `write`.
   */
  rateTopic(conversation: string, topic: string, body: RateTopicIn, options: CallOptions = {}): Promise<Topic> {
    return this.#server.ask("POST", ["v1", "conversations", conversation, "topics", topic, "feedback"], { body, repeatable: true }, options);
  }

  /** Permanently remove a document. The result says whether the document existed. Needs the scope `write`. */
  removeDocument(space: string, key: string, query: { namespace: string[] }, options: CallOptions = {}): Promise<RemoveDocumentOut> {
    return this.#server.ask("DELETE", ["v1", "spaces", space, "documents", key], { query, repeatable: true }, options);
  }

  /**
   * Get the document that is stored under a key. If no document is stored under the key, the status is 404. Needs the
   * scope `read`.
   */
  document(space: string, key: string, query: { namespace: string[] }, options: CallOptions = {}): Promise<Document> {
    return this.#server.ask("GET", ["v1", "spaces", space, "documents", key], { query }, options);
  }

  /**
   * Store a JSON object under a key, and replace any document that is stored under the key. Needs the scope `write`.
   */
  putDocument(space: string, key: string, body: DocumentIn, query: { namespace: string[] }, options: CallOptions = {}): Promise<Document> {
    return this.#server.ask("PUT", ["v1", "spaces", space, "documents", key], { body, query, repeatable: true }, options);
  }

  /**
   * Search the documents of a namespace and of the namespaces below it. With a `query`, the documents nearest to the
   * query in meaning and words come first. Without a `query`, the most recently changed documents come first. Needs
   * the scope `read`.
   */
  searchDocuments(space: string, body: SearchDocumentsIn = {}, options: CallOptions = {}): Promise<Document[]> {
    return this.#server.ask("POST", ["v1", "spaces", space, "document-search"], { body }, options);
  }

  /**
   * Get the API key's own space. If a request names no space, the server uses the API key's own space. Needs the
   * scope `read`.
   */
  space(options: CallOptions = {}): Promise<SpaceOut> {
    return this.#server.ask("GET", ["v1", "space"], {}, options);
  }

  /**
   * Wait until every view (derived data, such as facts) is up to date with the log. If the views are not up to date
   * in time, the status is 409. To an API key that opens all spaces, this error also says which views are behind, and
   * why. Needs the scope `write`.
   */
  settle(body: SettleIn = {}, options: CallOptions = {}): Promise<Settled> {
    return this.#server.ask("POST", ["v1", "settle"], { body }, options);
  }

  /**
   * Export every message of a user's memory, in order, as JSON Lines that `everword import` reads. With `salvage`,
   * the export skips messages that cannot be read, instead of failing. Unless `secrets` is true, the export contains
   * placeholders instead of secrets, such as API keys. Needs the scope `read`.
   */
  exportUser(user: string, query: { salvage?: boolean; secrets?: boolean } = {}, options: CallOptions = {}): AsyncGenerator<string, void, undefined> {
    return this.#server.lines("GET", ["v1", "users", user, "export"], { query }, options, "application/x-ndjson");
  }

  /**
   * Export every message of a space, of a user's memory or of a conversation, in order, one message per line.
   * `salvage` and `secrets` work as in `GET /v1/users/{id}/export`. Needs the scope `read`.
   */
  export(query: { user?: string | null; conversation?: string | null; salvage?: boolean; secrets?: boolean } = {}, options: CallOptions = {}): AsyncGenerator<string, void, undefined> {
    return this.#server.lines("GET", ["v1", "export"], { query }, options, "application/x-ndjson");
  }

  /**
   * List the documents of one namespace, ordered by key. The answer also has a `tag`, which changes when any document
   * of the namespace changes. Needs the scope `read`.
   */
  documents(space: string, query: { namespace: string[]; cursor?: string | null; limit?: number }, options: CallOptions = {}): Promise<DocumentPage> {
    return this.#server.ask("GET", ["v1", "spaces", space, "documents"], { query }, options);
  }

  /**
   * Store and remove several documents in one transaction. With a `tag`, everword makes the changes only if the
   * namespace has not changed since you read this tag; otherwise, the status is 412. Needs the scope `write`.
   */
  changeDocuments(space: string, body: ChangesIn, options: CallOptions = {}): Promise<Document[]> {
    return this.#server.ask("POST", ["v1", "spaces", space, "documents"], { body, repeatable: true }, options);
  }

  /** List the namespaces that have documents, in order. Needs the scope `read`. */
  namespaces(space: string, query: { prefix?: string[]; suffix?: string[]; depth?: number | null; cursor?: string | null; limit?: number } = {}, options: CallOptions = {}): Promise<NamespacePage> {
    return this.#server.ask("GET", ["v1", "spaces", space, "namespaces"], { query }, options);
  }
}
