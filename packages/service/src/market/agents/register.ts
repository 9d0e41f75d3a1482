import { readContract } from '@referrer/chain'
import { identityRegistryAbi } from '@referrer/protocol/abi'
import { type Address, isAddressEqual, zeroAddress } from 'viem'
import type { Chain, Context } from '../../kit/context.ts'
import { MarketError } from '../../kit/market-error.ts'
import { bestEffort, identityUri, ownerOf, reread } from '../../kit/onchain.ts'
import { resolveOwner } from '../../kit/owner.ts'
import { bytesOf } from '../../machinery/db/bytes.ts'
import { queueReading } from '../registrations/store.ts'
import { untilIndexed } from './operations.ts'
import { type AgentRow, insertRegistration } from './store.ts'

/**
 * Registers an agent with the service and returns its owner; a second registration with the same owner is refused. An agent that was only
 * indexed is not registered yet. The read is retried, because an agent may be so new that not every node has it. `permit` can refuse by
 * owner; the MCP tool permits everybody, because only data from the chain is shown.
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
    context.sql.begin(async (tx) => {
      const isNew = await insertRegistration(tx, chainId, registration)
      if (isNew) await queueReading(tx, chainId, agentId)
      return isNew
    }),
    profileOf(chain, agentId),
  ])
  if (!isFirst) throw new MarketError('already exists', 'agent already registered')
  await untilIndexed(context, chain, agentId, (agent) => isAsTold(agent, told))
  return owner
}

interface Profile {
  uri: string | undefined
  wallet: Address | undefined
}

/** The URI and wallet of an agent on the chain; each is undefined when it is not set or cannot be read. */
async function profileOf(chain: Chain, agentId: bigint): Promise<Profile> {
  const [uri, wallet] = await Promise.all([identityUri(chain, agentId), walletOf(chain, agentId)])
  return { uri, wallet }
}

const isAsTold = ({ uri, payment_wallet: wallet }: AgentRow, told: Profile) =>
  (told.uri === undefined || told.uri === uri) &&
  (told.wallet === undefined || wallet?.equals(bytesOf(told.wallet)) === true)

/** The agent's payment wallet; undefined when it is not set or cannot be read. */
async function walletOf(chain: Chain, agentId: bigint): Promise<Address | undefined> {
  const read = {
    address: chain.config.contracts.IdentityRegistry,
    abi: identityRegistryAbi,
    functionName: 'getAgentWallet',
    args: [agentId],
  } as const
  const wallet = await bestEffort(chain, (options) => readContract(chain, read, options))
  return wallet && !isAddressEqual(wallet, zeroAddress) ? wallet : undefined
}
