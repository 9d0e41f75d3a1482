import { commissionEscrowAbi, reviewRegistryAbi } from '@referrer/protocol/abi'
import type { Abi } from 'viem'

/** What the contracts that the service sends transactions to refuse with. */
export const ERRORS: Abi = [...commissionEscrowAbi, ...reviewRegistryAbi].filter(
  ({ type }) => type === 'error',
)
