import { readContract } from '@referrer/chain'
import { identityRegistryAbi } from '@referrer/protocol/abi'
import { type Address, isAddressEqual, zeroAddress } from 'viem'
import type { Chain, Context } from '../context.ts'
import { bytesOf } from '../db/bytes.ts'
import { MarketError } from '../market-error.ts'
import { bestEffort, identityUri, ownerOf, reread } from '../onchain.ts'
import { untilSeen } from './operations.ts'
import { resolveOwner } from './owner.ts'
import { insertRegistration } from './store.ts'

/**
 * An agent is made known: once. Returns its owner. One that was only learned from the chain is not known yet. It may be so new that not
 * every node has seen it. `permit` may refuse by who owns it: the tool lets anybody, since all that is written is read from the chain.
 */
export async function registerAgent(
  context: Context,
  chain: Chain,
  agentId: bigint,
  permit: (owner: Address) => void = () => {},
): Promise<Address> {
  const owner = await resolveOwner(agentId, () =>
    reread(
      () => ownerOf(chain, agentId),
      (found) => found !== undefined,
    ),
  )
  permit(owner)
  const [uri, paymentWallet] = await Promise.all([identityUri(chain, agentId), walletOf(chain, agentId)])
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

/** Undefined: it has none, or it cannot be read now. */
async function walletOf(chain: Chain, agentId: bigint): Promise<Address | undefined> {
  const read = {
    address: chain.config.contracts.IdentityRegistry,
    abi: identityRegistryAbi,
    functionName: 'getAgentWallet',
    args: [agentId],
  } as const
  const wallet = await bestEffort((options) => readContract(chain, read, options))
  return wallet && !isAddressEqual(wallet, zeroAddress) ? wallet : undefined
}
