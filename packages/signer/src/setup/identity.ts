// The ERC-8004 identity of a wallet: found, or registered once. A registration is stored before it is sent, so that a crash never leads to a second one.
import { identityRegistryAbi } from '@referrer/protocol/abi'
import {
  type Address,
  type Hash,
  isAddressEqual,
  type LocalAccount,
  parseEventLogs,
  TransactionNotFoundError,
  type TransactionReceipt,
  TransactionReceiptNotFoundError,
  WaitForTransactionReceiptTimeoutError,
} from 'viem'
import { z } from 'zod'
import { isOf, type Registration, readBook, writeBook } from '../agent-book.ts'
import type { Chain } from '../chain/chain.ts'
import { isRevert } from '../chain/reverts.ts'
import { eventNotFound, send } from '../chain/send.ts'
import { marketUrl } from '../config.ts'
import type { Context } from '../context.ts'
import { jsonOf } from '../purchase/link.ts'
import { Refused } from '../refused.ts'

export interface Identity {
  agentId: string
  isNew: boolean
}

export interface Place {
  context: Context
  chain: Chain
  registry: Address
}

/** Called with the lock of setup: nobody else changes the book meanwhile. */
export async function requireIdentity(place: Place, account: LocalAccount): Promise<Identity> {
  const { context, chain, registry } = place
  const { SIGNER_STATE_DIR: stateDir } = context.config
  const wallet = { chainId: chain.chainId, address: account.address }
  const isMine = isOf(wallet)

  async function remember(agentIds: string[]): Promise<void> {
    const { agents, registrations } = readBook(stateDir)
    const others = agents.filter((agent) => !isMine(agent))
    const own = agentIds.map((agentId) => ({ agentId, ...wallet }))
    await writeBook(stateDir, { agents: [...others, ...own], registrations })
  }

  /** Kept for good: a reorganisation of the chain may take the identity back, and bring it again. */
  async function store(registration: Registration): Promise<void> {
    const { agents, registrations } = readBook(stateDir)
    const others = registrations.filter((one) => !isMine(one))
    await writeBook(stateDir, { agents, registrations: [...others, registration] })
  }

  const book = readBook(stateDir)
  // An identity may have been given away, and a sandbox begins anew with every start.
  for (const { agentId } of book.agents.filter(isMine)) {
    if (await owns(place, agentId, account.address)) return { agentId, isNew: false }
  }
  // Nonce and identities are read of one block: of the nodes behind one URL, one that lags would deny what another has shown.
  let block = await chain.client.getBlockNumber()
  let registration = book.registrations.find(isMine)
  const outcome = registration && (await outcomeOf(place, registration, block))
  if (outcome) {
    if (outcome !== 'impossible' && outcome.blockNumber > block) block = outcome.blockNumber
    registration = undefined
    const agentId = outcome === 'impossible' ? undefined : agentIn(place, outcome, account.address)
    if (agentId !== undefined && (await owns(place, agentId, account.address))) {
      await remember([agentId])
      return { agentId, isNew: true }
    }
  }
  const found = await findOwned(place, account.address, block)
  if (found.length > 0) {
    await remember(found)
    return { agentId: found[0] as string, isNew: false }
  }
  const call = { address: registry, abi: identityRegistryAbi, functionName: 'register', args: [''] } as const
  const receipt = await send(context, chain, account, call, async (hash, nonce) => {
    if (registration && registration.nonce !== nonce) {
      throw new Refused(
        'an earlier registration may still be mined: call setup again when the other transactions of the wallet are',
      )
    }
    registration = { ...wallet, nonce, hashes: [...(registration?.hashes ?? []), hash] }
    await store(registration)
  })
  const agentId = agentIn(place, receipt, account.address)
  await remember([agentId])
  return { agentId, isNew: true }
}

export const owns = ({ chain, registry }: Place, agentId: string, address: Address): Promise<boolean> =>
  chain.client
    .readContract({
      address: registry,
      abi: identityRegistryAbi,
      functionName: 'ownerOf',
      args: [BigInt(agentId)],
    })
    .then(
      (owner) => isAddressEqual(owner, address),
      (error: unknown) => {
        if (isRevert(error)) return false
        throw error
      },
    )

/** The receipt of a registration on its way. Undefined: it was never sent. Impossible: its nonce was used by something else. */
async function outcomeOf(
  place: Place,
  { address, nonce, hashes }: Registration,
  blockNumber: bigint,
): Promise<TransactionReceipt | 'impossible' | undefined> {
  const { client } = place.chain
  const used = await client.getTransactionCount({ address, blockNumber })
  for (const hash of hashes) {
    const receipt = await receiptOf(place, hash)
    if (receipt?.status === 'success') return receipt
  }
  if (used > nonce) return 'impossible'
  for (const hash of hashes) if (await isKnown(place, hash)) return mined(place, hash)
  return undefined
}

const receiptOf = ({ chain: { client } }: Place, hash: Hash): Promise<TransactionReceipt | undefined> =>
  client.getTransactionReceipt({ hash }).catch((error: unknown) => {
    if (error instanceof TransactionReceiptNotFoundError) return undefined
    throw error
  })

const isKnown = ({ chain: { client } }: Place, hash: Hash): Promise<boolean> =>
  client.getTransaction({ hash }).then(
    () => true,
    (error: unknown) => {
      if (error instanceof TransactionNotFoundError) return false
      throw error
    },
  )

async function mined({ context, chain: { client } }: Place, hash: Hash): Promise<TransactionReceipt> {
  const receipt = await client
    .waitForTransactionReceipt({ hash, timeout: context.timeouts.mined })
    .catch((error: unknown) => {
      if (!(error instanceof WaitForTransactionReceiptTimeoutError)) throw error
      throw new Refused(`the registration ${hash} is not mined yet: call setup again, nothing is sent twice`)
    })
  if (receipt.status !== 'success') throw new Refused(`tx reverted: ${receipt.transactionHash}`)
  return receipt
}

function agentIn({ registry }: Place, { logs, transactionHash }: TransactionReceipt, owner: Address): string {
  const event = parseEventLogs({ abi: identityRegistryAbi, eventName: 'Registered', logs }).find(
    ({ address, args }) => isAddressEqual(address, registry) && isAddressEqual(args.owner, owner),
  )
  if (!event) throw eventNotFound('Registered', transactionHash)
  return String(event.args.agentId)
}

const Listed = z.object({ agents: z.array(z.object({ agent_id: z.int().min(0) })) })
const MAX_BYTES = 1024 * 1024

/** The identities that the wallet has already, as the marketplace lists them and the chain confirms. */
async function findOwned(place: Place, address: Address, blockNumber: bigint): Promise<string[]> {
  const { context, chain, registry } = place
  const count = await chain.client.readContract({
    address: registry,
    abi: identityRegistryAbi,
    functionName: 'balanceOf',
    args: [address],
    blockNumber,
  })
  if (count === 0n) return []
  const url = new URL(`${marketUrl(context.config)}/v1/agent?owner=${address}&chain_id=${chain.chainId}`)
  const { status, body } = await context
    .get(url, { timeoutMs: context.timeouts.answer, maxBytes: MAX_BYTES, isOurs: true })
    .catch(() => ({ status: 0, body: Buffer.of() }))
  const listed = status === 200 ? Listed.safeParse(jsonOf(body)).data : undefined
  const owned: string[] = []
  for (const { agent_id } of listed?.agents ?? []) {
    if (await owns(place, String(agent_id), address)) owned.push(String(agent_id))
  }
  if (owned.length > 0) return owned
  throw new Refused(
    `${address} owns an identity that the marketplace does not list: call setup again shortly, or name it in AGENT_KEYS; no second one is registered`,
  )
}
