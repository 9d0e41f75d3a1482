import { readContract } from '@referrer/chain'
import { identityRegistryAbi } from '@referrer/protocol/abi'
import { type Address, isAddressEqual, zeroAddress } from 'viem'
import type { Chain, Context } from '../../kit/context.ts'
import { MarketError } from '../../kit/market-error.ts'
import { bestEffort, identityUri, ownerOf, reread } from '../../kit/onchain.ts'
import { resolveOwner } from '../../kit/owner.ts'
import { bytesOf } from '../../machinery/db/bytes.ts'
import { untilSeen } from './operations.ts'
import { type AgentRow, insertRegistration } from './store.ts'

/**
 * An agent is made known: once. Returns its owner. One that was only learned from the chain is not known yet. It may be so new that not
 * every node has seen it. `permit` may refuse by who owns it: the tool lets anybody, since all that is shown is what the chain says.
 */
export async function registerAgent(
  context: Context,
  chain: Chain,
  agentId: bigint,
  permit: (owner: Address) => void = () => {},
): Promise<Address> {
  const owner = await resolveOwner(agentId, () =>
    reread(
      context,
      () => ownerOf(chain, agentId),
      (found) => found !== undefined,
    ),
  )
  permit(owner)
  const { chainId } = chain.config
  const registration = { agentId, owner: bytesOf(owner), at: new Date(context.clock()) }
  const [isFirst, told] = await Promise.all([
    insertRegistration(context.sql, chainId, registration),
    profileOf(chain, agentId),
  ])
  if (!isFirst) throw new MarketError('already exists', 'agent already registered')
  await untilSeen(context, chain, agentId, (agent) => isAsTold(agent, told))
  return owner
}

interface Profile {
  uri: string | undefined
  wallet: Address | undefined
}

/** What an agent tells of itself on the chain, best-effort: what it does not tell or cannot be read is undefined. */
async function profileOf(chain: Chain, agentId: bigint): Promise<Profile> {
  const [uri, wallet] = await Promise.all([identityUri(chain, agentId), walletOf(chain, agentId)])
  return { uri, wallet }
}

const isAsTold = ({ uri, payment_wallet: wallet }: AgentRow, told: Profile) =>
  (told.uri === undefined || told.uri === uri) &&
  (told.wallet === undefined || wallet?.equals(bytesOf(told.wallet)) === true)

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
