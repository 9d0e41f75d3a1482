// What a used authorisation was used for, read from the logs. Anybody can submit a bare transfer: then the money is in the router, unsplit.
import { compileEvent, readContract } from '@referrer/chain'
import { commissionEscrowAbi, sandboxUSDCAbi, splitRouterAbi } from '@referrer/protocol/abi'
import {
  type Address,
  getAbiItem,
  type Hash,
  type Hex,
  hexToNumber,
  numberToHex,
  pad,
  toEventSelector,
} from 'viem'
import type { Chain } from '../context.ts'
import type { Payment, PaymentKey } from '../payment/payment.ts'
import { isSettler } from '../relayers.ts'

/** What became of an authorisation that the token has as used. */
export type Arrival =
  | { type: 'split'; transaction: Hash | undefined }
  /** Exactly this purchase, and nobody has been told so: by whoever is no settler, as anybody may where the nonce commits to it. */
  | { type: 'outside'; transaction: Hash; depth: number }
  | { type: 'cancelled' }
  /** It had arrived, and went back to its payer. */
  | { type: 'back' }
  /** The money went from the payer to the router by this authorisation, and is not split. `depth` in blocks, its own included. */
  | { type: 'arrived'; transaction: Hash; depth: number }
  | { type: 'elsewhere' }
  /** No node shows the log: it is behind, or the log is older than `STEPS` reach. */
  | { type: 'unseen' }

/** The money is in the router, or the purchase is made, and no request has been answered with it. */
export type OpenArrival = Extract<Arrival, { type: 'arrived' | 'outside' }>
export type ClosedArrival = Exclude<Arrival, OpenArrival>

export const isOpen = (arrival: Arrival): arrival is OpenArrival =>
  arrival.type === 'arrived' || arrival.type === 'outside'

interface Log {
  address: Hex
  topics: [Hex, ...Hex[]]
  data: Hex
  logIndex: Hex
  blockNumber: Hex
  transactionHash: Hash
}

const TERMS = ['merchantId', 'productId', 'reviewId', 'reviewerAgentId', 'buyerAgentId'] as const
const deposited = getAbiItem({ abi: commissionEscrowAbi, name: 'EscrowDeposited' })
const readDeposited = compileEvent(deposited)
const DEPOSITED = toEventSelector(deposited)
const USED = toEventSelector(getAbiItem({ abi: sandboxUSDCAbi, name: 'AuthorizationUsed' }))
const CANCELED = toEventSelector(getAbiItem({ abi: sandboxUSDCAbi, name: 'AuthorizationCanceled' }))
const TRANSFER = toEventSelector(getAbiItem({ abi: sandboxUSDCAbi, name: 'Transfer' }))

/** Blocks of one `eth_getLogs`, since providers refuse more, and how many are made: together a day of blocks of two seconds. */
const STEP = 9_000
const STEPS = 5

/** `isOurs`: what a settler made of it is ours, and was told to nobody. */
export async function findArrival(chain: Chain, payment: Payment, isOurs = false): Promise<Arrival> {
  const { from, nonce, kind, value } = payment.authorization
  const [escrowId, isBack, head] = await Promise.all([
    readEscrow(chain, payment),
    wentBack(chain, from, nonce),
    readHead(chain),
  ])
  if (isBack) return { type: 'back' }
  if (escrowId !== 0n) return findSplit(chain, payment, escrowId, head, isOurs)
  const log = await findUse(chain, from, nonce, head)
  if (!log) return { type: 'unseen' }
  if (log.topics[0] === CANCELED) return { type: 'cancelled' }
  const isHere = kind === 1 && (await paidToRouter(chain, from, log)) === value
  if (!isHere) return { type: 'elsewhere' }
  const depth = head - hexToNumber(log.blockNumber) + 1
  return { type: 'arrived', transaction: log.transactionHash, depth }
}

/** What became of an authorisation, by whatever transaction. `over`: it was used without the router, in a block that nothing undoes. */
export async function useOf(
  chain: Chain,
  { payer, nonce }: PaymentKey,
): Promise<'unused' | 'moved' | 'back' | 'over'> {
  const head = await readHead(chain)
  const log = await findUse(chain, payer, nonce, head)
  if (!log) return 'unused'
  if ((await paidToRouter(chain, payer, log)) !== undefined)
    return (await wentBack(chain, payer, nonce)) ? 'back' : 'moved'
  return head - hexToNumber(log.blockNumber) + 1 >= chain.confirmations ? 'over' : 'unused'
}

/** The event `AuthorizationUsed` or `AuthorizationCanceled` of the token. */
async function findUse(chain: Chain, payer: Address, nonce: Hex, head: number): Promise<Log | undefined> {
  const topics = [[USED, CANCELED], pad(payer), nonce]
  const [log] = await logsOf(chain, chain.contracts.USDC, topics, head)
  return log
}

async function findSplit(
  chain: Chain,
  payment: Payment,
  escrowId: bigint,
  head: number,
  isOurs: boolean,
): Promise<Arrival> {
  const { attribution, authorization } = payment
  const topics = [DEPOSITED, numberToHex(escrowId, { size: 32 })]
  const [log] = await logsOf(chain, chain.contracts.CommissionEscrow, topics, head)
  const transaction = log?.transactionHash
  if (!log || !transaction) return { type: 'split', transaction }
  const terms = readDeposited(log)
  const isAsOrdered =
    TERMS.every((term) => terms[term] === attribution[term]) && terms.price === authorization.value
  const sent = await chain.rpc.request<{ from: Address } | null>('eth_getTransactionByHash', [transaction])
  const isUntold = isOurs || (payment.isCommitted && sent !== null && !(await isSettler(chain, sent.from)))
  if (!isAsOrdered) return { type: 'split', transaction: undefined }
  if (!isUntold) return { type: 'split', transaction }
  return { type: 'outside', transaction, depth: head - hexToNumber(log.blockNumber) + 1 }
}

async function logsOf(
  { rpc }: Chain,
  address: Address,
  topics: (Hex | Hex[])[],
  head: number,
): Promise<Log[]> {
  for (let step = 0, end = head; step < STEPS && end >= 0; step += 1, end -= STEP) {
    const fromBlock = numberToHex(Math.max(0, end - STEP + 1))
    const toBlock = step === 0 ? 'latest' : numberToHex(end)
    const logs = await rpc.request<Log[]>('eth_getLogs', [{ address, topics, fromBlock, toBlock }])
    if (logs.length > 0) return logs
  }
  return []
}

/** The amount; undefined: none. The token logs the transfer right after `AuthorizationUsed`. */
async function paidToRouter(
  { rpc, contracts }: Chain,
  payer: Address,
  used: Log,
): Promise<bigint | undefined> {
  const receipt = await rpc.request<{ logs: Log[] } | null>('eth_getTransactionReceipt', [
    used.transactionHash,
  ])
  const next = receipt?.logs.find(({ logIndex }) => hexToNumber(logIndex) === hexToNumber(used.logIndex) + 1)
  if (!next || next.address.toLowerCase() !== contracts.USDC.toLowerCase()) return undefined
  const expected = [TRANSFER, pad(payer), pad(contracts.SplitRouter)].map((topic) => topic.toLowerCase())
  const isTransfer = expected.every((topic, at) => next.topics[at]?.toLowerCase() === topic)
  return isTransfer ? BigInt(next.data) : undefined
}

const wentBack = (chain: Chain, payer: Address, nonce: Hex): Promise<boolean> =>
  readContract(chain, {
    address: chain.contracts.SplitRouter,
    abi: splitRouterAbi,
    functionName: 'refunded',
    args: [payer, nonce],
  })

/** 0n: there is no escrow. */
async function readEscrow(chain: Chain, { authorization: { from, nonce } }: Payment): Promise<bigint> {
  const [escrowId] = await readContract(chain, {
    address: chain.contracts.CommissionEscrow,
    abi: commissionEscrowAbi,
    functionName: 'escrowOf',
    args: [from, nonce],
  })
  return escrowId
}

async function readHead({ rpc }: Chain): Promise<number> {
  return hexToNumber(await rpc.request<Hex>('eth_blockNumber', []))
}
