import type { Hex, LocalAccount } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import type { KeyStore } from './key-store.ts'
import { Refused } from './refused.ts'

const HEX_KEY = /^(?:0x)?([0-9a-fA-F]{64})$/

/** The account of a private key; undefined when the text is not a private key. The key is never printed. */
export function readKey(text: string): LocalAccount | undefined {
  const digits = HEX_KEY.exec(text)?.[1]
  try {
    return digits ? privateKeyToAccount(`0x${digits}`) : undefined
  } catch {
    // The library's error may quote the key.
    return undefined
  }
}

export const readPrivateKey = (text: string): Hex | undefined =>
  readKey(text) ? `0x${text.replace(/^0x/, '')}` : undefined

export interface Keys {
  /** The account of an agent, or the default account when the agent has no key of its own. */
  ofAgent(agentId: bigint | string): LocalAccount
  /** The account for purchases without an agent. */
  ofNoAgent(): LocalAccount
  /** The agents with a key of their own. */
  readonly agents: string[]
  fallback: LocalAccount | undefined
  readonly all: LocalAccount[]
}

/** The keys of the environment come before those of the key store, which setup may add to while the program runs. */
export function createKeys(
  byAgent: ReadonlyMap<string, LocalAccount>,
  fallback: LocalAccount | undefined,
  store: KeyStore,
): Keys {
  return {
    get agents() {
      return [...new Set([...byAgent.keys(), ...store.agents().map(({ agentId }) => agentId)])]
    },
    fallback,
    get all() {
      return [...byAgent.values(), ...(fallback ? [fallback] : []), ...store.accounts()]
    },
    ofAgent(agentId) {
      const account = byAgent.get(String(agentId)) ?? store.ofAgent(String(agentId)) ?? fallback
      if (!account) throw new Refused(`no key for agent ${agentId}`)
      return account
    },
    ofNoAgent() {
      if (fallback) return fallback
      const [only, ...others] = [...byAgent.values(), ...store.accounts()]
      if (only && others.length === 0) return only
      throw new Refused(
        'no key for a purchase without an agent: set AGENT_PRIVATE_KEY, or name the buying agent as agent_id',
      )
    },
  }
}
