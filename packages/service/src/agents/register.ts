import { identityRegistryAbi } from '@referrer/protocol/abi'
import { type Address, isAddressEqual, zeroAddress } from 'viem'
import type { Chain, Context } from '../context.ts'
import { MarketError } from '../market-error.ts'
import { bestEffort, ownerOf, readContract, reread } from '../onchain.ts'
import { untilSeen } from './operations.ts'
import { requireOwner, resolveOwner } from './owner.ts'
import { insertRegistration } from './store.ts'

/** In characters. */
const LONGEST_URI = 2_048

/**
 * An agent makes itself known: once, by its owner, who is returned. One that was only learned from the chain has not done so. It may be
 * so new that not every node has seen it.
 */
export async function registerAgent(
  context: Context,
  chain: Chain,
  { agentId, caller }: { agentId: bigint; caller: Address },
): Promise<Address> {
  const owner = await resolveOwner(agentId, () =>
    reread(
      () => ownerOf(chain, agentId),
      (found) => found !== undefined,
    ),
  )
  requireOwner(owner, caller)
  const [uri, paymentWallet] = await Promise.all([uriOf(chain, agentId), walletOf(chain, agentId)])
  const isFirst = await insertRegistration(context.sql, chain.config.chainId, {
    agentId,
    owner: bytesOf(owner),
    uri: uri ?? '',
    paymentWallet: bytesOf(paymentWallet ?? owner),
    at: new Date(context.clock()),
  })
  if (!isFirst) throw new MarketError('already exists', 'agent already registered')
  await untilSeen(context, chain, agentId)
  return owner
}

/** Undefined: it cannot be read now. */
async function uriOf(chain: Chain, agentId: bigint): Promise<string | undefined> {
  const uri = await bestEffort((options) =>
    readContract(chain, { ...registry(chain), functionName: 'tokenURI', args: [agentId] }, options),
  )
  // Anybody may write anything there, and Postgres has no character zero. Cut roughly first: it may be megabytes.
  return uri && [...uri.replaceAll('\0', '').slice(0, 2 * LONGEST_URI)].slice(0, LONGEST_URI).join('')
}

/** Undefined: it has none, or it cannot be read now. */
async function walletOf(chain: Chain, agentId: bigint): Promise<Address | undefined> {
  const wallet = await bestEffort((options) =>
    readContract(chain, { ...registry(chain), functionName: 'getAgentWallet', args: [agentId] }, options),
  )
  return wallet && !isAddressEqual(wallet, zeroAddress) ? wallet : undefined
}

const registry = ({ config }: Chain) => ({
  address: config.contracts.IdentityRegistry,
  abi: identityRegistryAbi,
})

const bytesOf = (account: Address) => Buffer.from(account.slice(2), 'hex')
