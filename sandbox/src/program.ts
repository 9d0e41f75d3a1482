// The configuration that all programs of the sandbox share.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Addresses } from '@referrer/contracts/deploy'
import type { AccountRole } from '@referrer/contracts/local'
import { HOST } from './ports.ts'
import { CHAIN_SETTINGS, SERVICE_SETTINGS } from './settings.ts'
import type { SandboxAccount } from './state.ts'

/** A chain with the market's contracts. */
export interface MarketChain {
  rpcUrl: string
  chainId: number
  contracts: Addresses
}

/** What they all work on. */
export interface World extends MarketChain {
  /** Where the market is on a second chain, too. */
  second?: MarketChain | undefined
  accounts: SandboxAccount[]
  logLevel: string
  /** Whether texts get vectors; without them discovery goes by words alone. */
  isEmbedding: boolean
}

const PATIENCE_MS = 120_000

export function environmentOf(
  world: World,
  { port, databaseUrl }: { port: number; databaseUrl: string },
): Record<string, string> {
  const { ALLOW_PRIVATE_HOSTS, LIMITS } = SERVICE_SETTINGS
  return {
    DATABASE_URL: databaseUrl,
    HOST,
    PORT: String(port),
    LOG_LEVEL: world.logLevel,
    CHAINS: JSON.stringify(
      chainsOf(world).map(({ rpcUrl, chainId, contracts }) => ({
        ...{ chainId, rpcUrls: [rpcUrl], contracts, ...CHAIN_SETTINGS },
      })),
    ),
    ALLOW_PRIVATE_HOSTS,
    LIMITS,
  }
}

export const chainsOf = (world: World): MarketChain[] => [world, ...(world.second ? [world.second] : [])]

export function accountOf({ accounts }: Pick<World, 'accounts'>, role: AccountRole): SandboxAccount {
  const account = accounts.find((one) => one.role === role)
  if (!account) throw new Error(`no account has the role ${role}`)
  return account
}

/** Waits until a program is ready; stops it when it is not in time. */
export async function whenReady<P extends { url: string; stop(): Promise<unknown> }>(
  name: string,
  program: P,
): Promise<P> {
  const deadline = Date.now() + PATIENCE_MS
  try {
    for (;;) {
      const response = await fetch(`${program.url}/readyz`)
      const said = await response.text()
      if (response.ok) return program
      if (Date.now() > deadline)
        throw new Error(`the ${name} is not ready after ${PATIENCE_MS / 1_000} s: ${said}`)
      await sleep(100)
    }
  } catch (error) {
    await program.stop()
    throw error
  }
}
