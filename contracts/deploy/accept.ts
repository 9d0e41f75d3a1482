import { addressRegistryAbi, splitRouterAbi } from '@referrer/protocol/abi'
import { type Account, type Address, encodeFunctionData, type Hex, isAddressEqual, zeroAddress } from 'viem'
import type { DeploymentClient } from './execute.ts'
import type { Addresses } from './plan.ts'

/** The second step of a hand-over: only the new holder can send it. */
export interface Acceptance {
  title: string
  by: Address
  to: Address
  data: Hex
  /** In seconds since 1970; it is refused until this has passed. */
  after: number
}

const WITH_ADMIN = ['MerchantRegistry', 'ReviewRegistry', 'CommissionEscrow', 'SplitRouter'] as const
/** All four inherit these functions. */
const adminAbi = splitRouterAbi

/** The hand-overs that were begun and not accepted yet. */
export async function pendingAcceptances(
  client: Pick<DeploymentClient, 'readContract'>,
  contracts: Pick<Addresses, 'AddressRegistry' | (typeof WITH_ADMIN)[number]>,
): Promise<Acceptance[]> {
  const admins = await Promise.all(
    WITH_ADMIN.map(async (name): Promise<Acceptance> => {
      const address = contracts[name]
      const [by, after] = await client.readContract({
        address,
        abi: adminAbi,
        functionName: 'pendingDefaultAdmin',
      })
      const data = encodeFunctionData({ abi: adminAbi, functionName: 'acceptDefaultAdminTransfer' })
      return { title: `${name}: become admin`, by, to: address, data, after }
    }),
  )
  const registry = { address: contracts.AddressRegistry, abi: addressRegistryAbi } as const
  const owner: Acceptance = {
    title: 'AddressRegistry: become owner',
    by: await client.readContract({ ...registry, functionName: 'pendingOwner' }),
    to: registry.address,
    data: encodeFunctionData({ abi: addressRegistryAbi, functionName: 'acceptOwnership' }),
    after: 0,
  }
  return [...admins, owner].filter(({ by }) => by !== zeroAddress)
}

/** Accepts what this account can accept now. Returns the rest: for other accounts, or for later. */
export async function accept(
  client: DeploymentClient,
  account: Account | undefined,
  pending: Acceptance[],
  onStep: (acceptance: Acceptance) => void,
): Promise<Acceptance[]> {
  const { timestamp } = await client.getBlock()
  const rest: Acceptance[] = []
  for (const acceptance of pending) {
    const { by, to, data, after, title } = acceptance
    if (!account || !isAddressEqual(by, account.address) || timestamp <= after) {
      rest.push(acceptance)
      continue
    }
    onStep(acceptance)
    const hash = await client.sendTransaction({ account, to, data })
    const receipt = await client.waitForTransactionReceipt({ hash })
    if (receipt.status !== 'success') throw new Error(`${title}: transaction ${hash} reverted`)
  }
  return rest
}
