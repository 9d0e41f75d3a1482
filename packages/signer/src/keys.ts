import type { PrivateKeyAccount } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { Refused } from './refused.ts'

const HEX_KEY = /^(?:0x)?([0-9a-fA-F]{64})$/

/** The account of a private key; undefined when the text is not a private key. The key is never printed. */
export function readKey(text: string): PrivateKeyAccount | undefined {
  const digits = HEX_KEY.exec(text)?.[1]
  try {
    return digits ? privateKeyToAccount(`0x${digits}`) : undefined
  } catch {
    // The library's error may quote the key.
    return undefined
  }
}

export interface Keys {
  /** The account of an agent, or the default account when the agent has no key of its own. */
  ofAgent(agentId: bigint | string): PrivateKeyAccount
  /** The account for purchases without an agent. */
  ofNoAgent(): PrivateKeyAccount
  /** The agents with a key of their own. */
  agents: string[]
  fallback: PrivateKeyAccount | undefined
  all: PrivateKeyAccount[]
}

export function createKeys(
  byAgent: ReadonlyMap<string, PrivateKeyAccount>,
  fallback: PrivateKeyAccount | undefined,
): Keys {
  return {
    agents: [...byAgent.keys()],
    fallback,
    all: [...byAgent.values(), ...(fallback ? [fallback] : [])],
    ofAgent(agentId) {
      const account = byAgent.get(String(agentId)) ?? fallback
      if (!account) throw new Refused(`no key for agent ${agentId}`)
      return account
    },
    ofNoAgent() {
      const [only, ...others] = byAgent.values()
      const account = fallback ?? (others.length === 0 ? only : undefined)
      if (account) return account
      throw new Refused(
        'no key for a purchase without an agent: set AGENT_PRIVATE_KEY, or name the buying agent as agent_id',
      )
    },
  }
}
