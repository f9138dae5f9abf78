// The client against a real server: `make test-typescript` starts one, and says where it and the compiled client are.

import assert from "node:assert/strict";
import test from "node:test";

const { EVERWORD_TEST_URL: url, EVERWORD_TEST_KEY: key, EVERWORD_TEST_CLIENT: path } = process.env;
const { Everword, EverwordError, everyItem } = await import(path);
const memory = new Everword(url, { key });

const say = (id, content, options) => memory.addMessages(id, { user: "alex", messages: [{ role: "user", content }] }, options);
const lose = count => {
  const calls = [];
  const loser = async (address, init) => {
    calls.push(init.headers);
    const answer = await fetch(address, init);
    if (calls.length <= count) throw new TypeError("the answer was lost");
    return answer;
  };
  return { calls, memory: new Everword(url, { key, fetch: loser }) };
};

test("what is said is found, with its facts and a context", async () => {
  const [added] = await say("demo", "I live in Oslo.");
  assert.equal(added.new, true);
  assert.equal(added.message.content, "I live in Oslo.");
  await memory.settle();
  const facts = [];
  for await (const fact of everyItem(cursor => memory.facts("alex", { cursor, limit: 1 }))) facts.push(fact.value);
  assert.deepEqual(facts, ["Oslo"]);
  const [hit] = await memory.search({ query: "Where do I live?", user: "alex" });
  assert.equal(hit.message.id, added.message.id);
  const context = await memory.context("demo", { user: "alex", text: "Where do I live?", budget: "compact" });
  assert.ok(JSON.stringify(context.messages).includes("Oslo"));
  assert.ok(context.receipt.tokens > 0);
});

test("a list comes in pages", async () => {
  for (let turn = 1; turn <= 5; turn++) await say("pages", `Message number ${turn}`);
  const turns = [];
  for await (const message of everyItem(cursor => memory.history("pages", { cursor, limit: 2 }))) turns.push(message.turn);
  assert.deepEqual(turns.sort(), [1, 2, 3, 4, 5]);
});

test("ids with any character stay one id", async () => {
  for (const id of ["a/b", "ünï ☂", "x?y#z", "%2e%2e"]) {
    await say(id, "Hello there");
    assert.equal((await memory.conversation(id)).id, id);
  }
  await assert.rejects(say("..", "Hello"), { code: "invalid_input" });
});

test("a reply streams, and its end has the whole reply", async () => {
  const stream = memory.stream("streamed", { user: "alex", text: "Where do I live?" });
  const pieces = [];
  let step = await stream.next();
  for (; !step.done; step = await stream.next()) pieces.push(step.value);
  assert.equal(pieces.join(""), "You live in Oslo.");
  assert.ok(pieces.length > 1);
  assert.equal(step.value.text, "You live in Oslo.");
  assert.equal((await memory.reply("streamed", { user: "alex", text: "And where is that?" })).text, "In Norway.");
});

test("a stream that is left ends the request", async () => {
  for await (const piece of memory.stream("left", { user: "alex", text: "Tell me more" })) {
    assert.ok(piece);
    break;
  }
});

test("a write whose answer is lost is sent again, and done once", async () => {
  const { calls, memory: losing } = lose(2);
  const [added] = await losing.addMessages("lost", { user: "alex", messages: [{ role: "user", content: "Only once" }] });
  assert.equal(calls.length, 3);
  assert.equal(new Set(calls.map(headers => headers["idempotency-key"])).size, 1);
  assert.equal((await memory.history("lost")).items.length, 1);
  assert.equal(added.message.turn, 1);
  const own = { idempotencyKey: "mine" };
  await say("own", "With a key of my own", own);
  await say("own", "With a key of my own", own);
  assert.equal((await memory.history("own")).items.length, 1);
});

test("errors say what is wrong", async () => {
  await assert.rejects(memory.fact("alex", "none"), error => {
    assert.ok(error instanceof EverwordError);
    assert.deepEqual([error.code, error.status], ["not_found", 404]);
    return true;
  });
  await assert.rejects(memory.search({ query: "x", limit: -1 }), error => {
    assert.equal(error.code, "invalid_input");
    assert.ok(error.fields[0].field.includes("limit"));
    return true;
  });
  await assert.rejects(new Everword(url, { key: "wrong" }).stats(), { status: 401 });
  const nobody = new Everword("http://127.0.0.1:9", { timeout: 2_000 });
  await assert.rejects(nobody.stats(), { code: "unreachable", status: 0 });
  assert.throws(() => new Everword("127.0.0.1"), TypeError);
});

test("a call can be stopped", async () => {
  const signal = AbortSignal.abort(new Error("not needed any more"));
  await assert.rejects(memory.stats({ signal }), { message: "not needed any more" });
});

test("documents and exports", async () => {
  await memory.putDocument("default", "pets", { value: { text: "Alex has an otter" } }, { namespace: ["notes", "alex"] });
  assert.equal((await memory.document("default", "pets", { namespace: ["notes", "alex"] })).value.text, "Alex has an otter");
  const lines = [];
  for await (const line of memory.exportUser("alex")) lines.push(JSON.parse(line));
  assert.ok(lines.some(line => line.content === "I live in Oslo."));
});

test("nothing crosses a space", async () => {
  await assert.rejects(say("demo", "Hello", { space: "other" }), { status: 403 });
});
