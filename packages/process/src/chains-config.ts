import { readFileSync } from 'node:fs'
import { z } from 'zod'
import { at, Chain, type ChainConfig } from './chain-schema.ts'
import { readDeployments } from './deployments.ts'
import { type Env, textOf } from './environment.ts'

export type { ChainConfig } from './chain-schema.ts'

const Chains = z
  .array(Chain, 'expected an array of chains')
  .min(1, 'expected at least one chain')
  .superRefine((chains, context) => {
    for (const [index, { chainId }] of chains.entries()) {
      if (chains.findIndex((other) => other.chainId === chainId) < index) {
        context.addIssue({
          code: 'custom',
          path: [index, 'chainId'],
          message: `chain ${chainId} is listed twice`,
        })
      }
    }
  })

/**
 * Reads CHAINS or CHAINS_FILE, then DEPLOYMENTS. Returns undefined when the chains cannot be used, and adds the reasons to `problems`.
 */
export function readChains(env: Env, problems: string[]): [ChainConfig, ...ChainConfig[]] | undefined {
  const before = problems.length
  const listed = readListed(env, problems)
  const deployed = readDeployments(env, problems)
  for (const [index, { chainId }] of deployed.entries()) {
    const others = [...(listed ?? []), ...deployed.slice(0, index)]
    if (others.some((other) => other.chainId === chainId)) {
      problems.push(`DEPLOYMENTS: chain ${chainId} is configured twice`)
    }
  }
  const [first, ...others] = [...(listed ?? []), ...deployed]
  if (!first && problems.length === before) {
    problems.push(
      'CHAINS: no chain is configured; set CHAINS to a JSON array of chains, CHAINS_FILE to a file with one, or DEPLOYMENTS to address books',
    )
  }
  return first && problems.length === before ? [first, ...others] : undefined
}

/** The chains of CHAINS or CHAINS_FILE. */
function readListed(env: Env, problems: string[]): ChainConfig[] | undefined {
  const inline = textOf(env, 'CHAINS')
  const file = textOf(env, 'CHAINS_FILE')
  if (inline !== undefined && file !== undefined) {
    problems.push('CHAINS_FILE: set either this or CHAINS, not both')
    return undefined
  }
  if (inline !== undefined) return parseChains('CHAINS', inline, problems)
  if (file === undefined) return undefined
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (error) {
    problems.push(`CHAINS_FILE: ${file} cannot be read (${(error as NodeJS.ErrnoException).code})`)
    return undefined
  }
  return parseChains('CHAINS_FILE', text, problems)
}

function parseChains(source: string, text: string, problems: string[]): ChainConfig[] | undefined {
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch {
    // The parser's own message would quote the text, which can include API keys in RPC URLs.
    problems.push(`${source}: not valid JSON`)
    return undefined
  }
  const { data, error } = Chains.safeParse(json)
  for (const { path, message } of error?.issues ?? []) problems.push(`${source}${at(path)}: ${message}`)
  return data
}
