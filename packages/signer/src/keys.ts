import type { PrivateKeyAccount } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { Refused } from './refused.ts'

const HEX_KEY = /^(?:0x)?([0-9a-fA-F]{64})$/

/** A private key that nothing prints. Whether it is one shows when it is first used. */
export class AgentKey {
  readonly #text: string

  constructor(text: string) {
    this.#text = text
  }

  account(): PrivateKeyAccount {
    const digits = HEX_KEY.exec(this.#text)?.[1]
    try {
      if (digits) return privateKeyToAccount(`0x${digits}`)
    } catch {
      // What the library says may quote the key.
    }
    throw new Refused('sign: the configured key is no secp256k1 private key (0x and 64 hex digits)')
  }
}

export interface Keys {
  /** The key of an agent, or the one for agents that have none. */
  ofAgent(agentId: bigint | string): AgentKey
  /** For purchases in nobody's name. */
  ofNoAgent(): AgentKey
  /** Those with a key of their own. */
  agents: string[]
  fallback: AgentKey | undefined
}

export function createKeys(byAgent: ReadonlyMap<string, AgentKey>, fallback: AgentKey | undefined): Keys {
  return {
    agents: [...byAgent.keys()],
    fallback,
    ofAgent(agentId) {
      const key = byAgent.get(String(agentId)) ?? fallback
      if (!key) throw new Refused(`no key for agent ${agentId}`)
      return key
    },
    ofNoAgent() {
      const [only, ...others] = byAgent.values()
      const key = fallback ?? (others.length === 0 ? only : undefined)
      if (key) return key
      throw new Refused(
        'no key for a purchase without an agent: set AGENT_PRIVATE_KEY, or name the buying agent as agent_id',
      )
    },
  }
}
