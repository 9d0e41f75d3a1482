// What wallets, nodes and contracts say, as people read it.
import { ReferrerError } from '@referrer/client'
import {
  BaseError,
  ContractFunctionRevertedError,
  InsufficientFundsError,
  UserRejectedRequestError,
} from 'viem'
import { ApiError } from '../api/error.ts'
import { Problem } from '../api/problem.ts'

const DECLINED = 4_001

/** A person said no in the wallet: nothing was signed or sent. */
export const isDeclined = (error: unknown): boolean =>
  Object(error).code === DECLINED || finds(error, UserRejectedRequestError) !== undefined

export function problemOf(error: unknown): unknown {
  if (error instanceof ReferrerError) {
    const { reason, status, detail, retryAfterMs } = error
    return new ApiError(reason, {
      status,
      ...(detail !== undefined && { detail }),
      ...(retryAfterMs !== undefined && { retryAfterSeconds: Math.ceil(retryAfterMs / 1_000) }),
      cause: error,
    })
  }
  if (isDeclined(error)) {
    return new Problem('You declined in your wallet', 'Nothing happened. Try again when you are ready.', {
      cause: error,
    })
  }
  if (finds(error, InsufficientFundsError)) {
    return new Problem(
      'Your wallet has too little to pay the network’s fee',
      'Send a little of the chain’s own coin to it, then try again.',
      { cause: error },
    )
  }
  const revert = error instanceof BaseError ? finds(error, ContractFunctionRevertedError) : undefined
  if (revert) {
    const why = revert.data?.errorName ?? revert.reason ?? 'no reason given'
    return new Problem(
      `The contract refuses: ${why}`,
      'Nothing was changed. Reload the page, then look again.',
      {
        cause: error,
      },
    )
  }
  if (error instanceof BaseError) {
    return new Problem(error.shortMessage.replace(/\.$/, ''), 'Look in your wallet, then try again.', {
      cause: error,
    })
  }
  return error
}

function finds<E extends Error>(error: unknown, kind: abstract new (...args: never[]) => E): E | undefined {
  if (!(error instanceof BaseError)) return undefined
  return (error.walk((cause) => cause instanceof kind) as E | null) ?? undefined
}

/** Does something with a wallet; whatever goes wrong is told as people read it. */
export const withProblems = <T>(work: Promise<T>): Promise<T> =>
  work.catch((error: unknown) => {
    throw problemOf(error)
  })
