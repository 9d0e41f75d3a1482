// Whether the contracts of a chain work with those that the configuration names.
import { type RpcPool, readContract } from '@referrer/chain'
import type { ChainConfig } from '@referrer/process'
import { type Address, isAddressEqual, parseAbi } from 'viem'

type ContractName = keyof ChainConfig['contracts']

const abi = parseAbi([
  'function TOKEN() view returns (address)',
  'function ESCROW() view returns (address)',
  'function MERCHANTS() view returns (address)',
  'function IDENTITIES() view returns (address)',
  'function REVIEWS() view returns (address)',
  'function ADDRESSES() view returns (address)',
  'function getIdentityRegistry() view returns (address)',
])

/** Which contract tells the address of which other one, and by which view. */
const LINKS = [
  ['SplitRouter', 'TOKEN', 'USDC'],
  ['SplitRouter', 'ESCROW', 'CommissionEscrow'],
  ['SplitRouter', 'MERCHANTS', 'MerchantRegistry'],
  ['SplitRouter', 'IDENTITIES', 'IdentityRegistry'],
  ['SplitRouter', 'REVIEWS', 'ReviewRegistry'],
  ['CommissionEscrow', 'TOKEN', 'USDC'],
  ['CommissionEscrow', 'IDENTITIES', 'IdentityRegistry'],
  ['CommissionEscrow', 'ADDRESSES', 'AddressRegistry'],
  ['ReviewRegistry', 'MERCHANTS', 'MerchantRegistry'],
  ['ReviewRegistry', 'IDENTITIES', 'IdentityRegistry'],
  ['ReviewRegistry', 'ADDRESSES', 'AddressRegistry'],
  ['MerchantRegistry', 'IDENTITIES', 'IdentityRegistry'],
  ['ReputationRegistry', 'getIdentityRegistry', 'IdentityRegistry'],
] as const

export type Holder = (typeof LINKS)[number][0]

export interface Miswiring {
  holder: Holder
  name: ContractName
  actual: Address
  configured: Address
}

/** The links that differ from the configuration; of contracts that were replaced, the newest count. Throws `RpcError`. */
export async function findMiswiring(
  rpc: Pick<RpcPool, 'request'>,
  contracts: ChainConfig['contracts'],
  holders: readonly Holder[] = LINKS.map(([holder]) => holder),
): Promise<Miswiring[]> {
  const links = LINKS.filter(([holder]) => holders.includes(holder) && contracts[holder])
  const found = links.map(async ([holder, functionName, name]): Promise<Miswiring> => {
    const address = newestOf(contracts, holder)
    const actual = await readContract({ rpc }, { address, abi, functionName, args: [] })
    return { holder, name, actual, configured: newestOf(contracts, name) }
  })
  return (await Promise.all(found)).filter(({ actual, configured }) => !isAddressEqual(actual, configured))
}

/** The address that is used now: older generations only hold money. */
export function newestOf(contracts: ChainConfig['contracts'], name: ContractName): Address {
  const newest = [contracts[name]].flat().at(-1)
  if (!newest) throw new Error(`the configuration names no ${name}`)
  return newest
}
