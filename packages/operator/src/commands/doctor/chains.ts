// Each node by itself: whether it serves the chain, keeps up, and can do what we need.
import { createRpcPool, type RpcEndpoint, RpcError, type RpcPool } from '@referrer/chain'
import { newestOf, takesStateOverrides } from '@referrer/facilitator'
import { type Address, type Hex, hexToBigInt, numberToHex } from 'viem'
import { allOf, anyOf, type Examination, fine, type Verdict, warning, wrong } from './examination.ts'
import type { Subject, SubjectChain } from './subject.ts'

export interface Head {
  number: bigint
  hash: Hex
  /** Seconds since 1970. */
  timestamp: bigint
}

interface Node {
  endpoint: RpcEndpoint
  head: Head
}

/** A chain of which at least one node can be used. */
export interface ReadableChain extends SubjectChain {
  rpc: RpcPool
  head: Head
}

export interface World {
  fetch: typeof fetch
  /** Milliseconds since 1970. */
  clock: () => number
  /** How long a node or a partner may take to answer. */
  requestMs: number
  sleep: (ms: number) => Promise<unknown>
}

/** Nodes of one chain are this close to each other, about a minute on Base. */
const MOST_BEHIND = 30n
/** Where the configuration says nothing. */
const HEAD_AGE_SECONDS = 600
/** Blocks that are newer may still be reorganised. */
const SETTLED_DEPTH = 5n

/** Returns the chains, each as soon as one of its nodes can be used. */
export function checkChains(
  examination: Examination,
  subject: Subject,
  world: World,
): Promise<ReadableChain>[] {
  return subject.chains.map((chain) => checkChain(examination, subject, chain, world))
}

function checkChain(
  examination: Examination,
  subject: Subject,
  chain: SubjectChain,
  world: World,
): Promise<ReadableChain> {
  const { chainId, config, urls } = chain
  const group = `chain ${chainId}`
  const open = (some: string[]) =>
    createRpcPool({ chainId, urls: some, fetch: world.fetch, timeoutMs: world.requestMs })
  const relayer = subject.accounts.find(({ job }) => job === 'relayer')?.address
  const nodes = urls.flatMap((url) =>
    open([url]).endpoints.map((endpoint, at) => {
      const name =
        urls.length > 1 ? `node ${at + urls.indexOf(url) + 1}, ${endpoint.name}` : `node ${endpoint.name}`
      const node = examination.check<Node>({
        group,
        name,
        advice: `start the node, or correct its URL in the rpcUrls of chain ${chainId}`,
        run: () =>
          lookAtNode(
            endpoint,
            subject.isReal ? (config.maxHeadAgeSeconds ?? HEAD_AGE_SECONDS) : undefined,
            world,
          ),
      })
      examination.check({
        group,
        name: `${name}: methods`,
        needs: node,
        advice: 'name another node',
        run: ({ head }) => judgeMethods(endpoint, head, newestOf(config.contracts, 'SplitRouter'), relayer),
      })
      return node
    }),
  )
  if (nodes.length > 1) {
    examination.check({
      group,
      name: 'nodes agree',
      needs: anyOf(nodes),
      advice: 'name nodes of one provider each, and take out the one that is wrong',
      run: async () => judgeAgreement(await allOf(nodes)),
    })
  }
  const readable = anyOf(nodes).then(({ head }): ReadableChain => ({ ...chain, rpc: open(urls), head }))
  readable.catch(() => {})
  examination.check({
    group,
    name: 'startBlock',
    needs: readable,
    advice: 'take startBlock from the address book of the deployment',
    run: judgeStartBlock,
  })
  return readable
}

async function lookAtNode(
  endpoint: RpcEndpoint,
  maxAgeSeconds: number | undefined,
  { clock }: World,
): Promise<Verdict<Node>> {
  try {
    const block = await endpoint.request<Record<keyof Head, Hex> | null>('eth_getBlockByNumber', [
      'latest',
      false,
    ])
    if (!block) return wrong('it has no newest block', 'wait until it has synchronised, or name another node')
    const head = {
      number: hexToBigInt(block.number),
      hash: block.hash,
      timestamp: hexToBigInt(block.timestamp),
    }
    const age = Math.round(clock() / 1_000 - Number(head.timestamp))
    if (maxAgeSeconds !== undefined && age > maxAgeSeconds) {
      return wrong(
        `its newest block ${head.number} is ${age} s old: it has stopped, or is still synchronising`,
        'look at the node, or name another one',
      )
    }
    return fine(`block ${head.number}`, { endpoint, head })
  } catch (error) {
    if (!(error instanceof RpcError) || error.kind !== 'wrong-chain') throw error
    const [found = error.message, advice = 'correct its URL'] = error.message.split(': ')
    return wrong(found, advice)
  }
}

async function judgeMethods(
  endpoint: RpcEndpoint,
  { number }: Head,
  router: Address,
  relayer: Address | undefined,
): Promise<Verdict<undefined>> {
  const range = { fromBlock: numberToHex(number), toBlock: numberToHex(number), address: router }
  try {
    await endpoint.request('eth_getLogs', [range])
  } catch (error) {
    if (!(error instanceof RpcError)) throw error
    return wrong(
      `it does not answer eth_getLogs (${error.message})`,
      'name a node that does: nothing can be indexed with this one',
    )
  }
  if (relayer && !(await takesStateOverrides(endpoint, relayer))) {
    return wrong(
      'it does not take state overrides in eth_call, so no payment can be tried out',
      'name a node for the facilitator that does',
    )
  }
  return fine(relayer ? 'eth_getLogs, eth_call with state overrides' : 'eth_getLogs')
}

async function judgeAgreement(nodes: Node[]): Promise<Verdict<undefined>> {
  const [newest] = [...nodes].sort((a, b) => Number(b.head.number - a.head.number))
  const [oldest] = [...nodes].sort((a, b) => Number(a.head.number - b.head.number))
  if (!newest || !oldest || nodes.length < 2) return fine('only one node answers')
  const behind = newest.head.number - oldest.head.number
  if (behind > MOST_BEHIND) {
    return wrong(
      `${oldest.endpoint.name} is ${behind} blocks behind ${newest.endpoint.name}`,
      'look at the node that is behind, or take it out of rpcUrls',
    )
  }
  const height = oldest.head.number > SETTLED_DEPTH ? oldest.head.number - SETTLED_DEPTH : 0n
  const hashes = await Promise.all(
    nodes.map(async ({ endpoint }) => {
      const block = await endpoint.request<{ hash: Hex } | null>('eth_getBlockByNumber', [
        numberToHex(height),
        false,
      ])
      return { name: endpoint.name, hash: block?.hash }
    }),
  )
  const [first] = hashes
  const other = hashes.find(({ hash }) => hash !== first?.hash)
  return first && other
    ? wrong(
        `${first.name} and ${other.name} have different blocks at height ${height}`,
        'compare both with a block explorer, and take the one that is wrong out of rpcUrls',
      )
    : fine(`the same block at height ${height}`)
}

/** Of the contracts that a deployment makes. */
const OWN = [
  'AddressRegistry',
  'MerchantRegistry',
  'ReviewRegistry',
  'CommissionEscrow',
  'SplitRouter',
] as const

async function judgeStartBlock({ rpc, config, head, chainId }: ReadableChain): Promise<Verdict<undefined>> {
  const { startBlock, contracts } = config
  if (startBlock > head.number) {
    return wrong(
      `${startBlock} is after the newest block ${head.number}`,
      `take the startBlock of chain ${chainId} from the address book of the deployment`,
    )
  }
  if (startBlock === 0n) return fine('0')
  const before = numberToHex(startBlock - 1n)
  const isOlder = async (name: (typeof OWN)[number] | 'IdentityRegistry') => {
    const [oldest] = [contracts[name]].flat()
    return (await rpc.request<Hex>('eth_getCode', [oldest, before])) !== '0x'
  }
  let older: string[]
  try {
    const each = await Promise.all(OWN.map(async (name) => ((await isOlder(name)) ? [name] : [])))
    older = each.flat()
  } catch (error) {
    // Nodes without an archive do not know the state of old blocks.
    if (!(error instanceof RpcError)) throw error
    return fine(`${startBlock}; no node knows the state of that time, so that it cannot be compared`)
  }
  if (older.length > 0) {
    return wrong(
      `${older.join(', ')} existed before block ${startBlock}, so that earlier events are missed`,
      `take the startBlock of chain ${chainId} from the address book of the deployment, then run referrer reindex`,
    )
  }
  return (await isOlder('IdentityRegistry'))
    ? warning(
        `${startBlock}: the identity registry is older, and agents that registered before are not known`,
        'use the block in which the identity registry was created, if you want them',
      )
    : fine(String(startBlock))
}
