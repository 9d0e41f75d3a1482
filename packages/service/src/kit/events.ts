// The contract events that the service indexes, and their decoding from raw logs.
import { compileEvent, type EventDecoder, type Log, type LogFilter } from '@referrer/chain'
import type { ChainConfig } from '@referrer/process'
import {
  addressRegistryAbi,
  commissionEscrowAbi,
  identityRegistryAbi,
  merchantRegistryAbi,
  reputationRegistryAbi,
  reviewRegistryAbi,
  splitRouterAbi,
} from '@referrer/protocol/abi'
import {
  type AbiEvent,
  type Address,
  type ContractEventName,
  type DecodeEventLogReturnType,
  getAbiItem,
  type Hex,
  toEventSelector,
} from 'viem'

/** Others may change this contract at any time, and nothing rests on it: an event that cannot be read is left out. */
const FOREIGN: ContractName = 'ReputationRegistry'

const FOLLOWED = {
  AddressRegistry: { abi: addressRegistryAbi, events: ['AddressSet'] },
  IdentityRegistry: {
    abi: identityRegistryAbi,
    events: ['Transfer', 'Registered', 'URIUpdated', 'MetadataSet'],
  },
  MerchantRegistry: {
    abi: merchantRegistryAbi,
    events: [
      'MerchantActiveSet',
      'PayoutWalletSet',
      'MerchantSuspensionSet',
      'MerchantRoleSet',
      'ProductListed',
      'ProductActiveSet',
      'ProductTermsSet',
      'ProductCardSet',
    ],
  },
  ReviewRegistry: { abi: reviewRegistryAbi, events: ['ReviewPublished', 'ReviewContentEdited'] },
  CommissionEscrow: {
    abi: commissionEscrowAbi,
    events: [
      'EscrowDeposited',
      'EscrowBound',
      'CashbackReleased',
      'EscrowSettled',
      'EscrowSkipped',
      'PayoutDeferred',
      'PayoutClaimed',
    ],
  },
  SplitRouter: { abi: splitRouterAbi, events: ['PayoutDeferred', 'PayoutClaimed'] },
  ReputationRegistry: { abi: reputationRegistryAbi, events: ['NewFeedback', 'FeedbackRevoked'] },
} as const

type Followed = typeof FOLLOWED
export type ContractName = keyof Followed
type EventName<Contract extends ContractName> = Followed[Contract]['events'][number]

/** Where on the chain an event happened. */
interface Position {
  address: Address
  blockNumber: bigint
  logIndex: number
  transactionHash: Hex
  /** The time of its block, in seconds. */
  timestamp: bigint
}

/** Union of the indexed events of a contract, with their arguments. */
export type EventOf<Contract extends ContractName> = {
  [Name in EventName<Contract>]: Position & {
    contract: Contract
    name: Name
    args: DecodeEventLogReturnType<
      Followed[Contract]['abi'],
      Name & ContractEventName<Followed[Contract]['abi']>
    >['args']
  }
}[EventName<Contract>]

export type MarketEvent = { [Contract in ContractName]: EventOf<Contract> }[ContractName]

export interface EventReader {
  filter: LogFilter
  decode(logs: Log[]): MarketEvent[]
}

function readArgs(
  contract: ContractName,
  decode: EventDecoder,
  log: Log,
): Record<string, unknown> | undefined {
  try {
    return decode(log)
  } catch (error) {
    if (contract === FOREIGN) return undefined
    throw error
  }
}

/** Builds the log filter and the decoder for the contracts of one chain. */
export function createEventReader(contracts: ChainConfig['contracts']): EventReader {
  const contractAt = new Map<string, ContractName>()
  const eventOf = new Map<string, { name: string; decode: EventDecoder }>()
  for (const contract of Object.keys(FOLLOWED) as ContractName[]) {
    const addresses = [contracts[contract] ?? []].flat()
    if (addresses.length === 0) continue
    for (const address of addresses) contractAt.set(address.toLowerCase(), contract)
    const { abi, events } = FOLLOWED[contract]
    for (const name of events) {
      const event = getAbiItem({ abi, name } as never) as AbiEvent
      eventOf.set(`${contract}/${toEventSelector(event)}`, { name, decode: compileEvent(event) })
    }
  }

  function decode(logs: Log[]): MarketEvent[] {
    return logs.flatMap((log) => {
      const contract = contractAt.get(log.address.toLowerCase())
      const event = contract && eventOf.get(`${contract}/${log.topics[0]}`)
      // The filter matches any address with any topic, so it also returns events that are indexed for another contract only.
      if (!contract || !event) return []
      const args = readArgs(contract, event.decode, log)
      if (!args) return []
      const { address, blockNumber, logIndex, transactionHash, timestamp } = log
      return [
        { contract, name: event.name, args, address, blockNumber, logIndex, transactionHash, timestamp },
      ] as unknown as MarketEvent[]
    })
  }

  const selectors = [...eventOf.keys()].map((key) => key.split('/')[1] as Hex)
  return {
    filter: { addresses: [...contractAt.keys()] as Address[], events: [...new Set(selectors)] },
    decode,
  }
}
