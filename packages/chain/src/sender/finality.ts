import { type Address, type Hex, hexToNumber, isAddressEqual, numberToHex } from 'viem'
import { type RequestOptions, type RpcEndpoint, RpcError, type RpcPool } from '../rpc/index.ts'
import { askAll, byNumber, type NodeView } from './node-view.ts'

type BlockAnswer = { hash: Hex } | null
type FullBlockAnswer = { transactions: { hash: Hex; from: Address; nonce: Hex }[] } | null

/**
 * What the nodes together say of a block:
 * - `final`: some have it on their chain, deep enough, and none has another in its place
 * - `open`: the same, but not deep enough, or none has a block of that height
 * - `disputed`: some have it, some another
 * - `gone`: all that have a block of that height have another
 */
export type Verdict = 'final' | 'open' | 'disputed' | 'gone'

/** The depth of a block counts from blocks that a node returns, not from the height it claims. */
export async function judgeBlocks(
  rpc: RpcPool,
  blocks: { blockNumber: number; blockHash: Hex }[],
  confirmations: number,
  options: RequestOptions,
): Promise<Map<Hex, Verdict>> {
  if (blocks.length === 0) return new Map()
  const calls = blocks.flatMap(({ blockNumber }) => [
    byNumber(blockNumber + confirmations - 1),
    byNumber(blockNumber),
  ])
  const answers = await askAll(rpc, (endpoint) => endpoint.batch<BlockAnswer[]>(calls, options))
  return new Map(
    blocks.map(({ blockHash }, at) => {
      const views = answers.map((answer) => ({
        deep: answer[at * 2] ?? null,
        block: answer[at * 2 + 1] ?? null,
      }))
      return [blockHash, judge(views, blockHash)]
    }),
  )
}

function judge(views: { deep: BlockAnswer; block: BlockAnswer }[], blockHash: Hex): Verdict {
  const same = views.filter(({ block }) => block?.hash === blockHash)
  const other = views.filter(({ block }) => block && block.hash !== blockHash)
  if (other.length > 0) return same.length > 0 ? 'disputed' : 'gone'
  return same.some(({ deep }) => deep) ? 'final' : 'open'
}

/**
 * Whether a foreign transaction has used a nonce for good. A missing receipt of ours proves nothing, because a lagging node has none
 * either. The proof is the foreign transaction itself, in the final block in which the signer's count passed the nonce. At least one node
 * must show it and none may contradict.
 */
export async function isNonceLost(
  views: NodeView[],
  { address, nonce, hashes }: { address: Address; nonce: number; hashes: Hex[] },
  confirmations: number,
  options: RequestOptions,
): Promise<boolean> {
  const proofs = await Promise.all(
    views.map(async ({ endpoint, head }) => {
      try {
        return await proveLost(endpoint, address, nonce, hashes, head - confirmations + 1, options)
      } catch (error) {
        // A node without the state of that block, or without an answer, is ignored.
        if (error instanceof RpcError) return undefined
        throw error
      }
    }),
  )
  return proofs.includes(true) && !proofs.includes(false)
}

async function proveLost(
  endpoint: RpcEndpoint,
  address: Address,
  nonce: number,
  ours: Hex[],
  deepest: number,
  options: RequestOptions,
): Promise<boolean | undefined> {
  const countAt = async (number: number) => {
    const params = [address, numberToHex(number)]
    const count = await endpoint.request<Hex | null>('eth_getTransactionCount', params, options)
    if (count === null) throw new RpcError('refused', `${endpoint.name} does not have block ${number}`)
    return hexToNumber(count)
  }
  if (deepest < 0 || (await countAt(deepest)) <= nonce) return false
  let after = deepest
  let before = deepest - 1
  for (let step = 1; before >= 0 && (await countAt(before)) > nonce; step *= 2) {
    after = before
    before = Math.max(before - step, before === 0 ? -1 : 0)
  }
  while (after - before > 1) {
    const middle = Math.floor((after + before) / 2)
    if ((await countAt(middle)) > nonce) after = middle
    else before = middle
  }
  const params = [numberToHex(after), true]
  const block = await endpoint.request<FullBlockAnswer>('eth_getBlockByNumber', params, options)
  const used = block?.transactions.find(
    (transaction) => isAddressEqual(transaction.from, address) && hexToNumber(transaction.nonce) === nonce,
  )
  return used && !ours.includes(used.hash)
}
