import { RequestSignature } from '@referrer/protocol'
import { z } from 'zod'
import { marketUrl } from '../config.ts'
import { id } from '../fields.ts'
import { jsonOf } from '../purchase/link.ts'
import { Refused } from '../refused.ts'
import { tool } from '../tool.ts'

const PATH = '/v1/messenger/link/confirm'
const MAX_BYTES = 64 * 1024

export const confirmChat = tool({
  name: 'confirm_chat',
  title: "Let the owner's chat ask for purchases",
  description:
    "Links the chat that made the code to the agent's wallet, so that purchases can be asked for there. Only with a code that the owner gives you: whoever has that chat can have the agent buy.",
  details: `The code is the end of the address that the bot answers /start with (43 characters), or /buy in a chat that gets messages only. Chat and wallet are linked, or stay so; a chat that was linked before is replaced. Errors: "invalid or expired code": have the owner send /start again. "no key for agent N": the signer has no key for it.`,
  input: z.strictObject({
    agent_id: id('The agent whose wallet the chat is for.'),
    code: z
      .string()
      .regex(/^[\w-]{43}$/, 'must be the 43 characters at the end of the address that the bot gave')
      .describe('From the bot.'),
  }),
  output: z.object({
    linked: z.literal(true),
    wallet: z.string(),
    messenger_username: z.string().optional(),
  }),
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: false },
  async handle(context, { agent_id, code }) {
    const account = context.config.keys.ofAgent(agent_id)
    const market = marketUrl(context.config)
    // What is signed names the market and the deed: without that the chat would get messages only.
    const body = JSON.stringify({ code, ...RequestSignature.nameRequest(market, 'POST', PATH) })
    const signed = await RequestSignature.sign(account, body, Math.floor(context.now() / 1_000))
    const { status, body: text } = await context
      .get(new URL(market + PATH), {
        headers: { 'content-type': 'application/json', ...RequestSignature.serialize(signed) },
        body,
        timeoutMs: context.timeouts.answer,
        maxBytes: MAX_BYTES,
        isOurs: true,
      })
      .catch(() => {
        throw new Refused('the marketplace at REFERRER_AGENT_MCP_URL does not answer; try again later')
      })
    const answer = jsonOf(text) as { error?: unknown; messenger_username?: unknown } | undefined
    if (status !== 200)
      throw new Refused(`the marketplace answers ${status}: ${String(answer?.error).slice(0, 200)}`)
    const name = answer?.messenger_username
    return {
      linked: true as const,
      wallet: account.address,
      ...(typeof name === 'string' && { messenger_username: name.slice(0, 100) }),
    }
  },
})
