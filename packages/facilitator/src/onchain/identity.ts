// Whom the identity registry names. It is a third party's: that it gives no usable answer is not to say that there is nobody.
import { identityRegistryAbi } from '@referrer/protocol/abi'
import { type Address, encodeErrorResult, zeroAddress } from 'viem'
import type { Call, Outcome } from './probe.ts'

const unknown = { abi: identityRegistryAbi, errorName: 'ERC721NonexistentToken' } as const

/** The answer to a question about one id, as the contracts read it. The zero address: there is nobody. Undefined: it is unreadable. */
export function accountIn(question: Call | undefined, answer: Outcome | undefined): Address | undefined {
  if (answer?.ok) return /^0x0{24}.{40}/.test(answer.data) ? `0x${answer.data.slice(26, 66)}` : undefined
  const nobody = encodeErrorResult({ ...unknown, args: [BigInt(`0x${question?.data.slice(10)}`)] })
  return answer?.data === nobody ? zeroAddress : undefined
}
