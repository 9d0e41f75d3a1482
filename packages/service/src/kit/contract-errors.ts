import { commissionEscrowAbi, reviewRegistryAbi } from '@referrer/protocol/abi'
import type { Abi } from 'viem'

/** The Solidity errors of the contracts that the service sends transactions to. */
export const ERRORS: Abi = [...commissionEscrowAbi, ...reviewRegistryAbi].filter(
  ({ type }) => type === 'error',
)
