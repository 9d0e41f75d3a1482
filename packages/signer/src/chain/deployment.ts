// The market of the signer: its contracts, as the chain names them. Read at first use, when the environment does not name everything.
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { type Deployment, DeploymentError, readDeployment } from '@referrer/client/chain'
import { type Address, createPublicClient, http, isAddressEqual, keccak256, stringToBytes } from 'viem'
import { z } from 'zod'
import { type Config, need } from '../config.ts'
import type { Context } from '../context.ts'
import { within } from '../fetch-within.ts'
import { Refused } from '../refused.ts'
import { readText, writeSafely } from '../safe-files.ts'

/** The market may replace a contract while the signer runs. */
const KEEP_MS = 10 * 60_000

const remembered = new WeakMap<Context, { readAt: number; deployment: Promise<Deployment> }>()

type Told = Required<Pick<Config, 'CHAIN_ID' | 'REVIEW_REGISTRY_ADDRESS' | 'COMMISSION_ESCROW_ADDRESS'>>

/** Settings that the environment names, or else the market and the chain. */
export async function settingsOf<K extends keyof Told>(
  context: Context,
  ...names: K[]
): Promise<Pick<Told, K>> {
  const { config } = context
  if (names.every((name) => config[name] !== undefined)) return config as Pick<Told, K>
  return toldBy(await deploymentOf(context))
}

const toldBy = ({ chainId, contracts }: Deployment): Told => ({
  CHAIN_ID: chainId,
  REVIEW_REGISTRY_ADDRESS: contracts.ReviewRegistry,
  COMMISSION_ESCROW_ADDRESS: contracts.CommissionEscrow,
})

export function deploymentOf(context: Context): Promise<Deployment> {
  const found = remembered.get(context)
  if (found && context.now() - found.readAt < KEEP_MS) return found.deployment
  const deployment = read(context)
  remembered.set(context, { readAt: context.now(), deployment })
  deployment.catch(() => forgetDeployment(context))
  return deployment
}

export const forgetDeployment = (context: Context): void => void remembered.delete(context)

async function read({ config, timeouts }: Context): Promise<Deployment> {
  const settings = need(config, 'BASE_RPC_URL', 'REFERRER_AGENT_MCP_URL')
  const fetchFn = within(timeouts.answer)
  const transport = http(settings.BASE_RPC_URL, { timeout: timeouts.answer, retryCount: 1, fetchFn })
  const deployment = await readDeployment(createPublicClient({ transport }), {
    marketUrl: settings.REFERRER_AGENT_MCP_URL,
    addressRegistry: config.ADDRESS_REGISTRY,
    fetch: fetchFn,
  }).catch((error: unknown) => {
    throw error instanceof DeploymentError ? new Refused(error.message) : error
  })
  requireAsSet(config, deployment)
  await requireSameRegistry(config, deployment)
  return deployment
}

function requireAsSet(config: Config, deployment: Deployment): void {
  for (const [name, told] of Object.entries(toldBy(deployment))) {
    const set = config[name as keyof Told]
    if (set !== undefined && set !== told) {
      throw new Refused(
        `${name} is ${set}, and that of the market at ${deployment.marketUrl} is ${told}: correct it, or leave it out`,
      )
    }
  }
}

const Trusted = z.object({ addressRegistry: z.string().transform((text) => text as Address) })

/** The address registry of a market is trusted on first use: a market that later names another one may have been taken over. */
async function requireSameRegistry(
  { SIGNER_STATE_DIR: stateDir, ADDRESS_REGISTRY: pinned }: Config,
  { marketUrl, chainId, contracts: { AddressRegistry: addressRegistry } }: Deployment,
): Promise<void> {
  const folder = join(stateDir, 'markets')
  const path = join(folder, `${chainId}-${keccak256(stringToBytes(marketUrl)).slice(2, 18)}.json`)
  const text = await readText(path)
  const trusted = text === undefined ? undefined : trustedIn(text, path)
  if (trusted && isAddressEqual(trusted, addressRegistry)) return
  if (trusted && !pinned) {
    throw new Refused(
      `the market at ${marketUrl} had the address registry ${trusted}, and now has ${addressRegistry}: find out why before you use it; to accept, set ADDRESS_REGISTRY=${addressRegistry}`,
    )
  }
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 })
    await writeSafely(folder, path, `${JSON.stringify({ marketUrl, chainId, addressRegistry }, null, 2)}\n`)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw new Refused(
      `nothing can be written in ${folder} (${code}): set SIGNER_STATE_DIR to a folder of yours`,
    )
  }
}

function trustedIn(text: string, path: string): Address {
  try {
    return Trusted.parse(JSON.parse(text)).addressRegistry
  } catch {
    throw new Refused(`${path} cannot be read: remove it once you trust the market anew`)
  }
}
