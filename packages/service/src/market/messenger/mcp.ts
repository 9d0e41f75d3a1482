import { z } from 'zod'
import { momentShown } from '../../kit/fields.ts'
import { time } from '../../kit/json-values.ts'
import type { Tool } from '../../kit/tool.ts'
import { id } from '../../kit/tool-fields.ts'
import { twoStepTool } from '../commitments/mcp.ts'
import { linkMessenger, proposeLink } from './operations.ts'

export const messengerTools: Tool[] = [
  twoStepTool({
    name: 'link_messenger',
    title: "Link the owner's wallet to a Telegram chat",
    description:
      'Makes a one-time link between the wallet that owns the agent and a Telegram chat, for reminders and to confirm purchases. Next: show deep_link to the owner, who opens it before expires_at.',
    details: `Its owner presses Start in the chat; nothing is linked until then. Every signed commitment works once: for another link begin again with the first call.

Errors: "telegram linking not enabled": this service has no chat. "commitment nonce already used" or "commitment expired": begin again. "signature not from agent owner": sign with the key that owns the agent. "agent N not found on-chain": check agent_id and chain_id. "mint link code": no link was made and the commitment is used up; begin again.`,
    hasPlainErrors: true,
    commitment: 'TelegramLinkCommitment',
    signWith: 'sign_messenger_link_commitment',
    status: 'commitment',
    fields: { agent_id: id('An agent of the wallet to link.') },
    done: z.object({
      status: z.literal('linked'),
      deep_link: z.string().meta({ about: 'For the owner to open.' }),
      expires_at: momentShown.meta({ about: 'Until when the link works.' }),
    }),
    propose: ({ context, chain, input }) => proposeLink(context, chain, input.agent_id),
    async complete({ context, chain, input }, proof) {
      const { deepLink, expiresAt } = await linkMessenger(context, chain, input.agent_id, proof)
      return { status: 'linked', deep_link: deepLink, expires_at: time(expiresAt) }
    },
  }),
]
