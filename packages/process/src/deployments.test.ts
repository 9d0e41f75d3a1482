import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { CONTRACTS, chainsJson } from './chains.fixture.ts'
import { readChains } from './chains-config.ts'

const directory = mkdtempSync(join(tmpdir(), 'referrer-deployments-'))
afterAll(() => rmSync(directory, { recursive: true }))

function book(name: string, change: object = {}): string {
  const file = join(directory, name)
  writeFileSync(file, JSON.stringify({ chainId: 84_532, startBlock: 12, contracts: CONTRACTS, ...change }))
  return file
}

function read(env: Record<string, string>) {
  const problems: string[] = []
  return { chains: readChains(env, problems), problems }
}

const URLS = { RPC_URLS_84532: 'https://one.example/hunter2, https://two.example' }

describe('address books', () => {
  it('need only nodes', () => {
    const { chains, problems } = read({ DEPLOYMENTS: book('one.json'), ...URLS })
    expect(problems).toEqual([])
    expect(chains).toMatchObject([
      { chainId: 84_532, startBlock: 12n, finalityDepth: 64, contracts: { USDC: CONTRACTS.USDC } },
    ])
    expect(chains?.[0].rpcUrls.map((url) => url.reveal())).toEqual([
      'https://one.example/hunter2',
      'https://two.example',
    ])
  })

  it('come after the chains of CHAINS, several of them, with further fields each', () => {
    const other = book('other.json', { chainId: 8_453 })
    const { chains, problems } = read({
      CHAINS: chainsJson({ chainId: 1 }),
      DEPLOYMENTS: `${book('one.json')}, ${other}`,
      ...URLS,
      RPC_URLS_8453: 'https://base.example',
      CHAIN_8453: '{"startBlock": 3, "confirmations": 9}',
    })
    expect(problems).toEqual([])
    expect(chains).toMatchObject([
      { chainId: 1 },
      { chainId: 84_532, startBlock: 12n },
      { chainId: 8_453, startBlock: 3n, confirmations: 9 },
    ])
  })

  it('may hold contracts that the programs do not need', () => {
    const contracts = { ...CONTRACTS, MarketLens: CONTRACTS.USDC }
    expect(read({ DEPLOYMENTS: book('more.json', { contracts }), ...URLS }).problems).toEqual([])
  })

  it('are told of all at once when something is wrong, without the keys in URLs', () => {
    const { USDC, ...contracts } = CONTRACTS
    const broken = book('broken.json', { contracts: { ...contracts, SplitRouter: '0x1' } })
    const deaf = book('deaf.json', { chainId: 5 })
    const none = join(directory, 'none.json')
    const other = join(directory, 'other.json')
    writeFileSync(other, '{"chainId": ')
    const env = {
      DEPLOYMENTS: [broken, deaf, none, other].join(','),
      RPC_URLS_84532: 'ws://hunter2',
      CHAIN_84532: '{"confirmations": 0, "depth": 1}',
    }
    expect(read(env)).toEqual({
      chains: undefined,
      problems: [
        'RPC_URLS_84532[0]: expected an http or https URL, special characters of a password percent-encoded',
        `DEPLOYMENTS: ${broken}.contracts.SplitRouter: expected an address, or an array of addresses with the newest last`,
        `DEPLOYMENTS: ${broken}.contracts.USDC: expected an address: 0x and 40 hex digits, all lower case or with the right checksum`,
        'CHAIN_84532.confirmations: expected 1 or more',
        'CHAIN_84532: unknown field depth',
        'RPC_URLS_5: not set; expected the URLs of nodes of chain 5, separated by commas',
        `DEPLOYMENTS: ${none} cannot be read (ENOENT)`,
        `DEPLOYMENTS: ${other} is no address book; name a file that the deployment wrote`,
      ],
    })
    expect(USDC).toBeDefined()
  })

  it('may not name a chain that is configured already, nor say again what they know', () => {
    const file = book('one.json')
    expect(
      read({ CHAINS: chainsJson({ chainId: 84_532 }), DEPLOYMENTS: `${file},${file}`, ...URLS }).problems,
    ).toEqual([
      'DEPLOYMENTS: chain 84532 is configured twice',
      'DEPLOYMENTS: chain 84532 is configured twice',
    ])
    expect(read({ DEPLOYMENTS: file, ...URLS, CHAIN_84532: '{"rpcUrls": []}' }).problems).toEqual([
      'CHAIN_84532.rpcUrls: the address book and RPC_URLS say it; leave it out',
    ])
  })
})
