// Written by `everword hook install opencode`: passes OpenCode's events to the memory of this project.
const COMMAND = "@COMMAND@"

async function tell(event, payload) {
  try {
    const child = Bun.spawn(["sh", "-c", COMMAND.replace("EVENT", event)], { stdin: "pipe", stdout: "pipe", stderr: "ignore" })
    child.stdin.write(JSON.stringify(payload))
    child.stdin.end()
    const printed = await new Response(child.stdout).text()
    return printed ? JSON.parse(printed).hookSpecificOutput.additionalContext : ""
  } catch {
    return ""
  }
}

export const Everword = async ({ directory }) => {
  const known = {}
  const replies = {}
  const payload = (session, more) => ({ session_id: session, cwd: directory, ...more })
  return {
    "chat.message": async (input, output) => {
      const prompt = output.parts.filter((part) => part.type === "text" && !part.synthetic).map((part) => part.text).join("\n")
      known[input.sessionID] = await tell("prompt", payload(input.sessionID, { prompt }))
    },
    "experimental.chat.system.transform": async (input, output) => {
      if (known[input.sessionID]) output.system.push(known[input.sessionID])
    },
    "tool.execute.after": async (input, output) => {
      const tool_input = output.args ?? input.args ?? {}
      await tell("tool", payload(input.sessionID, { tool_name: input.tool, tool_input: { ...tool_input, file_path: tool_input.filePath } }))
    },
    event: async ({ event }) => {
      const part = event.properties?.part
      if (event.type === "message.part.updated" && part?.type === "text") replies[part.sessionID] = part.text
      if (event.type === "session.idle") {
        const session = event.properties.sessionID
        await tell("turn", payload(session, { last_assistant_message: replies[session] ?? "" }))
      }
    },
  }
}
