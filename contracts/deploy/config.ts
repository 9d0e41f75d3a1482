import { readFileSync } from 'node:fs'
import { type Address, getAddress, isAddress } from 'viem'
import { z } from 'zod'

const address = z
  .string()
  .refine((text) => isAddress(text), 'must be an address')
  .transform((text): Address => getAddress(text))

const bps = z.int().min(0).max(10_000)
const day = 86_400

/** What a deployment needs to know. Everything but the parties has a default. */
export const DeploymentConfig = z.strictObject({
  chainId: z.int().positive(),
  /** Receives the platform's fees and held-back money of contradicted reviews. */
  treasury: address,
  /** Ends up as the admin of every contract with roles. Left out: the deployer stays admin. */
  admin: address.optional(),
  /** Ends up as the owner of the address registry; a timelock in production. Left out: as `admin`. */
  registryOwner: address.optional(),
  /** Seconds between the two steps of every later admin hand-over. */
  adminDelay: z
    .int()
    .min(0)
    .default(2 * day),
  settlers: z.array(address).default([]),
  oracles: z.array(address).default([]),
  publishers: z.array(address).default([]),
  guardians: z.array(address).default([]),
  /** The chain's ERC-8004 identity registry. Left out (sandbox only): one is deployed. */
  identityRegistry: address.optional(),
  /** The chain's USDC. Left out (sandbox only): a sandbox token is deployed. */
  usdc: address.optional(),
  feeBps: bps.default(1_000),
  heldBackBps: bps.default(5_000),
  windowSeconds: z
    .int()
    .positive()
    .default(60 * day),
  fallbackDelaySeconds: z
    .int()
    .positive()
    .default(10 * day),
  /** Allows deploying the stand-ins above. Never set for a public network. */
  sandbox: z.boolean().default(false),
})
export type DeploymentConfig = z.output<typeof DeploymentConfig>

/** Reads and checks a configuration; the error says which field to mend. */
export function parseDeploymentConfig(input: unknown): DeploymentConfig {
  const result = DeploymentConfig.safeParse(input)
  if (!result.success) throw new Error(`deployment config: ${z.prettifyError(result.error)}`)
  const config = result.data
  if (!config.sandbox && !(config.identityRegistry && config.usdc)) {
    throw new Error(
      'deployment config: name identityRegistry and usdc, or set "sandbox": true to deploy stand-ins',
    )
  }
  return config
}

export function readDeploymentConfig(path: string): DeploymentConfig {
  return parseDeploymentConfig(JSON.parse(readFileSync(path, 'utf8')))
}
