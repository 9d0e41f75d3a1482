import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { CONTRACTS, chainsJson } from './chains.fixture.ts'
import { readChains } from './chains-config.ts'

function problemsOf(env: Record<string, string>): string[] {
  const problems: string[] = []
  expect(readChains(env, problems)).toBeUndefined()
  return problems
}

function read(env: Record<string, string>) {
  const problems: string[] = []
  const chains = readChains(env, problems)
  expect(problems).toEqual([])
  return chains
}

describe('the chains of an environment', () => {
  it('need little more than where the nodes and the contracts are', () => {
    expect(read({ CHAINS: chainsJson({}) })).toMatchObject([
      {
        chainId: 8453,
        startBlock: 0n,
        finalityDepth: 64,
        confirmations: 5,
        maxFeePerGasGwei: 100,
        pollIntervalMs: 500,
        leastAmount: 10_000n,
      },
    ])
  })

  it('may settle smaller or larger amounts, in whole base units', () => {
    expect(read({ CHAINS: chainsJson({ leastAmount: 0 }) })).toMatchObject([{ leastAmount: 0n }])
    expect(problemsOf({ CHAINS: chainsJson({ leastAmount: -1 }) })).toEqual([
      'CHAINS[0].leastAmount: expected 0 or more',
    ])
    expect(problemsOf({ CHAINS: chainsJson({ leastAmount: 0.5 }) })).toEqual([
      'CHAINS[0].leastAmount: expected a whole number from 0 up',
    ])
  })

  it("show the feedback of the network's own registry, of another, or of none", () => {
    const registryOf = (chainId: number, contracts: object) =>
      read({ CHAINS: chainsJson({ chainId, contracts: { ...CONTRACTS, ...contracts } }) })?.[0].contracts
    const ofBase = { IdentityRegistry: '0x8004A169FB4a3325136EB29fA0ceB6D2e539a432' }
    expect(registryOf(8_453, ofBase)).toHaveProperty(
      'ReputationRegistry',
      '0x8004BAa17C55a88189AE136b182e5fdA19dE9b63',
    )
    expect(
      registryOf(84_532, { IdentityRegistry: '0x8004A818BFB912233c491871b3d84c89A494BD9e' }),
    ).toHaveProperty('ReputationRegistry', '0x8004B663056A597Dffe9eCcC1965A193B7388713')
    // Ids of other identities would name other agents there.
    expect(registryOf(8_453, {})).not.toHaveProperty('ReputationRegistry')
    expect(registryOf(8_453, { ...ofBase, ReputationRegistry: null })).not.toHaveProperty(
      'ReputationRegistry',
    )
    expect(registryOf(31_337, { ReputationRegistry: CONTRACTS.USDC })).toHaveProperty(
      'ReputationRegistry',
      CONTRACTS.USDC,
    )
  })

  it('are missing, and then it is said what to set', () => {
    expect(problemsOf({ CHAINS: ' ' })).toEqual([
      'CHAINS: no chain is configured; set CHAINS to a JSON array of chains, CHAINS_FILE to a file with one, or DEPLOYMENTS to address books',
    ])
    expect(problemsOf({ CHAINS: '[]' })).toEqual(['CHAINS: expected at least one chain'])
  })

  it('may be in a file, the first being the default', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'referrer-chains-'))
    const file = join(directory, 'chains.json')
    await writeFile(file, chainsJson({ chainId: 84532 }, { chainId: 8453 }))
    expect(read({ CHAINS_FILE: file })?.map(({ chainId }) => chainId)).toEqual([84532, 8453])
    expect(problemsOf({ CHAINS_FILE: file, CHAINS: chainsJson({}) })).toEqual([
      'CHAINS_FILE: set either this or CHAINS, not both',
    ])
    await writeFile(file, '[{"rpcUrls": ["https://rpc.example/hunter2"')
    expect(problemsOf({ CHAINS_FILE: file })).toEqual(['CHAINS_FILE: not valid JSON'])
    await rm(directory, { recursive: true })
    expect(problemsOf({ CHAINS_FILE: file })).toEqual([`CHAINS_FILE: ${file} cannot be read (ENOENT)`])
  })

  it('say which field of which chain is wrong', () => {
    const wrong = { ...CONTRACTS, USDC: `0xAB${'cd'.repeat(19)}`, Router: '0x' }
    const rpcUrls = ['ws://x', 'http://me:100%@x']
    expect(
      problemsOf({ CHAINS: chainsJson({ contracts: wrong, rpcUrls, startBlock: -1, finality: 3 }) }),
    ).toEqual([
      'CHAINS[0].rpcUrls[0]: expected an http or https URL, special characters of a password percent-encoded',
      'CHAINS[0].rpcUrls[1]: expected an http or https URL, special characters of a password percent-encoded',
      'CHAINS[0].contracts.USDC: expected an address: 0x and 40 hex digits, all lower case or with the right checksum',
      'CHAINS[0].contracts: unknown field Router',
      'CHAINS[0].startBlock: expected 0 or more',
      'CHAINS[0]: unknown field finality',
    ])
    expect(problemsOf({ CHAINS: chainsJson({ chainId: 1 }, { chainId: 2 }, { chainId: 1 }) })).toEqual([
      'CHAINS[2].chainId: chain 1 is listed twice',
    ])
    expect(problemsOf({ CHAINS: '{}' })).toEqual(['CHAINS: expected an array of chains'])
  })

  it('have no polling interval that is too long for a timer', () => {
    expect(problemsOf({ CHAINS: chainsJson({ pollIntervalMs: 2 ** 31 }) })).toEqual([
      'CHAINS[0].pollIntervalMs: expected 3600000 or less',
    ])
  })

  it('have one address or several generations of the contracts that can be replaced', () => {
    const [old, current] = ['0x'.padEnd(42, '1'), '0x'.padEnd(42, '2')]
    const replaced = { ...CONTRACTS, CommissionEscrow: [old, current], SplitRouter: current }
    expect(read({ CHAINS: chainsJson({ contracts: replaced }) })?.[0].contracts).toMatchObject({
      CommissionEscrow: [old, current],
      SplitRouter: [current],
    })
  })

  it('tell the keys in the URLs of nodes only to those who ask', () => {
    const url = read({ CHAINS: chainsJson({}) })?.[0].rpcUrls[0]
    expect(`${url}`).toBe('[secret]')
    expect(url?.reveal()).toBe('https://user:hunter2@rpc.example/hunter2')
  })
})
